"""Which masks a piece of code takes, and what `True` means in them."""

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from torch import Tensor

from headway.checks.evidence.influence import influence, pattern_name, visible_tokens
from headway.checks.subject import Subject
from headway.checks.subject.signature import arguments
from headway.checks.tolerance import max_difference, tolerance

Meaning = Literal["True may look", "True is hidden", "added to the scores"]
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
_TYPES: dict[str, Callable[[Tensor, torch.dtype], Tensor]] = {
    "bool": lambda keep, dtype: keep,
    # The lowest number, as most libraries add it: a row of -inf would be nan.
    "float": lambda keep, dtype: torch.zeros_like(keep, dtype=dtype).masked_fill(
        ~keep, torch.finfo(dtype).min
    ),
    "int": lambda keep, dtype: keep.long(),
}


@dataclass(frozen=True)
class Mask:
    """One mask that a piece of code takes.

    Attributes:
        argument: The name of the argument.
        shape: Its axes.
        type: `bool`, `float` or `int`.
        meaning: What a `True` does; of `float`, that it is added.
    """

    argument: str
    shape: str
    type: str
    meaning: Meaning = "True may look"

    def __str__(self) -> str:
        """Name the argument and its axes."""
        return f"{self.argument} {self.shape}"

    @property
    def hides_keys(self) -> bool:
        """Whether it says the same to all queries of a text."""
        return self.shape in _OF_KEYS

    @property
    def varies(self) -> bool:
        """Whether it may differ from text to text."""
        return "B" in self.shape

    def __call__(self, keep: Tensor, dtype: torch.dtype) -> dict[str, Any]:
        """Make the argument from what each query may see, a (B, T, S) table."""
        if self.meaning == "True is hidden":
            keep = ~keep
        shaped = ({**_OF_PAIRS, **_OF_KEYS})[self.shape](keep)
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
    """

    arguments: tuple[str, ...]
    of_pairs: Mask | None
    of_keys: Mask | None
    of_texts: Mask | None
    disobeyed: Mapping[str, str]

    @property
    def obeyed(self) -> list[Mask]:
        """The masks that are obeyed, one of each sort."""
        return [mask for mask in (self.of_pairs, self.of_keys) if mask is not None]


def find_masks(subject: Subject, visible: Tensor, noise: float) -> Masks:
    """Try every mask that the code may take.

    Args:
        subject: The code.
        visible: Which row sees which token without a mask, of shape (T, T).
        noise: How far a row may move by rounding.
    """
    found: dict[bool, Mask] = {}
    of_texts: Mask | None = None
    disobeyed: dict[str, str] = {}
    names = _arguments(subject)
    for argument in names:
        effects: list[str] = []
        for mask in _forms(argument):
            effect = _effect(subject, mask, visible, noise)
            if effect in ("keep", "hide"):
                mask = replace(mask, meaning=_meaning(mask, effect))
                found.setdefault(mask.hides_keys, mask)
                of_texts = of_texts or _for_texts(subject, mask, visible, noise)
                break
            if effect is not None:
                effects.append(effect)
        else:
            if effects:
                effective = (one for one in effects if one != "nothing")
                disobeyed[argument] = next(effective, effects[0])
    return Masks(names, found.get(False), found.get(True), of_texts, disobeyed)


def _arguments(subject: Subject) -> tuple[str, ...]:
    """List the names of arguments that may be masks."""
    option = subject.options.call
    if isinstance(option, str):
        return ("mask",) if "mask" in option else ()
    known = arguments(subject.target if option is None else option)
    if not known and subject.module is None:
        return ("attn_mask", "mask")
    return tuple(name for name in _NAMES if name in known)


def _forms(argument: str) -> Iterator[Mask]:
    shapes = [*_OF_PAIRS, *_OF_KEYS]
    if "key" in argument or "pad" in argument:
        shapes = [*_OF_KEYS, *_OF_PAIRS]
    for type_, shape in itertools.product(_TYPES, shapes):
        yield Mask(argument, shape, type_)


def _meaning(mask: Mask, effect: str) -> Meaning:
    if mask.type == "float":
        return "added to the scores"
    return "True may look" if effect == "keep" else "True is hidden"


def _for_texts(
    subject: Subject, mask: Mask, visible: Tensor, noise: float
) -> Mask | None:
    """Find a form of the same mask of pairs that may differ from text to text."""
    for shape in _OF_PAIRS if mask.shape in _OF_PAIRS else ():
        wider = replace(mask, shape=shape)
        if wider.varies and _effect(subject, wider, visible, noise) == "keep":
            return wider
    return None


def example_table(mask: Mask, B: int, T: int) -> Tensor:
    """Make a table of who may see whom that looks like no other: no row, no column."""
    t, s = torch.arange(T)[:, None], torch.arange(T)
    keep = (s % 3 != 1).expand(T, T)
    if not mask.hides_keys:
        keep = ((t + 2 * s) % 3 != 1) | (t == s)
    return keep.expand(B, T, T)


def _effect(subject: Subject, mask: Mask, visible: Tensor, noise: float) -> str | None:
    """Say what a mask does: keep, hide, nothing, or words; `None`: it is not taken."""
    x = subject.tokens()
    table = example_table(mask, subject.B, subject.T)

    def call(y: Tensor) -> Tensor:
        return subject(y, **mask(table.clone().to(y.device), y.dtype))

    try:
        output = call(x)
        seen = visible_tokens(influence(call, x), noise)
    except Exception:  # it does not take such a mask
        return None
    if not output.isfinite().any() or output.shape != subject(x).shape:
        return None
    keep = table[0]
    dead = torch.zeros(len(seen), dtype=torch.bool)
    if mask.hides_keys:
        dead = ~seen.any(dim=1)
    if _agree(seen, visible & keep, dead & ~keep.diagonal()):
        return "keep"
    if _agree(seen, visible & ~keep, dead & keep.diagonal()) and mask.type != "float":
        return "hide"
    if _agree(seen, visible, dead & False):
        unmasked = subject(x)
        changed = max_difference(output, unmasked) > tolerance(output)
        return "numbers" if changed else "nothing"
    return f"shows {pattern_name(seen) or 'what no meaning of True explains'}"


def _agree(seen: Tensor, expected: Tensor, dead: Tensor) -> bool:
    """Compare two tables where a row sees others, and sees any at all.

    A row always moves with its own token, which makes its query, unless the mask hides
    the token and the code gives nothing for it: these rows are dead.
    """
    others = ~torch.eye(len(seen), dtype=torch.bool)
    rows = (expected & others).any(dim=1) & ~dead
    return torch.equal((seen & others)[rows], (expected & others)[rows])
