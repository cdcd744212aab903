"""Causal attention, one head

Write `forward(x)` of the module `CausalAttention`. Tokens x have shape (..., T, d_in),
with any number of axes in front; the result has shape (..., T, d_out).

Project, score, scale, hide the future, take the softmax, drop with `self.dropout`, and
mix the values. A text may have any length up to `context_length`, and no token may ever
see a later one. Scores may be large. The module must store no mask.
"""

from headway.practice import Exercise

# --- your file ---
import torch
from torch import Tensor, nn


class CausalAttention(nn.Module):
    """One head of causal attention, with dropout on its weights in training."""

    def __init__(
        self, d_in: int, d_out: int, context_length: int, dropout: float
    ) -> None:
        super().__init__()
        self.context_length = context_length
        self.W_query = nn.Linear(d_in, d_out, bias=False)
        self.W_key = nn.Linear(d_in, d_out, bias=False)
        self.W_value = nn.Linear(d_in, d_out, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Give (..., T, d_out) for tokens (..., T, d_in)."""
        # --- write ---
        query, key, value = self.W_query(x), self.W_key(x), self.W_value(x)
        scores = query @ key.mT / key.shape[-1] ** 0.5
        T = x.shape[-2]
        future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        scores = scores.masked_fill(future, -torch.inf)
        weights = self.dropout(torch.softmax(scores, dim=-1))
        return weights @ value
        # --- written ---


if __name__ == "__main__":
    from headway import six_tokens

    words, inputs = six_tokens()
    torch.manual_seed(123)
    attend = CausalAttention(3, 2, context_length=6, dropout=0.0)
    print(attend(inputs).data)
    # tensor([[-0.4519,  0.2216],
    #         [-0.5874,  0.0058],
    #         [-0.6300, -0.0632],
    #         [-0.5675, -0.0843],
    #         [-0.5526, -0.0981],
    #         [-0.5299, -0.1081]])
# --- end of your file ---


def trained(rows, attend):  # type: ignore[no-untyped-def]
    """Count the weights that gradients reach."""
    if not isinstance(rows, Tensor) or not rows.requires_grad:
        return 0
    weights = [*attend.parameters()]
    try:
        found = torch.autograd.grad(rows.sum(), weights, allow_unused=True)
    except RuntimeError:  # what the way back needs was written over
        return 0
    return sum(one is not None for one in found)


def run(cls, x, W_query, W_key, W_value):  # type: ignore[no-untyped-def]
    attend = cls(*W_query.shape, x.shape[-2] + 2, 0.5).double()
    attend.W_query.weight.data = W_query.T.contiguous()
    attend.W_key.weight.data = W_key.T.contiguous()
    attend.W_value.weight.data = W_value.T.contiguous()
    torch.default_generator.manual_seed(2)
    drops = attend(x)
    learns = trained(drops, attend)
    attend.eval()
    kept = [one for one in vars(attend).values() if isinstance(one, Tensor)]
    kept += [*attend.buffers()]
    return {
        "the rows in eval": attend(x),
        "the rows in eval of one text without a batch": attend(x[0, :2]),
        "the rows in eval behind two axes": attend(torch.stack([x, x.flip(-1)])),
        "the row in eval of a single token": attend(x[:1, :1]),
        "the rows in training": drops,
        "what is trained": f"{learns} weights",
        "what is stored besides weights": "a tensor" if kept else "nothing",
        "what is saved": f"{len(attend.state_dict())} tensors",
    }


EXERCISE = Exercise(
    answer="CausalAttention",
    read=("basics/masks/#the-module-by-hand", "The module, by hand"),
    hints=(
        "Which section gave each step, and which of the steps depends on the length of "
        "the text that came in, and not on the longest that is allowed?",
        "triu(1) of a square of True is the future. masked_fill gives a new table of "
        "scores; dropout acts on weights, after the softmax.",
        "Make the square with torch.ones(T, T, dtype=torch.bool) for the T of this "
        "text, fill the scores with -torch.inf there, and keep what masked_fill gives.",
    ),
    # One token is all zeros, as padding may be, so that some scores are zero.
    draw=lambda d: (
        d.normal(d.B, d.T, d.E) * (torch.arange(d.T)[:, None] != 2),
        d.normal(d.E, d.D),
        d.normal(d.E, d.D),
        d.normal(d.E, d.D),
    ),
    ask=run,
    law="No earlier row moves when a token changes, every later one does, texts do not "
    "mix, and a text may be cut short.",
    covers=("scaled_weights", "attention", "parameters"),
    right=[
        """
        # The book's own function, told what to do; dropout_p is zero in eval.
        from headway import attention

        return attention(
            self.W_query(x),
            self.W_key(x),
            self.W_value(x),
            causal=True,
            dropout_p=self.dropout.p if self.training else 0.0,
        )
        """,
        """
        # Row by row: slow, but the future of each query can be seen being cut off.
        T = x.shape[-2]
        scores = torch.einsum("...td,...sd->...ts", self.W_query(x), self.W_key(x))
        scores = scores * self.W_key.out_features ** -0.5
        for t in range(T):
            scores[..., t, t + 1 :] = -torch.inf
        weights = torch.nn.functional.dropout(
            scores.softmax(-1), self.dropout.p, self.training
        )
        return torch.einsum("...ts,...sd->...td", weights, self.W_value(x))
        """,
        """
        # Positions compared: the form that also fits a window, or tokens out of order.
        query, key, value = self.W_query(x), self.W_key(x), self.W_value(x)
        places = torch.arange(x.shape[-2], device=x.device)
        scores = query @ key.mT / key.shape[-1] ** 0.5
        scores = torch.where(places <= places[:, None], scores, -torch.inf)
        return self.dropout(scores.softmax(dim=-1)) @ value
        """,
    ],
    minutes=15,
)
