"""How a piece of attention code wants to be called."""

import ast
import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import Parameter
from types import CodeType
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn

from headway.checks.attention.subject.fill_arguments import (
    Filling,
    Room,
    fillings,
    guesses,
    is_known,
    may_be_guessed,
    together,
)
from headway.checks.core import intent
from headway.checks.core.cannot_check import CannotCheckError
from headway.checks.core.errors import at_the_border
from headway.checks.core.limit import limited
from headway.checks.core.signature import CallOption, Target, arguments, unpacked
from headway.checks.core.source import body_of

_ROLES = (
    {"q", "query", "queries", "qs", "xq"},
    {"k", "key", "keys", "ks", "xk"},
    {"v", "value", "values", "val", "vals", "vs", "xv"},
)
# A `key_padding_mask`, a `d_k` or a `num_v_heads` is none of the three.
_NO_ROLES = re.compile(
    r"(^|_)(masks?|pad(ding)?|len(gth)?s?|valid|keep|visible|bias|cache|past|d|dims?|heads?|num|n"
    r"|size|ids?|pos(itions?)?|d?type|norm|scale)(_|$)"
)
CONTEXT = re.compile(
    r"context|memory|^enc|encod|^y$|key_?value|(^|_)kv$|source|^src|^tgt|target|other"
    r"|^x_?\d$|^z$|cond",
    re.IGNORECASE,
)
_ANOTHER_TEXT = re.compile("context|memory|^enc", re.IGNORECASE)
_TOKENS = re.compile(r"^[TL]$|len|seq|time|steps|tokens", re.IGNORECASE)
_TEXTS = re.compile(r"^[BN]$|^bsz?$|batch", re.IGNORECASE)
_AS_IN_PYTORCH = re.compile(r"(src|tgt|memory)_key_padding_mask")
_ATTENTION = re.compile(r"att(n|en)|mha", re.IGNORECASE)
_BY_NAME = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
# Of queries, keys and values.
_AXES_OF = {
    "heads first": 4,
    "tokens first": 4,
    "batch first": 3,
    "time first": 3,
    "one text": 2,
}
_OF_CHANNELS = (nn.modules.conv._ConvNd, nn.GroupNorm, nn.modules.batchnorm._BatchNorm)
_FRAMES = re.compile(r"frames?$|video_len|^(n_)?frames|time_?steps?$")
_AS_IMAGE = re.compile(r"unflatten\([12], \(|unsqueeze\(3\)|None, None\]|pixels? high")
_OF_IMAGES = (4, 8, 7, 3)  # pixels on a side
# One row for each text, or so many, which is then the row of each of its tokens.
_QUERY = "torch.linspace(-1, 1, {}).to(x).expand(len(x), -1)"  # of each text
POOLED = ".flatten(1)[:, None].expand(-1, x.shape[1], -1)"
OTHERS = "further_arguments"  # the name of those that are handed over beside a call
_NOTHING = torch.empty(0)
# Who writes this puts texts and tokens where the code has them.
_TURNED = re.compile(
    r"(transpose|swapaxes|swapdims|permute)\((0, *1|1, *0)[,)]|movedim"
)


class Layout(NamedTuple):
    """Where code has the axes of tokens, in words that are evaluated.

    Attributes:
        given: What it gets instead of tokens `x`.
        after: What makes rows of its answer.
    """

    given: str
    after: str

    def lay_out(self, x: Tensor) -> Any:
        """Put the axes of tokens where the code has them."""
        return _evaluated(self.given, "x", x)

    def bring_back(self, result: Any) -> Any:
        """Put them back."""
        return _evaluated(f"y{self.after}", "y", result)


def _evaluated(words: str, name: str, value: Any) -> Any:
    code = compile(words, "<call>", "eval")
    return call_with_names(code, None, {name: value})


