"""Which masks a piece of code takes, and what `True` means in them."""

import inspect
import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

import torch
from torch import Tensor

from headway.checks.attention.evidence.batched_changes import (
    each_token_changed,
    moved_rows,
)
from headway.checks.attention.evidence.influence import pattern_name
from headway.checks.attention.evidence.mask_faults import fault
from headway.checks.attention.subject import Subject
from headway.checks.attention.subject.calls import CONTEXT, three_of
from headway.checks.attention.subject.fill_arguments import is_known
from headway.checks.core.errors import describe, suppress_theirs, theirs
from headway.checks.core.signature import SAYS_WHAT_IS_SEEN, arguments
from headway.checks.core.tolerance import (
    max_difference,
    same_order_tolerance,
    tolerance,
)

Meaning = Literal[
    "True may look", "True is hidden", "added to the scores", "tokens of each text"
]
_NAMES = (
    "attn_mask",
    "mask",
    "attention_mask",
    "key_padding_mask",
    "padding_mask",
    "key_mask",
    "pad_mask",
    "src_mask",
    "attn_bias",
    "attention_bias",
)
# Masks of the tokens of the text itself, by other names.
_OF_TOKENS = re.compile(
    r"((x|tokens?|valid|inputs?|seq(uence)?|self|slf|texts?|src|tgt|attn|attention"
    r"|(is_?|non_?)?pad(ding)?|key)_)*(masks?|keep|valid|visible|pad(ding)?)",
    re.IGNORECASE,
)
# What else may be one: of other tokens, or a switch. It counts only if it is obeyed.
_MAY_BE = re.compile(f"(?<!un)mask(?!ed)|{SAYS_WHAT_IS_SEEN.pattern}", re.IGNORECASE)
_OF_HEADS = re.compile(r"(^|_)heads?(_|$)", re.IGNORECASE)
# How many tokens of each text are real, and not some size of all texts at once.
_LENGTHS = re.compile(r"^(?!cu_|max_)(\w+_)?(lens|lengths)$")
_LENGTH = re.compile(r"len(gth)?$", re.IGNORECASE)
# How masks are made of a table of shape (B, T, S) that is true where a query may look.
_OF_PAIRS: dict[str, Callable[[Tensor], Tensor]] = {
    "(T, S)": lambda keep: keep[0],
    "(B, T, S)": lambda keep: keep,
    "(B, 1, T, S)": lambda keep: keep[:, None],
}
_OF_KEYS: dict[str, Callable[[Tensor], Tensor]] = {
    "(B, S)": lambda keep: keep[:, 0],
    "(B, 1, S)": lambda keep: keep[:, :1],
    "(B, 1, 1, S)": lambda keep: keep[:, None, :1],
}
_OF_LENGTHS: dict[str, Callable[[Tensor], Tensor]] = {
    "(B,)": lambda keep: keep[:, 0].sum(dim=-1),
}
_TYPES: dict[str, Callable[[Tensor, torch.dtype], Tensor]] = {
    "bool": lambda keep, dtype: keep,
    # Before those that are added: where (1 - mask) * -1e9 is, numbers that are to be
    # added work by accident.
    "int": lambda keep, dtype: keep.long(),
    # The lowest number, as most libraries add it: a row of -inf would be nan.
    "float": lambda keep, dtype: torch.zeros_like(keep, dtype=dtype).masked_fill(
        ~keep, torch.finfo(dtype).min
    ),
}


_LOW = {"too near", "after the softmax"}
_NO_TENSOR = re.compile(r"\b(str|Literal|bool)\b")
_TENSOR = re.compile(r"Tensor|Array|Any\b|Mask", re.IGNORECASE)


