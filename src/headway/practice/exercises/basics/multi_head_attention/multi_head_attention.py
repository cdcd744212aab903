"""Multi-head attention

Write `forward(x)` of the module `MultiHeadAttention`. Tokens x have shape (B, T, d_in);
the result has shape (B, T, d_out), and d_out is the width of all heads together.

Project once for all heads, cut into heads, let each head attend with the future hidden,
put the heads side by side, and project with `out_proj`. There is no dropout.
"""

from headway.practice import Exercise, Forbidden
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
    stars=3,
    minutes=25,
)
