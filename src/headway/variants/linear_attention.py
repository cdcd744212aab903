"""Attention without the softmax: all of the past in one table of a fixed size."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from headway import _require


def positive_features(x: Float[Tensor, "*B"]) -> Float[Tensor, "*B"]:
    r"""Make each number positive, so that products of features can be weights.

    $$\phi(x) = \operatorname{elu}(x) + 1 =
    \begin{cases} x + 1 & x > 0 \\ e^x & x \le 0 \end{cases}$$

    It is computed as on the right. The sum on the left rounds to zero in 32 bits as
    soon as a number is below -17, and a query of such numbers would find nothing.

    Args:
        x: Queries or keys.

    Returns:
        As many positive numbers.

    Examples:
        >>> positive_features(torch.tensor([-20.0, 0.0, 2.0]))
        tensor([2.0612e-09, 1.0000e+00, 3.0000e+00])

    References:
        Katharopoulos et al. (2020), eq. 7,
        [arXiv:2006.16236](https://arxiv.org/abs/2006.16236).
    """
    # Clamped: the gradient of an exponential that is not chosen must not overflow.
    return torch.where(x > 0, x + 1, x.clamp(max=0).exp())


def linear_attention(
    query: Float[Tensor, "*#B T D"],
    key: Float[Tensor, "*#B T D"],
    value: Float[Tensor, "*#B T V"],
    *,
    features: Callable[[Tensor], Tensor] | None = positive_features,
    normalise: bool = True,
    chunk: int | None = None,
    state: Float[Tensor, "*#B F W"] | None = None,
) -> tuple[Float[Tensor, "*B T V"], Float[Tensor, "*_ F W"]]:
    r"""Attend to the past with weights that are products, not exponentials.

    $$z_t = \frac{\sum_{s \le t} (\phi(q_t) \cdot \phi(k_s))\, v_s}
    {\sum_{s \le t} \phi(q_t) \cdot \phi(k_s)}
    = \frac{\phi(q_t)^\top S_t}{\phi(q_t)^\top n_t}, \qquad
    S_t = S_{t-1} + \phi(k_t)\, v_t^\top, \quad n_t = n_{t-1} + \phi(k_t)$$

    The past is read from a state whose size does not depend on how much there is of it.
    Inside of a chunk the weights of all pairs are made, as in attention; what was
    before the chunk is read from the state. The result is the same for each length of
    chunks, up to rounding: one token a chunk is a recurrence, and one chunk for all is
    a table of all pairs.

    The weights of a row sum to one. The vector $n$ is the last column of the state,
    beside $S$: what would be the sum of values that are all one.

    Numbers of 16 bits are computed with in 32, and so is the state: in 16, a sum of
    many tokens would stop growing. There is no mask: keep padding out of the state by
    features of zero.

    Args:
        query: What each position looks for.
        key: What each position offers to be found by, one for each query.
        value: What each position hands over when it is found.
        features: Map $\phi$ from queries and keys to vectors of any width $F$;
            `None` takes them as they are.
        normalise: Whether to divide by the sum of weights. A row whose weights sum to
            zero has a context of zeros.
        chunk: Number of tokens that are read at a time; `None` means all.
        state: What the call before it returned; `None` means that nothing was before.

    Returns:
        One context vector for each query, and the state after the last token: of shape
        (F, V + 1), or (F, V) without `normalise`.

    Raises:
        ValueError: If the tensors or the state do not fit, there is no token, or
            `chunk` is not a positive integer.

    Examples:
        >>> key, value = torch.eye(2), torch.tensor([[5.0], [7.0]])
        >>> linear_attention(key, key, value, features=None, normalise=False)
        (tensor([[5.],
                [7.]]), tensor([[5.],
                [7.]]))

    References:
        Katharopoulos et al. (2020), eq. 4 to 12 and section 3.4,
        [arXiv:2006.16236](https://arxiv.org/abs/2006.16236).
    """
    _require.one_key_and_value_per_query(query, key, value)
    dtype, wide = query.dtype, torch.promote_types(query.dtype, torch.float32)
    query, key, value = (x.to(wide) for x in (query, key, value))
    if features is not None:
        query, key = features(query), features(key)
    if normalise:
        value = torch.cat([value, torch.ones_like(value[..., :1])], dim=-1)
    if chunk is None:
        chunk = query.shape[-2]
    _require.positive(chunk=chunk)
    if state is None:
        state = value.new_zeros(key.shape[-1], value.shape[-1])
    _require.state_fits(state, key, value)
    contexts = []
    for q, k, v in zip(
        *(x.split(chunk, dim=-2) for x in (query, key, value)), strict=True
    ):
        weights = (q @ k.transpose(-2, -1)).tril()
        contexts.append(q @ state + weights @ v)
        state = state + k.transpose(-2, -1) @ v
    context = torch.cat(contexts, dim=-2)
    if normalise:
        context, total = context[..., :-1], context[..., -1:]
        context = context / total.masked_fill(total == 0, 1.0)
    return context.to(dtype), state