@dataclass(frozen=True)
class Mask:
    """One mask that a piece of code takes.

    Attributes:
        argument: The name of the argument.
        shape: Its axes.
        type: `bool`, `float` or `int`.
        meaning: What a `True` does; of `float`, that it is added; of lengths, what
            they count.
        instead: Whether it stands in for the mask of the future, which is then the
            caller's duty.
        dtype: The type of the tokens that it is taken with.
    """

    argument: str
    shape: str
    type: str
    meaning: Meaning = "True may look"
    instead: bool = False
    dtype: torch.dtype = torch.float64

    def __str__(self) -> str:
        """Name the argument and its axes."""
        return f"{self.argument} {self.shape}"

    @property
    def hides_keys(self) -> bool:
        """Whether it says the same to all queries of a text."""
        return self.shape not in _OF_PAIRS

    @property
    def of_lengths(self) -> bool:
        """Whether it says how many tokens of each text are real, the first ones."""
        return self.shape in _OF_LENGTHS

    @property
    def varies(self) -> bool:
        """Whether it may differ from text to text."""
        return "B" in self.shape

    def __call__(self, keep: Tensor, dtype: torch.dtype) -> dict[str, Any]:
        """Make the argument from what each query may see, a (B, T, S) table."""
        if self.instead:
            keep = keep.tril()
        if self.meaning == "True is hidden":
            keep = ~keep
        shaped = ({**_OF_PAIRS, **_OF_KEYS, **_OF_LENGTHS})[self.shape](keep)
        return {self.argument: _TYPES[self.type](shaped, dtype)}


@dataclass(frozen=True)
class Masks:
    """The masks that a piece of code takes.

    Attributes:
        arguments: The names of the arguments that may be masks.
        of_pairs: The mask that says which query may see which key.
        of_keys: The mask that hides keys from all queries.
        of_texts: A mask of pairs that may differ from text to text.
        disobeyed: Arguments that are taken and not obeyed, each with what happens.
        refused: Arguments of which every form was refused, each with its first error.
        words: Arguments that are words or flags by their annotation, which is given,
            and that do as good as nothing with a tensor.
        kept: Whether a call without a mask gets the mask of an earlier call.
        meanings: What True means in each argument that is obeyed.
    """

    arguments: tuple[str, ...]
    of_pairs: Mask | None
    of_keys: Mask | None
    of_texts: Mask | None
    disobeyed: Mapping[str, str]
    refused: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    kept: bool = False
    meanings: Mapping[str, Meaning] = field(default_factory=dict)

    @property
    def obeyed(self) -> list[Mask]:
        """The masks that are obeyed, one of each sort."""
        return [mask for mask in (self.of_pairs, self.of_keys) if mask is not None]

    @property
    def varying(self) -> list[Mask]:
        """The masks that are obeyed and may differ from text to text."""
        found = (self.of_texts, self.of_keys)
        return [mask for mask in found if mask is not None and mask.varies]


@dataclass(frozen=True)
class _Plain:
    """What code gives without a mask.

    Attributes:
        subject: The code.
        output: What it gives for its tokens.
        visible: Which row sees which token, (T, T).
        together: Whether texts can be put into one call.
    """

    subject: Subject
    output: Tensor
    visible: Tensor
    together: bool


def find_masks(subject: Subject, visible: Tensor, *, together: bool) -> Masks:
    """Try every mask that the code may take; in 32 bits if it takes none in 64.

    Args:
        subject: The code.
        visible: Which row sees which token without a mask, of shape (T, T).
        together: Whether texts can be put into one call.
    """
    names, others = _arguments(subject)
    if not names and not others:
        return Masks((), None, None, None, {})
    subject = subject.copy()  # a mask may be kept, and is to disturb no other call
    plain = _Plain(subject, subject(subject.tokens()), visible, together)
    tried = _Tried(plain)
    for argument in names:
        tried.try_forms_of(argument)
    for argument in others:
        tried.try_if_obeyed(argument)
    names += tuple(one for one in others if one in tried.meanings)
    again = [*tried.refused, *(one for one in names if tried.is_odd(one))]
    if again and subject.dtype == torch.float64:
        with suppress_theirs():  # it may know 64 bits alone
            narrow = subject.copy(torch.float32)
            output = narrow(narrow.tokens())
            tried.plain = _Plain(narrow, output, visible, together)
            for argument in again:
                tried.try_forms_of(argument)
    found = tried.found
    return Masks(
        names,
        found.get(False),
        found.get(True),
        tried.of_texts,
        tried.disobeyed,
        tried.refused,
        tried.words,
        _is_kept(plain),
        tried.meanings,
    )


