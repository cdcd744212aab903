"""Gradients by hand

Write `backward(query, key, value, grad)`: the gradients of attention with respect to
queries, keys and values, without autograd.

query (T, D), key (S, D), value (S, V), and `grad` (T, V), the gradient of the result.
With the weights P and the scale c = 1 / sqrt(D):

    dV = P^T grad,   dP = grad V^T,   dS = P * (dP - row sums of P * dP),
    dQ = c dS K,     dK = c dS^T Q
"""

from headway.practice import Exercise, Forbidden

# --- your file ---
import torch
from torch import Tensor


def backward(
    query: Tensor, key: Tensor, value: Tensor, grad: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Give the gradients of query (T, D), key (S, D) and value (S, V)."""
    # --- write ---
    scale = query.shape[-1] ** -0.5
    weights = torch.softmax(scale * query @ key.T, dim=-1)
    grad_weights = grad @ value.T
    mean = (weights * grad_weights).sum(dim=-1, keepdim=True)
    grad_scores = weights * (grad_weights - mean)
    grad_query = scale * grad_scores @ key
    grad_key = scale * grad_scores.T @ query
    return grad_query, grad_key, weights.T @ grad
    # --- written ---


if __name__ == "__main__":
    query, key = torch.tensor([[0.0]]), torch.tensor([[1.0], [2.0]])
    value, grad = torch.tensor([[1.0], [3.0]]), torch.tensor([[1.0]])
    for one in backward(query, key, value, grad):
        print(one.flatten())
    # tensor([0.5000])
    # tensor([0., 0.])
    # tensor([0.5000, 0.5000])
# --- end of your file ---


EXERCISE = Exercise(
    answer="backward",
    forbids=[
        Forbidden(
            "The task says: without autograd. Here autograd gives the gradients.",
            """
            inputs = [one.clone().requires_grad_() for one in (query, key, value)]
            with torch.enable_grad():
                scores = inputs[0] @ inputs[1].T / query.shape[-1] ** 0.5
                rows = torch.softmax(scores, dim=-1) @ inputs[2]
            dq, dk, dv = torch.autograd.grad(rows, inputs, grad)
            return dq, dk, dv
            """,
            names=("backward", "grad", "requires_grad"),
        )
    ],
    read=("kernels/flash_backward/#any-number-of-keys", "Any number of keys"),
    hints=(
        "What does a weight change when its score grows: itself alone?",
        "All weights of a row sum to one, so from each gradient the mean over the row, "
        "by the weights, is taken off.",
        "Five products: grad with value, weights with grad, and the gradient of the "
        "scores with key and with query. Which of them are transposed?",
    ),
    draw=lambda d: (
        d.normal(d.T, d.D),
        d.normal(d.S, d.D),
        d.normal(d.S, d.V),
        d.normal(d.T, d.V),
    ),
    trials=({}, dict.fromkeys("BHGTSDVEW", 4), {"loud": 2.0}, {"T": 1}),
    law="The gradients of the scores of a row sum to zero, since a number added to all "
    "of them changes nothing.",
    right=[
        """
        # By the table of slopes of the softmax: large, and each step can be seen.
        weights = torch.softmax(query @ key.T / query.shape[-1] ** 0.5, dim=-1)
        slopes = torch.diag_embed(weights) - weights[:, :, None] * weights[:, None]
        grad_scores = torch.einsum("tsr,tr->ts", slopes, grad @ value.T)
        grad_scores = grad_scores / query.shape[-1] ** 0.5
        return grad_scores @ key, grad_scores.T @ query, weights.T @ grad
        """,
        """
        # By the rows themselves: grad times row is the mean, as FlashAttention has it.
        scale = query.shape[-1] ** -0.5
        weights = torch.softmax(scale * query @ key.T, dim=-1)
        mean = ((weights @ value) * grad).sum(dim=-1, keepdim=True)
        grad_scores = scale * weights * (grad @ value.T - mean)
        return grad_scores @ key, grad_scores.T @ query, weights.T @ grad
        """,
    ],
    survivors={"-1 -> 1": "tables of two axes: the last is axis 1"},
    stars=3,
    minutes=15,
)
