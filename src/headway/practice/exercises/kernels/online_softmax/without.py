"""Take a piece away

A text has been read with a note in front of it. You have the rows and the log-sum-exps
of attention to all keys, and of attention to those of the note. Write
`without(rows, lse, note, lse_note)`: rows and log-sum-exps over the other keys, with no
look at any key.

`rows` and `note` are (T, V), `lse` and `lse_note` (T). For ln(exp(a) - exp(b)) write
a + ln(1 - exp(b - a)), and for 1 - exp(x) write -torch.expm1(x), which keeps the digits
of small x. Log-sum-exps may be large.
"""

from headway.practice import Exercise

# --- your file ---
import torch
from torch import Tensor


def without(
    rows: Tensor, lse: Tensor, note: Tensor, lse_note: Tensor
) -> tuple[Tensor, Tensor]:
    """Give rows (T, V) and log-sum-exps (T) over the keys that are not the note's."""
    # --- write ---
    rest = lse + torch.log(-torch.expm1(lse_note - lse))
    whole = torch.exp(lse - rest)[:, None]
    part = torch.exp(lse_note - rest)[:, None]
    return whole * rows - part * note, rest
    # --- written ---


if __name__ == "__main__":
    rows, note = torch.tensor([[25.0]]), torch.tensor([[10.0]])
    lse, lse_note = torch.tensor([4.0]).log(), torch.tensor([1.0]).log()
    rest, lse_rest = without(rows, lse, note, lse_note)
    print(rest, lse_rest.exp())
    # tensor([[30.]]) tensor([3.])
# --- end of your file ---


def draw(d):  # type: ignore[no-untyped-def]
    note, lse_note = d.normal(d.S, d.V) / d.loud, d.normal(d.S)
    # What is left has a share of its own size, or its digits would be gone.
    other, lse_other = d.normal(d.S, d.V) / d.loud, lse_note + d.normal(d.S) / d.loud
    lse = torch.logaddexp(lse_note, lse_other)
    if d.G == 0:  # a note of zeros with nearly all the mass: digits can be kept
        note, lse_note = torch.zeros_like(note), lse_note / 1000
        lse = torch.logaddexp(lse_note, lse_note - 23)
        return -torch.expm1(lse_note - lse)[:, None] * other, lse, note, lse_note
    share = torch.exp(lse_note - lse)[:, None]
    return share * note + (1 - share) * other, lse, note, lse_note


EXERCISE = Exercise(
    answer="without",
    read=(
        "kernels/online_softmax/#the-property-any-pieces-in-any-order",
        "The property: any pieces, in any order",
    ),
    hints=(
        "A row is a sum of exponentials times values, divided by the sum of "
        "exponentials. What is left of both when the note's part is taken off?",
        "Find the log-sum-exp of the rest first. Then each row counts by exp of its "
        "own log-sum-exp minus that of the rest, once added and once taken off.",
        "The rest is lse plus the logarithm of the share that the note did not have: "
        "-torch.expm1(...) of the difference of two log-sum-exps.",
    ),
    draw=draw,
    trials=({}, dict.fromkeys("BHGTSDVEW", 4), {"loud": 900.0}, {"G": 0}),
    law="What was merged can be taken apart; but if the note has nearly all the mass, "
    "the rest is a small difference of large numbers, and its digits are gone.",
    right=[
        """
        # By shares of the whole: what is left is divided by its own share.
        share = torch.exp(lse_note - lse)
        left = -torch.expm1(lse_note - lse)
        kept = (rows - share[:, None] * note) / left[:, None]
        return kept, lse + left.log()
        """,
        """
        # By one ratio, the note's mass to that of the rest: one exponential.
        rest = lse + (-torch.expm1(lse_note - lse)).log()
        ratio = (lse_note - rest).exp().unsqueeze(1)
        return rows + ratio * (rows - note), rest
        """,
    ],
    stars=3,
    minutes=12,
)
