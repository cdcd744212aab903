"""Multi-head attention

Write `forward(x)` of the module `MultiHeadAttention`. Tokens x have shape (B, T, d_in);
the result has shape (B, T, d_out), and d_out is the width of all heads together.

Project once for all heads, cut into heads, let each head attend with the future hidden,
put the heads side by side, and project with `out_proj`. There is no dropout.
"""

from headway.practice import Exercise, Forbidden, Wrong
from headway.practice.task.definition import DIFFERENT, EQUAL, LOUD

# --- your file ---
import torch
from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    """Causal attention with num_heads heads, cut from one projection."""

    def __init__(self, d_in: int, d_out: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=False)
        self.W_key = nn.Linear(d_in, d_out, bias=False)
        self.W_value = nn.Linear(d_in, d_out, bias=False)
        self.out_proj = nn.Linear(d_out, d_out)

    def forward(self, x: Tensor) -> Tensor:
        """Give (B, T, d_out) for tokens (B, T, d_in)."""
        # --- write ---
        B, T, _ = x.shape
        cut = (B, T, self.num_heads, -1)
        query = self.W_query(x).view(cut).transpose(1, 2)
        key = self.W_key(x).view(cut).transpose(1, 2)
        value = self.W_value(x).view(cut).transpose(1, 2)

        scores = query @ key.mT / key.shape[-1] ** 0.5
        future = torch.ones(T, T, dtype=torch.bool).triu(1)
        scores = scores.masked_fill(future, -torch.inf)
        weights = torch.softmax(scores, dim=-1)

        context = (weights @ value).transpose(1, 2)
        return self.out_proj(context.reshape(B, T, -1))
        # --- written ---


if __name__ == "__main__":
    from headway import six_tokens

    words, inputs = six_tokens()
    torch.manual_seed(123)
    attend = MultiHeadAttention(3, 2, num_heads=2)
    print(attend(inputs[None]).data)
    # tensor([[[0.3190, 0.4858],
    #          [0.2943, 0.3897],
    #          [0.2856, 0.3593],
    #          [0.2693, 0.3873],
    #          [0.2639, 0.3928],
    #          [0.2575, 0.4028]]])
# --- end of your file ---


def run(cls, x, weights, out, num_heads):  # type: ignore[no-untyped-def]
    attend = cls(*weights.shape[-2:], num_heads)
    for name, weight in zip(("query", "key", "value"), weights, strict=True):
        getattr(attend, f"W_{name}").weight.data = weight.T
    attend.out_proj.weight.data, attend.out_proj.bias.data = out[1:], out[0]
    return attend(x)


def report(cls):  # type: ignore[no-untyped-def]
    from headway.checks import check

    return check(cls(12, 20, 4), causal=True)


_ATTEND = "(weights @ value).transpose(1, 2)"


def projects_for_one_head(args, result, given):  # type: ignore[no-untyped-def]
    """Whether tokens become vectors of the width of one head."""
    x, num_heads = given[0], given[-1]
    width = given[1].shape[-1] // num_heads
    return (
        any(isinstance(one, Tensor) and one.shape == x.shape for one in args)
        and isinstance(result, Tensor)
        and result.shape == (*x.shape[:-1], width)
    )


