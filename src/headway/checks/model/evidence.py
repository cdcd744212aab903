"""What is known of a model before its properties are asked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from headway.checks.model.caches import Protocol, find_protocol
from headway.checks.model.masks import Masking, find_mask
from headway.checks.model.subject import Subject
from headway.checks.model.tolerance import logits_tolerance
from headway.checks.tolerance import noise

_FEW = 3


@dataclass(frozen=True)
class Evidence:
    """What is known of a model, found when it is first asked for.

    Attributes:
        subject: The model.
    """

    subject: Subject

    @cached_property
    def ids(self) -> Tensor:
        """Token ids of shape (B, T)."""
        return self.subject.ids()

    @cached_property
    def logits(self) -> Tensor:
        """The logits of these ids."""
        return self.subject(self.ids)

    @property
    def finite(self) -> bool:
        """Whether all logits are numbers."""
        return bool(self.logits.isfinite().all())

    @property
    def noise(self) -> float:
        """How far rounding may move logits, if they are computed in the same order."""
        return noise(self.logits)

    @property
    def tolerance(self) -> float:
        """How far apart logits may be that are equal but for rounding."""
        return logits_tolerance(self.logits)

    @cached_property
    def influence(self) -> Tensor:
        """How far the logits at t move with the token at s alone, (s, t)."""
        return influence(self.subject, self.ids[:1], self.subject)

    @cached_property
    def ahead(self) -> Tensor:
        """How far logits move when all tokens from a cut on change, (cut, t)."""
        return moves(self.subject, self.ids[:1], range(1, self.subject.T))

    @property
    def leaks(self) -> bool:
        """Whether logits see later tokens."""
        return self.subject.causal and self.far_ahead > 0.0

    @cached_property
    def far_ahead(self) -> float:
        """How far logits move when later tokens change; 0 if rounding explains it."""
        worst = float(self.ahead.max())
        if worst <= self.noise:
            return 0.0
        # Other texts of a batch are another matter.
        ids, cuts = self.ids[:1], range(1, self.subject.T)
        return max(float(moves(self.subject, ids, [cut]).max()) for cut in cuts)

    @cached_property
    def masking(self) -> Masking:
        """The form of mask that is obeyed, and why there is none."""
        return find_mask(self.subject)

    @cached_property
    def protocol(self) -> tuple[Protocol | None, str]:
        """How a cache is used, and why that is not known."""
        return find_protocol(self.subject)


def distances(one: Tensor, other: Tensor) -> Tensor:
    """Give for each token how far apart two logits are; infinity if one is not finite.

    Numbers that are not finite in both are not compared.
    """
    both = ~one.isfinite() & ~other.isfinite()
    apart = (one.double() - other.double()).abs().nan_to_num(torch.inf, torch.inf)
    return apart.masked_fill(both, 0.0).amax(dim=-1)


def moves(subject: Subject, ids: Tensor, cuts: Sequence[int]) -> Tensor:
    """Change all tokens from a cut on: how far do the logits before it move?

    Returns:
        One row for each cut, and a number for each token; zero from the cut on.
    """
    texts = ids.repeat(len(cuts), 1)
    later = torch.arange(ids.shape[-1]) >= torch.tensor([*cuts]).unsqueeze(-1)
    later = later.to(ids.device)
    changed = torch.where(later, subject.other(texts), texts)
    return _compare(subject, changed, texts).masked_fill(later, 0.0)


def _compare(
    read: Callable[[Tensor], Tensor], changed: Tensor, texts: Tensor
) -> Tensor:
    """Compare the logits of changed texts with those of one text, repeated.

    They are read a few at a time: some models have room for no more. What is dropped
    depends on how many these are, and so does the text that they are compared with.
    """
    parts = changed.split(_FEW)
    before = {n: read(texts[:n]) for n in {len(one) for one in parts}}
    return torch.cat([distances(read(one), before[len(one)]) for one in parts])


def influence(
    subject: Subject, ids: Tensor, read: Callable[[Tensor], Tensor]
) -> Tensor:
    """Change one token at a time: how far do the logits at t move with that at s?

    Args:
        subject: The model.
        ids: One text.
        read: Gives the logits of texts.
    """
    T = ids.shape[-1]
    texts = ids.repeat(T, 1)
    one = torch.eye(T, dtype=torch.bool, device=ids.device)
    changed = torch.where(one, subject.other(texts), texts)
    return _compare(read, changed, texts)
