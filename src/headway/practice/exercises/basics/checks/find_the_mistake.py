"""Find the mistake, and repair it

`Hurried` below passes any test of shapes. Read it, write down what you think is wrong,
and then let `check(Hurried(12, 5))` of `headway.checks` say it.

Write the `forward(x)` of `Repaired`, which has the same layers: tokens x of shape
(..., T, d_in) give rows (..., T, d_out), and `check(Repaired(12, 5), causal=True)`
finds nothing.
"""

from headway.practice import Exercise, Wrong

# --- your file ---
import torch
from torch import Tensor, nn


class Hurried(nn.Module):
    """Causal attention, with one mistake."""

    def __init__(self, d_in: int, d_out: int) -> None:
        super().__init__()
        self.to_q = nn.Linear(d_in, d_out, bias=False)
        self.to_k = nn.Linear(d_in, d_out, bias=False)
        self.to_v = nn.Linear(d_in, d_out, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.to_q(x), self.to_k(x), self.to_v(x)
        shares = (q @ k.mT / k.shape[-1] ** 0.5).softmax(dim=-1)
        return shares.tril() @ v


class Repaired(Hurried):
    """The same, right."""

    def forward(self, x: Tensor) -> Tensor:
        """Give (..., T, d_out) for tokens (..., T, d_in)."""
        # --- write ---
        query, key, value = self.to_q(x), self.to_k(x), self.to_v(x)
        scores = query @ key.mT / key.shape[-1] ** 0.5
        future = torch.ones_like(scores).triu(1).bool()
        weights = scores.masked_fill(future, -torch.inf).softmax(dim=-1)
        return weights @ value
        # --- written ---


if __name__ == "__main__":
    torch.manual_seed(7)
    x = torch.randn(2, 7, 12)
    for attend in (Hurried(12, 5), Repaired(12, 5)):
        # The first token sees itself alone, so it must get its own value.
        print(torch.allclose(attend(x)[:, 0], attend.to_v(x[:, 0])))
    # False
    # True
# --- end of your file ---


def run(cls, x, to_q, to_k, to_v):  # type: ignore[no-untyped-def]
    attend = cls(*to_q.shape)
    for name, weight in zip("qkv", (to_q, to_k, to_v), strict=True):
        getattr(attend, f"to_{name}").weight.data = weight.T
    return {
        "the rows of a batch": attend(x),
        "the rows of one text": attend(x[0]),
        "the row of a single token": attend(x[:1, :1]),
        "the rows behind two axes": attend(torch.stack([x, x.flip(-1)])),
    }


EXERCISE = Exercise(
    answer="Repaired",
    read=(
        "basics/checks/#how-a-difference-is-explained",
        "How a difference is explained",
    ),
    hints=(
        "What does the softmax share out, and what is left of a row's sum when a part "
        "of it is thrown away afterwards?",
        "Hide scores, before the softmax; or, if you hide weights, divide each row by "
        "what is left of it.",
        "Between the scores and the softmax belongs one more step: masked_fill, with "
        "minus infinity above the diagonal, which triu(1) finds.",
    ),
    # One token is all zeros, as padding may be, so that some scores are zero.
    draw=lambda d: (
        d.normal(d.B, d.T, d.E) * (torch.arange(d.T)[:, None] != 2),
        d.normal(d.E, d.D),
        d.normal(d.E, d.D),
        d.normal(d.E, d.D),
    ),
    trials=[{}, dict.fromkeys("BTDE", 4)],
    ask=run,
    law="What was shared with the future is lost to the past: how much of a row is "
    "missing would tell something about tokens to come.",
    right=[
        """
        # PyTorch's own function: fast, and right for as many keys as queries.
        q, k, v = self.to_q(x), self.to_k(x), self.to_v(x)
        return nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        """,
        """
        # Hidden afterwards, and shared out anew: what it takes to repair weights.
        q, k, v = self.to_q(x), self.to_k(x), self.to_v(x)
        shares = (q @ k.mT / k.shape[-1] ** 0.5).softmax(dim=-1).tril()
        return shares / shares.sum(dim=-1, keepdim=True) @ v
        """,
        """
        # The book's function: the mask has a name, and is tested already.
        from headway import attention

        return attention(self.to_q(x), self.to_k(x), self.to_v(x), causal=True)
        """,
    ],
    wrong=[
        Wrong(
            "        weights = scores.masked_fill(future, -torch.inf).softmax(dim=-1)",
            "        weights = scores.softmax(dim=-1).tril()",
            "weights are hidden after the softmax, and their sum is not one: the "
            "mistake is still there",
            exhibit="masks/#mask-after-softmax",
        ),
        Wrong(
            "scores.masked_fill(future, -torch.inf).softmax(dim=-1)",
            "scores.tril().softmax(dim=-1)",
            "hidden scores are zero, whose exponential is one",
        ),
        Wrong(
            "scores.masked_fill(future, -torch.inf).softmax(dim=-1)",
            "scores.tril().softmax(dim=-1).tril()",
            "scores of the future are zero and their weights too; rows still do "
            "not sum to one",
        ),
        Wrong(
            "scores.masked_fill(future, -torch.inf).softmax(dim=-1)",
            "nn.functional.normalize(scores.softmax(dim=-1).tril(), dim=-1)",
            "rows are divided by their length, and not by their sum",
        ),
        Wrong(
            "scores.masked_fill(future, -torch.inf).softmax(dim=-1)",
            "scores.softmax(dim=-1)",
            "nothing is hidden any more",
        ),
        Wrong(
            "scores.masked_fill(future, -torch.inf).softmax(dim=-1)",
            "scores.masked_fill(future, -torch.inf).softmax(dim=-2)",
            "the softmax runs over the queries",
            exhibit="softmax/#softmax-over-queries",
        ),
        Wrong(
            "triu(1)",
            "triu()",
            "a token does not see itself, and the first sees nothing",
            exhibit="triangles/#mask-hides-itself",
        ),
        Wrong(
            "triu(1)",
            "tril()",
            "the triangle of the mask is flipped",
            exhibit="triangles/#mask-flipped",
        ),
        Wrong(
            "weights = scores.masked_fill(future, -torch.inf).softmax(dim=-1)",
            "weights = scores.softmax(dim=-1).masked_fill(future, -torch.inf)",
            "weights are set to minus infinity; that is for scores, before the softmax",
        ),
        Wrong(
            "scores.masked_fill(future, -torch.inf).softmax(dim=-1)",
            "scores.softmax(dim=-1).tril()\n"
            "        weights = weights / weights.sum(dim=-2, keepdim=True)",
            "columns are made to sum to one, and not rows",
        ),
        Wrong(
            "scores.masked_fill(future, -torch.inf).softmax(dim=-1)",
            "scores.softmax(dim=-1).tril().softmax(dim=-1)",
            "a second softmax runs over hidden weights, which gives zeros a share",
        ),
        Wrong(
            "        scores = query @ key.mT",
            "        B, T, E = x.shape\n        scores = query @ key.mT",
            "x is taken to have three axes; a single text has two",
            hint="x.shape[-2] is the number of tokens, however many axes stand in "
            "front.",
        ),
        Wrong(
            "scores.masked_fill(future, -torch.inf).softmax(dim=-1)",
            "scores.tril()\n"
            "        weights = weights.masked_fill(weights == 0, "
            "-torch.inf).softmax(-1)",
            "all scores that are zero are hidden; a token that may be seen can "
            "have the score zero, too",
        ),
        Wrong(
            "weights = scores.masked_fill(future, -torch.inf).softmax(dim=-1)",
            "scores = scores + torch.ones_like(scores).triu(1) * -torch.inf\n"
            "        weights = scores.softmax(dim=-1)",
            "a triangle of ones and zeros is multiplied by minus infinity; zero "
            "times infinity is nan",
            hint="torch.full makes a table of minus infinities, and triu(1) cuts it; "
            "or masked_fill writes them.",
        ),
        Wrong(
            " / key.shape[-1] ** 0.5",
            "",
            "scores are not scaled any more",
        ),
        Wrong(
            "key.shape[-1] ** 0.5",
            "x.shape[-1] ** 0.5",
            "scores are divided by the root of the width of tokens, and not of keys",
        ),
        Wrong(
            "scores.masked_fill(future, -torch.inf).softmax(dim=-1)",
            "scores.softmax(dim=-1)\n"
            "        weights = weights.masked_fill(future, "
            "-torch.inf).softmax(dim=-1)",
            "weights are hidden by a second softmax, over weights and not scores",
        ),
        Wrong(
            "scores.masked_fill(future, -torch.inf).softmax(dim=-1)",
            "scores.softmax(dim=-1).tril()\n        weights = weights / weights.sum()",
            "all weights together sum to one, and not each row",
        ),
        Wrong(
            "scores.masked_fill(future, -torch.inf).softmax(dim=-1)",
            "scores.softmax(dim=-1).tril()\n"
            "        weights = weights / weights.sum(dim=-1)",
            "row sums are divided without keepdim, so that they stand along the keys",
        ),
        Wrong(
            "torch.ones_like(scores)",
            "torch.ones(x.shape[1], x.shape[1])",
            "axis 1 is taken for the tokens; in a single text that is its width",
            hint="x.shape[-2] is the number of tokens, however many axes stand in "
            "front.",
        ),
        Wrong(
            "key.mT",
            "key.transpose(1, 2)",
            "axes are counted from the front; a single text has no axis 2",
        ),
        Wrong(
            "torch.ones_like(scores).triu(1).bool()",
            "torch.ones(x.shape[-2], x.shape[-2]).triu(1)",
            "the mask holds numbers; masked_fill takes True and False",
        ),
        Wrong(
            "triu(1)",
            "triu(2)",
            "the mask is shifted by one place: the next token is seen",
            exhibit="triangles/#mask-shows-next",
        ),
        Wrong(
            "triu(1)",
            "tril(-1)",
            "the past is hidden: each token sees itself and what comes later",
        ),
        Wrong(
            "/ key.shape[-1] ** 0.5",
            "* key.shape[-1] ** 0.5",
            "scores are multiplied by sqrt(D), not divided",
        ),
        Wrong(
            "/ key.shape[-1] ** 0.5",
            "/ key.shape[-1]",
            "scores are divided by D and not by its root, or scaled twice",
        ),
        Wrong(
            "/ key.shape[-1] ** 0.5",
            "/ x.shape[-2] ** 0.5",
            "scores are divided by the root of the number of tokens",
        ),
        Wrong(
            "scores.masked_fill(future, -torch.inf).softmax(dim=-1)",
            "scores.masked_fill(future, -torch.inf).softmax(dim=1)",
            "the softmax runs over axis 1, which are the keys of a single text "
            "only, and in a batch the queries",
        ),
        Wrong(
            "scores.masked_fill(future, -torch.inf).softmax(dim=-1)",
            "scores.masked_fill(future, -torch.inf).softmax(dim=0)",
            "the softmax runs over axis 0, which are the texts, or the queries of "
            "a single one",
        ),
        Wrong(
            "scores.masked_fill(future, -torch.inf).softmax(dim=-1)",
            "scores.softmax(dim=-1).tril()\n"
            "        weights = weights / torch.arange(1, x.shape[-2] + 1)[:, None]",
            "rows are divided by the number of tokens that they see; it should be "
            "by what is left of their sum",
        ),
        Wrong(
            "scores.masked_fill(future, -torch.inf).softmax(dim=-1)",
            "scores.softmax(dim=-1).tril()\n"
            "        weights = weights / weights.mean(dim=-1, keepdim=True)",
            "rows are divided by their mean; it should be by their sum",
        ),
        Wrong(
            "scores.masked_fill(future, -torch.inf).softmax(dim=-1)",
            "scores.softmax(dim=-1).tril()\n"
            "        weights = weights / weights.amax(dim=-1, keepdim=True)",
            "rows are divided by their largest weight; it should be by their sum",
        ),
        Wrong(
            "scores.masked_fill(future, -torch.inf).softmax(dim=-1)",
            "scores.softmax(dim=-1).tril()\n"
            "        weights = weights / "
            "scores.softmax(dim=-1).sum(dim=-1, keepdim=True)",
            "rows are divided by their sum before the cut, which is one",
            same_as="weights are hidden after the softmax, and their sum is not "
            "one: the mistake is still there",
        ),
        Wrong(
            "scores.masked_fill(future, -torch.inf).softmax(dim=-1)",
            "scores.masked_fill(future, -torch.inf)",
            "there is no softmax any more",
        ),
        Wrong(
            "query @ key.mT",
            "key @ query.mT",
            "queries and keys are swapped",
        ),
        Wrong(
            "weights @ value",
            "weights @ key",
            "the weights mix the keys; they should mix the values",
        ),
        Wrong(
            "weights @ value",
            "weights.mT @ value",
            "the weights are transposed before they mix the values",
        ),
        Wrong(
            "return weights @ value",
            "return weights",
            "the weights are given; it should be the rows",
        ),
        Wrong(
            "torch.ones_like(scores)",
            "torch.ones(len(x), len(x))",
            "the first axis is taken for the tokens, and in a batch that are the texts",
        ),
        Wrong(
            "scores.masked_fill(future, -torch.inf).softmax(dim=-1)",
            "scores.softmax(dim=-1).tril()\n"
            "        weights = weights / weights.sum(dim=0, keepdim=True)",
            "rows are divided by sums over the first axis",
        ),
        Wrong(
            "scores.masked_fill(future, -torch.inf).softmax(dim=-1)",
            "scores.softmax(dim=-1).tril()\n"
            "        weights = weights / (weights.sum(dim=-1, keepdim=True) + 1e-6)",
            "a small number is added to the sum by which rows are divided",
        ),
        Wrong(
            "-torch.inf",
            "-10.0",
            "hidden scores are set to a number like -10, so that a little gets through",
        ),
        Wrong(
            "-torch.inf",
            "torch.inf",
            "hidden scores are set to plus infinity; minus is missing",
        ),
        Wrong(
            "        return weights @ value",
            "        return weights.tril() @ value.tril()",
            "values and weights are cut by a triangle",
        ),
        Wrong(
            "        weights = scores.masked_fill(future, -torch.inf).softmax(dim=-1)",
            "        weights = (scores - future.to(scores)).softmax(dim=-1)",
            "a one is taken off hidden scores; it should be minus infinity",
        ),
        Wrong(
            "        weights = scores.masked_fill(future, -torch.inf).softmax(dim=-1)",
            "        weights = scores.exp().tril()",
            "exponentials are cut by the triangle, and not divided by their sum",
        ),
        Wrong(
            "        return weights @ value",
            "        return nn.functional.scaled_dot_product_attention(query, key, "
            "value, attn_mask=future)",
            "PyTorch's function is given future as mask, in which True means seen",
        ),
        Wrong(
            "        query, key, value = self.to_q(x), self.to_k(x), self.to_v(x)",
            "        query, key, value = self.to_q(x), self.to_q(x), self.to_v(x)",
            "the layer of the queries makes the keys too",
        ),
        Wrong(
            "        query, key, value = self.to_q(x), self.to_k(x), self.to_v(x)",
            "        query, key, value = self.to_k(x), self.to_k(x), self.to_v(x)",
            "the layer of the keys makes the queries too",
        ),
        Wrong(
            "        query, key, value = self.to_q(x), self.to_k(x), self.to_v(x)",
            "        query, key, value = x, x, x",
            "the tokens themselves are queries, keys and values",
        ),
        Wrong(
            "        return weights @ value",
            "        weights @ value",
            "nothing is returned: forward ends without a return",
        ),
        Wrong(
            "        return weights @ value",
            "        return weights @ value + value",
            "the values are added to the rows",
        ),
        Wrong(
            "        return weights @ value",
            "        return weights @ value, weights",
            "the weights are given besides the rows; the rows alone are asked for",
        ),
        Wrong(
            "        return weights @ value",
            "        return weights @ value / key.shape[-1] ** 0.5",
            "the rows are divided by the root of D as well",
        ),
        Wrong(
            "        return weights @ value",
            "        rows = scores.softmax(dim=-1).tril() @ value\n"
            "        return rows / rows.sum(dim=-1, keepdim=True)",
            "the rows that come out are divided by their sum; it should be the rows "
            "of weights",
        ),
        Wrong(
            "weights @ value",
            "weights @ x",
            "the weights mix the tokens; they should mix the values",
        ),
        Wrong(
            "torch.ones_like(scores).triu(1)",
            "torch.ones(x.shape[-1], x.shape[-1]).triu(1)",
            "the mask is as large as a token is wide",
        ),
        Wrong(
            "key.shape[-1] ** 0.5",
            "key.shape[1] ** 0.5",
            "scores are divided by the root of axis 1, which is the width of a single "
            "text only",
        ),
        Wrong(
            "        return weights @ value",
            "        rows = scores.softmax(dim=-1).tril() @ value\n"
            "        rows[..., 0, :] = value[..., 0, :]\n"
            "        return rows",
            "only the row of the first token is repaired; every one lacks what was "
            "hidden",
        ),
        Wrong(
            "scores.masked_fill(future, -torch.inf).softmax(dim=-1)",
            "scores.softmax(dim=-1).tril()\n"
            "        weights = weights + torch.diag_embed(1 - weights.sum(dim=-1))",
            "what the future took is given to the token itself; it should be shared "
            "out in proportion",
        ),
        Wrong(
            "scores.masked_fill(future, -torch.inf).softmax(dim=-1)",
            "scores.softmax(dim=-1).tril()\n"
            "        weights = weights + (1 - weights.sum(dim=-1, keepdim=True)) / "
            "weights.shape[-1]",
            "what the future took is spread evenly over all tokens",
        ),
        Wrong(
            "        return weights @ value",
            "        return weights.softmax(dim=-1) @ value",
            "the softmax is taken twice",
        ),
        Wrong(
            "        query, key, value = self.to_q(x), self.to_k(x), self.to_v(x)",
            "        (T, E), (B,) = x.shape[-2:], x.shape[:-2] or (1,)\n"
            "        query, key, value = self.to_q(x), self.to_k(x), self.to_v(x)",
            "x is taken to have two axes or three, and no more",
        ),
        Wrong(
            "key.shape[-1] ** 0.5",
            "(key.shape[-1] * 0.5)",
            "scores are divided by half of D, since * stands where ** should",
        ),
        Wrong(
            "return weights @ value",
            "return (weights @ value).squeeze()",
            "axes of length one are squeezed away",
        ),
    ],
    stars=2,
    minutes=10,
)
