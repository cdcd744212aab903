"""Features that come close to the softmax

The exponential is a sum: 1 + s + s * s / 2 + ... Without a softmax the weight of a key
is a dot product of features, one vector made from the query and one from the key.

Write `up_to_squares(x)`: features of the rows of x (..., D), for queries and keys
alike, as wide as you like. The dot product of the features of q and of k must be

    1 + s + s * s / 2,   where s = (q . k) / D ** 0.5 is the scaled dot product
"""

from headway.practice import Exercise, Wrong

# --- your file ---
import torch
from torch import Tensor


def up_to_squares(x: Tensor) -> Tensor:
    """Give features of rows (..., D), whose dot products are near exponentials."""
    # --- write ---
    x = x / x.shape[-1] ** 0.25
    squares = (x.unsqueeze(-1) * x.unsqueeze(-2)).flatten(-2)
    one = torch.ones_like(x[..., :1])
    return torch.cat([one, x, squares / 2**0.5], dim=-1)
    # --- written ---


if __name__ == "__main__":
    query, key = torch.tensor([2.0, 1.0]), torch.tensor([[1.0, 0.0], [2.0, 2.0]])
    print(query @ key.T, up_to_squares(query) @ up_to_squares(key).T)
    # tensor([2., 6.]) tensor([ 3.4142, 14.2426])
# --- end of your file ---


def draw(d):  # type: ignore[no-untyped-def]
    texts = [] if d.B == 1 else [d.B]
    return d.normal(*texts, d.T, d.D), d.normal(*texts, d.S, d.D)


def run(up_to_squares, query, key):  # type: ignore[no-untyped-def]
    return up_to_squares(query) @ up_to_squares(key).mT


