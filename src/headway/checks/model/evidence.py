"""What is known of a model before its properties are asked."""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from headway.checks.model.caches import Protocol, find_protocol
from headway.checks.model.masks import Mask, find_mask
from headway.checks.model.subject import Subject
from headway.checks.tolerance import largest, noise


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
        # Some parts compute in 32 bits whatever they are given.
        wide = self.subject.dtype == torch.float64
        return (1e-5 if wide else 1e-4) * largest(self.logits)

    @cached_property
    def influence(self) -> Tensor:
        """How far the logits at t move with the token at s alone, (s, t)."""
        ids = self.ids[:1]
        T = ids.shape[-1]
        changed = ids.repeat(T, 1)
        places = torch.arange(T)
        changed[places, places] = self.subject.other(ids)[0]
        before = self.subject(ids.repeat(T, 1))
        return distances(self.subject(changed), before)

    @cached_property
    def mask(self) -> tuple[Mask | None, str]:
        """The form of mask that is obeyed, and why there is none."""
        return find_mask(self.subject, self.tolerance)

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