def _is_kept(plain: _Plain) -> bool:
    """Ask whether a call without a mask gets something else after calls with one."""
    try:
        rows = plain.subject(plain.subject.tokens())
    except theirs():  # a mask that fitted another batch
        return True
    moved = max_difference(rows, plain.output, equal_nan=True)
    return moved > same_order_tolerance(plain.output)


@dataclass
class _Tried:
    """What came out of the forms that were tried."""

    plain: _Plain
    found: dict[bool, Mask] = field(default_factory=dict)
    of_texts: Mask | None = None
    disobeyed: dict[str, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)
    meanings: dict[str, Meaning] = field(default_factory=dict)

    def try_forms_of(self, argument: str) -> None:
        """Try the forms that the mask of this name may have, till one is obeyed."""
        effects: list[str] = []
        without: list[Mask] = []
        errors: list[str] = []
        for form in forms_of(argument, self.plain.subject.options.masks):
            form = replace(form, dtype=self.plain.subject.dtype)
            try:
                mask, effect = _try(self.plain, form)
            except theirs() as raised:  # it does not take such a mask
                errors.append(describe(raised))
                continue
            if mask is not None and form.type == "float" and _LOW & {*effects}:
                continue  # where (1 - mask) * -10 is, it hides by accident
            if mask is not None:
                self._keep(mask)
                return
            if form.of_lengths and (effect == "numbers" or effect.startswith("shows")):
                continue  # they may be for something else, such as positions
            effects += [effect] if effect else []
            without += [form] if effect == "nothing" else []
        if effects:
            self._keep_effect(argument, min(effects, key=_doubt), without)
        elif errors:
            self.refused.setdefault(argument, errors[0])

    def is_odd(self, argument: str) -> bool:
        """Ask whether nothing explains what a mask does, such as a kernel's misreading.

        PyTorch's misreads a mask of 32 bits beside numbers of 64.
        """
        return self.disobeyed.get(argument, "").startswith("shows what no")

    def _keep(self, mask: Mask) -> None:
        """Keep a mask that is obeyed, unless its form for keys hides queries."""
        self.refused.pop(mask.argument, None)
        self.disobeyed.pop(mask.argument, None)
        if not mask.hides_keys:
            with suppress_theirs():  # it takes no such form
                keys = replace(mask, shape="(B, S)")
                if _try(self.plain, keys) == (None, "rows"):
                    self.disobeyed[mask.argument] = "rows"
                    return
        self.found.setdefault(mask.hides_keys, mask)
        self.of_texts = self.of_texts or _for_texts(self.plain, mask)
        self.meanings[mask.argument] = mask.meaning

    def try_if_obeyed(self, argument: str) -> None:
        """Try what may be no mask of the tokens: if it is not obeyed, it is none."""
        self.try_forms_of(argument)
        if argument not in self.meanings:
            for told in (self.disobeyed, self.refused, self.words):
                told.pop(argument, None)

    def _keep_effect(self, argument: str, effect: str, without: Sequence[Mask]) -> None:
        """Keep what an argument does of which no form is obeyed."""
        subject = self.plain.subject
        if effect == "nothing" and _acts_in_training(subject, without):
            effect = "training"
        word = _annotated_as_word(subject, argument)
        if word and effect in ("nothing", "the switch"):
            self.words[argument] = word
        else:
            self.disobeyed[argument] = effect
        self.refused.pop(argument, None)