EXERCISE = Exercise(
    answer="up_to_squares",
    read=(
        "variants/linear_attention/#weights-that-are-positive",
        "Weights that are positive",
    ),
    hints=(
        "Which vectors of two numbers have the square of (a c + b d) as dot product?",
        "The square of a dot product is the dot product of all products of two "
        "numbers of q with all products of two numbers of k. Lay the three terms of "
        "the sum one behind the other.",
        "What is divided in s must be shared by both sides: each gets its root. So is "
        "the half before the squares.",
    ),
    draw=draw,
    ask=run,
    trials=(
        {},
        dict.fromkeys("BHGTSDVEW", 4),
        {"D": 1},
        {"B": 1},
        {"loud": 30.0},
        {"T": 1},
    ),
    law="Weights are positive whatever the scores, since 1 + s + s * s / 2 is never "
    "below a half; and near the exponential where scores are small.",
    right=[
        """
        # Each product of two numbers once: about half as wide.
        D = x.shape[-1]
        x = x * D**-0.25
        parts = [torch.ones_like(x[..., 0])]
        parts += [x[..., i] for i in range(D)]
        for i in range(D):
            parts.append(x[..., i] ** 2 / 2**0.5)
            parts += [x[..., i] * x[..., j] for j in range(i)]
        return torch.stack(parts, dim=-1)
        """,
        """
        # einsum writes all products of two numbers of a row.
        x = x / x.shape[-1] ** 0.25
        squares = torch.einsum("...i,...j->...ij", x, x).flatten(-2) * 0.5**0.5
        return torch.cat((squares, x, x[..., :1] * 0 + 1), -1)
        """,
    ],
    wrong=[
        Wrong(
            "x.shape[-1] ** 0.25",
            "x.shape[-1] ** 0.5",
            "queries and keys are both divided by the whole root, so that scores are "
            "scaled twice",
        ),
        Wrong("x.shape[-1] ** 0.25", "1.0", "the scores are not scaled"),
        Wrong(
            "squares / 2**0.5",
            "squares / 2",
            "the squares are halved on both sides, which makes a quarter of them",
        ),
        Wrong("squares / 2**0.5", "squares", "the half before the squares is missing"),
        Wrong(
            "(x.unsqueeze(-1) * x.unsqueeze(-2)).flatten(-2)",
            "x**2",
            "each number is squared, and the products of two different numbers are "
            "missing",
        ),
        Wrong("[one, x, squares", "[x, squares", "the one is missing"),
        Wrong("[one, x, squares", "[one, squares", "the first power is missing"),
        Wrong(
            "[one, x, squares / 2**0.5]",
            "[one, x]",
            "the squares are missing",
        ),
        Wrong(
            "    return torch.cat([one, x, squares / 2**0.5], dim=-1)",
            "    return torch.exp(x)",
            "the exponential of each number is taken, and not that of a dot product",
        ),
        Wrong(
            "    return torch.cat([one, x, squares / 2**0.5], dim=-1)",
            "    return torch.nn.functional.elu(x) + 1",
            "the feature map elu(x) + 1 is used, whose products are far from "
            "exponentials",
        ),
        Wrong(
            "(x.unsqueeze(-1) * x.unsqueeze(-2))",
            "(x.shape[-1] ** 0.25 * x.unsqueeze(-1) * x.unsqueeze(-2))",
            "the squares are products of two numbers, and only one of the two is "
            "scaled",
        ),
        Wrong(
            "torch.ones_like(x[..., :1])",
            "torch.ones_like(x)",
            "there is a one for each number of the row, and their products sum to D",
        ),
        Wrong(
            "(x.unsqueeze(-1) * x.unsqueeze(-2)).flatten(-2)",
            "(x.unsqueeze(-1) * x.unsqueeze(-2))[\n"
            "        ..., torch.ones(x.shape[-1], x.shape[-1]).triu().bool()\n"
            "    ]",
            "the product of two different numbers is there once, where the square of "
            "a sum holds it twice",
        ),
        Wrong(
            "    return torch.cat([one, x, squares / 2**0.5], dim=-1)",
            "    return 1 + x + x * x / 2",
            "the sum is made of each number by itself, and not of a dot product",
        ),
        Wrong(
            "    return torch.cat([one, x, squares / 2**0.5], dim=-1)",
            "    return torch.cat([one, x / x.shape[-1] ** 0.25, squares / 2**0.5], "
            "dim=-1)",
            "the first power is scaled twice, and the squares once",
        ),
        Wrong(
            "(x.unsqueeze(-1) * x.unsqueeze(-2)).flatten(-2)",
            "torch.cat([x * x, 2**0.5 * x[..., :-1] * x[..., 1:]], dim=-1)",
            "only neighbours are multiplied, which are all pairs at a width of "
            "two only",
        ),
        Wrong(
            "(x.unsqueeze(-1) * x.unsqueeze(-2)).flatten(-2)",
            "(x.unsqueeze(-1) * x.unsqueeze(-2))[\n"
            "        ..., torch.ones(x.shape[-1], x.shape[-1]).triu(1).bool()\n"
            "    ]",
            "the squares of single numbers are missing, and the products of "
            "two are there once",
        ),
        Wrong(
            "(x.unsqueeze(-1) * x.unsqueeze(-2)).flatten(-2)",
            "(x.unsqueeze(-1) * x.unsqueeze(-2))[\n"
            "        ..., ~torch.eye(x.shape[-1], dtype=torch.bool)\n"
            "    ]",
            "the products of two different numbers are there, and the squares "
            "of single numbers are missing",
        ),
        Wrong(
            "x = x / x.shape[-1] ** 0.25\n"
            "    squares = (x.unsqueeze(-1) * x.unsqueeze(-2)).flatten(-2)\n"
            "    one = torch.ones_like(x[..., :1])\n"
            "    return torch.cat([one, x, squares / 2**0.5], dim=-1)",
            "x = x / x.shape[-1] ** 0.5\n"
            "    squares = (x.unsqueeze(-1) * x.unsqueeze(-2)).flatten(-2)\n"
            "    one = torch.ones_like(x[..., :1])\n"
            "    return torch.cat([one, x, squares], dim=-1)",
            "queries and keys are both divided by the whole root, and the half "
            "before the squares is missing",
        ),
        Wrong(
            "    return torch.cat([one, x, squares / 2**0.5], dim=-1)",
            "    D = x.shape[-1]\n"
            "    return torch.cat([one, x * D**0.25, squares / 2**0.5], dim=-1)",
            "the first power is not scaled; the squares are",
        ),
        Wrong(
            "    return torch.cat([one, x, squares / 2**0.5], dim=-1)",
            "    D = x.shape[-1]\n"
            "    return torch.cat([one, x, squares * D**0.5 / 2**0.5], dim=-1)",
            "the squares are not scaled; the first power is",
        ),
        Wrong(
            "    return torch.cat([one, x, squares / 2**0.5], dim=-1)",
            "    D = x.shape[-1]\n"
            "    return torch.cat([one, x, squares / D**0.25 / 2**0.5], dim=-1)",
            "the squares are scaled once too often",
        ),
        Wrong(
            "    return torch.cat([one, x, squares / 2**0.5], dim=-1)",
            "    D = x.shape[-1]\n"
            "    return torch.cat([one, x, squares / D**0.5 / 2**0.5], dim=-1)",
            "the squares are scaled twice, and the first power once",
        ),
        Wrong(
            "squares / 2**0.5",
            "squares * 2**0.5",
            "the squares are multiplied by the root of two; they should be "
            "divided by it",
        ),
        Wrong(
            "squares / 2**0.5",
            "squares / 4",
            "the squares are divided by four on both sides; it should be the "
            "root of two",
        ),
        Wrong(
            "squares / 2**0.5",
            "squares * 2",
            "the squares are doubled; they should be divided by the root of two",
        ),
        Wrong(
            "x.shape[-1] ** 0.25",
            "x.shape[-1]",
            "each side is divided by the whole width; it should be its fourth root",
        ),
        Wrong(
            "x = x / x.shape[-1] ** 0.25",
            "x = x * x.shape[-1] ** 0.25",
            "x is multiplied by the fourth root; it should be divided by it",
        ),
        Wrong(
            "x.shape[-1] ** 0.25",
            "x.shape[0] ** 0.25",
            "the first axis is counted for the scale; the numbers of a row are "
            "the last one",
        ),
        Wrong(
            "x.shape[-1] ** 0.25",
            "x.shape[-2] ** 0.25",
            "the tokens are counted for the scale; the numbers of a row should be",
        ),
        Wrong(
            "    return torch.cat([one, x, squares / 2**0.5], dim=-1)",
            "    return torch.cat([one / x.shape[-1] ** 0.5, x, squares / "
            "2**0.5], dim=-1)",
            "the one is scaled as well",
        ),
        Wrong(
            "    return torch.cat([one, x, squares / 2**0.5], dim=-1)",
            "    return torch.cat([one, x, squares / 2**0.5], dim=-1).softmax(dim=-1)",
            "a softmax is taken of the features, which should stay as they are",
        ),
        Wrong(
            "    return torch.cat([one, x, squares / 2**0.5], dim=-1)",
            "    s = x.sum(dim=-1, keepdim=True)\n"
            "    return torch.cat([one, s, s**2 / 2**0.5], dim=-1)",
            "the numbers of a row are added first, and the sum is squared",
        ),
        Wrong(
            "    return torch.cat([one, x, squares / 2**0.5], dim=-1)",
            "    return torch.cat([one, x, squares / 2**0.5, 0 * x, (x**3) / "
            "6**0.5], dim=-1)",
            "a third power is added; the sum ends with the squares",
        ),
        Wrong(
            "(x.unsqueeze(-1) * x.unsqueeze(-2)).flatten(-2)",
            "(x.unsqueeze(-1) + x.unsqueeze(-2)).flatten(-2)",
            "numbers are added two by two; they should be multiplied",
        ),
        Wrong(
            "(x.unsqueeze(-1) * x.unsqueeze(-2)).flatten(-2)",
            "(x.unsqueeze(-1) * x.unsqueeze(-2))",
            "the products keep two axes, and are not laid in a row",
        ),
        Wrong(
            "(x.unsqueeze(-1) * x.unsqueeze(-2)).flatten(-2)",
            "(x.unsqueeze(-1) * x.unsqueeze(-2)).sum(dim=-1)",
            "the products of a number with all others are added; each should "
            "have a place of its own",
        ),
        Wrong(
            "    return torch.cat([one, x, squares / 2**0.5], dim=-1)",
            "    tri = torch.ones(x.shape[-1], x.shape[-1], "
            "dtype=x.dtype).triu()\n"
            "    both = (2 * tri - torch.eye(x.shape[-1], "
            "dtype=x.dtype)).flatten()\n"
            "    return torch.cat([one, x, both * squares / 2**0.5], dim=-1)",
            "the product of two different numbers is doubled on both sides; it "
            "should be multiplied by the root of two",
        ),
        Wrong(
            "(x.unsqueeze(-1) * x.unsqueeze(-2)).flatten(-2)",
            "x.square().sum(dim=-1, keepdim=True)",
            "the square of the length is taken; it should be the products of two "
            "numbers",
        ),
        Wrong(
            "    return torch.cat([one, x, squares / 2**0.5], dim=-1)",
            "    cubes = (squares.unsqueeze(-1) * x.unsqueeze(-2)).flatten(-2)\n"
            "    return torch.cat([one, x, squares / 2**0.5, cubes / 6**0.5], dim=-1)",
            "all products of three numbers are added; the sum ends with the squares",
        ),
        Wrong(
            "    return torch.cat([one, x, squares / 2**0.5], dim=-1)",
            "    return torch.exp(x - x.square().sum(dim=-1, keepdim=True) / 2)",
            "the exponential of each number is taken, less half of the squared length",
        ),
        Wrong(
            "    return torch.cat([one, x, squares / 2**0.5], dim=-1)",
            "    return torch.cat([one, x, squares], dim=-1) / 2**0.5",
            "all features are divided by the root of two; only the squares should be",
        ),
        Wrong(
            "x = x / x.shape[-1] ** 0.25",
            "x = x / x.norm(dim=-1, keepdim=True)",
            "rows are divided by their length; it should be the fourth root of D",
        ),
        Wrong(
            "    return torch.cat([one, x, squares / 2**0.5], dim=-1)",
            "    return 1 + x @ x.mT + (x @ x.mT) ** 2 / 2",
            "the sum is taken of the rows with each other; features of each row are "
            "asked for",
        ),
        Wrong(
            "torch.ones_like(x[..., :1])",
            "torch.ones(1, dtype=x.dtype)",
            "there is one number for all rows, and cat wants one for each",
        ),
        Wrong(
            "(x.unsqueeze(-1) * x.unsqueeze(-2)).flatten(-2)",
            "(x.unsqueeze(-1) * x.unsqueeze(-2)).flatten(1)",
            "products are laid in a row from axis 1 on, which are the tokens; it "
            "should be the last two axes",
        ),
        Wrong(
            "dim=-1)",
            "dim=-2)",
            "the three terms are joined along the tokens; it should be along the last "
            "axis",
        ),
        Wrong(
            "squares / 2**0.5",
            "squares / 2**0.25",
            "the squares are divided by the fourth root of two on both sides; it "
            "should be the root",
        ),
        Wrong(
            "x.shape[-1] ** 0.25",
            "(x.shape[-1] * 0.25)",
            "the width is multiplied by a quarter; it should be its fourth root",
        ),
        Wrong(
            "x = x / x.shape[-1] ** 0.25",
            "x = x / 2**0.25",
            "the width is taken to be two",
        ),
    ],
    stars=3,
    minutes=15,
)
