"""The property of memory: where numbers lie is no matter."""

import torch
from torch import Tensor

from headway.checks.attention.evidence import Evidence
from headway.checks.core.errors import describe, theirs
from headway.checks.core.outcome import Outcome, failed, note, passed
from headway.checks.core.tolerance import max_difference


def strided(evidence: Evidence) -> Outcome:
    """Hand over the same tokens, in other orders in memory."""
    worst = 0.0
    for order, x in _in_other_orders(evidence.x).items():
        try:
            with torch.no_grad():
                rows = evidence.subject.as_it_is(x)
        except theirs() as raised:
            return note(
                f"With tokens that lie {order} in memory it raised {describe(raised)}. "
                "In place of view(), reshape() accepts any order."
            )
        difference = max_difference(rows, evidence.output, equal_nan=True)
        if difference > evidence.tolerance:
            return failed(
                f"With tokens that lie {order} in memory it computes different "
                "numbers: something reads the memory, not the axes.",
                difference,
            )
        worst = max(worst, difference)
    return passed("Where tokens lie in memory does not matter.", worst)


def _in_other_orders(x: Tensor) -> dict[str, Tensor]:
    """Give equal tokens that are not contiguous."""
    wide = torch.cat([x, x], dim=-1)
    return {
        "by tokens": x.transpose(0, 1).contiguous().transpose(0, 1),
        "by features": x.mT.contiguous().mT,
        "in a part of something wider": wide[..., : x.shape[-1]],
    }
