"""What is known of a model before its properties are asked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from headway.checks.core.errors import at_the_border
from headway.checks.core.tolerance import same_order_tolerance
from headway.checks.model.logits_tolerance import logits_tolerance
from headway.checks.model.model_caches import ProtocolSearch, find_protocol
from headway.checks.model.model_subject import ModelSubject
from headway.checks.model.padding_masks import Masking, find_mask
from headway.checks.model.source_padding import SourceCall, source_call

_FEW = 3


@dataclass(frozen=True)
class ModelEvidence:
    """What is known of a model, found when it is first asked for.

    Attributes:
        subject: The model.
    """

    subject: ModelSubject

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
    def same_order_tolerance(self) -> float:
        """How far rounding may move logits, if they are computed in the same order."""
        return same_order_tolerance(self.logits)

    @property
    def tolerance(self) -> float:
        """How far apart logits may be that are equal but for rounding."""
        return logits_tolerance(self.logits)

    @cached_property
    def influence(self) -> Tensor:
        """How far the logits at t move with the token at s alone, (s, t)."""
        company = _company(self.subject, self.subject.T) if self.mixed else None
        return influence(self.subject, self.ids[:1], self.subject, company)

    @cached_property
    def between(self) -> float:
        """How far the logits of a text move with another text of its batch."""
        return between(self.subject, self.ids)

    @property
    def mixed(self) -> bool:
        """Whether texts of a batch move each other."""
        return self.between > self.same_order_tolerance

    @cached_property
    def ahead(self) -> Tensor:
        """How far logits move when all tokens from a cut on change, (cut, t)."""
        return moves(self.subject, self.ids[:1], range(1, self.subject.T))

    @property
    def leaks(self) -> bool:
        """Whether logits see later tokens."""
        return self.subject.causal and self.far_ahead > 0.0

    @property
    def far_ahead(self) -> float:
        """How far logits move when later tokens change; 0 if rounding explains it."""
        worst = float(self.ahead.max())
        return worst if worst > self.same_order_tolerance else 0.0

    @cached_property
    def masking(self) -> Masking:
        """The form of mask that is obeyed, and why there is none."""
        return find_mask(self.subject)

    @cached_property
    def source(self) -> SourceCall | None:
        """The call with a source of its own; `None` if the model reads none."""
        return source_call(self.subject)

    @cached_property
    def protocol(self) -> ProtocolSearch:
        """How a cache is used, and why that is not known."""
        return find_protocol(self.subject)


@at_the_border
def distances(first: Tensor, second: Tensor) -> Tensor:
    """Give for each token how far apart two logits are; infinity if one is not finite.

    Numbers that are not finite in both are not compared.
    """
    both = ~first.isfinite() & ~second.isfinite()
    apart = (first.double() - second.double()).abs().nan_to_num(torch.inf, torch.inf)
    return apart.masked_fill(both, 0.0).amax(dim=-1)


def moves(subject: ModelSubject, ids: Tensor, cuts: Sequence[int]) -> Tensor:
    """Change all tokens from a cut on: how far do the logits before it move?

    Texts of a batch that move each other are another matter, so where something moves
    it is read again, beside texts that stay.

    Returns:
        One row for each cut, and a number for each token; zero from the cut on.
    """
    texts = ids.repeat(len(cuts), 1)
    later = torch.arange(ids.shape[-1]) >= torch.tensor([*cuts]).unsqueeze(-1)
    later = later.to(ids.device)
    changed = torch.where(later, subject.other(texts), texts)
    apart = _compare(subject, changed, texts).masked_fill(later, 0.0)
    if bool((apart > 0.0).any()):
        company = _company(subject, ids.shape[-1])
        apart = _compare_beside(subject, changed, ids, company)
    return apart.masked_fill(later, 0.0)


def between(subject: ModelSubject, ids: Tensor) -> float:
    """Change the second of three texts: how far do the logits of the others move?"""
    changed = ids.clone()
    changed[1] = subject.other(ids[1:2])[0]
    return float(distances(subject(changed), subject(ids))[[0, 2]].max())


def _company(subject: ModelSubject, T: int) -> Tensor:
    """Draw texts to stand beside another one."""
    return subject.ids(_FEW - 1, T, seed=7)


def _compare_beside(
    read: Callable[[Tensor], Tensor], changed: Tensor, ids: Tensor, company: Tensor
) -> Tensor:
    """Compare as below, one text at a time, beside others that stay as they are."""
    before = read(torch.cat([ids, company]))[:1]
    after = [read(torch.cat([text[None], company]))[:1] for text in changed]
    return torch.cat([distances(text, before) for text in after])


def _compare(
    read: Callable[[Tensor], Tensor], changed: Tensor, texts: Tensor
) -> Tensor:
    """Compare the logits of changed texts with those of one text, repeated.

    They are read a few at a time: some models have room for no more. What is dropped
    depends on how many these are, and so does the text that they are compared with.
    """
    parts = changed.split(_FEW)
    before = {n: read(texts[:n]) for n in {len(part) for part in parts}}
    return torch.cat([distances(read(part), before[len(part)]) for part in parts])


def influence(
    subject: ModelSubject,
    ids: Tensor,
    read: Callable[[Tensor], Tensor],
    company: Tensor | None = None,
) -> Tensor:
    """Change one token at a time: how far do the logits at t move with that at s?

    Args:
        subject: The model.
        ids: One text.
        read: Gives the logits of texts.
        company: What stands beside the text, if texts of a batch move each other.
    """
    T = ids.shape[-1]
    texts = ids.repeat(T, 1)
    token = torch.eye(T, dtype=torch.bool, device=ids.device)
    changed = torch.where(token, subject.other(texts), texts)
    if company is not None:
        return _compare_beside(read, changed, ids, company)
    return _compare(read, changed, texts)
