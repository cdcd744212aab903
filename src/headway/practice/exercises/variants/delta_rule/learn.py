"""A memory that learns

A memory M (D, V) answers a key k with M^T k. Let its loss be half the square of its
error, the sum of (v - M^T k) ** 2 over the numbers of v, divided by two.

Write `learn(memory, key, value, beta, alpha)`: first the memory fades, M becomes
alpha * M; then it makes one step of gradient descent on that loss, with the learning
rate beta. `key` is (D), `value` (V). Use `torch.autograd.grad`, or find the slope by
hand. Give the new memory, (D, V), which needs no gradient.
"""

from headway.practice import Exercise, Property

# --- your file ---
import torch
from torch import Tensor


def learn(
    memory: Tensor, key: Tensor, value: Tensor, beta: float, alpha: float
) -> Tensor:
    """Let a memory (D, V) fade, and learn one pair of key (D) and value (V)."""
    # --- write ---
    faded = (alpha * memory).requires_grad_()
    loss = (value - key @ faded).square().sum() / 2
    [slope] = torch.autograd.grad(loss, faded)
    return (faded - beta * slope).detach()
    # --- written ---


if __name__ == "__main__":
    memory, e1 = torch.tensor([[4.0], [0.0]]), torch.tensor([1.0, 0.0])
    print(learn(memory, e1, torch.tensor([8.0]), beta=1.0, alpha=0.5).flatten())
    # tensor([8., 0.])
# --- end of your file ---


EXERCISE = Exercise(
    answer="learn",
    read=("variants/delta_rule/#in-tensors", "In tensors"),
    hints=(
        "What does the memory answer before the step: before it has faded, or after?",
        "Make the faded memory a leaf that wants a gradient, compute the loss from it, "
        "and go against the slope.",
        "grad gives one tensor for each that it is asked for. Take beta times the "
        "slope off the faded memory, and detach what you give back.",
    ),
    draw=lambda d: (
        d.normal(d.D, d.V),
        d.normal(d.D) / d.loud,
        d.normal(d.V),
        0.3,
        0.8,
    ),
    properties=[
        Property(
            "the new memory hangs on no graph",
            lambda learn, *drawn: not learn(*drawn).requires_grad,
        ),
        Property(
            "the memory that is given stays as it is, and asks for no gradient",
            lambda learn, memory, *drawn: (
                learn(memory, *drawn) is not None and not memory.requires_grad
            ),
        ),
    ],
    law="One write of the delta rule is one step of gradient descent: such a layer "
    "learns while it reads.",
    right=[
        """
        # By hand: the slope is minus key times error, and the minus goes away.
        faded = alpha * memory
        return faded + beta * torch.outer(key, value - key @ faded)
        """,
        """
        # As a model is trained: a parameter, backward, and a step without grad.
        layer = torch.nn.Parameter(alpha * memory)
        loss = torch.nn.functional.mse_loss(key @ layer, value, reduction="sum") / 2
        loss.backward()
        with torch.no_grad():
            layer -= beta * layer.grad
        return layer.detach()
        """,
    ],
    minutes=12,
    covers=("delta",),
)
