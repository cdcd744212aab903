"""One score, by hand

Write `score(a, b)`: the score of two words, the dot product of their vectors, by a loop
over their numbers that adds up products.

Both vectors have E numbers. The score is one number.
"""

from headway.practice import Exercise, Forbidden, Wrong

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
    wrong=[
        Wrong("range(len(a))", "range(len(a) - 1)", "the last number is left out"),
        Wrong("range(len(a))", "range(1, len(a))", "the first number is left out"),
        Wrong(
            "total + a[i].item()",
            "0 * total + a[i].item()",
            "the products are not added up: the last one alone is left",
        ),
        Wrong(
            "a[i].item() * b[i].item()",
            "a[i].item() + b[i].item()",
            "the numbers are added, and not multiplied",
        ),
        Wrong(
            "b[i].item()",
            "b[len(a) - 1 - i].item()",
            "the second vector is read backwards",
        ),
        Wrong("b[i].item()", "a[i].item()", "the first vector is multiplied by itself"),
        Wrong(
            "return total",
            "return total / float(a.norm() * b.norm())",
            "the score is divided by both lengths, which is the cosine",
        ),
        Wrong(
            "return total",
            "return total / len(a)",
            "the mean of the products is taken, and not their sum",
        ),
        Wrong(
            "\n    return total\n",
            "\n        return total\n",
            "the loop ends after its first turn, since return stands inside it",
            hint="How far is return indented? What stands inside the loop is done in "
            "its first turn already.",
        ),
        Wrong(
            "return total",
            "return float(a.sum() * b.sum())",
            "both vectors are summed first, and their sums multiplied",
        ),
        Wrong(
            "a[i].item() * b[i].item()",
            "abs(a[i].item() * b[i].item())",
            "products lose their sign",
        ),
        Wrong(
            "total + a[i].item()",
            "total * a[i].item()",
            "products are multiplied with the total, which stays zero",
        ),
        Wrong(
            "total = 0.0\n    for i in range(len(a)):\n        total = total + a",
            "total = 1.0\n    for i in range(len(a)):\n        total = total * a",
            "the products are multiplied with each other, and not added up",
        ),
        Wrong("total = 0.0", "total = 1.0", "the total begins at one"),
        Wrong(
            "range(len(a))",
            "range(1, len(a) - 1)",
            "the first number and the last are left out",
        ),
        Wrong(
            "a[i].item() * b[i].item()",
            "(a[i].item() - b[i].item()) ** 2",
            "squares of differences are added up, which is a distance",
        ),
        Wrong(
            "a[i].item() * b[i].item()",
            "abs(a[i].item() - b[i].item())",
            "differences are added up, which is a distance",
        ),
        Wrong(
            "a[i].item() * b[i].item()",
            "(a[i].item() - b[i].item())",
            "the numbers are subtracted, and not multiplied",
        ),
        Wrong(
            "a[i].item() * b[i].item()",
            "a[i].item() * b[0].item()",
            "each number of the first vector meets the first number of the second",
        ),
        Wrong(
            "b[i].item()",
            "b[i - 1].item()",
            "the second vector is read one place too early",
        ),
        Wrong(
            "b[i].item()",
            "b[(i + 1) % len(b)].item()",
            "the second vector is read one place too late",
        ),
        Wrong(
            "a[i].item() * b[i].item()",
            "b[i].item() ** 2",
            "the second vector is multiplied by itself",
        ),
        Wrong(
            "return total",
            "return int(total)",
            "the score is cut to a whole number",
        ),
        Wrong(
            "return total",
            "return round(total)",
            "the score is rounded to a whole number",
        ),
        Wrong(
            "return total",
            "return round(total, 2)",
            "the score is rounded to two digits",
        ),
        Wrong(
            "return total",
            "return round(total, 4)",
            "the score is rounded to four digits",
        ),
        Wrong(
            "return total",
            "return -total",
            "the sign is turned",
        ),
        Wrong(
            "return total",
            "return abs(total)",
            "the score has lost its sign",
        ),
        Wrong(
            "return total",
            "return total / len(a) ** 0.5",
            "the score is divided by the root of the width, which comes later",
        ),
        Wrong(
            "return total",
            "return total / float(a.norm())",
            "the score is divided by the length of the first vector",
        ),
        Wrong(
            "return total",
            "return total / float(b.norm())",
            "the score is divided by the length of the second vector",
        ),
        Wrong(
            "return total",
            "return a * b",
            "the products are given one by one, and are not added up",
        ),
        Wrong(
            "total + a[i].item()",
            "total - a[i].item()",
            "products are subtracted from the total",
            same_as="the sign is turned",
        ),
        Wrong(
            "        total = total + a[i].item() * b[i].item()\n",
            "        for j in range(len(b)):\n"
            "            total = total + a[i].item() * b[j].item()\n",
            "each number meets every number of the other vector, by two loops",
            same_as="both vectors are summed first, and their sums multiplied",
        ),
        Wrong(
            "    return total\n",
            "    _ = total\n",
            "the total is not returned, so that nothing is given back",
        ),
        Wrong(
            "total + a[i].item() * b[i].item()",
            "max(total, a[i].item() * b[i].item())",
            "the largest product is kept; the products should be added up",
        ),
        Wrong(
            "a[i].item() * b[i].item()",
            "int(a[i].item()) * int(b[i].item())",
            "the numbers are cut to whole ones before they are multiplied",
        ),
        Wrong(
            "a[i].item() * b[i].item()",
            "a[i].item() / b[i].item()",
            "the numbers are divided, and not multiplied",
        ),
        Wrong(
            "range(len(a))",
            "range(0, len(a), 2)",
            "every second number is left out",
        ),
        Wrong(
            "range(len(a))",
            "range(len(a) + 1)",
            "the loop goes one place too far: places run from 0 to len(a) - 1",
        ),
        Wrong(
            "range(len(a))",
            "range(3)",
            "the loop goes over three numbers; it should be as many as the vectors "
            "have",
        ),
        Wrong(
            "range(len(a))",
            "a",
            "the loop goes over the numbers of the vector, which are taken for places",
        ),
        Wrong(
            "a[i].item() * b[i].item()",
            "max(0.0, a[i].item() * b[i].item())",
            "only products above zero are added up",
        ),
        Wrong(
            "return total",
            "return total**0.5",
            "the root of the score is taken",
        ),
        Wrong(
            "    total = 0.0\n",
            "    a, b = a.sort().values, b.sort().values\n    total = 0.0\n",
            "both vectors are sorted first, so that other numbers meet",
        ),
        Wrong(
            "a[i].item() * b[i].item()",
            "i * a[i].item()",
            "each number is multiplied by its place, and the second vector is not used",
        ),
        Wrong(
            "return total",
            "return float((a - b).norm())",
            "the distance of the two is given; it should be the dot product",
        ),
        Wrong(
            "return total",
            "return [x.item() * y.item() for x, y in zip(a, b)]",
            "a list of products is given, which are not added up",
        ),
        Wrong(
            "a[i].item() * b[i].item()",
            "a[i].item()",
            "the numbers of the first vector are added up, without the second",
        ),
        Wrong(
            "a[i].item() * b[i].item()",
            "b[i].item()",
            "the numbers of the second vector are added up, without the first",
        ),
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
