"""Hide the padding

Texts of a batch are filled up to S tokens, so that they make one tensor. Write
`padding_mask(lengths, S)`: which tokens are real.

`lengths` has B whole numbers, from 0 to S: text b has lengths[b] tokens, and padding
stands behind them. The mask has shape (B, 1, S), boolean, True where a token is real.
The axis of size one is for the queries: all queries of a text may look at the same
keys.
"""

from headway.practice import Exercise

# --- your file ---
import torch
from torch import Tensor


def padding_mask(lengths: Tensor, S: int) -> Tensor:
    """Give a mask (B, 1, S) for lengths (B): True where a token is real."""
    # --- write ---
    places = torch.arange(S)
    return (places < lengths[:, None])[:, None, :]
    # --- written ---


if __name__ == "__main__":
    print(padding_mask(torch.tensor([2, 3]), 3).int())
    # tensor([[[1, 1, 0]],
    #
    #         [[1, 1, 1]]], dtype=torch.int32)
# --- end of your file ---


def drawn_lengths(d):  # type: ignore[no-untyped-def]
    """Draw lengths: a full text, or with more axes none; and one that is empty."""
    lengths = d.integers(d.S + (d.axes < 2), d.B)
    if d.axes < 2 and d.B > 1:
        lengths[0], lengths[-1] = d.S, 0
    return lengths


EXERCISE = Exercise(
    answer="padding_mask",
    read=("basics/masks/#two-more-masks", "Two more masks"),
    hints=(
        "At which place, counted from zero, does the padding of a text begin?",
        "Compare the places 0, 1, ..., S - 1 with the length of each text.",
        "Put an axis behind the lengths, so that each text is compared with all "
        "places; then put the axis of the queries between the two.",
    ),
    draw=lambda d: (drawn_lengths(d), d.S),
    law="A row has as many True as its text has tokens, and they stand first.",
    right=[
        """
        # Two loops in one line, and the shape at the end.
        rows = [[s < n for s in range(S)] for n in lengths.tolist()]
        return torch.tensor(rows, dtype=torch.bool).reshape(len(lengths), 1, S)
        """,
        """
        # Text by text: slow, but each slice is the text itself.
        mask = torch.zeros(len(lengths), 1, S, dtype=torch.bool)
        for b, length in enumerate(lengths.tolist()):
            mask[b, :, :length] = True
        return mask
        """,
        """
        # Both axes at once: lengths of shape (B, 1, 1) meet places of shape (S).
        return torch.arange(S) < lengths.view(-1, 1, 1)
        """,
    ],
    minutes=5,
)
