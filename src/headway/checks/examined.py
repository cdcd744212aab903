"""What all properties need to know about a subject, found out once."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from headway.checks import projections, vocabulary
from headway.checks.mask_search import Found, find_masks
from headway.checks.outcomes import Outcome, largest, noise
from headway.checks.projections import Projections
from headway.checks.repeats import leaves_nothing, randomness
from headway.checks.seeing import influence, pattern, visible, window
from headway.checks.subject import Subject


class Repeats(NamedTuple):
    """What happens when code is called again, and whether chance remains in it."""

    state: Outcome
    chance: Outcome
    random: bool


@dataclass(frozen=True)
class Examined:
    """A subject, and what a first look at it showed.

    Attributes:
        subject: The code.
        x: Some tokens.
        rows: What it answers to them, in eval.
        moved: How far each row moves when a token is changed.
        seen: Which row sees which token.
        intent: How it is known whether the future is to be hidden.
        masks: The masks that it takes.
        weights: What its weights may be, the likeliest first.
        repeats: What happens when it is called again.
    """

    subject: Subject
    x: Tensor
    rows: Tensor
    moved: Tensor
    seen: Tensor
    intent: str
    masks: Found
    weights: list[Projections]
    repeats: Repeats

    @property
    def causal(self) -> bool:
        """Whether the future is to be hidden."""
        return self.subject.causal

    @property
    def allowed(self) -> Tensor:
        """Which row is to see which token."""
        full = torch.ones_like(self.seen)
        return full.tril() if self.causal else full

    @property
    def window(self) -> int | None:
        """How many tokens each row sees, if it forgets the others on purpose."""
        return window(self.seen) if vocabulary.has_window(self.subject.target) else None

    @property
    def scale(self) -> float:
        """The largest number of the answer."""
        return largest(self.rows)

    @property
    def noise(self) -> float:
        """How far a row may move where nothing may move it."""
        return noise(self.rows)

    @property
    def tolerance(self) -> float:
        """How far apart two answers may be that are equal but for rounding."""
        return 1e-5 * self.scale


def examine(subject: Subject) -> Examined:
    """Take the first look, so that one mistake does not hide the others.

    What keeps something is asked in fresh copies from then on, and what drops in eval
    is asked with a rate of zero.
    """
    state = leaves_nothing(subject)
    subject.fresh = state.verdict == "failed"
    chance = _chance(subject)
    if chance.verdict == "failed":
        subject.set_rates(0.0)
    random = randomness(subject).verdict == "failed"
    x = subject.tokens()
    with torch.no_grad():
        rows = subject(x)
        moved = influence(subject, x)
        seen = visible(moved, noise(rows))
        subject.causal, intent = _intent(subject, seen)
        subject.positions = vocabulary.has_positions(subject.target)
        masks = find_masks(subject, seen, noise(rows))
    weights = projections.find(subject)
    repeats = Repeats(state, chance, random)
    return Examined(subject, x, rows, moved, seen, intent, masks, weights, repeats)


def _chance(subject: Subject) -> Outcome:
    """Ask a module with a rate of dropout, even if it was built without one."""
    if subject.module is None:
        return randomness(subject)
    with subject.rates(0.5):
        return randomness(subject)


def _intent(subject: Subject, seen: Tensor) -> tuple[bool, str]:
    """Decide whether the future is to be hidden: told, named, or as it behaves."""
    if subject.told.causal is not None:
        return subject.told.causal, "told"
    named = vocabulary.is_causal(subject.target)
    if named is not None:
        return named, "as its names say"
    past = "the past" in pattern(seen) or "the future" in pattern(seen)
    if past or window(seen) is not None:
        return True, "as it behaves"
    return False, "as it behaves; say causal=True if that is wrong"