def _acts_in_training(subject: Subject, forms: Sequence[Mask]) -> bool:
    """Ask whether one of these, which change nothing in eval, does in training."""
    training, x = subject.in_training(dropout=0.0), subject.tokens()
    for form in forms:
        given = form(example_table(form, subject.B, subject.T).clone(), x.dtype)
        with suppress_theirs():  # it may not take it there
            if max_difference(training(x, **given), training(x)) > tolerance(x):
                return True
    return False


def _annotated_as_word(subject: Subject, argument: str) -> str:
    """Give the annotation of an argument if it is of a word or a flag, else nothing."""
    if subject.options.call is not None or subject.options.masks is not None:
        return ""
    parameter = arguments(subject.target).get(argument)
    if parameter is None or parameter.annotation is inspect.Parameter.empty:
        return ""
    written = parameter.annotation
    said = written if isinstance(written, str) else inspect.formatannotation(written)
    return said if _NO_TENSOR.search(said) and not _TENSOR.search(said) else ""


def _doubt(effect: str) -> int:
    """Say how little an effect tells: the form may be wrong, and not the mask."""
    if effect.startswith("shows") or effect == "the switch":
        return 2
    return {"near zero": 1, "counts": 1, "numbers": 3, "nothing": 4}.get(effect, 0)


def _arguments(subject: Subject) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """List the arguments that are masks of the tokens, and others that may be.

    They are as declared, or as their names tell.
    """
    declared = subject.options.masks
    if declared is not None:
        return () if isinstance(declared, str) else tuple(declared), ()
    option = subject.options.call
    if isinstance(option, str) and re.search(r"\bmask\b", option):
        return ("mask",), ()
    told = option is None or isinstance(option, str)
    code = subject.target if told else option
    assert callable(code)  # noqa: S101  # for the types alone
    known = arguments(code)
    if isinstance(option, str):
        taken = known if subject.call.packing is None else {}
        return tuple(n for n in _NAMES if n in taken and n not in option), ()
    if not known and subject.module is None:
        return ("attn_mask", "mask"), ()
    named = tuple(name for name in _NAMES if name in known)
    every = may_be_masks(known)
    of_tokens = [name for name in every if _OF_TOKENS.fullmatch(name)]
    masks = (*named, *(name for name in of_tokens if name not in named))
    lengths = () if masks else tuple(name for name in known if _LENGTHS.search(name))
    others = [name for name in every if name not in masks]
    return masks or lengths, (*others, *_without_a_role(subject, known, lengths))


def _without_a_role(
    subject: Subject, known: Mapping[str, inspect.Parameter], lengths: Sequence[str]
) -> list[str]:
    """List arguments that may be left out, or be `None`, and whose names say nothing.

    What they are is told by what they do.
    """
    filling = subject.call.filling
    given = {filling.memory, *three_of(known, guess=False), *lengths}
    return [
        name
        for name, one in known.items()
        if (one.default is None or name in filling.values)
        and one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
        and name not in given
        and not is_known(name, known)
        and (_LENGTH.search(name) or not CONTEXT.search(name))
    ]


def may_be_masks(known: Mapping[str, inspect.Parameter]) -> list[str]:
    """List the arguments that are masks by their names, of whatever tokens."""
    return [
        name
        for name, one in known.items()
        if _MAY_BE.search(name)
        and not _OF_HEADS.search(name)
        and one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
        and not isinstance(one.default, bool | str | int | float)
    ]


def forms_of(argument: str, declared: Mapping[str, str] | str | None) -> Sequence[Mask]:
    """List the forms that a mask may have, those of what is declared first."""
    lengths = [
        Mask(argument, shape, "int", "tokens of each text") for shape in _OF_LENGTHS
    ]
    shapes = [*_OF_PAIRS, *_OF_KEYS]
    if "key" in argument or "pad" in argument:
        shapes = [*_OF_KEYS, *_OF_PAIRS]
    usual = [
        Mask(argument, shape, type_)
        for type_, shape in itertools.product(_TYPES, shapes)
    ]
    if isinstance(declared, Mapping):
        told = declared[argument]
        return sorted([*usual, *lengths], key=lambda form: not _may_mean(form, told))
    if _LENGTHS.search(argument):
        return lengths
    if not _MAY_BE.search(argument) and argument not in _NAMES:
        # What is added may be a bias, and no mask.
        return [*(form for form in usual if form.type != "float"), *lengths]
    return usual


