"""Two masks in PyTorch's words

Write `torch_masks(real)`: what `nn.MultiheadAttention` must be given, so that it hides
the future and the padding.

`real` is a mask of this book, as `padding_mask` makes it: shape (B, 1, S), True where a
token is real. PyTorch wants two masks of its own: `attn_mask`, of shape (S, S), for the
future, and `key_padding_mask`, of shape (B, S), for the padding. In both, True means
hidden. Give them in this order.
"""

from headway.practice import Exercise, Wrong
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
        S = real.shape[-1]
        return torch.ones(S, S, dtype=torch.bool).triu(1), real[:, 0].logical_not()
        """,
        """
        places = torch.arange(real.shape[-1])
        return places > places[:, None], real.flatten(1) == False
        """,
    ],
    wrong=[
        Wrong(
            "~causal_mask(S)",
            "causal_mask(S)",
            "the triangle says what may be seen, and PyTorch hides that: each token "
            "sees only the future",
            exhibit="masks/#boolean-mask-inverted",
        ),
        Wrong(
            "~real.squeeze(1)",
            "real.squeeze(1)",
            "the padding mask says what is real, and PyTorch hides that",
            exhibit="padding/#key-padding-mask-inverted",
        ),
        Wrong(
            "~real.squeeze(1)",
            "~real",
            "the padding mask keeps the axis of size one",
        ),
        Wrong(
            "~causal_mask(S), ~real.squeeze(1)",
            "~causal_mask(S) | ~real, ~real.squeeze(1)",
            "the padding is written into the mask of the future too, with an axis for "
            "the texts",
        ),
        Wrong(
            "~causal_mask(S), ~real.squeeze(1)",
            "~real.squeeze(1), ~causal_mask(S)",
            "the two masks are given in the opposite order",
        ),
        Wrong(
            "~causal_mask(S)",
            "torch.ones(S, S, dtype=torch.bool).triu()",
            "a token is hidden from itself, and the first sees nothing",
            exhibit="triangles/#mask-hides-itself",
        ),
        Wrong(
            "~causal_mask(S)",
            "causal_mask(S).T",
            "the triangle is transposed, and not turned around: a token is hidden from "
            "itself",
            same_as="a token is hidden from itself, and the first sees nothing",
        ),
        Wrong(
            "~causal_mask(S)",
            "(~causal_mask(S)).float()",
            "the triangle is of numbers: ones that are added to the scores",
            exhibit="masks/#mask-of-ones-added",
        ),
        Wrong(
            "~causal_mask(S)",
            "torch.full((S, S), -torch.inf).triu(1)",
            "the triangle is of minus infinities, and not of True and False",
        ),
        Wrong(
            "S = real.shape[-1]",
            "S = real.shape[0]",
            "the triangle is as large as the batch, and not as the text",
        ),
        Wrong(
            "return ~causal_mask(S), ~real.squeeze(1)",
            "return ~causal_mask(S), ~real.squeeze()",
            "squeeze removes every axis of size one, and that of a single text too",
            hint="squeeze() takes the axis to remove. Which one must go, and which "
            "must stay even if it has size one?",
        ),
        Wrong(
            "return ~causal_mask(S), ~real.squeeze(1)",
            "return ~causal_mask(S).T, ~real.squeeze(1)",
            "the triangle lies on the wrong side: the past is hidden",
        ),
        Wrong(
            "return ~causal_mask(S), ~real.squeeze(1)",
            "return ~causal_mask(S), ~real[0]",
            "the padding of the first text is taken for all",
        ),
        Wrong(
            "return ~causal_mask(S), ~real.squeeze(1)",
            "return ~causal_mask(S), 1 - real.squeeze(1).int()",
            "the padding is whole numbers, and not True and False",
        ),
        Wrong(
            "return ~causal_mask(S), ~real.squeeze(1)",
            "return ~causal_mask(S).expand(len(real), S, S), ~real.squeeze(1)",
            "attn_mask has an axis for the texts, and one triangle serves all",
        ),
        Wrong(
            "S = real.shape[-1]",
            "S = real.shape[1]",
            "the axis of size one is taken for the number of tokens",
        ),
        Wrong(
            "return ~causal_mask(S), ~real.squeeze(1)",
            "return (~causal_mask(S)).float(), (~real.squeeze(1)).float()",
            "both masks are ones and zeros, and not True and False",
        ),
    ],
    stars=1,
)