@dataclass(frozen=True)
class Packing:
    """How tokens hold queries, keys and values, for a function of these three.

    A token is its query, its key and its value side by side, for all heads.

    Attributes:
        heads: Number of heads.
        key_width: Width of a query and of a key of one head.
        value_width: Width of a value of one head.
        axes: 4 if the function takes heads, 3 if it takes none, 2 if it takes one text.
        tokens_first: Whether tokens come before heads, or before texts if there are no
            heads.
    """

    heads: int
    key_width: int
    value_width: int
    axes: int
    tokens_first: bool = False

    @property
    def d_in(self) -> int:
        """The width of a token."""
        return sum(self.widths)

    @property
    def widths(self) -> list[int]:
        """The widths of the three parts of a token."""
        wide, narrow = self.heads * self.key_width, self.heads * self.value_width
        return [wide, wide, narrow]

    @at_the_border
    def unpack(self, x: Tensor) -> list[Tensor]:
        """Take queries, keys and values out of tokens."""
        parts = x.split(self.widths, dim=-1)
        if self.axes == 4:
            parts = [p.unflatten(-1, (self.heads, -1)) for p in parts]
        return [self._with_tokens_in_place(p) for p in parts]

    @at_the_border
    def merge(self, result: Tensor) -> Tensor:
        """Put the heads of a result side by side."""
        result = self._with_tokens_in_place(result)
        return result.flatten(2) if self.axes == 4 else result

    @at_the_border
    def _with_tokens_in_place(self, part: Tensor) -> Tensor:
        """Swap tokens with heads, or with texts; twice is as before."""
        if self.axes == 4 and not self.tokens_first:
            return part.transpose(1, 2)
        return part.transpose(0, 1) if self.axes == 3 and self.tokens_first else part


@dataclass(frozen=True)
class Call:
    """One way to call code with tokens of shape (B, T, width).

    Attributes:
        text: The call, as a report shows it.
        invoke: Calls the target with tokens, or with queries, keys and values.
        packing: How tokens hold queries, keys and values; `None` if it takes tokens.
        time_first: Whether it takes tokens of shape (T, B, width).
        filling: What needed arguments get besides tokens.
        must_convince: Whether it is a guess, which counts only if what it gives is that
            of attention.
    """

    text: str
    invoke: Callable[..., Any]
    packing: Packing | None = None
    time_first: bool = False
    filling: Filling = field(default_factory=Filling)
    must_convince: bool = False

    @property
    def shown(self) -> str:
        """The call, and what was filled in or is in an unusual order."""
        notes = [self.filling.meaning] if self.filling.meaning else []
        if self.packing is not None and self.packing.tokens_first:
            four = self.packing.axes == 4
            notes.append("tokens before heads" if four else "tokens before texts")
        if self.time_first:
            notes.append("tokens before texts")
        return "; ".join([self.text, *notes])

    @property
    def of_image(self) -> bool:
        """Whether tokens are laid out as the pixels of an image, or of a video."""
        return _AS_IMAGE.search(self.shown) is not None

    def moved(self, start: int) -> "Call":
        """Give the same call, with positions that are filled in from elsewhere on."""
        if not isinstance(self.invoke, FilledIn):  # none are filled in
            return self
        told = self.invoke.told._replace(start=start)
        return replace(self, invoke=replace(self.invoke, told=told))

    def with_tokens_first(self, *, first: bool = True) -> "Call":
        """Give the same call of a function that has tokens before heads, or texts.

        Args:
            first: Whether it has; if not, they come after these.
        """
        packing = replace(cast("Packing", self.packing), tokens_first=first)
        invoke = self.invoke
        if isinstance(invoke, FilledIn):
            invoke = replace(invoke, tokens_first=first)
        return replace(self, packing=packing, invoke=invoke)

    def turned(self) -> "Call":
        """Give the same call with tokens and texts, or tokens and heads, swapped."""
        if self.packing is not None:
            return self.with_tokens_first(first=not self.packing.tokens_first)
        first, invoke = not self.time_first, self.invoke
        if isinstance(invoke, FilledIn):
            invoke = replace(invoke, time_first=first)
        return replace(self, time_first=first, invoke=invoke)

    @limited()
    @at_the_border
    def __call__(self, target: Target, x: Tensor, extra: Mapping[str, Any]) -> Tensor:
        """Call the target; `extra` are further arguments, such as a mask."""
        if self.packing is None:
            x = x.transpose(0, 1) if self.time_first else x
            result = first_tensor(self.invoke(target, x, **extra))
            return result.transpose(0, 1) if self.time_first else result
        inputs = self.packing.unpack(x)
        if self.packing.axes == 2:
            texts = zip(*inputs, strict=True)
            results = [first_tensor(self.invoke(target, *t, **extra)) for t in texts]
            return torch.stack(results)
        return self.packing.merge(first_tensor(self.invoke(target, *inputs, **extra)))


