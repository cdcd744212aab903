"""Project all tokens at once

Write `project(x, weight, bias)`: one projection of every token of a batch.

Tokens have shape (B, T, E). The weight is stored as `torch.nn.Linear` stores it, with a
row for each number that comes out: (D, E). The bias has D numbers. The result is
(B, T, D).
"""

from headway.practice import Exercise, Wrong
from headway.practice.task.definition import DIFFERENT, EQUAL

# --- your file ---
import torch
from torch import Tensor


def project(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Project tokens (B, T, E) by a weight (D, E) and a bias (D) to (B, T, D)."""
    # --- write ---
    return x @ weight.T + bias
    # --- written ---


if __name__ == "__main__":
    x = torch.tensor([[[1.0, 2.0, 3.0]]])
    weight = torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
    print(project(x, weight, torch.tensor([0.0, 0.5])))
    # tensor([[[1.0000, 5.5000]]])
# --- end of your file ---


EXERCISE = Exercise(
    answer="project",
    read=(
        "basics/self_attention/#the-same-with-linear-layers",
        "The same with linear layers",
    ),
    hints=(
        "Each number of the result is a dot product; of which row of the weight?",
        "A product x @ w adds up over the last axis of x and the first axis of w, but "
        "the weight has its E numbers in the last axis.",
        "Turn the weight around with .T before you multiply, and do not forget the "
        "bias.",
    ),
    draw=lambda d: (d.normal(d.B, d.T, d.E), d.normal(d.D, d.E), d.normal(d.D)),
    trials=(DIFFERENT, EQUAL, {"B": 1, "T": 1}),
    law="Every token is projected by the same matrix, wherever it stands.",
    right=[
        """
        # What nn.Linear calls: the weight goes in as it is stored.
        return torch.nn.functional.linear(x, weight, bias)
        """,
        """
        # einsum names the axes: e goes, and nothing needs to be turned around.
        return torch.einsum('bte,de->btd', x, weight) + bias
        """,
        """
        # Number by number: slow, but each is seen to be a dot product with one row.
        rows = [(x * row).sum(dim=-1) for row in weight]
        return torch.stack(rows, dim=-1) + bias
        """,
    ],
    wrong=[
        Wrong(
            "weight.T",
            "weight",
            "the weight is not transposed: its columns are taken for its rows",
            hint="In which axis of the weight stand the E numbers of a token?",
        ),
        Wrong(" + bias", "", "the bias is left out"),
        Wrong("+ bias", "- bias", "the bias is subtracted"),
        Wrong(
            "x @ weight.T + bias",
            "(x + x.mean()) @ weight.T + bias",
            "something is added to the tokens first",
        ),
        Wrong(
            "x @ weight.T + bias",
            "x[0] @ weight.T + bias",
            "only the first text is projected",
        ),
        Wrong(
            "x @ weight.T + bias",
            "(x @ weight.T + bias).mT",
            "the last two axes of the result are swapped",
        ),
        Wrong(
            "x @ weight.T + bias",
            "(x + bias) @ weight.T",
            "the bias is added before the product",
        ),
        Wrong(
            "x @ weight.T + bias",
            "x @ weight.view(x.shape[-1], -1) + bias",
            "the weight is given a new shape by view, which keeps the order of "
            "its numbers; .T turns it",
            hint="view((E, D)) and .T give tables of one shape. Which of them holds "
            "the same numbers in each row as before in each column?",
        ),
        Wrong(
            "x @ weight.T + bias",
            "x.reshape(-1, x.shape[-1]) @ weight.T + bias",
            "all tokens are put into one long table, which is never cut into "
            "texts again",
        ),
        Wrong("+ bias", "* bias", "it is multiplied by the bias"),
        Wrong(
            "x @ weight.T + bias",
            "weight @ x + bias",
            "the weight stands on the left, as if tokens were columns",
        ),
        Wrong(
            "x @ weight.T + bias",
            "weight @ x.mT + bias",
            "the weight stands on the left, so that tokens come out as columns",
        ),
        Wrong(
            "x @ weight.T + bias",
            "torch.nn.Linear(x.shape[-1], weight.shape[0], dtype=x.dtype)(x)",
            "a new layer draws a weight and a bias of its own; those that are given "
            "should be used",
        ),
        Wrong(
            "x @ weight.T + bias",
            "torch.nn.Linear(x.shape[-1], weight.shape[0])(x)",
            "a new layer draws a weight and a bias of its own, in 32 bits; those "
            "that are given should be used",
        ),
        Wrong(
            "+ bias",
            "+ bias[:, None]",
            "the bias gets an axis behind it, so that it is laid along the tokens",
        ),
        Wrong(
            "+ bias",
            "+ bias.sum()",
            "the sum of the bias is added to every number",
        ),
        Wrong(
            "+ bias",
            "+ bias.mean()",
            "the mean of the bias is added to every number",
        ),
        Wrong(
            "+ bias",
            "+ bias[0]",
            "the first number of the bias is added to all",
        ),
        Wrong(
            "+ bias",
            "+ 2 * bias",
            "the bias is added twice",
        ),
        Wrong(
            "x @ weight.T + bias",
            "x @ (weight.T + bias)",
            "the bias is added to the weight: a bracket stands wrong",
        ),
        Wrong(
            "x @ weight.T + bias",
            "torch.nn.functional.linear(x, weight.T, bias)",
            "linear turns the weight around by itself, and gets one that "
            "is turned already",
            same_as="the weight is not transposed: its columns are taken for its rows",
        ),
        Wrong(
            "x @ weight.T + bias",
            "torch.nn.functional.linear(x, weight)",
            "linear is not given the bias",
            same_as="the bias is left out",
        ),
        Wrong(
            "x @ weight.T + bias",
            "weight.T @ x + bias",
            "the weight is turned and stands on the left",
        ),
        Wrong(
            "x @ weight.T + bias",
            "torch.einsum('bte,ed->btd', x, weight) + bias",
            "einsum is told that the weight is (E, D); it is (D, E)",
        ),
        Wrong(
            "x @ weight.T + bias",
            "torch.einsum('bte,de->bd', x, weight) + bias",
            "the tokens of a text are added up: t is missing in the result of einsum",
        ),
        Wrong(
            "x @ weight.T + bias",
            "x * weight + bias",
            "tokens and weight are multiplied number by number; @ makes dot products",
        ),
        Wrong(
            "x @ weight.T + bias",
            "torch.bmm(x, weight.T) + bias",
            "torch.bmm takes three axes on both sides; the weight has two",
        ),
        Wrong(
            "x @ weight.T + bias",
            "torch.mm(x, weight.T) + bias",
            "torch.mm takes two tables; the tokens have an axis more",
        ),
        Wrong(
            "x @ weight.T + bias",
            "x @ weight.T + bias + x.mean()",
            "something is added to the result",
        ),
        Wrong(
            "x @ weight.T + bias",
            "torch.relu(x @ weight.T + bias)",
            "numbers below zero are set to zero; a projection leaves them",
        ),
        Wrong(
            "x @ weight.T + bias",
            "x[:, 0] @ weight.T + bias",
            "only the first token of each text is projected",
        ),
        Wrong(
            "x @ weight.T + bias",
            "x[:, -1] @ weight.T + bias",
            "only the last token of each text is projected",
        ),
        Wrong(
            "x @ weight.T + bias",
            "x.mean(dim=1) @ weight.T + bias",
            "the mean of the tokens of each text is projected",
        ),
        Wrong(
            "x @ weight.T + bias",
            "x.mT @ weight.T + bias",
            "the tokens are turned around; the weight alone should be",
        ),
        Wrong(
            "x @ weight.T + bias",
            "(x @ weight.T + bias) / x.shape[-1] ** 0.5",
            "the result is divided by the root of the width, which is for scores",
        ),
        Wrong(
            "x @ weight.T + bias",
            "torch.stack([weight @ text for text in x]) + bias",
            "the weight stands on the left, text by text, as if tokens were columns",
        ),
        Wrong(
            "x @ weight.T + bias",
            "(weight @ x.mT + bias[:, None]).reshape(*x.shape[:2], -1)",
            "tokens come out as columns, and a reshape stands where they should be "
            "transposed, so that numbers land at other tokens",
        ),
        Wrong(
            "x @ weight.T + bias",
            "(weight @ x.mT).reshape(*x.shape[:2], -1) + bias",
            "tokens come out as columns and are reshaped before the bias is added; "
            "they should be transposed",
        ),
        Wrong(
            "    return x @ weight.T + bias",
            "    T, E = x.shape\n    return x @ weight.T + bias",
            "x is taken to have two axes: a batch has three",
        ),
        Wrong(
            "    return x @ weight.T + bias",
            '    return torch.einsum("bte,de->td", x, weight) + bias',
            "the tokens of all texts are added up: b is missing in the result of "
            "einsum",
        ),
        Wrong(
            "    return x @ weight.T + bias",
            "    return (x[:1] @ weight.T + bias).expand(len(x), -1, -1)",
            "all texts get what the first gets",
        ),
        Wrong(
            "    return x @ weight.T + bias",
            "    return x @ weight[0] + bias",
            "the first row of the weight alone is used",
        ),
        Wrong(
            "    return x @ weight.T + bias",
            "    return [text @ weight.T + bias for text in x]",
            "a list of rows is given, one for each text; it should be one tensor",
        ),
        Wrong(
            "    return x @ weight.T + bias",
            "    return torch.stack([(x * row).sum(dim=-1) + one for row, one in "
            "zip(weight, bias)])",
            "the rows are stacked in front, so that D comes first",
        ),
        Wrong(
            "    return x @ weight.T + bias",
            "    return torch.stack([(x * row).sum(dim=1) for row in weight], dim=-1)",
            "products with each row are added up over the tokens; it should be over "
            "the numbers of a token",
        ),
        Wrong(
            "    return x @ weight.T + bias",
            "    return x[..., None, :] * weight + bias[:, None]",
            "the products are not added up",
        ),
        Wrong(
            "    return x @ weight.T + bias",
            "    return x @ weight.T / x.shape[-1] + bias",
            "the mean of the products is taken, and not their sum",
        ),
        Wrong(
            "    return x @ weight.T + bias",
            "    return (weight @ x.permute(2, 1, 0)).permute(2, 1, 0) + bias",
            ".T turns all axes of the tokens around, those of the texts too",
        ),
        Wrong(
            "    return x @ weight.T + bias",
            "    return x @ weight.T + weight @ bias",
            "the bias is multiplied by the weight as well",
        ),
        Wrong(
            "    return x @ weight.T + bias",
            "    return torch.cat([x @ weight.T, bias.expand(len(x), 1, -1)], dim=1)",
            "the bias is put behind the tokens as one more; it should be added to each",
        ),
        Wrong(
            "    return x @ weight.T + bias",
            "    return (x @ weight.T + bias).softmax(dim=-1)",
            "a softmax is taken of the result",
        ),
        Wrong(
            "    return x @ weight.T + bias",
            "    return weight(x) + bias",
            "the weight is called like a layer; it is a tensor",
        ),
        Wrong(
            "    return x @ weight.T + bias",
            "    x @ weight.T + bias",
            "nothing is returned: the function ends without a return",
        ),
        Wrong(
            "    return x @ weight.T + bias",
            "    return torch.nn.Linear(weight, bias)(x)",
            "nn.Linear is given tensors; it takes sizes",
        ),
        Wrong(
            "    return x @ weight.T + bias",
            "    result = x @ weight.T\n    result[0] += bias\n    return result",
            "the bias is added to the first text alone",
        ),
        Wrong(
            "    return x @ weight.T + bias",
            "    result = x @ weight.T\n    result[:, 0] += bias\n    return result",
            "the bias is added to the first token of each text alone",
        ),
        Wrong(
            "    return x @ weight.T + bias",
            "    return (x.reshape(-1, x.shape[-1]) @ weight.T + "
            "bias).reshape(x.shape[0], weight.shape[0], x.shape[1])",
            "the long table of tokens is cut into (B, D, T), and not (B, T, D)",
        ),
        Wrong(
            "    return x @ weight.T + bias",
            "    return (x @ weight.T + bias).transpose(0, 1)",
            "the axes of texts and tokens are exchanged",
        ),
        Wrong(
            "    return x @ weight.T + bias",
            "    return torch.nn.functional.normalize(x, dim=-1) @ weight.T + bias",
            "tokens are brought to length one first",
        ),
        Wrong(
            "return x @ weight.T + bias",
            "return (x @ weight.T + bias).squeeze()",
            "axes of length one are squeezed away",
        ),
        Wrong(
            "x @ weight.T + bias",
            "weight @ x.mT",
            "the weight stands on the left, so that tokens come out as columns, and "
            "the bias is left out",
        ),
        Wrong(
            "x @ weight.T + bias",
            "x @ weight.view(x.shape[-1], -1)",
            "the weight is given a new shape by view, and the bias is left out",
        ),
    ],
    minutes=4,
)
