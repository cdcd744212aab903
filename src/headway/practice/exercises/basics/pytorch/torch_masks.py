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
            "the triangle is of minus infinities; it should be of True and False",
        ),
        Wrong(
            "S = real.shape[-1]",
            "S = real.shape[0]",
            "the triangle is as large as the batch; it should be as large as the text",
        ),
        Wrong(
            "return ~causal_mask(S), ~real.squeeze(1)",
            "return ~causal_mask(S), ~real.squeeze()",
            "squeeze removes every axis of size one; that of a single text should stay",
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
            "the padding is whole numbers; it should be True and False",
        ),
        Wrong(
            "return ~causal_mask(S), ~real.squeeze(1)",
            "return ~causal_mask(S).expand(len(real), S, S), ~real.squeeze(1)",
            "attn_mask has an axis for the texts; it should be one triangle for all",
        ),
        Wrong(
            "S = real.shape[-1]",
            "S = real.shape[1]",
            "the axis of size one is taken for the number of tokens",
        ),
        Wrong(
            "return ~causal_mask(S), ~real.squeeze(1)",
            "return (~causal_mask(S)).float(), (~real.squeeze(1)).float()",
            "both masks are ones and zeros; they should be True and False",
        ),
        Wrong(
            "return ~causal_mask(S), ~real.squeeze(1)",
            "return causal_mask(S), real.squeeze(1)",
            "both masks say what may be seen; in PyTorch True means hidden",
        ),
        Wrong(
            "return ~causal_mask(S), ~real.squeeze(1)",
            "return ~causal_mask(S), ~real.squeeze(0)",
            "axis 0 is taken away, which are the texts; it should be axis 1",
        ),
        Wrong(
            "return ~causal_mask(S), ~real.squeeze(1)",
            "return ~causal_mask(S), ~real.squeeze(-1)",
            "the last axis is named, which are the tokens and stays; it should be "
            "axis 1",
            same_as="the padding mask keeps the axis of size one",
        ),
        Wrong(
            "return ~causal_mask(S), ~real.squeeze(1)",
            "return ~causal_mask(S), ~real.expand(-1, S, -1)",
            "the padding is given for each query; it should have no axis for the "
            "queries",
        ),
        Wrong(
            "return ~causal_mask(S), ~real.squeeze(1)",
            "return ~causal_mask(S), ~real.squeeze(1).T",
            "the axes of texts and tokens are exchanged in the padding mask",
        ),
        Wrong(
            "return ~causal_mask(S), ~real.squeeze(1)",
            "return ~causal_mask(S + 1)[1:, 1:].triu(2), ~real.squeeze(1)",
            "the next token is seen: the triangle is shifted by one place",
        ),
        Wrong(
            "return ~causal_mask(S), ~real.squeeze(1)",
            "return torch.zeros(S, S, dtype=torch.bool), ~real.squeeze(1)",
            "nothing of the future is hidden",
        ),
        Wrong(
            "return ~causal_mask(S), ~real.squeeze(1)",
            "return ~causal_mask(S), torch.zeros_like(real[:, 0])",
            "nothing of the padding is hidden",
        ),
        Wrong(
            "return ~causal_mask(S), ~real.squeeze(1)",
            "return ~causal_mask(S)",
            "only the triangle is given; it should be both masks",
        ),
        Wrong(
            "return ~causal_mask(S), ~real.squeeze(1)",
            "return ~causal_mask(S), torch.where(real[:, 0], 0.0, -torch.inf)",
            "the padding is zeros and minus infinity; it should be True and False",
        ),
        Wrong(
            "return ~causal_mask(S), ~real.squeeze(1)",
            "return ~causal_mask(S), ~real.any(dim=-1)",
            "there is one answer for each text; it should be one for each token",
        ),
        Wrong(
            "return ~causal_mask(S), ~real.squeeze(1)",
            "return ~causal_mask(S)[None], ~real.squeeze(1)",
            "attn_mask has three axes; it should be (S, S)",
        ),
        Wrong(
            "return ~causal_mask(S), ~real.squeeze(1)",
            "return ~(causal_mask(S) & real[0]), ~real.squeeze(1)",
            "the padding of the first text is written into the mask of the future",
        ),
        Wrong(
            "return ~causal_mask(S), ~real.squeeze(1)",
            "return ~causal_mask(S), real.sum(dim=-1)",
            "the lengths of the texts are given for the padding; it should be True or "
            "False for each token",
        ),
        Wrong(
            "return ~causal_mask(S), ~real.squeeze(1)",
            "return ~causal_mask(S), ~real.flatten()",
            "the padding of all texts is put into one row",
        ),
        Wrong(
            "return ~causal_mask(S), ~real.squeeze(1)",
            "return ~causal_mask(S), torch.arange(S) > real.sum(dim=-1)",
            "the first token of padding is not hidden: a text of n tokens has the "
            "places 0 to n - 1",
        ),
        Wrong(
            "return ~causal_mask(S), ~real.squeeze(1)",
            "return ~causal_mask(S), torch.arange(S) >= real.sum(dim=-1) - 1",
            "the last real token is hidden with the padding",
        ),
        Wrong(
            "return ~causal_mask(S), ~real.squeeze(1)",
            "return torch.full((S, S), -torch.inf).triu(1), torch.where(real[:, 0], "
            "0.0, -torch.inf)",
            "both masks hold zeros and minus infinity; they should hold True and False",
        ),
        Wrong(
            "return ~causal_mask(S), ~real.squeeze(1)",
            "return not causal_mask(S), ~real.squeeze(1)",
            "a mask is turned around by `not`, which asks one answer of it; ~ turns "
            "each entry",
        ),
        Wrong(
            "return ~causal_mask(S), ~real.squeeze(1)",
            "return 1 - causal_mask(S).int(), ~real.squeeze(1)",
            "the triangle is whole numbers; it should be True and False",
        ),
        Wrong(
            "return ~causal_mask(S), ~real.squeeze(1)",
            "return 1 - causal_mask(S), ~real.squeeze(1)",
            "a mask is subtracted from one, which PyTorch refuses; ~ turns it around",
        ),
        Wrong(
            "return ~causal_mask(S), ~real.squeeze(1)",
            "return -causal_mask(S), ~real.squeeze(1)",
            "a minus stands before a mask, which PyTorch refuses; ~ turns it around",
        ),
        Wrong(
            "return ~causal_mask(S), ~real.squeeze(1)",
            "return ~causal_mask(S), ~real.reshape(S, -1)",
            "the padding is reshaped to (S, B); it should be (B, S)",
        ),
        Wrong(
            "return ~causal_mask(S), ~real.squeeze(1)",
            "return ~causal_mask(S, S + 1), ~real.squeeze(1)",
            "the triangle has a column too many; it should be (S, S)",
        ),
        Wrong(
            "return ~causal_mask(S), ~real.squeeze(1)",
            "return ~torch.eye(S, dtype=torch.bool), ~real.squeeze(1)",
            "all other tokens are hidden; it should be the future",
        ),
        Wrong(
            "return ~causal_mask(S), ~real.squeeze(1)",
            "return ~causal_mask(int(real.sum(dim=-1).max())), ~real.squeeze(1)",
            "the triangle is as large as the longest text; it should be as large as "
            "the mask of padding",
        ),
        Wrong(
            "return ~causal_mask(S), ~real.squeeze(1)",
            "return ~causal_mask(S), ~real.squeeze(1).flip(1)",
            "the padding is taken to stand in front",
        ),
        Wrong(
            "return ~causal_mask(S), ~real.squeeze(1)",
            "return real.squeeze(1), causal_mask(S)",
            "the two masks are given in the opposite order, and say what may be seen",
        ),
        Wrong(
            "return ~causal_mask(S), ~real.squeeze(1)",
            "return ~real, ~causal_mask(S)",
            "the two masks are given in the opposite order, and the padding keeps its "
            "axis of size one",
        ),
        Wrong(
            "return ~causal_mask(S), ~real.squeeze(1)",
            "return causal_mask(S), ~real",
            "the triangle says what may be seen, and the padding keeps its axis of "
            "size one",
        ),
        Wrong(
            "return ~causal_mask(S), ~real.squeeze(1)",
            "return torch.ones(S, S, dtype=torch.bool).triu(), real.squeeze(1)",
            "a token is hidden from itself, and the padding mask says what is real",
        ),
    ],
    stars=1,
    minutes=6,
)