def possible_calls(
    target: Target,
    option: CallOption | None,
    num_heads: int | None,
    *,
    rotary_base: float | None = None,
    causal: bool | None = None,
    layout: str | None = None,
) -> Iterator[Call]:
    """Give the ways in which code may want to be called, the likeliest first."""
    time_first = _has_time_first(target, layout)
    if option is not None:
        text, invoke, takes_tokens = _from_option(option)
        if takes_tokens:
            # A function does what it says; so does an expression that turns axes.
            as_told = not isinstance(option, str) or _TURNED.search(option)
            turned = time_first and not (as_told and layout is None)
            yield Call(text, invoke, None, turned)
        else:
            yield from _of_three(Call(text, invoke), target, num_heads, layout)
        return
    told = _told(target, num_heads, rotary_base, causal)
    known = arguments(target)
    if takes_three(target):
        if not has_weights(target):
            roles = three_of(known)
            for call in _filled(target, known, roles, told, unnamed=(0, 1, 2)):
                yield from _of_three(call, target, num_heads, layout)
        else:
            roles = dict.fromkeys(three_of(known), 0)
            yield from _filled(target, known, roles, told, time_first=time_first)
    if not takes_three(target) or _takes_any_number(target):
        given = partial(_filled, target, known, told=told, time_first=time_first)
        for first, memory in _memories(target, known):
            yield from given(inputs={first: 0}, fill=partial(fillings, memory=memory))
        if [one.kind for one in known.values()][:1] == [Parameter.VAR_POSITIONAL]:
            yield from given(inputs={})
            yield from given(inputs={}, unnamed=(0, 0, 0))
        for inputs in _inputs(known):
            yield from given(inputs=inputs)
        yield from _layouts(target)
        yield from _of_named(target)
    for call in _of_other_widths(target, known):
        yield replace(call, time_first=time_first)


def _has_time_first(target: Target, layout: str | None) -> bool:
    """Ask whether tokens come before texts: as told, or by what the code names."""
    if layout is not None:
        return layout == "time first"
    if hasattr(target, "batch_first"):
        return not target.batch_first
    return _follows_pytorch(target) or not _names_texts_first(target)


def _follows_pytorch(target: Target) -> bool:
    """Ask whether code has the arguments of a layer of PyTorch and its default order.

    Then tokens come before texts, as in PyTorch's modules without `batch_first=True`.
    """
    if not any(_AS_IN_PYTORCH.fullmatch(name) for name in arguments(target)):
        return False
    layers = target.modules() if isinstance(target, nn.Module) else ()
    flags = [one.batch_first for one in layers if hasattr(one, "batch_first")]
    return bool(flags) and not any(flags)


def _told(
    target: Target,
    num_heads: int | None,
    rotary_base: float | None,
    causal: bool | None,
) -> Room:
    heads = num_heads or intent.num_heads(target) or 1
    told = Room(0, 0, 0, heads, _NOTHING, causal=bool(causal))
    return told._replace(base=rotary_base or told.base)


def guessed_calls(
    target: Target,
    num_heads: int | None,
    *,
    rotary_base: float | None = None,
    causal: bool | None = None,
    layout: str | None = None,
) -> Iterator[Call]:
    """Give further calls of modules that none of the possible ones can call.

    Values that no name tells of are filled in, and so are arguments that need not be
    given; tokens may have further axes. Such a call must convince.
    """
    for call in _guessed(target, num_heads, rotary_base, causal, layout):
        yield replace(call, must_convince=True)


def _guessed(
    target: Target,
    num_heads: int | None,
    rotary_base: float | None,
    causal: bool | None,
    layout: str | None,
) -> Iterator[Call]:
    if not isinstance(target, nn.Module) or not has_weights(target):
        return
    known, time_first = arguments(target), _has_time_first(target, layout)
    told = _told(target, num_heads, rotary_base, causal)
    widths = _rare_widths(target)
    fill = partial(guesses, widths=widths[:-1][:2], common=widths[-1:])
    given = partial(_filled, target, known, told=told)
    turns = [time_first] if layout else [time_first, not time_first]
    for further in ([], *_optional_arguments(known)):
        others = [*needed_arguments(target), *further]
        for first, inputs in itertools.product(turns, _guessed_inputs(known)):
            if any(may_be_guessed(name) for name in others if name not in inputs):
                yield from given(
                    inputs=inputs, time_first=first, further=further, fill=fill
                )
    yield from _of_two_widths(target, known)
    yield from pooled_calls(target)
    if layout is None:
        for one, inputs in itertools.product(_axes(target), _guessed_inputs(known)):
            yield from given(inputs=inputs, layout=one)


