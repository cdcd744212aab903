"""Find the mistake, and repair it

`Hurried` below passes any test of shapes. Read it, write down what you think is wrong,
and then let `check(Hurried(12, 5))` of `headway.checks` say it.

Write the `forward(x)` of `Repaired`, which has the same layers: tokens x of shape
(..., T, d_in) give rows (..., T, d_out), and `check(Repaired(12, 5), causal=True)`
finds nothing.
"""

from headway.practice import Exercise

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
    stars=2,
    minutes=10,
)
