"""Two masks in PyTorch's words

Write `torch_masks(real)`: what `nn.MultiheadAttention` must be given, so that it hides
the future and the padding.

`real` is a mask of this book, as `padding_mask` makes it: shape (B, 1, S), True where a
token is real. PyTorch wants two masks of its own: `attn_mask`, of shape (S, S), for the
future, and `key_padding_mask`, of shape (B, S), for the padding. In both, True means
hidden. Give them in this order.
"""

from headway.practice import Exercise
from headway.practice.task.definition import DIFFERENT, EQUAL

# --- your file ---
import torch
from torch import Tensor

from headway import causal_mask


def torch_masks(real: Tensor) -> tuple[Tensor, Tensor]:
    """Give attn_mask (S, S) and key_padding_mask (B, S), for real (B, 1, S)."""
    # --- write ---
    S = real.shape[-1]
    return ~causal_mask(S), ~real.squeeze(1)
    # --- written ---


if __name__ == "__main__":
    from headway import padding_mask

    real = padding_mask(torch.tensor([2, 4]), 4)
    future, padding = torch_masks(real)
    print(future.int())
    print(padding.int())
    # tensor([[0, 1, 1, 1],
    #         [0, 0, 1, 1],
    #         [0, 0, 0, 1],
    #         [0, 0, 0, 0]], dtype=torch.int32)
    # tensor([[0, 0, 1, 1],
    #         [0, 0, 0, 0]], dtype=torch.int32)
# --- end of your file ---


def run(torch_masks, real):  # type: ignore[no-untyped-def]
    given = torch_masks(real)
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        return given
    return dict(zip(("attn_mask", "key_padding_mask"), given, strict=True))


def draw(d):  # type: ignore[no-untyped-def]
    from headway import padding_mask

    lengths = d.integers(d.S, d.B) + 1
    return (padding_mask(lengths, d.S),)


EXERCISE = Exercise(
    answer="torch_masks",
    read=(
        "basics/pytorch/#difference-two-what-true-means",
        "Difference two: what True means",
    ),
    hints=(
        "What does True mean here, and what there? And which axis of real has "
        "size one?",
        "The sign ~ turns a boolean mask around; causal_mask gives the triangle of "
        "this book; squeeze takes an axis of size one away.",
        "The first is a triangle of S by S, turned around. The second is real, turned "
        "around, without its axis for the queries, which is number one.",
    ),
    draw=draw,
    trials=(DIFFERENT, EQUAL, {"B": 1}),
    ask=run,
    law="The same masks, with True and False swapped: each library means its own.",
    right=[
        """
        # Without the book's mask: triu(1) is True where something is to be hidden.
        S = real.shape[-1]
        return torch.ones(S, S, dtype=torch.bool).triu(1), real[:, 0].logical_not()
        """,
        """
        # By comparisons of places: no mask is made first and turned around afterwards.
        places = torch.arange(real.shape[-1])
        return places > places[:, None], real.flatten(1) == False
        """,
    ],
    stars=1,
    minutes=6,
)
