"""Hide the padding

Texts of a batch are filled up to S tokens, so that they make one tensor. Write
`padding_mask(lengths, S)`: which tokens are real.

`lengths` has B whole numbers: text b has lengths[b] tokens, and padding stands behind
them. The mask has shape (B, 1, S), boolean, True where a token is real. The axis of
size one is for the queries: all queries of a text may look at the same keys.
"""

from headway.practice import Exercise, Wrong

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


EXERCISE = Exercise(
    answer="padding_mask",
    read=("basics/masks/#two-more-masks", "Two more masks"),
    hints=(
        "At which place, counted from zero, does the padding of a text begin?",
        "Compare the places 0, 1, ..., S - 1 with the length of each text.",
        "Put an axis behind the lengths, so that each text is compared with all "
        "places; then put the axis of the queries between the two.",
    ),
    draw=lambda d: (d.integers(d.S + 1, d.B), d.S),
    law="A row has as many True as its text has tokens, and they stand first.",
    right=[
        """
        rows = [[s < n for s in range(S)] for n in lengths.tolist()]
        return torch.tensor(rows, dtype=torch.bool).reshape(len(lengths), 1, S)
        """,
    ],
    wrong=[
        Wrong(
            "[:, None, :]",
            "[:, :, None]",
            "it hides queries, and not keys",
            exhibit="padding/#mask-hides-queries",
        ),
        Wrong(
            "places < lengths",
            "places >= lengths",
            "True means padding, and not a real token",
            exhibit="padding/#key-padding-mask-inverted",
        ),
        Wrong(
            "places < lengths",
            "places <= lengths",
            "one token of padding counts as real",
        ),
        Wrong(
            "places < lengths[:, None]",
            "places + 1 < lengths[:, None]",
            "the last real token is hidden",
        ),
        Wrong(
            "places < lengths[:, None]",
            "places >= S - lengths[:, None]",
            "padding is taken to stand before the text",
        ),
        Wrong(
            "lengths[:, None])[",
            "lengths.roll(1)[:, None])[",
            "each text gets the length of another",
        ),
        Wrong(
            "(places < lengths[:, None])[:, None, :]",
            "places < lengths[:, None]",
            "the axis of the queries is missing",
        ),
        Wrong(
            "lengths[:, None])[",
            "lengths.max())[None][",
            "all texts are as long as the longest",
        ),
        Wrong(
            "places < lengths",
            "places == lengths",
            "only the first place of the padding is True",
        ),
        Wrong(
            "places < lengths[:, None])[:, None, :]",
            "places < lengths[:, None])[:, None, :] & "
            "(places < lengths[:, None])[:, :, None]",
            "queries that are padding are hidden too, which takes an axis of size S",
            hint="What is padding may ask, because its answer is not read. The axis of "
            "the queries has size one.",
        ),
        Wrong(
            "[:, None, :]",
            "[:, None, :].expand(-1, S, -1)",
            "the axis of the queries has size S, and must have size one",
        ),
        Wrong(
            "[:, None, :]",
            "[None]",
            "the axis of size one stands before the texts, and not behind them",
        ),
    ],
)
