"""A sink for a kernel that has none

A kernel gives the rows of plain attention, and for each row the log-sum-exp of its
scores. A sink, one more key of value zero, can be put on afterwards.

Write `sink_gate(rows, lse, sinks)`: `rows` (B, H, T, V) and `lse` (B, H, T) are from
the kernel, `sinks` (H) are the scores of the sinks, one a head. Give the rows as they
are with the sinks, (B, H, T, V). A row that sees no key has a log-sum-exp of minus
infinity, and nan in `rows`: it must be zeros. Scores may be large.
"""

from headway.practice import Exercise

# --- your file ---
import torch
from torch import Tensor


def sink_gate(rows: Tensor, lse: Tensor, sinks: Tensor) -> Tensor:
    """Put sinks (H) on rows (B, H, T, V) with log-sum-exps (B, H, T)."""
    # --- write ---
    gate = torch.sigmoid(lse - sinks[:, None])
    rows = rows.masked_fill(lse[..., None] == -torch.inf, 0.0)
    return rows * gate[..., None]
    # --- written ---


if __name__ == "__main__":
    lse = torch.tensor([10.0, 0.1]).log().view(1, 1, 2)
    rows = torch.tensor([30.0, 30.0]).view(1, 1, 2, 1)
    print(sink_gate(rows, lse, torch.tensor([10.0]).log()).flatten())
    # tensor([15.0000,  0.2970])
# --- end of your file ---


def draw(d):  # type: ignore[no-untyped-def]
    rows, lse = d.normal(d.B, d.H, d.T, d.V), d.normal(d.B, d.H, d.T)
    sinks = d.normal(d.H)
    if d.loud > 1:  # keys and sink both have more than an exponential can hold
        lse[0, 0, 0], sinks[0] = 2 * d.loud, 2 * d.loud + 1
    blind = lse.abs() < 0.3 * d.loud
    rows[blind], lse[blind] = torch.nan, -torch.inf
    return rows, lse, sinks


EXERCISE = Exercise(
    answer="sink_gate",
    read=(
        "variants/sinks/#in-tensors-one-more-key-or-a-gate",
        "In tensors: one more key, or a gate",
    ),
    hints=(
        "Of all there is to share, keys and sink together, which part do the keys get?",
        "That part is a sigmoid of a difference: what the keys have, less what the "
        "sink has. It is one number a row, which all its numbers are multiplied by.",
        "The sinks need an axis for the tokens, the gate one for the numbers of a row. "
        "Zero times nan is nan: what saw nothing must be set to zero first.",
    ),
    draw=draw,
    trials=({}, dict.fromkeys("BHGTSDVEW", 4), {"loud": 900.0}),
    law="A sink is a gate: one of minus infinity is off, and one of zero is not.",
    right=[
        """
        # By mass: a share is a difference of two log-sum-exps.
        mass = torch.logaddexp(lse, sinks[:, None])
        share = (lse - mass).exp()[..., None]
        return torch.where(share > 0, rows, 0.0) * share
        """,
        """
        # The sigmoid written out: one divided by one and a power.
        gate = 1 / (1 + (sinks[None, :, None] - lse).exp())
        return torch.nan_to_num(rows) * gate.unsqueeze(-1)
        """,
    ],
    survivors={"0.0 -> 1.0": "the gate of a row that sees nothing is zero anyway"},
    minutes=8,
)