def _guessed_inputs(known: Mapping[str, Parameter]) -> Iterator[dict[str, int]]:
    """Give the arguments that may be tokens: three, the first, or the first two."""
    if three := three_of(known):
        yield dict.fromkeys(three, 0)
    yield from itertools.islice(_inputs(known), 2)


def _axes(target: nn.Module) -> Iterator[Layout]:
    """Give the places where a module may have the axes of tokens."""
    turned = Layout("x.transpose(0, 1)[None]", "[0].transpose(0, 1)")
    video = Layout("x[:, None, :, None]", "[:, 0, :, 0]")
    pairs = [Layout("x[:, None]", "[:, 0]"), turned, video]
    if any(isinstance(part, _OF_CHANNELS) for part in target.modules()):
        image = Layout("x.mT.unsqueeze(3)", ".squeeze(3).mT")
        pairs = [Layout("x.mT", ".mT"), image]
    for given, after in pairs:
        yield from (Layout(given, after), Layout(given, f"[0]{after}"))


def _rare_widths(target: nn.Module) -> list[int]:
    """List the widths of layers, first those that few take, as of features."""
    taken: Counter[int] = Counter()
    for part in target.modules():
        shape = getattr(part, "normalized_shape", ())
        taken.update([*shape[-1:], *[getattr(part, "in_features", 0)]])
    return sorted((one for one in taken if one), key=lambda one: taken[one])


def _optional_arguments(known: Mapping[str, Parameter]) -> list[list[str]]:
    """List arguments that are left out as a rule, and that may be needed all the same.

    Masks come last, and then all of them at once.
    """
    named = [name for name, one in known.items() if one.default is None]
    masks = [name for name in named if "mask" in name]
    groups = [*together(named), *([masks] if masks else [])]
    return [*groups, *([[*itertools.chain(*groups)]] if len(groups) > 1 else [])]


def _names_texts_first(target: Target) -> bool:
    """Read from the names of sizes whether texts come before tokens, as they mostly do.

    `T, B, C = x.shape` says that they do not.
    """
    first, second, *_ = [*_sizes_by_name(target), "", ""]
    return not (_TOKENS.search(first) and _TEXTS.search(second))


def _sizes_by_name(target: Target) -> list[str]:
    """List the names that the first sizes get, in the code or in attention inside."""
    found = unpacked(target, called=True)
    if any(one.search(name) for one in (_TOKENS, _TEXTS) for name in found[:2]):
        return found
    for part in target.modules() if isinstance(target, nn.Module) else ():
        if _ATTENTION.search(type(part).__name__) and (
            found := unpacked(part, called=True)
        ):
            return found
    return []


def takes_three(target: Target) -> bool:
    """Ask whether code takes queries, keys and values; unknown arguments may be."""
    known = arguments(target)
    if _takes_any_number(target):
        return True
    return bool(three_of(known)) or (not known and not isinstance(target, nn.Module))


def _takes_any_number(target: Target) -> bool:
    kinds = [one.kind for one in arguments(target).values()]
    return not isinstance(target, nn.Module) and kinds[:1] == [Parameter.VAR_POSITIONAL]


def has_weights(target: Target) -> bool:
    """Ask whether code has weights of its own; what has none is a function."""
    return isinstance(target, nn.Module) and any(True for _ in target.parameters())


def needed_arguments(target: Target) -> list[str]:
    """List the arguments that must be given."""
    return [name for name, one in arguments(target).items() if _is_needed(one)]