def _may_mean(form: Mask, told: str) -> bool:
    if form.of_lengths or told == "tokens of each text":
        return form.meaning == told
    return (form.type == "float") == (told == "added to the scores")


def _for_texts(plain: _Plain, mask: Mask) -> Mask | None:
    """Find a form of the same mask of pairs that may differ from text to text."""
    for shape in _OF_PAIRS if mask.shape in _OF_PAIRS else ():
        wider = replace(mask, shape=shape)
        if wider.varies:
            with suppress_theirs():  # it does not take such a mask
                if _try(plain, wider)[0] == wider and _of_any_number(plain, wider):
                    return wider
    return None


def _of_any_number(plain: _Plain, mask: Mask) -> bool:
    """Ask whether a mask is for texts; it may be for heads that are as many."""
    T = plain.subject.T
    several = plain.subject.B + 2
    keep = example_table(mask, several, T).clone().to(plain.output.device)
    x = plain.subject.tokens(several)
    return plain.subject(x, **mask(keep, x.dtype)).shape[0] == several


def example_table(mask: Mask, B: int, T: int, number: int = 1) -> Tensor:
    """Make a table of who may see whom that looks like no other: no row, no column.

    Args:
        mask: The mask that it is for.
        B: Number of texts, which all get the same.
        T: Number of tokens.
        number: Which table, 0, 1 or 2; none hides all that another one hides, but
            where lengths must hide the last tokens.
    """
    t, s = torch.arange(T)[:, None], torch.arange(T)
    keep = (s % 3 != number).expand(T, T)
    if mask.of_lengths:
        keep = (s < max(T - 1 - number, 1)).expand(T, T)
    elif not mask.hides_keys:
        keep = ((t + 2 * s) % 3 != number) | (t == s)
    return keep.expand(B, T, T)


def _try(plain: _Plain, form: Mask) -> tuple[Mask | None, str]:
    """Try one form: give the mask if it is obeyed, else what it does, in a word.

    The word is empty if nothing can be said of it: all is nan, or has another shape.
    """
    subject = plain.subject
    x = subject.tokens()
    table = example_table(form, subject.B, subject.T)

    def call(y: Tensor) -> Tensor:
        return subject(y, **form(table[:1].expand(len(y), -1, -1).clone(), y.dtype))

    output = call(x)
    if not output.isfinite().any() or output.shape != plain.output.shape:
        return None, ""
    limit = same_order_tolerance(output)
    if max_difference(output, plain.output, equal_nan=True) <= limit:
        return None, "nothing"
    versions = each_token_changed(x)
    moved = moved_rows(call, x, versions, together=plain.together)
    seen = (moved > limit).any(dim=1).mT.cpu()
    if mask := _obeyed(plain, form, seen):
        return mask, ""
    return None, _effect(plain, form, seen, output)


def _obeyed(plain: _Plain, form: Mask, seen: Tensor) -> Mask | None:
    """Say what a mask means, from who is seen with it: one that is obeyed at all."""
    keep = example_table(form, 1, plain.subject.T)[0]
    dead = torch.zeros(len(seen), dtype=torch.bool)
    if form.hides_keys:
        dead = ~seen.any(dim=1)
    meanings: dict[Meaning, Tensor] = {"True may look": keep, "True is hidden": ~keep}
    if form.type == "float":
        meanings = {"added to the scores": keep}
    if form.of_lengths:
        meanings = {"tokens of each text": keep}
    for meaning, shown in meanings.items():
        mask = replace(form, meaning=meaning)
        padding = ~shown.diagonal()
        mean_of_all = form.hides_keys and bool(seen[padding].all())
        rows = padding if mean_of_all else dead & padding
        if _agree(seen, plain.visible & shown, rows):
            return mask
    for meaning, shown in meanings.items() if not form.hides_keys else ():
        if _agree(seen, shown, dead):
            return replace(form, meaning=meaning, instead=True)
    return None


