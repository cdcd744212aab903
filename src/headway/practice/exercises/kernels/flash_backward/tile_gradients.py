"""Gradients of one tile

In the backward pass a tile of keys and values is visited alone. Write
`tile_gradients(query, key, value, context, lse, grad)`: what the visit adds to the
gradients of the queries, of these keys and of these values.

query (T, D) are all queries; key (n, D) and value (n, V) are those of the tile, out of
many. The forward pass left `context` (T, V) and `lse` (T), the result of attention to
*all* keys and the log-sum-exp of *all* scaled scores. `grad` (T, V) is the gradient of
the result. No other key or value is at hand, and none is needed. Nothing is hidden.
Scores may be large.
"""

from headway.practice import Exercise

# --- your file ---
import torch
from torch import Tensor


def tile_gradients(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    context: Tensor,
    lse: Tensor,
    grad: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    """Give what a tile adds to the gradients (T, D), (n, D) and (n, V)."""
    # --- write ---
    scale = query.shape[-1] ** -0.5
    scores = scale * query @ key.T
    weights = torch.exp(scores - lse[:, None])
    grad_weights = grad @ value.T
    delta = (grad * context).sum(dim=-1, keepdim=True)
    grad_scores = weights * (grad_weights - delta)
    grad_query = scale * grad_scores @ key
    grad_key = scale * grad_scores.T @ query
    return grad_query, grad_key, weights.T @ grad
    # --- written ---


if __name__ == "__main__":
    from headway import flash_forward

    torch.manual_seed(7)
    query, key, value, grad = torch.randn(4, 10, 4, dtype=torch.float64)
    context, lse = flash_forward(query, key, value)
    first = tile_gradients(query, key[:6], value[:6], context, lse, grad)
    last = tile_gradients(query, key[6:], value[6:], context, lse, grad)

    tensors = [one.requires_grad_() for one in (query, key, value)]
    whole = torch.softmax(query @ key.T / 2, dim=-1) @ value
    d_query, d_key, d_value = torch.autograd.grad(whole, tensors, grad)
    print(torch.allclose(first[0] + last[0], d_query))
    print(torch.allclose(torch.cat([first[1], last[1]]), d_key))
    print(torch.allclose(torch.cat([first[2], last[2]]), d_value))
    # True
    # True
    # True
# --- end of your file ---


def draw(d):  # type: ignore[no-untyped-def]
    query, key, value = d.normal(d.T, d.D), d.normal(d.S, d.D), d.normal(d.S, d.V)
    value = value / d.loud  # scores are loud, and their rounding is not to count
    scores = query @ key.T / d.D**0.5
    context = torch.softmax(scores, dim=-1) @ value
    tile = slice(d.S // 2, None)
    lse = scores.logsumexp(dim=-1)
    return query, key[tile], value[tile], context, lse, d.normal(d.T, d.V) / d.loud


EXERCISE = Exercise(
    answer="tile_gradients",
    read=(
        "kernels/flash_backward/#in-tensors-and-in-tiles",
        "In tensors, and in tiles",
    ),
    hints=(
        "The tile has only some of the keys. Which two numbers of a row hold all that "
        "must be known of the others?",
        "With the log-sum-exp the weights of the tile come back as they were, without "
        "a softmax. What is taken off each row is the sum of grad times context.",
        "Five products: scores, grad with values, and one for each of the three "
        "gradients. Two of the three are multiplied by the scale.",
    ),
    draw=draw,
    trials=(
        {},
        dict.fromkeys("BHGTSDVEW", 4),
        {"loud": 2.0},
        {"loud": 30.0},
        {"T": 4, "S": 8},  # as many queries as keys of the tile
    ),
    law="A tile needs of all the others two numbers a row: the log-sum-exp, and the "
    "sum of the gradient times the result.",
    right=[
        """
        # einsum names the axes of each product, so that nothing is transposed.
        D = query.shape[-1]
        P = (query @ key.T / D**0.5).sub(lse.unsqueeze(1)).exp()
        of_values = torch.einsum("ts,tv->sv", P, grad)
        row = torch.einsum("tv,tv->t", grad, context)
        dS = P * (torch.einsum("tv,sv->ts", grad, value) - row[:, None]) / D**0.5
        return dS @ key, dS.mT @ query, of_values
        """,
        """
        # A query at a time, added up: what each row gives to the tile can be seen.
        c = query.shape[-1] ** -0.5
        d_query, d_key = torch.zeros_like(query), torch.zeros_like(key)
        d_value = torch.zeros_like(value)
        for t, (q, row, g) in enumerate(zip(query, context, grad)):
            weights = (c * key @ q - lse[t]).exp()
            slope = c * weights * (value @ g - row @ g)
            d_query[t] = slope @ key
            d_key += torch.outer(slope, q)
            d_value += torch.outer(weights, g)
        return d_query, d_key, d_value
        """,
    ],
    survivors={"-1 -> 1": "tables of two axes: the last is axis 1"},
    minutes=15,
    covers=("backward",),
)