def three_of(known: Mapping[str, Parameter], *, guess: bool = True) -> dict[str, int]:
    """Find the arguments that are queries, keys and values, and say which is which.

    Args:
        known: The arguments; their names may tell, in any order.
        guess: Whether to take the first three that must be given if names do not
            tell, unless one of them tells that it is something else.
    """
    places: dict[int, str] = {}
    for name, one in known.items():
        role = _role(name)
        if role is not None and one.kind in _BY_NAME:
            places.setdefault(role, name)
    needed = [name for name, one in known.items() if _is_needed(one)]
    if len(places) == 3 and (places[0] in needed or not needed):
        return {name: role for role, name in places.items()}
    others = [name for name in needed if guess and not is_known(name, needed)]
    first = {name: place for place, name in enumerate(others[:3])}
    if len(first) < 3 or needed[:3] != others[:3]:
        return {}
    # What follows another text is no value, unless its name says so.
    follows = _ANOTHER_TEXT.search(needed[1]) and _role(needed[2]) is None
    return {} if follows else first


def _role(name: str) -> int | None:
    """Say whether a name is of queries (0), of keys (1), of values (2) or of others."""
    if _NO_ROLES.search(name.lower()):
        return None
    words = set(name.lower().split("_"))
    return next((n for n, names in enumerate(_ROLES) if words & names), None)


def _inputs(known: Mapping[str, Parameter]) -> Iterator[dict[str, int]]:
    """Give the arguments that may be tokens: the first, or the first two."""
    needed = [name for name, one in known.items() if _is_needed(one)]
    unknown = [name for name in needed if not is_known(name, needed)]
    optional = [name for name, one in known.items() if one.kind in _BY_NAME]
    first = (unknown or needed or optional)[:1]
    both = dict.fromkeys(unknown[:2], 0)
    if len(both) == 2 and CONTEXT.search(unknown[1]):
        yield both
    yield dict.fromkeys(first, 0)
    if len(both) == 2 and not CONTEXT.search(unknown[1]):
        yield both


def _memories(
    target: Target, known: Mapping[str, Parameter]
) -> Iterator[tuple[str, str]]:
    """Give the arguments for tokens and for another text, of a layer of a decoder.

    It attends to its own tokens and to others. If these are handed over twice, what one
    attention does cannot be told from what the other does.
    """
    every = needed_arguments(target)
    needed = [name for name in every if not is_known(name, every)]
    if len(needed) == 2 and attends_twice(target):
        first, second = needed
        if not CONTEXT.search(first) or CONTEXT.search(second):
            yield first, second
        yield second, first


def attends_twice(target: Target) -> bool:
    """Ask whether a module has two layers of attention, none inside another."""
    found: list[str] = []
    for path, part in target.named_modules() if isinstance(target, nn.Module) else ():
        inside = any(path.startswith(f"{one}.") for one in found)
        has_parts = next(part.children(), None) is not None
        told = f"{path.rpartition('.')[2]} {type(part).__name__}"
        if path and _ATTENTION.search(told) and has_parts and not inside:
            found += [path] if not isinstance(part, nn.ModuleList) else []
    return len(found) > 1 or any(_is_called_twice(target, one) for one in found)


def _is_called_twice(target: Target, path: str) -> bool:
    """Ask whether a module calls a part of itself from two places of its code."""
    body = body_of(type(target).forward) if isinstance(target, nn.Module) else None
    calls = [
        ast.unparse(node.func)
        for node in (ast.walk(body) if body is not None else ())
        if isinstance(node, ast.Call)
    ]
    return calls.count(f"self.{path}") > 1


def _is_needed(parameter: Parameter) -> bool:
    kinds = (*_BY_NAME, Parameter.POSITIONAL_ONLY)
    return parameter.default is Parameter.empty and parameter.kind in kinds