def _effect(plain: _Plain, form: Mask, seen: Tensor, output: Tensor) -> str:
    """Say in a word what a mask does that is not obeyed."""
    visible, subject = plain.visible, plain.subject
    dead = torch.zeros(len(seen), dtype=torch.bool)
    keep = example_table(form, 1, subject.T)[0]
    tables = {"either": visible | keep, "either, reversed": visible | ~keep}
    if form.hides_keys and _hides_rows(seen, visible, keep[0], output):
        return "rows"
    if form.hides_keys:
        tables |= {"the future": keep, "the future, reversed": ~keep}
    else:
        tables |= {"transposed": keep.mT, "transposed, reversed": ~keep.mT}
        tables |= {f"{name} ": table & visible for name, table in tables.items()}
    near = [
        name.partition(",")[0].strip()
        for name, table in tables.items()
        if not torch.equal(table, visible) and _agree(seen, table, dead)
    ]

    def masked(y: Tensor, keep: Tensor = keep) -> Tensor:
        table = keep.expand(len(y), -1, -1).clone()
        return subject(y, **form(table.to(y.device), y.dtype))

    same = _agree(seen, visible, dead)
    if same and max_difference(output, plain.output, equal_nan=True) <= tolerance(
        output
    ):
        return "nothing"
    if same or near[:1] == ["either"]:
        x = subject.tokens()
        tables_of_others = [example_table(form, 1, subject.T, n)[0] for n in (0, 2)]
        others: dict[Callable[[Tensor], Tensor], Tensor] = {
            partial(masked, keep=one): one for one in tables_of_others
        }
        if found := fault(
            masked, subject, x, visible, keep, either=not same, others=others
        ):
            return found
    if same:
        return "numbers"
    if near:
        return near[0]
    if pattern_name(seen) == "itself and the past" and _is_switch(plain, form, output):
        return "the switch"
    return f"shows {pattern_name(seen) or 'what no meaning of True explains'}"


def _is_switch(plain: _Plain, form: Mask, output: Tensor) -> bool:
    """Ask whether all masks do the same, one that hides nothing as well."""
    x = plain.subject.tokens()
    shown = example_table(form, plain.subject.B, plain.subject.T) | True
    rows = plain.subject(x, **form(shown.to(x.device), x.dtype))
    return max_difference(rows, output, equal_nan=True) <= tolerance(output)


def _hides_rows(seen: Tensor, visible: Tensor, keep: Tensor, output: Tensor) -> bool:
    """Ask whether a mask of keys hides queries: their rows are equal, or see nothing.

    A row moves with its own token whatever it sees.
    """
    others = ~torch.eye(len(seen), dtype=torch.bool)
    for kept in (keep, ~keep):
        rest = seen[~kept]
        if not torch.equal((seen & others)[kept], (visible & others)[kept]):
            continue
        if not bool((seen & others)[~kept].any()):
            return True
        hidden = output[:, (~kept).to(output.device)]
        alike = max_difference(hidden, hidden[:, :1].expand_as(hidden), equal_nan=True)
        beyond = bool((rest & ~visible[~kept]).any())
        every = bool((rest | ~others[~kept]).all())
        if every and (beyond or alike <= tolerance(output)):
            return True
    return False


def _agree(seen: Tensor, expected: Tensor, dead: Tensor) -> bool:
    """Compare two tables where a row sees others, and sees any at all.

    A row always moves with its own token, which makes its query, unless the mask hides
    the token and the code gives nothing for it, or the mean of all: these rows are
    dead.
    """
    others = ~torch.eye(len(seen), dtype=torch.bool)
    rows = (expected & others).any(dim=1) & ~dead
    return torch.equal((seen & others)[rows], (expected & others)[rows])
