"""One score, by hand

Write `score(a, b)`: the score of two words, the dot product of their vectors, by a loop
over their numbers that adds up products.

Both vectors have E numbers. The score is one number.
"""

from headway.practice import Exercise, Forbidden

# --- your file ---
import torch
from torch import Tensor


def score(a: Tensor, b: Tensor) -> float:
    """Give the dot product of two vectors of shape (E)."""
    # --- write ---
    total = 0.0
    for i in range(len(a)):
        total = total + a[i].item() * b[i].item()
    return total
    # --- written ---


if __name__ == "__main__":
    cat = torch.tensor([1.0, 2.0, 0.0])
    dog = torch.tensor([2.0, 1.0, 1.0])
    print(float(score(cat, dog)))
    # 4.0
# --- end of your file ---


def takes_a_whole_vector(args, result, given):  # type: ignore[no-untyped-def]
    return any(isinstance(one, Tensor) and one.shape == given[0].shape for one in args)


EXERCISE = Exercise(
    answer="score",
    forbids=[
        Forbidden(
            "The task says: by a loop over their numbers. A function that takes whole "
            "vectors, such as torch.dot, adds the products up for you.",
            "return torch.dot(a, b).item()",
            names=("dot", "vdot", "vecdot", "inner", "matmul", "mul", "multiply"),
            when=takes_a_whole_vector,
        ),
        Forbidden(
            "The task says: by a loop over their numbers. torch.einsum adds the "
            "products up for you.",
            'return torch.einsum("i,i->", a, b).item()',
            names=("einsum", "tensordot", "linear"),
        ),
    ],
    read=("basics/simple_attention/#one-score-by-hand", "One score, by hand"),
    hints=(
        "Which numbers of the two vectors belong together?",
        "Multiply the numbers at the same position, and add up the products.",
        "Begin with a total of zero, and let a loop over them add one product at "
        "a time.",
    ),
    draw=lambda d: drawn(d),
    ask=lambda score, a, b: float(score(a, b)),
    trials=({}, {"E": 4}, {"E": 5}, {"E": 2}, {"loud": 30.0}),
    law="The score does not change when the two vectors are swapped.",
    right=[
        """
        # zip takes both vectors number by number, and sum is the loop.
        return float(sum(x * y for x, y in zip(a, b)))
        """,
        """
        # The same in plain numbers: a list of Python is faster than single tensors.
        total = 0.0
        for x, y in zip(a.tolist(), b.tolist()):
            total += x * y
        return total
        """,
    ],
    survivors={
        "a[i].item() -> a[i]": "a tensor of one number multiplies as a number does",
        "b[i].item() -> b[i]": "a tensor of one number multiplies as a number does",
    },
    stars=1,
    minutes=2,
)


def drawn(d):  # type: ignore[no-untyped-def]
    """Draw two vectors; their score is above zero for a width of 4, below for 5."""
    a, b = d.normal(d.E), d.normal(d.E)
    sign = {4: (a @ b).sign(), 5: -(a @ b).sign()}.get(d.E, 1.0)
    return a, sign * b
