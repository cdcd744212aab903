"""Find out which masks a piece of code takes, and what True means in them."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from headway.checks.masking import KEYS, KINDS, PAIRS, Mask, Meaning
from headway.checks.names import arguments
from headway.checks.outcomes import error, largest
from headway.checks.seeing import influence, pattern, visible
from headway.checks.subject import Subject

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


@dataclass(frozen=True)
class Found:
    """What became of the search.

    Attributes:
        pair: The mask that says which query may see which key.
        key: The mask that hides keys from all queries.
        texts: A mask of pairs that may differ from text to text.
        wrong: Arguments that are taken and not obeyed, each with what happens.
    """

    pair: Mask | None
    key: Mask | None
    texts: Mask | None
    wrong: dict[str, str]

    @property
    def masks(self) -> list[Mask]:
        """The masks that are obeyed."""
        return [mask for mask in (self.pair, self.key) if mask is not None]


def find_masks(subject: Subject, base: Tensor, noise: float) -> Found:
    """Try every mask that the code may take.

    Args:
        subject: The code.
        base: Which row sees which token without a mask, of shape (T, T).
        noise: How far a row may move by rounding.
    """
    found: dict[bool, Mask] = {}
    texts: Mask | None = None
    wrong: dict[str, str] = {}
    for argument in candidates(subject):
        outcomes = []
        for mask in _forms(argument):
            outcome = _try(subject, mask, base, noise)
            if outcome in ("keep", "hide"):
                meaning: Meaning = _meaning(mask, outcome)
                mask = replace(mask, meaning=meaning)
                found.setdefault(mask.of_keys, mask)
                texts = texts or _for_texts(subject, mask, base, noise)
                break
            outcomes.append(outcome)
        else:
            told = [one for one in outcomes if one is not None]
            if told:
                wrong[argument] = next(
                    (one for one in told if one != "nothing"), told[0]
                )
    return Found(found.get(False), found.get(True), texts, wrong)


def _for_texts(subject: Subject, mask: Mask, base: Tensor, noise: float) -> Mask | None:
    """Find a form of the same mask of pairs that may differ from text to text."""
    for shape in PAIRS if mask.shape in PAIRS else ():
        wider = replace(mask, shape=shape)
        if wider.of_texts and _try(subject, wider, base, noise) == "keep":
            return wider
    return None


def candidates(subject: Subject) -> list[str]:
    """List the names of arguments that may be masks."""
    if isinstance(subject.told.call, str):
        return ["mask"] if "mask" in subject.told.call else []
    signature = arguments(
        subject.told.call if callable(subject.told.call) else subject.target
    )
    if not signature and subject.module is None:
        return ["attn_mask", "mask"]
    return [name for name in _NAMES if name in signature]


def _forms(argument: str) -> Iterator[Mask]:
    shapes = [*PAIRS, *KEYS]
    if "key" in argument or "pad" in argument:
        shapes = [*KEYS, *PAIRS]
    for kind, shape in itertools.product(KINDS, shapes):
        yield Mask(argument, shape, kind)


def _meaning(mask: Mask, outcome: str) -> Meaning:
    if mask.kind == "float":
        return "added to the scores"
    return "True may look" if outcome == "keep" else "True is hidden"


def example(mask: Mask, B: int, T: int) -> Tensor:
    """Make a table of who may see whom that looks like no other: no row, no column."""
    t, s = torch.arange(T)[:, None], torch.arange(T)
    keep = (
        (s % 3 != 1).expand(T, T) if mask.of_keys else ((t + 2 * s) % 3 != 1) | (t == s)
    )
    return keep.expand(B, T, T)


def _alike(seen: Tensor, want: Tensor, dead: Tensor) -> bool:
    """Compare two tables where a row sees others, and sees any at all.

    A row always moves with its own token, which makes its query, unless the mask hides
    the token and the code gives nothing for it: these rows are dead.
    """
    others = ~torch.eye(len(seen), dtype=torch.bool)
    rows = (want & others).any(dim=1) & ~dead
    return torch.equal((seen & others)[rows], (want & others)[rows])


def _try(subject: Subject, mask: Mask, base: Tensor, noise: float) -> str | None:
    """Say what a mask does: keep, hide, nothing, or words; `None`: it is not taken."""
    x = subject.tokens()
    keep = example(mask, subject.B, subject.T)

    def ask(y: Tensor) -> Tensor:
        return subject(y, **mask(keep.clone().to(y.device), y.dtype))

    try:
        before = ask(x)
        seen = visible(influence(ask, x), noise)
    except Exception:  # it does not take such a mask
        return None
    keep = keep[0]
    if not before.isfinite().any() or before.shape != subject(x).shape:
        return None
    dead = (
        ~seen.any(dim=1) if mask.of_keys else torch.zeros(len(seen), dtype=torch.bool)
    )
    if _alike(seen, base & keep, dead & ~keep.diagonal()):
        return "keep"
    if _alike(seen, base & ~keep, dead & keep.diagonal()) and mask.kind != "float":
        return "hide"
    if _alike(seen, base, dead & False):
        apart = error(before, subject(x)) > 1e-5 * largest(before)
        return "numbers" if apart else "nothing"
    return f"shows {pattern(seen) or 'what no meaning of True explains'}"
