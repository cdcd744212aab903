"""A puzzle: an exact dictionary

Choose queries and keys, so that attention looks up values exactly: query t must get
the value at place `wanted[t]`, to nine digits, and nothing of the others.

Write `dictionary(wanted, S)`: give queries (T, D) and keys (S, D), of any width D
that you like. S is at most 100. Attention is that of the book: softmax of scores over
the root of D.
"""

from headway.practice import Exercise, Property
from headway.practice.task.definition import EQUAL

# --- your file ---
import torch
from torch import Tensor


def dictionary(wanted: Tensor, S: int) -> tuple[Tensor, Tensor]:
    """Choose queries (T, D) and keys (S, D), so that query t finds key wanted[t]."""
    # --- write ---
    key = torch.eye(S)
    query = 100.0 * S**0.5 * key[wanted]
    return query, key
    # --- written ---


if __name__ == "__main__":
    from headway import attention

    query, key = dictionary(torch.tensor([2, 0]), 3)
    value = torch.tensor([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])
    print(attention(query.float(), key.float(), value))
    # tensor([[ 3., 30.],
    #         [ 1., 10.]])
# --- end of your file ---


def found(dictionary, wanted, S, value):  # type: ignore[no-untyped-def]
    query, key = (one.to(value.dtype)[None] for one in dictionary(wanted, S))
    return torch.nn.functional.scaled_dot_product_attention(query, key, value[None])[0]


def far_above(dictionary, wanted, S, value):  # type: ignore[no-untyped-def]
    query, key = dictionary(wanted, S)
    if query.shape[0] != len(wanted) or key.shape != (S, query.shape[-1]):
        return True  # the shape is told already
    shares = found(dictionary, wanted, S, torch.eye(S, dtype=torch.float64))
    largest, places = shares.max(dim=-1)
    return not bool((places == wanted).all()) or bool((largest > 1 - 1e-9).all())


EXERCISE = Exercise(
    answer="dictionary",
    read=(
        "basics/scaled_dot_product/#a-property-attention-is-a-soft-dictionary",
        "A property: attention is a soft dictionary",
    ),
    hints=(
        "When does a softmax give all to one place?",
        "The score of the wanted key must be far above all others; keys at right "
        "angles make the other scores zero.",
        "Rows of torch.eye are at right angles. How large must a query be, so that "
        "the exponential of its score, after the division, drowns the rest?",
    ),
    draw=lambda d: (d.integers(d.S, d.T), d.S, d.normal(d.S, d.V)),
    trials=({}, EQUAL, {"S": 100, "T": 7}, {"S": 100, "T": 1}),
    ask=found,
    properties=[
        Property(
            "the scores are so large that what is not wanted gets less than a "
            "billionth of the weight",
            far_above,
        ),
    ],
    law="A soft dictionary becomes a hard one when scores grow apart.",
    right=[
        """
        # Two numbers are enough: keys on a circle, and a large factor.
        angles = torch.arange(S, dtype=torch.float64) * 2 * torch.pi / S
        key = torch.stack([angles.cos(), angles.sin()], dim=-1)
        return 1e6 * key[wanted], key
        """,
        """
        # Places on a parabola: 2 w s - s * s is largest where s is w, by one at least.
        places = torch.arange(S, dtype=torch.float64)
        key = torch.stack([places, places**2], dim=-1)
        query = torch.stack([2 * places[wanted], -torch.ones(len(wanted))], dim=-1)
        return 100 * query, key
        """,
    ],
    survivors={
        "0.5 -> 2.0": "larger scores do as well",
        "100.0 -> 201.0": "larger scores do as well",
        "S ** 0.5 -> S * 0.5": "larger scores do as well",
    },
    minutes=15,
)
