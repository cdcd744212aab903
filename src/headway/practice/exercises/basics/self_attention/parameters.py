"""A module that can learn

Write the class `SelfAttention(d_in, d_out)`, a module with three matrices of its own.

`W_query`, `W_key` and `W_value` have shape (d_in, d_out), can be trained, and hold
random numbers: others in each of the three, and others in each module. Called with
tokens (T, d_in), it projects them, lets them attend to each other by scaled dot
products, and gives (T, d_out).
"""

import contextlib

from headway.practice import Exercise

# --- your file ---
import torch
from torch import Tensor, nn

from headway import attention


class SelfAttention(nn.Module):
    """Self-attention of one head, with matrices of shape (d_in, d_out)."""

    def __init__(self, d_in: int, d_out: int) -> None:
        super().__init__()
        # --- write ---
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x: Tensor) -> Tensor:
        query = x @ self.W_query
        key = x @ self.W_key
        value = x @ self.W_value
        return attention(query, key, value)
        # --- written ---


if __name__ == "__main__":
    module = SelfAttention(3, 2)
    print(sorted(name for name, _ in module.named_parameters()))
    print(module(torch.ones(6, 3)).shape)
    # ['W_key', 'W_query', 'W_value']
    # torch.Size([6, 2])
# --- end of your file ---


NAMES = ("W_query", "W_key", "W_value")


def sort_of(module, name):  # type: ignore[no-untyped-def]
    """Say what a module keeps under a name, and refuse what is no matrix to fill."""
    one, (d_in, d_out) = getattr(module, name), module.of_size
    if not isinstance(one, Tensor):
        raise TypeError(
            f"{name} must be a matrix, an nn.Parameter of shape (d_in, d_out); "
            f"got {type(one).__name__}"
        )
    if one.shape != (d_in, d_out):
        raise ValueError(
            f"{name} must have shape (d_in, d_out), here {(d_in, d_out)}; "
            f"got {tuple(one.shape)}"
        )
    if isinstance(one, nn.Parameter):
        return "parameter" if one.requires_grad else "parameter that is not trained"
    return "buffer" if name in dict(module.named_buffers()) else "plain tensor"


@contextlib.contextmanager
def empty_is_nan():  # type: ignore[no-untyped-def]
    """Let PyTorch fill torch.empty with nan, as it does where all must be the same."""
    before = torch.get_deterministic_debug_mode()
    torch.set_deterministic_debug_mode("warn")
    try:
        yield
    finally:
        torch.set_deterministic_debug_mode(before)


def first_numbers(cls, shape):  # type: ignore[no-untyped-def]
    """Say what the three matrices hold before any training."""
    with empty_is_nan():
        modules = [cls(*shape), cls(*shape)]
    one, other = ([getattr(m, name).detach() for name in NAMES] for m in modules)
    if any(bool(matrix.isnan().any()) for matrix in one):
        return "whatever stood in memory"
    if len({matrix.data_ptr() for matrix in one}) < 3:
        return "two of the three share their memory"
    if any(matrix.numel() > 1 and len(matrix.unique()) == 1 for matrix in one):
        return "one number in all places"
    if any(torch.equal(one[a], one[b]) for a, b in ((0, 1), (0, 2), (1, 2))):
        return "the same numbers in two of the three"
    if any(map(torch.equal, one, other)):
        return "the same numbers in each module"
    return "random numbers"


def run(cls, x, *weights):  # type: ignore[no-untyped-def]
    shape = weights[0].shape
    module = cls(*shape)
    module.of_size = shape
    kept = [f"{name}: {sort_of(module, name)}" for name in NAMES]
    first = first_numbers(cls, shape)
    for name, weight in zip(NAMES, weights, strict=True):
        getattr(module, name).data = weight
    result = module(x)
    if result.requires_grad:
        result.sum().backward()
    own = dict(module.named_parameters())
    learns = [name for name in sorted(own) if own[name].grad is not None]
    others = [name for name in own if name not in NAMES]
    return (
        result,
        kept,
        first,
        f"gradients reach {', '.join(learns) or 'nothing'}",
        f"other parameters: {', '.join(others) or 'none'}",
    )


EXERCISE = Exercise(
    answer="SelfAttention",
    read=("basics/self_attention/#a-module-by-hand", "A module, by hand"),
    hints=(
        "How does a module know which of its tensors are to be trained?",
        "nn.Parameter wraps a tensor, so that an optimizer finds it; forward has three "
        "products and one call of attention.",
        "Give each of the three a line in __init__, of shape (d_in, d_out), and write "
        "forward(self, x) below, at the indentation of __init__.",
    ),
    draw=lambda d: (
        d.normal(d.T, d.E),
        d.normal(d.E, d.D),
        d.normal(d.E, d.D),
        d.normal(d.E, d.D),
    ),
    ask=run,
    law="What an optimizer finds with parameters() is all that is ever trained.",
    right=[
        """
        # A loop over the names: shorter, but an editor finds no attribute.
        for name in ("W_query", "W_key", "W_value"):
            setattr(self, name, nn.Parameter(torch.randn(d_in, d_out)))

    def forward(self, x: Tensor) -> Tensor:
        scores = (x @ self.W_query) @ (x @ self.W_key).T
        weights = torch.softmax(scores / self.W_key.shape[1] ** 0.5, dim=-1)
        return weights @ (x @ self.W_value)
        """,
        """
        # Numbers as nn.Linear would draw them: smaller where more are added up.
        self.W_query, self.W_key, self.W_value = (
            nn.Parameter(torch.randn(d_in, d_out) / d_in**0.5) for _ in range(3)
        )

    def forward(self, x: Tensor) -> Tensor:
        weights = (self.W_query, self.W_key, self.W_value)
        return attention(*(x @ weight for weight in weights))
        """,
    ],
    survivors={},
    stars=1,
    minutes=8,
)
