"""FlashAttention's forward pass: attention in tiles, without the table of scores."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from headway import _require
from headway.kernels import _tiles
from headway.kernels._keep import keep_share


def flash_forward(
    query: Float[Tensor, "*#B T D"],
    key: Float[Tensor, "*#B S D"],
    value: Float[Tensor, "*#B S V"],
    *,
    mask: Bool[Tensor, "*#B #T #S"] | None = None,
    bias: Float[Tensor, "*#B #T #S"] | None = None,
    causal: bool = False,
    dropout_p: float = 0.0,
    seed: int = 0,
    scale: float | None = None,
    query_tile: int = 64,
    key_tile: int = 64,
) -> tuple[Float[Tensor, "*B T V"], Float[Tensor, "*B T"]]:
    r"""Attend tile by tile, and return the log-sum-exp of each query's scores as well.

    For each tile of queries, over the tiles $j$ of keys, with $m_0 = -\infty$ and zeros
    for the sum $d$ and the mixture $n$ of the values, divided once, at the end:

    $$\begin{aligned}
    m_j &= \max(m_{j-1}, \operatorname{rowmax} S_j), & P_j &= e^{S_j - m_j}, \\
    d_j &= e^{m_{j-1} - m_j}\, d_{j-1} + \operatorname{rowsum} P_j, &
    n_j &= e^{m_{j-1} - m_j}\, n_{j-1} + P_j V_j, \\
    O &= n_j / d_j, & \ell &= m_j + \ln d_j
    \end{aligned}$$

    The results are those of `attention_with_lse`, up to rounding, for every tile size;
    the largest tensor on the way is a tile, or as large as what comes in or goes out.
    With `causal`, tiles that are wholly in the future are skipped. Half precision is
    computed in 32 bits, and the log-sum-exp of it stays in them. A fully masked row has
    a context of zeros and a log-sum-exp of minus infinity.

    Args:
        query: What each position looks for.
        key: What each position offers to be found by.
        value: What each position hands over when it is found.
        mask: `True` where a query may look at a key; `None` hides nothing.
        bias: Finite numbers that are added to the scaled scores, in their type; `None`
            adds nothing.
        causal: Whether to hide the future too, with the last query at the last key.
        dropout_p: Probability with which a weight is set to zero; the others grow by
            $1/(1-p)$. The log-sum-exp is that of all weights.
        seed: Says, with `dropout_p`, which weights are set to zero.
        scale: Factor of the scores; `None` means $1/\sqrt{D}$.
        query_tile: How many queries make a tile, $B_r$.
        key_tile: How many keys make a tile, $B_c$.

    Returns:
        One context vector and one log-sum-exp for each query.

    Raises:
        ValueError: If the tensors do not fit, `mask` is not boolean, `bias` is not
            floating-point, `dropout_p` is outside [0, 1), `scale` is not positive, or a
            tile is empty.

    Examples:
        >>> query, key = torch.zeros(1, 5), torch.randn(2, 5)
        >>> flash_forward(query, key, torch.tensor([[2.0], [4.0]]), key_tile=1)
        (tensor([[3.]]), tensor([0.6931]))

    References:
        Dao (2023), algorithm 1, [arXiv:2307.08691](https://arxiv.org/abs/2307.08691);
        line 10 prints an inverse too many; Dao et al. (2022), algorithm 1,
        [arXiv:2205.14135](https://arxiv.org/abs/2205.14135).
    """
    _require.positive(query_tile=query_tile, key_tile=key_tile)
    _require.probability(dropout_p=dropout_p)
    scale = _tiles.checked(query, key, value, mask, bias, scale)
    T, S = query.shape[-2], key.shape[-2]
    shift = S - T if causal else None
    leading = torch.broadcast_shapes(*(x.shape[:-2] for x in (query, key, value)))
    contexts, lses = [], []
    with _tiles.without_autocast(query):
        for rows in _tiles.query_tiles(T, query_tile):
            asked = _tiles.widen(query[..., rows, :]) * scale
            top = asked.new_full((*leading, asked.shape[-2], 1), -torch.inf)
            total = torch.zeros_like(top)
            context = top.new_zeros((*top.shape[:-1], value.shape[-1]))
            for columns in _tiles.key_tiles(rows, S, key_tile, shift):
                scores = asked @ _tiles.widen(key[..., columns, :]).transpose(-2, -1)
                scores = _tiles.see(scores, rows, columns, shift, mask, bias)
                before, top = top, torch.maximum(top, scores.amax(dim=-1, keepdim=True))
                # Where nothing is seen yet, minus infinity minus itself would be nan.
                floor = top.masked_fill(top == -torch.inf, 0.0)
                factor, powers = (before - floor).exp(), (scores - floor).exp()
                total = factor * total + powers.sum(dim=-1, keepdim=True)
                # Dropout spares the sum: what it drops has been counted.
                powers = powers * keep_share(powers, rows, columns, dropout_p, seed)
                given = _tiles.widen(value[..., columns, :])
                context = factor * context + powers @ given
            # The largest score weighs one: only a row that sees no key sums to zero.
            total = total.masked_fill(total == 0.0, 1.0)
            contexts.append((context / total).to(query.dtype))
            lses.append((top + total.log()).squeeze(-1))
    return torch.cat(contexts, dim=-2), torch.cat(lses, dim=-1)