@dataclass(frozen=True)
class FilledIn:
    """Call code with inputs, by place and by name, and fill in what else it needs."""

    places: Sequence[int]
    names: Mapping[str, int]
    filling: Filling
    told: Room
    time_first: bool = False
    tokens_first: bool = False
    layout: Layout | None = None

    @at_the_border
    def __call__(self, target: Target, *inputs: Tensor, **extra: Any) -> Any:
        """Call the code; what is said in `extra` is not filled in."""
        values = {}
        if self.filling.values:
            keys = inputs[min(1, len(inputs) - 1)]
            room = self._room(target, inputs[0])
            room = room._replace(S=self._sizes(keys)[1], time_first=self.time_first)
            made = self.filling.values.items()
            values = {name: make(room) for name, make in made if name not in extra}
        if self.layout is not None:
            inputs = tuple(map(self.layout.lay_out, inputs))
        named = {name: inputs[place] for name, place in self.names.items()}
        result = target(*(inputs[n] for n in self.places), **named, **values, **extra)
        return result if self.layout is None else self.layout.bring_back(result)

    def _room(self, target: Target, x: Tensor) -> Room:
        B, T = self._sizes(x)
        if x.ndim == 4:
            heads = x.shape[2 if self.tokens_first else 1]
            return self.told._replace(B=B, T=T, D=x.shape[3], heads=heads, like=x)
        D = intent.head_width(target) or max(x.shape[-1] // self.told.heads, 1)
        return self.told._replace(B=B, T=T, D=D, like=x)

    def _sizes(self, x: Tensor) -> tuple[int, int]:
        """Give the number of texts and that of tokens."""
        if x.ndim == 4:
            return len(x), x.shape[1 if self.tokens_first else 2]
        B, T = x.shape[:2] if x.ndim == 3 else (1, len(x))
        return (T, B) if self.time_first or self.tokens_first else (B, T)


def _filled(
    target: Target,
    known: Mapping[str, Parameter],
    inputs: Mapping[str, int],
    told: Room,
    *,
    unnamed: Sequence[int] = (0,),
    time_first: bool = False,
    further: Sequence[str] = (),
    layout: Layout | None = None,
    fill: Callable[[Sequence[str]], Iterator[Filling]] = fillings,
) -> Iterator[Call]:
    """Give calls with these inputs, and all else that is needed filled in by name.

    Args:
        target: The code.
        known: Its arguments.
        inputs: Which input each of them gets.
        told: What is known of the values to fill in.
        unnamed: The inputs of code whose arguments are not known.
        time_first: Whether tokens come before texts.
        further: Arguments to fill in that need not be given.
        layout: Where the code has the axes of tokens, if that is unusual.
        fill: Gives the ways to fill in arguments.
    """
    others = [
        name
        for name, one in known.items()
        if (_is_needed(one) or name in further) and name not in inputs
    ]
    first = [
        *itertools.takewhile(
            lambda n: n in inputs and known[n].kind is not Parameter.KEYWORD_ONLY, known
        )
    ]
    places = [inputs[name] for name in first] if inputs else unnamed
    names = {name: place for name, place in inputs.items() if name not in first}
    three = set(inputs.values() or unnamed) != {0}
    shown = ("query", "key", "value") if three else ("x",)
    if layout is not None:
        shown = (layout.given,)
    letter = "f" if three and not isinstance(target, nn.Module) else "m"
    for filling in fill(others):
        words = [shown[place] for place in places]
        for name in [n for n in known if n in names or n in others]:
            word = shown[names[name]] if name in names else filling.shown[name]
            kind, place = known[name].kind, [*known].index(name)
            by_place = kind is not Parameter.KEYWORD_ONLY and place == len(words)
            by_place = by_place and name in others and "=" not in "".join(words)
            words.append(word if by_place else f"{name}={word}")
        invoke = FilledIn(places, names, filling, told, time_first, layout=layout)
        text = f"{letter}({', '.join(words)}){layout.after if layout else ''}"
        yield Call(text, invoke, None, time_first, filling)


def _layouts(target: Target) -> Iterator[Call]:
    """Give ways to hand tokens to code that takes images, or all three in a list."""
    if not isinstance(target, nn.Module) or len(needed_arguments(target)) > 1:
        return
    if not any(isinstance(part, _OF_CHANNELS) for part in target.modules()):
        yield _laid_out("m(x.unsqueeze(2)).squeeze(2)")
        yield _laid_out("m([x, x, x])")
        yield _laid_out("m(x[:, :, None, None])[:, :, 0, 0]")
        for side in _OF_IMAGES:
            yield _laid_out(f"m(x.unflatten(1, ({side}, {side}))).flatten(1, 2)")
    else:
        yield _laid_out("m(x.mT).mT")
        yield _laid_out("m(x.mT.unsqueeze(3)).squeeze(3).mT")
        yield _laid_out("m(x.mT[..., None, None])[..., 0, 0].mT")
        for side in _OF_IMAGES:
            yield _laid_out(f"m(x.mT.unflatten(2, ({side}, {side}))).flatten(2).mT")
    yield _laid_out("torch.stack([m(one) for one in x])")


def pooled_calls(target: Target, **_: Any) -> Iterator[Call]:
    """Give calls of a module that makes one row of each text.

    It may have a query for it, such as the state of a decoder: then it gets a fixed
    one. What makes tokens of a text is not among them.
    """
    if not isinstance(target, nn.Module) or not has_weights(target):
        return
    needed = needed_arguments(target)
    if len(needed) < 2:
        yield from (_pooled(f"m(x){part}") for part in ("", "[0]"))
        return
    lengths = any(re.search(r"len(gth)?s?$", name) for name in needed[2:])
    rest = ", torch.full((len(x),), x.shape[1])" if lengths else ", None"
    rest *= len(needed) - 2
    for width, part in itertools.product(_rare_widths(target)[::-1][:3], ("", "[0]")):
        query = _QUERY.format(width)
        for one in (f"{query}[:, None]", query, f"{query}[None]"):
            yield _pooled(f"m({one}, x{rest}){part}")
            yield _pooled(f"m(x, {one}{rest}){part}")


def _pooled(text: str) -> Call:
    return replace(_laid_out(f"{text}{POOLED}"), must_convince=True)


def _of_named(target: Target) -> Iterator[Call]:
    """Give calls of code whose second argument tells how tokens have to be laid out."""
    _, second, *others = [*needed_arguments(target), "", ""]
    if not isinstance(target, nn.Module) or any(others):
        return
    if _FRAMES.search(second):
        each = "m(x.flatten(0, 1)[:, None], x.shape[1])"
        yield _laid_out(f"{each}.unflatten(0, x.shape[:2]).squeeze(2)")
    if second in ("edge_index", "edges"):
        every = "torch.ones(len(one), len(one)).nonzero().T"
        yield _laid_out(f"torch.stack([m(one, {every}) for one in x])")


def _of_other_widths(target: Target, known: Mapping[str, Parameter]) -> Iterator[Call]:
    """Give calls of code whose keys and values are made of tokens of other widths."""
    if not isinstance(target, nn.Module):
        return
    three, places = three_of(known), [*known]
    if len(three) == 3 and places[:3] == [*three]:
        widths = [getattr(target, name, None) for name in ("kdim", "vdim")]
        if all(isinstance(width, int) for width in widths):
            parts = [_as_wide(cast("int", width)) for width in widths]
            yield _laid_out(f"m(x, {parts[0]}, {parts[1]})")
        return
    if len(places) < 2 or not CONTEXT.search(places[1]):
        return
    layers = [part for part in target.modules() if isinstance(part, nn.Linear)]
    found = [layer.in_features for layer in layers[1:]]
    found += [
        part.kdim
        for part in target.modules()
        if isinstance(part, nn.MultiheadAttention)
    ]
    images = [layer for layer in target.modules() if isinstance(layer, nn.Conv2d)]
    for width in dict.fromkeys(found):
        yield _laid_out(f"m(x, {_as_wide(width)})")
        if images:
            other = _as_wide(width)
            yield _laid_out(f"m(x.mT.unsqueeze(3), {other}).squeeze(3).mT")


def _of_two_widths(target: nn.Module, known: Mapping[str, Parameter]) -> Iterator[Call]:
    """Give calls of code that takes two kinds of tokens, whatever they are called."""
    if needed_arguments(target) != [*known][:2]:
        return
    layers = [part for part in target.modules() if isinstance(part, nn.Linear)]
    for width in dict.fromkeys(layer.in_features for layer in layers):
        yield _laid_out(f"m(x, {_as_wide(width)})")


def _as_wide(width: int) -> str:
    """Write tokens of another width, made of the numbers of the usual ones."""
    return f"torch.cat([x] * {width}, -1)[..., :{width}]"


def _laid_out(text: str) -> Call:
    """Read a call, so that what is shown is what is done."""
    return Call(text, _from_option(text)[1])


def _of_three(
    call: Call, target: Target, num_heads: int | None, layout: str | None
) -> Iterator[Call]:
    """Try queries, keys and values with heads, without, and of one text alone."""
    known = key_width(target)
    told = _AXES_OF.get(layout or "")
    for axes, other in itertools.product((told,) if told else (4, 3, 2), (11, None)):
        heads = (num_heads or 2) if axes == 4 else 1
        width = 3 if heads == 5 else 5  # as many heads as numbers hide mistakes
        width = known or width
        given = replace(call, packing=Packing(heads, width, other or width, axes))
        if told:
            turned = layout in ("tokens first", "time first")
            yield given.with_tokens_first() if turned else given
            continue
        yield given
        if call.filling.doubts and axes > 2:  # what is filled in must know the order
            yield given.with_tokens_first()


def key_width(target: Target) -> int | None:
    """Find the width of a query that code without weights was built for, or `None`.

    What it divides scores by may tell it, as the root of the width.
    """
    if not isinstance(target, nn.Module):
        return None
    if width := intent.head_width(target):
        return width
    for name, power in (("temperature", 2), ("sqrt_dim", 2), ("scale", -2)):
        value = getattr(target, name, None)
        if isinstance(value, float) and value > 0:
            width = round(value**power)
            if width > 1 and math.isclose(width, value**power, rel_tol=1e-6):
                return width
    return None


def _from_option(option: CallOption) -> tuple[str, Callable[..., Any], bool]:
    """Make a function of what the reader wrote; say also whether it takes tokens."""
    if not isinstance(option, str):
        text = getattr(option, "__name__", "call")
        return text, option, len(arguments(option)) < 4
    try:
        code = compile(option.strip(), "<call>", "eval")
    except SyntaxError as error:
        raise CannotCheckError(
            f"call must be an expression; got call={option!r}."
        ) from error
    takes_tokens = "x" in code.co_names
    widened = _with_others(option)

    @at_the_border
    def invoke(m: Target, *inputs: Tensor, **others: Any) -> Any:
        names: dict[str, Any] = {"mask": None, OTHERS: others}
        if "mask" in code.co_names:
            names["mask"] = others.pop("mask", None)
        if takes_tokens:
            names |= dict.fromkeys("xyz", inputs[0])
        else:
            names |= zip(("q", "k", "v"), inputs, strict=True)
            names |= zip(("query", "key", "value"), inputs, strict=True)
        return call_with_names(widened if others else code, m, names)

    return option.strip(), invoke, takes_tokens


def _with_others(option: str) -> CodeType:
    """Let further arguments, such as a mask, go where the tokens go."""
    tree = ast.parse(option.strip(), mode="eval")
    for one in ast.walk(tree):
        if isinstance(one, ast.Call) and _is_of_code(one.func):
            one.keywords.append(ast.keyword(None, ast.Name(OTHERS, ast.Load())))
    return compile(ast.fix_missing_locations(tree), "<call>", "eval")


def _is_of_code(called: ast.expr) -> bool:
    """Ask whether the code itself is called, or something inside of it."""
    while isinstance(called, (ast.Attribute, ast.Subscript)):
        called = called.value
    return isinstance(called, ast.Name) and called.id in ("m", "f")


@at_the_border
def call_with_names(code: Any, target: Target | None, names: Mapping[str, Any]) -> Any:
    """Evaluate what the reader wrote.

    Args:
        code: The expression.
        target: What `m` and `f` stand for.
        names: What other names stand for.
    """
    known = {"m": target, "f": target, "torch": torch, **names}
    return eval(code, known)  # noqa: S307  # it is the reader's own expression


@at_the_border
def first_tensor(result: Any) -> Tensor:
    """Take the rows out of what code returns.

    Raises:
        TypeError: If no tensor is in it.
    """
    if isinstance(result, Tensor):
        return result
    parts = result.values() if isinstance(result, Mapping) else result
    if isinstance(parts, (list, tuple)) or isinstance(result, Mapping):
        found = [part for part in parts if isinstance(part, Tensor)]
        rows = [one for one in found if one.shape[-2:-1] != one.shape[-1:]]
        if isinstance(parts, list) and len({one.shape for one in found}) == 1:
            return found[-1]  # of one layer after the other
        if found:  # a square is a table of weights, if there are rows beside it
            return next((r for r in rows if r.ndim == found[0].ndim), found[0])
    raise TypeError(f"it returned {type(result).__name__}, not a tensor")
