"""Gradients by hand

Write `backward(query, key, value, grad)`: the gradients of attention with respect to
queries, keys and values, without autograd.

query (T, D), key (S, D), value (S, V), and `grad` (T, V), the gradient of the result.
With the weights P and the scale c = 1 / sqrt(D):

    dV = P^T grad,   dP = grad V^T,   dS = P * (dP - row sums of P * dP),
    dQ = c dS K,     dK = c dS^T Q
"""

from headway.practice import Exercise, Forbidden, Wrong

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
    wrong=[
        Wrong(
            "(grad_weights - mean)",
            "grad_weights",
            "the mean of the row is not taken off",
            exhibit="gradients/#a-backward-pass-without-its-mean",
        ),
        Wrong(
            "grad_query = scale * grad_scores",
            "grad_query = grad_scores",
            "the scale is lost in the gradient of the queries",
            exhibit="gradients/#a-gradient-without-its-scale",
        ),
        Wrong(
            "grad_key = scale * grad_scores.T",
            "grad_key = grad_scores.T",
            "the scale is lost in the gradient of the keys",
            exhibit="gradients/#a-gradient-without-its-scale",
        ),
        Wrong(
            "(weights * grad_weights).sum(dim=-1, keepdim=True)",
            "grad_weights.mean(dim=-1, keepdim=True)",
            "the plain mean of the row is taken off, and not that by the weights",
        ),
        Wrong(
            "weights.T @ grad",
            "value * (weights.T @ grad)",
            "the values come into their own gradient",
        ),
        Wrong(
            "(weights * grad_weights).sum(dim=-1, keepdim=True)",
            "(weights * grad_weights).sum(dim=-2, keepdim=True)",
            "the mean is taken over the queries, and not over the keys",
        ),
        Wrong(
            "grad_scores = weights * (grad_weights - mean)",
            "grad_scores = grad_weights - mean",
            "the softmax's own weights are left out of its gradient",
        ),
        Wrong(
            "scale * query @ key.T",
            "query @ key.T",
            "the scores are not scaled on the way forward",
        ),
        Wrong(
            "scale = query.shape[-1] ** -0.5",
            "scale = 1.0",
            "nothing is scaled, on the way forward or back",
        ),
        Wrong(
            "scale = query.shape[-1] ** -0.5",
            "scale = query.shape[-1] ** -1",
            "the scale is one divided by the width, and not by its root",
        ),
        Wrong(
            "scale = query.shape[-1] ** -0.5",
            "scale = query.shape[-1] ** 0.5",
            "it is multiplied by the root of the width, and not divided",
        ),
        Wrong(
            "key.T, dim=-1",
            "key.T, dim=0",
            "the softmax runs over the queries",
        ),
        Wrong(
            "(weights * grad_weights).sum(dim=-1, keepdim=True)",
            "(weights * grad_weights).sum()",
            "the sum runs over the whole table, and not over each row",
        ),
        Wrong(
            "(weights * grad_weights).sum(dim=-1, keepdim=True)",
            "grad_weights.sum(dim=-1, keepdim=True)",
            "the sum of the row is taken without the weights",
        ),
        Wrong(
            "(weights * grad_weights).sum(dim=-1, keepdim=True)",
            "(weights * grad_weights).mean(dim=-1, keepdim=True)",
            "the products of a row are averaged, where they must be summed",
        ),
        Wrong(
            "weights * (grad_weights - mean)",
            "weights * grad_weights - mean",
            "the sum of the row is taken off as it is: brackets are missing around "
            "the difference",
        ),
        Wrong(
            "weights * (grad_weights - mean)",
            "weights * (1 - weights) * grad_weights",
            "each weight gets the slope of a sigmoid: that it pulls at the other "
            "weights of its row is left out",
        ),
        Wrong(
            "grad_scores.T",
            "grad_scores.reshape(len(key), -1)",
            "the table is reshaped, where it must be transposed",
        ),
        Wrong(
            "(weights * grad_weights).sum(dim=-1, keepdim=True)",
            "(weights * grad_weights).sum(dim=-1)",
            "the sums of the rows lie along the wrong axis: keepdim is missing",
        ),
        Wrong(
            "weights.T @ grad",
            "grad_scores.T @ grad",
            "the gradient of the values is made of the scores' gradients; it "
            "should be made of the weights",
        ),
        Wrong(
            "    return grad_query, grad_key, weights.T @ grad",
            "    return weights.T @ grad, grad_query, grad_key",
            "the gradients are given in the order of the equations, dV, dQ, "
            "dK; the order asked for is dQ, dK, dV",
        ),
        Wrong(
            "    return grad_query, grad_key, weights.T @ grad",
            "    return weights.T @ grad, grad_key, grad_query",
            "the gradients are given in reverse order",
        ),
        Wrong(
            "    return grad_query, grad_key, weights.T @ grad",
            "    return grad_key, grad_query, weights.T @ grad",
            "the gradients of queries and keys are given in each other's place",
        ),
        Wrong(
            "weights.T @ grad",
            "weights @ grad",
            "the weights are not transposed in the gradient of the values",
        ),
        Wrong(
            "grad @ value.T",
            "grad @ value",
            "the values are not transposed in the gradient of the weights",
        ),
        Wrong(
            "scale * grad_scores.T @ query",
            "scale * grad_scores @ query",
            "the scores' gradients are not transposed in the gradient of the keys",
        ),
        Wrong(
            "    grad_query = scale * grad_scores @ key\n"
            "    grad_key = scale * grad_scores.T @ query\n",
            "    grad_query = scale * grad_scores @ query\n"
            "    grad_key = scale * grad_scores.T @ key\n",
            "queries and keys are exchanged in the last two products",
        ),
        Wrong(
            "    grad_query = scale * grad_scores @ key\n"
            "    grad_key = scale * grad_scores.T @ query\n",
            "    grad_query = grad_scores @ key\n"
            "    grad_key = grad_scores.T @ query\n",
            "the scale is lost in the gradients of queries and keys",
        ),
        Wrong(
            "grad_scores = weights * (grad_weights - mean)",
            "grad_scores = scale * weights * (grad_weights - mean)",
            "the scale comes twice into the gradients of queries and keys",
        ),
        Wrong(
            "scale = query.shape[-1] ** -0.5",
            "scale = value.shape[-1] ** -0.5",
            "the width of the values is taken for that of the keys",
        ),
        Wrong(
            "scale = query.shape[-1] ** -0.5",
            "scale = query.shape[0] ** -0.5",
            "the queries are counted for the scale; the numbers of a query should be",
        ),
        Wrong(
            "scale = query.shape[-1] ** -0.5",
            "scale = key.shape[0] ** -0.5",
            "the keys are counted for the scale; the numbers of a key should be",
        ),
        Wrong(
            "(grad_weights - mean)",
            "(grad_weights + mean)",
            "the mean of the row is added; it should be taken off",
        ),
        Wrong(
            "(grad_weights - mean)",
            "(mean - grad_weights)",
            "the difference is turned round, so that all scores get the opposite sign",
        ),
        Wrong(
            "weights.T @ grad\n",
            "scale * weights.T @ grad\n",
            "the gradient of the values is scaled; only those of queries and "
            "keys should be",
        ),
        Wrong(
            "(weights * grad_weights).sum(dim=-1, keepdim=True)",
            "weights.sum(dim=-1, keepdim=True)",
            "the sum of the weights is taken off, which is one; it should be "
            "the sum of weights times their gradients",
        ),
        Wrong(
            "(weights * grad_weights).sum(dim=-1, keepdim=True)",
            "(grad_weights * grad_weights).sum(dim=-1, keepdim=True)",
            "the gradients of the weights are multiplied by themselves; they "
            "should be multiplied by the weights",
        ),
        Wrong(
            "weights.T @ grad",
            "weights.T @ (weights @ value)",
            "the result is taken for its gradient",
        ),
        Wrong(
            "grad_scores = weights * (grad_weights - mean)",
            "grad_scores = weights * grad_weights * (1 - mean)",
            "the mean is taken off one; it should be taken off each gradient",
        ),
        Wrong(
            "grad_scores = weights * (grad_weights - mean)",
            "grad_scores = grad_weights",
            "the softmax is left out of the way back: the weights' gradients "
            "go on as they are",
        ),
        Wrong(
            "weights = torch.softmax(scale * query @ key.T, dim=-1)",
            "weights = scale * query @ key.T",
            "the softmax is left out, so that scores are taken for weights",
        ),
        Wrong(
            "weights = torch.softmax(scale * query @ key.T, dim=-1)",
            "weights = torch.exp(scale * query @ key.T)",
            "exponentials are taken for weights: they are not divided by their sum",
        ),
        Wrong(
            "weights = torch.softmax(scale * query @ key.T, dim=-1)",
            "scores = scale * query @ key.T\n"
            "    future = torch.ones_like(scores).triu(1).bool()\n"
            "    weights = torch.softmax(scores.masked_fill(future, -torch.inf), "
            "dim=-1)",
            "the future is hidden; here each query sees all keys",
        ),
        Wrong(
            "(weights * grad_weights).sum(dim=-1, keepdim=True)",
            "grad_weights.amax(dim=-1, keepdim=True)",
            "the largest of the row is taken off; it should be the sum of weights "
            "times gradients",
        ),
        Wrong(
            "weights * (grad_weights - mean)",
            "grad_weights - weights * grad_weights.sum(dim=-1, keepdim=True)",
            "the gradient is that of a logarithm of the softmax",
        ),
        Wrong(
            "(weights * grad_weights).sum(dim=-1, keepdim=True)",
            "(grad * grad).sum(dim=-1, keepdim=True)",
            "grad is multiplied by itself for the mean; it should be by the result's "
            "row",
        ),
        Wrong(
            "    return grad_query, grad_key, weights.T @ grad",
            "    return grad_query, grad_key.T, weights.T @ grad",
            "the gradient of the keys is transposed; it should be (S, D)",
        ),
        Wrong(
            "    return grad_query, grad_key, weights.T @ grad",
            "    return weights @ value, grad_query, grad_key, weights.T @ grad",
            "the result is given besides the three gradients",
        ),
        Wrong(
            "    return grad_query, grad_key, weights.T @ grad",
            "    return weights.T @ grad",
            "only the gradient of the values is given; those of queries and keys are "
            "asked for, too",
        ),
        Wrong(
            "    grad_query = scale * grad_scores @ key\n"
            "    grad_key = scale * grad_scores.T @ query\n",
            "    grad_query = grad_scores @ key / scale\n"
            "    grad_key = grad_scores.T @ query / scale\n",
            "the gradients are divided by the scale; they should be multiplied by it",
        ),
        Wrong(
            "scale * grad_scores.T @ query",
            "scale * grad_scores.T @ key[: len(query)]",
            "the keys come into their own gradient; the queries should",
        ),
        Wrong(
            "weights = torch.softmax(scale * query @ key.T, dim=-1)",
            "weights = torch.exp(scale * query @ key.T)\n"
            "    weights = weights / weights.sum()",
            "exponentials are divided by the sum of all; each row should have its own",
        ),
    ],
    survivors={"-1 -> 1": "tables of two axes: the last is axis 1"},
    stars=3,
    minutes=15,
)
