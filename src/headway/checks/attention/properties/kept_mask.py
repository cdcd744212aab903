"""A mask that code keeps, by which some tokens are hidden from all."""

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from headway.checks.attention.evidence import Evidence
from headway.checks.attention.evidence.held_values import held_values
from headway.checks.attention.oracle import match
from headway.checks.core.outcome import Outcome, note


def with_kept_mask(evidence: Evidence) -> Outcome | None:
    """Ask whether the equation gives the output with a mask that the code keeps.

    A row moves with its own token, which makes its query, so no call shows whether it
    sees itself. Where only a part of the others does not see it, that is no such mask.
    """
    T = evidence.subject.T
    for name, whole in _kept(evidence):
        hidden = whole[:T, :T]
        itself = hidden.diagonal()
        never = whole.all(dim=0)[:T]
        if not bool(itself.any()) or bool(never.all()) or bool((itself & ~never).any()):
            continue
        bias = torch.zeros(1, *hidden.shape, dtype=torch.float64)
        bias = bias.masked_fill(hidden, -torch.inf).to(evidence.x.device)
        design = replace(evidence.designs[0], bias=bias)
        near = match(replace(evidence, designs=(design,)))
        if near.difference <= evidence.tolerance:
            return note(
                f"It is what the equation gives with {name}, a mask that is kept: by "
                f"it, {_named(itself)} hidden from all, from itself too.",
                near.difference,
            )
    return None


def _kept(evidence: Evidence) -> Iterator[tuple[str, Tensor]]:
    """Give the tables of zeros and ones, each with what it hides, in either sense."""
    T = evidence.subject.T
    for name, value in held_values(evidence.fresh.target):
        if not isinstance(value, Tensor) or value.ndim < 2:
            continue
        size = value.shape[-1]
        if value.numel() != size * size or size < T:
            continue
        table = value.detach().cpu().reshape(size, size)
        if bool(((table == 0) | (table == 1)).all()):
            yield name, table == 0
            yield name, table == 1


def _named(itself: Tensor) -> str:
    """Name the tokens that do not see themselves, with a verb."""
    places = [str(n + 1) for n in itself.nonzero().flatten().tolist()]
    if len(places) == 1:
        return f"token {places[0]} is"
    return f"each of tokens {', '.join(places)} is"
