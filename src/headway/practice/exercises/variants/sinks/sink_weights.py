"""A place for unused attention

Write `sink_weights(scores, sinks)`: softmax with one more key, whose score is a number
of the head's own and whose value is zero, so that a row need not spend all of its one.

`scores` has shape (H, T, S), `sinks` (H). Give the weights of the S keys, (H, T, S);
the share of the sink is left out. Scores and sinks may be large.
"""

from headway.practice import Exercise

# --- your file ---
import torch
from torch import Tensor


def sink_weights(scores: Tensor, sinks: Tensor) -> Tensor:
    """Give weights (H, T, S) for scores (H, T, S), with one more key of score (H)."""
    # --- write ---
    extra = sinks[:, None, None].expand(-1, scores.shape[1], 1)
    weights = torch.softmax(torch.cat([scores, extra], dim=-1), dim=-1)
    return weights[..., :-1]
    # --- written ---


if __name__ == "__main__":
    logs = torch.tensor([[[1.0, 2.0]]]).log()
    print(sink_weights(logs, torch.tensor([1.0]).log()))
    # tensor([[[0.2500, 0.5000]]])
# --- end of your file ---


EXERCISE = Exercise(
    answer="sink_weights",
    read=(
        "variants/sinks/#in-tensors-one-more-key-or-a-gate",
        "In tensors: one more key, or a gate",
    ),
    hints=(
        "What is added to the sum below the line, and what to the row of weights?",
        "Lay one more column beside the scores, take the softmax, and leave that "
        "column out.",
        "The column is the same for all queries of a head: give the sinks two axes and "
        "expand them to one column for each query.",
    ),
    draw=lambda d: (d.normal(d.H, d.T, d.S), d.normal(d.H)),
    trials=({}, dict.fromkeys("BHGTSDVEW", 4), {"loud": 900.0}),
    law="A row sums to less than one; with a sink of minus infinity it sums to one.",
    right=[
        """
        # Plain softmax times a gate: what a kernel's log-sum-exp allows.
        lse = scores.logsumexp(dim=-1, keepdim=True)
        gate = torch.sigmoid(lse - sinks[:, None, None])
        return torch.softmax(scores, dim=-1) * gate
        """,
        """
        # Written out: the sink is one more term below the line.
        top = torch.maximum(scores.amax(dim=-1, keepdim=True), sinks[:, None, None])
        powers = torch.exp(scores - top)
        below = powers.sum(dim=-1, keepdim=True) + torch.exp(sinks[:, None, None] - top)
        return powers / below
        """,
    ],
    survivors={},
    stars=1,
    minutes=6,
)