EXERCISE = Exercise(
    answer="MultiHeadAttention",
    forbids=[
        Forbidden(
            "The task says: project once for all heads. Here each head is projected by "
            "itself.",
            """
            D = self.W_query.out_features // self.num_heads
            found = []
            for h in range(self.num_heads):
                rows = slice(h * D, (h + 1) * D)
                q = x @ self.W_query.weight[rows].T
                k = x @ self.W_key.weight[rows].T
                v = x @ self.W_value.weight[rows].T
                found.append(
                    nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
                )
            return self.out_proj(torch.cat(found, dim=-1))
            """,
            names=("matmul", "linear", "einsum", "bmm"),
            when=projects_for_one_head,
        )
    ],
    read=("basics/multi_head_attention/#the-module-by-hand", "The module, by hand"),
    hints=(
        "What are the shapes after each step: B T E, B H T D, B H T T, and how do you "
        "get from one to the next?",
        "view and transpose cut; all of attention works on the last two axes; a "
        "transpose and a reshape merge. The scale is that of one head.",
        "Three lines of the kind self.W_query(x).view(B, T, H, D).transpose(...), then "
        "the five steps of a causal head, then the way back and self.out_proj(...).",
    ),
    # One token is all zeros, as padding may be, so that some scores are zero.
    draw=lambda d: (
        d.normal(d.B, d.T, d.E) * (torch.arange(d.T)[:, None] != 2),
        d.normal(3, d.E, d.H * d.D),
        d.normal(d.H * d.D + 1, d.H * d.D),
        d.H,
    ),
    ask=run,
    report=report,
    trials=(DIFFERENT, EQUAL, LOUD, {"B": 1, "T": 1}),
    law="Heads are one more axis of the batch; only the first and the last projection "
    "see all of them.",
    covers=("split_heads", "merge_heads", "stacked_heads"),
    right=[
        """
        # From the parts of earlier exercises: nothing is written twice.
        from headway import attention, merge_heads, split_heads

        projections = (self.W_query, self.W_key, self.W_value)
        heads = (split_heads(project(x), self.num_heads) for project in projections)
        return self.out_proj(merge_heads(attention(*heads, causal=True)))
        """,
        """
        # A loop over the heads, after one projection: each head can be looked at.
        projections = (self.W_query, self.W_key, self.W_value)
        heads = zip(*(one(x).chunk(self.num_heads, dim=-1) for one in projections))
        found = [
            nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            for q, k, v in heads
        ]
        return self.out_proj(torch.cat(found, dim=-1))
        """,
        """
        # By einsum: no axis is swapped, and the letters say what is summed.
        q, k, v = (
            project(x).unflatten(-1, (self.num_heads, -1))
            for project in (self.W_query, self.W_key, self.W_value)
        )
        scores = torch.einsum("bthd,bshd->bhts", q, k) / q.shape[-1] ** 0.5
        scores += torch.full(scores.shape[-2:], -torch.inf).triu(1)
        context = torch.einsum("bhts,bshd->bthd", scores.softmax(-1), v)
        return self.out_proj(context.flatten(-2))
        """,
    ],
    wrong=[
        Wrong(
            "return self.out_proj(context.reshape(B, T, -1))",
            "return context.reshape(B, T, -1)",
            "out_proj is never used",
            exhibit="heads/#out-proj-unused",
        ),
        Wrong(
            "query = self.W_query(x).view(cut).transpose(1, 2)\n        "
            "key = self.W_key(x).view(cut).transpose(1, 2)\n        "
            "value = self.W_value(x).view(cut).transpose(1, 2)",
            "query = self.W_query(x).view(B, self.num_heads, T, -1)\n        "
            "key = self.W_key(x).view(B, self.num_heads, T, -1)\n        "
            "value = self.W_value(x).view(B, self.num_heads, T, -1)",
            "heads are cut by one view, which mixes the tokens",
            exhibit="heads/#heads-split-without-transpose",
        ),
        Wrong(
            _ATTEND,
            "weights @ value",
            "heads are merged without the transpose",
            exhibit="heads/#heads-merged-without-transpose",
        ),
        Wrong(
            "query = self.W_query(x).view(cut).transpose(1, 2)\n        "
            "key = self.W_key(x).view(cut).transpose(1, 2)\n        "
            "value = self.W_value(x).view(cut).transpose(1, 2)",
            "query = self.W_query(x).view(cut)\n        "
            "key = self.W_key(x).view(cut)\n        "
            "value = self.W_value(x).view(cut)",
            "the heads are not put in front, so that they are taken for tokens",
        ),
        Wrong(
            "cut = (B, T, self.num_heads, -1)",
            "cut = (B, T, 1, -1)",
            "nothing is cut: there is one wide head, with one softmax",
        ),
        Wrong(
            "key.shape[-1] ** 0.5",
            "self.W_key.out_features ** 0.5",
            "scores are scaled by the width of all heads, and not of one",
        ),
        Wrong(
            "/ key.shape[-1] ** 0.5",
            "/ key.shape[-1]",
            "scores are divided by D and not by its root, or scaled twice",
            exhibit="softmax/#scaled-by-width",
        ),
        Wrong(
            " / key.shape[-1] ** 0.5",
            "",
            "scores are not scaled",
            exhibit="softmax/#no-scale",
        ),
        Wrong(
            "torch.softmax(scores, dim=-1)",
            "torch.softmax(scores, dim=1)",
            "the softmax runs over the heads",
            exhibit="softmax/#softmax-over-heads",
        ),
        Wrong(
            "scores = scores.masked_fill(",
            "scores.masked_fill(",
            "the result of masked_fill is lost, so nothing is hidden",
            exhibit="masks/#masked-fill-without-assignment",
        ),
        Wrong(
            "scores = query @ key.mT",
            "query, key, value = (\n            one[:, :1].expand_as(one) for one in "
            "(query, key, value)\n        )\n        scores = query @ key.mT",
            "all heads share the projection of the first",
            exhibit="heads/#heads-share-layer",
        ),
        Wrong(
            "key = self.W_key(x)",
            "key = self.W_query(x)",
            "the queries' weights make the keys too",
        ),
        Wrong(
            "context.reshape(B, T, -1)",
            "context.view(B, T, -1)",
            "view cannot join axes whose numbers do not lie side by side; call "
            "contiguous() before it, or take reshape in its place",
        ),
        Wrong(
            _ATTEND,
            "(weights @ value).transpose(1, 2).transpose(2, 3)",
            "the heads' numbers are shuffled into each other, one in turn",
        ),
        Wrong(
            "cut = (B, T, self.num_heads, -1)",
            "cut = (B, T, -1, self.num_heads)",
            "H and D are swapped in the shape, so that there are D heads of H numbers",
        ),
        Wrong(
            "query = self.W_query(x).view(cut).transpose(1, 2)",
            "query = self.W_query(x).view(B, self.num_heads, T, -1)",
            "only the keys and the values are cut with a transpose, and the "
            "queries by one view",
        ),
        Wrong(
            "value = self.W_value(x).view(cut).transpose(1, 2)",
            "value = self.W_value(x).view(B, self.num_heads, T, -1)",
            "only the queries and the keys are cut with a transpose, and the "
            "values by one view",
        ),
        Wrong(
            "torch.ones(T, T, dtype=torch.bool)",
            "torch.ones(T, T)",
            "the mask holds numbers; masked_fill takes True and False",
        ),
        Wrong(
            "scores = scores.masked_fill(future, -torch.inf)",
            "scores = scores + torch.ones(T, T).triu(1) * -torch.inf",
            "a triangle of ones and zeros is multiplied by minus infinity; zero "
            "times infinity is nan",
        ),
        Wrong(
            "scores = scores.masked_fill(future, -torch.inf)",
            "scores = scores.tril()\n"
            "        scores = scores.masked_fill(scores == 0, -torch.inf)",
            "all scores that are zero are hidden; a token that may be seen can "
            "have the score zero, too",
        ),
        Wrong(
            "return self.out_proj(context.reshape(B, T, -1))",
            "return self.out_proj(context.reshape(B, T, -1)), weights",
            "rows and weights are given; it should be the rows alone",
        ),
        Wrong(
            "return self.out_proj(context.reshape(B, T, -1))",
            "return context.reshape(B, T, -1) @ self.out_proj.weight + "
            "self.out_proj.bias",
            "the weight of out_proj is not transposed: nn.Linear stores (d_out, d_in)",
        ),
        Wrong(
            "B, T, _ = x.shape\n        cut = (B, T, self.num_heads, -1)",
            "B, T, E = x.shape\n"
            "        cut = (B, T, self.num_heads, E // self.num_heads)",
            "D is computed from the width of x, which is d_in; it should be from d_out",
        ),
        Wrong(
            "query @ key.mT",
            "query @ key.transpose(1, 2)",
            "heads and tokens of the keys change places, and not tokens and numbers",
        ),
        Wrong(
            "scores = scores.masked_fill(future, -torch.inf)\n",
            "\n",
            "nothing is hidden: there is no mask",
            same_as="the result of masked_fill is lost, so nothing is hidden",
        ),
        Wrong(
            "triu(1)",
            "triu()",
            "the mask is shifted by one place: no token sees itself",
            exhibit="triangles/#mask-hides-itself",
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
            "the triangle of the mask is flipped",
            exhibit="triangles/#mask-flipped",
        ),
        Wrong(
            "triu(1)",
            "tril()",
            "the mask is inverted: it hides what it should show",
            exhibit="masks/#boolean-mask-inverted",
        ),
        Wrong(
            "scores = scores.masked_fill(future, -torch.inf)",
            "scores = scores.masked_fill(future, 0.0)",
            "hidden scores are set to zero, not to minus infinity",
        ),
        Wrong(
            "scores = scores.masked_fill(future, -torch.inf)\n"
            "        weights = torch.softmax(scores, dim=-1)",
            "weights = torch.softmax(scores, dim=-1).masked_fill(future, 0.0)",
            "weights are hidden after the softmax, and their sum is not one",
            exhibit="masks/#mask-after-softmax",
        ),
        Wrong(
            "torch.softmax(scores, dim=-1)",
            "torch.softmax(scores, dim=-2)",
            "the softmax runs over the queries",
            exhibit="softmax/#softmax-over-queries",
        ),
        Wrong(
            "torch.softmax(scores, dim=-1)",
            "torch.softmax(scores, dim=0)",
            "the softmax runs over the texts",
        ),
        Wrong(
            "torch.softmax(scores, dim=-1)",
            "scores",
            "there is no softmax",
        ),
        Wrong(
            "/ key.shape[-1] ** 0.5",
            "* key.shape[-1] ** 0.5",
            "scores are multiplied by sqrt(D), not divided",
        ),
        Wrong(
            "/ key.shape[-1] ** 0.5",
            "/ x.shape[-1] ** 0.5",
            "scores are divided by the root of the width of tokens",
            exhibit="softmax/#scaled-by-root-of-d-in",
        ),
        Wrong(
            "/ key.shape[-1] ** 0.5",
            "/ T ** 0.5",
            "scores are divided by the root of the number of tokens",
        ),
        Wrong(
            "/ key.shape[-1] ** 0.5",
            "/ self.num_heads ** 0.5",
            "scores are divided by the root of the number of heads",
        ),
        Wrong(
            "/ key.shape[-1] ** 0.5",
            "/ self.W_key.out_features",
            "scores are divided by the width of all heads",
        ),
        Wrong(
            "query @ key.mT",
            "key @ query.mT",
            "queries and keys are swapped",
            exhibit="heads/#queries-and-keys-swapped",
        ),
        Wrong(
            "value = self.W_value(x)",
            "value = self.W_key(x)",
            "the keys' weights make the values too",
        ),
        Wrong(
            "query = self.W_query(x)",
            "query = self.W_key(x)",
            "the keys' weights make the queries too",
        ),
        Wrong(
            "value = self.W_value(x)",
            "value = self.W_query(x)",
            "the queries' weights make the values too",
        ),
        Wrong(
            "(weights @ value)",
            "(weights @ key)",
            "the weights mix the keys; they should mix the values",
            same_as="the keys' weights make the values too",
        ),
        Wrong(
            "return self.out_proj(context",
            "return x + self.out_proj(context",
            "what comes in is added to what out_proj gives: a residual connection "
            "belongs to the block, and not to attention",
        ),
        Wrong(
            "return self.out_proj(context.reshape(B, T, -1))",
            "return self.out_proj(self.out_proj(context.reshape(B, T, -1)))",
            "out_proj is applied twice",
        ),
        Wrong(
            "return self.out_proj(context.reshape(B, T, -1))",
            "return context.reshape(B, T, -1) @ self.out_proj.weight.T",
            "the bias of out_proj is lost",
        ),
        Wrong(
            "(weights @ value).transpose(1, 2)",
            "(weights.mT @ value).transpose(1, 2)",
            "the weights are transposed before they mix the values",
        ),
        Wrong(
            "context = (weights @ value).transpose(1, 2)",
            "context = (weights @ value).flip(1).transpose(1, 2)",
            "the heads are put side by side in reverse order",
        ),
        Wrong(
            "context = (weights @ value).transpose(1, 2)",
            "context = (weights @ value).mean(1, True).expand_as(query).transpose(1, "
            "2)",
            "the heads are averaged; each should keep its own numbers",
        ),
        Wrong(
            "return self.out_proj(context.reshape(B, T, -1))",
            "return self.out_proj(context)",
            "the heads are not put side by side, and out_proj is given the numbers of "
            "one",
        ),
        Wrong(
            "query @ key.mT /",
            "query @ key /",
            "the keys are not transposed, so that the product does not fit",
        ),
        Wrong(
            "        cut = (B, T, self.num_heads, -1)\n"
            "        query = self.W_query(x).view(cut).transpose(1, 2)\n"
            "        key = self.W_key(x).view(cut).transpose(1, 2)\n"
            "        value = self.W_value(x).view(cut).transpose(1, 2)\n",
            "        cut = (B, T, -1, self.num_heads)\n"
            "        query = self.W_query(x).view(cut).permute(0, 3, 1, 2)\n"
            "        key = self.W_key(x).view(cut).permute(0, 3, 1, 2)\n"
            "        value = self.W_value(x).view(cut).permute(0, 3, 1, 2)\n",
            "each head takes every H-th number; it should take D that lie side by side",
        ),
    ],
    stars=3,
    minutes=25,
)
