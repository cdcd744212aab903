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

from headway.practice import Exercise, Wrong

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
    wrong=[
        Wrong(
            "torch.exp(scores - lse[:, None])",
            "torch.softmax(scores, dim=-1)",
            "weights are shared out anew in the tile, as if there were no other keys",
        ),
        Wrong(
            "(grad * context).sum(dim=-1, keepdim=True)",
            "(weights * grad_weights).sum(dim=-1, keepdim=True)",
            "the mean of a row is taken over the keys of the tile alone",
            exhibit="gradients/#only-the-last-tile",
        ),
        Wrong(
            "(grad_weights - delta)",
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
            "grad_key = scale * grad_scores",
            "grad_key = grad_scores",
            "the scale is lost in the gradient of the keys",
            exhibit="gradients/#a-gradient-without-its-scale",
        ),
        Wrong(
            "scale * query @ key.T",
            "query @ key.T",
            "scores are made again without their scale",
        ),
        Wrong(
            "scores - lse[:, None]",
            "scores - scores.amax(dim=-1, keepdim=True)",
            "the largest score is subtracted; the log-sum-exp should be, which divides "
            "by the sum as well",
            exhibit="gradients/#weights-from-the-maximum",
        ),
        Wrong(
            "weights * (grad_weights - delta)",
            "grad_weights - delta",
            "the softmax's own weights are left out of its gradient",
        ),
        Wrong(
            "torch.exp(scores - lse[:, None])",
            "torch.exp(scores) / lse[:, None]",
            "exponentials are divided by the log-sum-exp, and not by the sum",
        ),
        Wrong(
            "weights.T @ grad",
            "weights.T @ (grad - context)",
            "the result is taken off the gradient before it goes to the values",
        ),
        Wrong(
            "(grad * context).sum(dim=-1, keepdim=True)",
            "(grad * context).mean(dim=-1, keepdim=True)",
            "grad times context is averaged over the width; it should be summed",
        ),
        Wrong(
            "(grad_weights - delta)",
            "(grad_weights + delta)",
            "the mean of the row is added; it should be taken off",
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
            "torch.exp(scores - lse[:, None])",
            "torch.exp(scores)",
            "exponentials are not divided by the row's sum: the log-sum-exp is not "
            "taken off",
        ),
        Wrong(
            "weights * (grad_weights - delta)",
            "weights * grad_weights - delta",
            "the mean of the row is taken off as it is: brackets are missing around "
            "the difference",
        ),
        Wrong(
            "weights * (grad_weights - delta)",
            "weights * (1 - weights) * grad_weights",
            "each weight gets the slope of a sigmoid: that it pulls at the other "
            "weights of its row is left out",
        ),
        Wrong(
            "scale * grad_scores.T",
            "scale * weights.T",
            "the weights are taken for the gradients of the scores",
        ),
        Wrong(
            "grad_scores.T",
            "grad_scores.reshape(len(key), -1)",
            "the table is reshaped, where it must be transposed",
        ),
        Wrong(
            "scale = query.shape[-1] ** -0.5",
            "scale = value.shape[-1] ** -0.5",
            "the width of the values is taken for that of the keys",
        ),
        Wrong(
            "scale = query.shape[-1] ** -0.5",
            "scale = key.shape[0] ** -0.5",
            "the keys of the tile are counted for the scale; the numbers of a "
            "key should be",
        ),
        Wrong(
            "scale = query.shape[-1] ** -0.5",
            "scale = query.shape[-1] ** 0.5",
            "it is multiplied by the root of the width, and not divided",
        ),
        Wrong(
            "(grad * context).sum(dim=-1, keepdim=True)",
            "(grad * context).sum(dim=-1)",
            "the sums of the rows lie along the wrong axis: keepdim is missing",
        ),
        Wrong(
            "(grad * context).sum(dim=-1, keepdim=True)",
            "(grad * context).sum()",
            "the sum runs over the whole table, and not over each row",
        ),
        Wrong(
            "(grad * context).sum(dim=-1, keepdim=True)",
            "(grad * context).sum(dim=0)",
            "the sum runs over the queries; it should run over the numbers of each row",
        ),
        Wrong(
            "(grad * context).sum(dim=-1, keepdim=True)",
            "context.sum(dim=-1, keepdim=True)",
            "the sum of the result is taken without the gradient",
        ),
        Wrong(
            "(grad * context).sum(dim=-1, keepdim=True)",
            "grad.sum(dim=-1, keepdim=True)",
            "the sum of the gradient is taken without the result",
        ),
        Wrong(
            "(grad * context).sum(dim=-1, keepdim=True)",
            "grad_weights.mean(dim=-1, keepdim=True)",
            "the plain mean over the tile is taken off; it should be grad "
            "times context, summed",
        ),
        Wrong(
            "scores - lse[:, None]",
            "scores - lse",
            "the log-sum-exps are laid along the keys: [:, None] is missing",
        ),
        Wrong(
            "torch.exp(scores - lse[:, None])",
            "(scores - lse[:, None])",
            "the exponential is forgotten: logarithms are taken for weights",
        ),
        Wrong(
            "torch.exp(scores - lse[:, None])",
            "torch.softmax(scores - lse[:, None], dim=-1)",
            "a softmax makes the weights of the tile sum to one again, after "
            "the log-sum-exp was taken off",
            same_as="weights are shared out anew in the tile, as if there were no "
            "other keys",
        ),
        Wrong(
            "weights.T @ grad\n",
            "scale * weights.T @ grad\n",
            "the gradient of the values is scaled; only those of queries and "
            "keys should be",
        ),
        Wrong(
            "weights.T @ grad\n",
            "grad_scores.T @ grad\n",
            "the gradient of the values is made of the scores' gradients; it "
            "should be made of the weights",
        ),
        Wrong(
            "weights.T @ grad\n",
            "weights @ grad\n",
            "the weights are not transposed in the gradient of the values",
        ),
        Wrong(
            "weights.T @ grad\n",
            "weights.T @ context\n",
            "the result is taken for its gradient",
        ),
        Wrong(
            "grad @ value.T",
            "grad @ value",
            "the values are not transposed in the gradient of the weights",
        ),
        Wrong(
            "grad @ value.T",
            "context @ value.T",
            "the result is taken for its gradient in the gradient of the weights",
        ),
        Wrong(
            "    grad_query = scale * grad_scores @ key\n"
            "    grad_key = scale * grad_scores.T @ query\n",
            "    grad_query = grad_scores @ key\n"
            "    grad_key = grad_scores.T @ query\n",
            "the scale is lost in the gradients of queries and keys",
        ),
        Wrong(
            "    grad_query = scale * grad_scores @ key\n"
            "    grad_key = scale * grad_scores.T @ query\n",
            "    grad_query = scale**2 * grad_scores @ key\n"
            "    grad_key = scale**2 * grad_scores.T @ query\n",
            "the scale comes twice into the gradients of queries and keys",
        ),
        Wrong(
            "    grad_query = scale * grad_scores @ key\n"
            "    grad_key = scale * grad_scores.T @ query\n",
            "    grad_query = scale * grad_scores @ query\n"
            "    grad_key = scale * grad_scores.T @ key\n",
            "queries and keys are exchanged in the last two products",
        ),
        Wrong(
            "grad_scores.T @ query",
            "grad_scores @ query",
            "the scores' gradients are not transposed in the gradient of the keys",
        ),
        Wrong(
            "    return grad_query, grad_key, weights.T @ grad",
            "    return weights.T @ grad, grad_query, grad_key",
            "the gradients are given in the order dV, dQ, dK; the order asked "
            "for is dQ, dK, dV",
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
            "(grad_weights - delta)",
            "(delta - grad_weights)",
            "the difference is turned round, so that all scores get the opposite sign",
        ),
        Wrong(
            "grad_scores = weights * (grad_weights - delta)",
            "grad_scores = grad_weights",
            "the softmax is left out of the way back: the weights' gradients "
            "go on as they are",
        ),
        Wrong(
            "torch.exp(scores - lse[:, None])",
            "torch.exp(scores) / torch.exp(scores).sum(dim=-1, "
            "keepdim=True).add(torch.exp(lse)[:, None])",
            "the sum of the tile is added to that of all keys, which has it already",
        ),
        Wrong(
            "weights * (grad_weights - delta)",
            "scores * (grad_weights - delta)",
            "the scores stand where the weights should in the gradient of the softmax",
        ),
        Wrong(
            "weights * (grad_weights - delta)",
            "weights * grad_weights - weights.square() * delta",
            "the mean of the row is multiplied by the weights twice",
        ),
        Wrong(
            "(grad * context).sum(dim=-1, keepdim=True)",
            "(grad * context).sum(dim=-1, keepdim=True) / context.shape[-1] ** 0.5",
            "grad times context is scaled, too",
        ),
        Wrong(
            "grad_query = scale * grad_scores",
            "grad_query = scale**2 * grad_scores",
            "the scale comes twice into the gradient of the queries",
        ),
        Wrong(
            "grad_key = scale * grad_scores",
            "grad_key = scale**2 * grad_scores",
            "the scale comes twice into the gradient of the keys",
        ),
        Wrong(
            "    return grad_query, grad_key, weights.T @ grad",
            "    return -grad_query, -grad_key, -weights.T @ grad",
            "all gradients have the opposite sign",
        ),
        Wrong(
            "    return grad_query, grad_key, weights.T @ grad",
            "    return grad_query, grad_key",
            "two gradients are given; that of the values is missing",
        ),
        Wrong(
            "    return grad_query, grad_key, weights.T @ grad",
            "    return grad_query, weights.T @ grad, grad_key",
            "the gradients are given in the order dQ, dV, dK; it should be dQ, dK, dV",
        ),
        Wrong(
            "    return grad_query, grad_key, weights.T @ grad",
            "    return grad_key, weights.T @ grad, grad_query",
            "the gradients are given in the order dK, dV, dQ; it should be dQ, dK, dV",
        ),
        Wrong(
            "weights.T @ grad",
            "weights.T @ (grad * context)",
            "grad times context goes to the values; grad alone should",
        ),
        Wrong(
            "grad_scores @ key",
            "grad_scores @ query",
            "the gradient of the queries is made of queries; it should be made of keys",
        ),
        Wrong(
            "torch.exp(scores - lse[:, None])",
            "torch.exp(scores - scale * lse[:, None])",
            "the log-sum-exp is scaled once more; it is that of scaled scores already",
        ),
        Wrong(
            "torch.exp(scores - lse[:, None])",
            "torch.exp(scores + lse[:, None])",
            "the log-sum-exp is added; it should be taken off",
        ),
        Wrong(
            "grad @ value.T",
            "(grad - context) @ value.T",
            "the result is taken off the gradient before it meets the values",
        ),
        Wrong(
            "weights.T @ grad",
            "weights.reshape(len(key), -1) @ grad",
            "the weights are reshaped in the gradient of the values; they should be "
            "transposed",
        ),
        Wrong(
            "weights * (grad_weights - delta)",
            "weights * (grad_weights - delta / len(key))",
            "the mean of the row is divided by the number of keys",
        ),
        Wrong(
            "weights * (grad_weights - delta)",
            "weights * (1 - weights) * (grad_weights - delta)",
            "each weight is multiplied by one less itself, which is the slope of a "
            "sigmoid",
        ),
        Wrong(
            "grad_query = scale * grad_scores @ key",
            "grad_query = (scale * grad_scores @ key).sum(dim=0)",
            "the gradient of the queries is added up over the queries",
        ),
        Wrong(
            "scale * query @ key.T",
            "scale * key @ query.T",
            "scores are made as (n, T), keys first; it should be (T, n)",
        ),
        Wrong(
            "torch.exp(scores - lse[:, None])",
            "torch.exp(scores) / torch.exp(lse)[:, None]",
            "exponentials are taken of scores and of the log-sum-exp themselves, and "
            "overflow",
        ),
    ],
    survivors={"-1 -> 1": "tables of two axes: the last is axis 1"},
    minutes=15,
    covers=("backward",),
)
