"""FlashAttention's backward pass: the weights are computed again."""

from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from headway import _require
from headway.kernels._keep import keep_share
from headway.kernels._tiles import (
    checked,
    cut,
    key_tiles,
    query_tiles,
    see,
    widen,
    without_autocast,
)
from headway.kernels.flash import flash_forward


def flash_backward(
    query: Float[Tensor, "*#B T D"],
    key: Float[Tensor, "*#B S D"],
    value: Float[Tensor, "*#B S V"],
    context: Float[Tensor, "*B T V"],
    lse: Float[Tensor, "*B T"],
    grad: Float[Tensor, "*B T V"],
    *,
    mask: Bool[Tensor, "*#B #T #S"] | None = None,
    bias: Float[Tensor, "*#B #T #S"] | None = None,
    causal: bool = False,
    dropout_p: float = 0.0,
    seed: int = 0,
    scale: float | None = None,
    query_tile: int = 64,
    key_tile: int = 64,
    grad_lse: Float[Tensor, "*B T"] | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    r"""Compute gradients of attention in tiles, from its output and log-sum-exp alone.

    $$P = e^{S - \ell}, \qquad dV = P^\top dO, \qquad
    dS = P \circ \left(dO\, V^\top - \operatorname{rowsum}(dO \circ O)\right)$$

    The weights $P$ were not kept; each tile of them is computed again, and so is what
    dropout kept. Then $dQ = \lambda\, dS\, K$ and $dK = \lambda\, dS^\top Q$, with the
    scale $\lambda$, and $dS$ is the gradient of the bias. No tensor of $T \times S$ is
    made, except for the gradient of a bias that is one. Tiles that are wholly in the
    future are left out. Half precision is summed up in float32.

    Args:
        query: What each position looks for.
        key: What each position offers to be found by.
        value: What each position hands over when it is found.
        context: What `flash_forward` gave.
        lse: The log-sum-exp that it gave.
        grad: The gradient of the context, $dO$.
        mask: `True` where a query may look at a key; `None` hides nothing.
        bias: Finite numbers that were added to the scaled scores; `None` adds nothing.
        causal: Whether the future was hidden too, with the last query at the last key.
        dropout_p: Probability with which a weight was set to zero.
        seed: Which weights those were, as in `flash_forward`.
        scale: Factor of the scores; `None` means $1/\sqrt{D}$.
        query_tile: Number of queries in a tile.
        key_tile: Number of keys in a tile.
        grad_lse: The gradient of the log-sum-exp, if something was made of that too;
            `None` means zeros.

    Returns:
        The gradients of query, key, value and bias; `None` for no bias.

    Raises:
        ValueError: If the tensors do not fit, `mask` is not boolean, `bias` is not
            floating-point, `dropout_p` is outside [0, 1), `scale` is not positive, or
            a tile is not a positive integer.

    Examples:
        >>> query, key = torch.zeros(1, 1), torch.tensor([[1.0], [5.0]])
        >>> value, grad = torch.tensor([[2.0], [4.0]]), torch.ones(1, 1)
        >>> context, lse = flash_forward(query, key, value)
        >>> flash_backward(query, key, value, context, lse, grad)[0]
        tensor([[2.]])

    References:
        Dao et al. (2022), appendix B.2 and algorithm 4,
        [arXiv:2205.14135](https://arxiv.org/abs/2205.14135); Dao (2023), algorithm 2,
        [arXiv:2307.08691](https://arxiv.org/abs/2307.08691).
    """
    _require.positive(query_tile=query_tile, key_tile=key_tile)
    _require.probability(dropout_p=dropout_p)
    scale = checked(query, key, value, mask, bias, scale)
    _require_result_fits(query, key, value, context=context, lse=lse, grad=grad)
    T, S = query.shape[-2], key.shape[-2]
    shift = S - T if causal else None
    d_query, d_key, d_value = (_zeros(x) for x in (query, key, value))
    d_bias = None if bias is None else _zeros(bias)
    with without_autocast(query):
        for rows in query_tiles(T, query_tile):
            asked = widen(query[..., rows, :]) * scale
            d_context = widen(grad[..., rows, :])
            mean = (d_context * widen(context[..., rows, :])).sum(dim=-1, keepdim=True)
            if grad_lse is not None:
                mean = mean - grad_lse[..., rows].unsqueeze(-1)
            for columns in key_tiles(rows, S, key_tile, shift):
                found = widen(key[..., columns, :])
                given = widen(value[..., columns, :])
                scores = see(asked @ found.mT, rows, columns, shift, mask, bias)
                weights = _weights(scores, lse[..., rows])
                share = keep_share(weights, rows, columns, dropout_p, seed)
                d_scores = weights * (d_context @ given.mT * share - mean)
                _add(d_value[..., columns, :], (weights * share).mT @ d_context)
                _add(d_key[..., columns, :], d_scores.mT @ asked)
                _add(d_query[..., rows, :], d_scores @ found * scale)
                if d_bias is not None:
                    _add(cut(d_bias, rows, columns), d_scores)
    return (
        d_query.to(query.dtype),
        d_key.to(key.dtype),
        d_value.to(value.dtype),
        None if d_bias is None or bias is None else d_bias.to(bias.dtype),
    )


def flash_attention(
    query: Float[Tensor, "*#B T D"],
    key: Float[Tensor, "*#B S D"],
    value: Float[Tensor, "*#B S V"],
    *,
    mask: Bool[Tensor, "*#B #T #S"] | None = None,
    bias: Float[Tensor, "*#B #T #S"] | None = None,
    causal: bool = False,
    dropout_p: float = 0.0,
    scale: float | None = None,
    query_tile: int = 64,
    key_tile: int = 64,
) -> Float[Tensor, "*B T V"]:
    r"""Do what `attention` does in tiles, forward and backward.

    $$\operatorname{Attention}(Q, K, V)
    = \operatorname{softmax}\left(\frac{Q K^\top}{\sqrt{D}} + B\right) V$$

    The same function with the same meaning of every argument, fully masked rows
    included, and for every tile size. What is kept for the backward pass are the
    arguments, the result, and one number for each query; the $T \times S$ weights never
    are, nor what dropout drew. It is here to be read: `fused_attention` is faster.

    Args:
        query: What each position looks for.
        key: What each position offers to be found by.
        value: What each position hands over when it is found.
        mask: `True` where a query may look at a key; `None` hides nothing.
        bias: Finite numbers $B$ that are added to the scaled scores, in their type;
            `None` adds nothing. It gets a gradient.
        causal: Whether to hide the future too, with the last query at the last key.
        dropout_p: Probability with which a weight is set to zero; the others grow by
            $1/(1-p)$. It is drawn anew for all leading axes of the result. Which
            ones depends on one number, drawn from torch's generator at each call, and
            not on the tiles.
        scale: Factor of the scores; `None` means $1/\sqrt{D}$.
        query_tile: How many queries make a tile.
        key_tile: How many keys make a tile.

    Returns:
        One context vector for each query.

    Raises:
        ValueError: If the tensors do not fit, `mask` is not boolean, `bias` is not
            floating-point, `dropout_p` is outside [0, 1), `scale` is not positive, or a
            tile is empty.

    Examples:
        >>> query, key = torch.zeros(1, 5), torch.randn(2, 5)
        >>> value = torch.tensor([[2.0], [4.0]], requires_grad=True)
        >>> flash_attention(query, key, value, key_tile=1).sum().backward()
        >>> value.grad
        tensor([[0.5000],
                [0.5000]])

    References:
        Dao et al. (2022), algorithms 2 and 4,
        [arXiv:2205.14135](https://arxiv.org/abs/2205.14135); Dao (2023), algorithms 1
        and 2, [arXiv:2307.08691](https://arxiv.org/abs/2307.08691).
    """
    seed = int(torch.randint(2**62, ())) if dropout_p else 0
    options = {
        "causal": causal,
        "dropout_p": dropout_p,
        "seed": seed,
        "scale": scale,
        "query_tile": query_tile,
        "key_tile": key_tile,
    }
    return _InTiles.apply(query, key, value, mask, bias, options)[0]


class _InTiles(torch.autograd.Function):
    """Keep the arguments, the context and the log-sum-exp, and nothing else."""

    @staticmethod
    def forward(
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None,
        bias: Tensor | None,
        options: dict[str, Any],
    ) -> tuple[Tensor, Tensor]:
        return flash_forward(query, key, value, mask=mask, bias=bias, **options)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        *tensors, options = inputs
        context, lse = output
        ctx.save_for_backward(*tensors, context, lse)
        ctx.options = options

    @staticmethod
    def backward(ctx: Any, grad: Tensor, grad_lse: Tensor) -> tuple[Tensor | None, ...]:
        query, key, value, mask, bias, context, lse = ctx.saved_tensors
        *gradients, d_bias = flash_backward(
            query,
            key,
            value,
            context,
            lse,
            grad,
            mask=mask,
            bias=bias,
            grad_lse=grad_lse,
            **ctx.options,
        )
        return *gradients, None, d_bias, None


def _weights(scores: Tensor, lse: Tensor) -> Tensor:
    """Divide by what was divided by before; a row that sees no key weighs nothing."""
    return (scores - lse.masked_fill(lse == -torch.inf, 0.0).unsqueeze(-1)).exp()


def _zeros(x: Tensor) -> Tensor:
    return torch.zeros(x.shape, dtype=widen(x[:0]).dtype, device=x.device)


def _add(part: Tensor, gradient: Tensor) -> None:
    """Add to a part of a sum, in place, what all that share it get."""
    part += gradient.sum_to_size(part.shape)


# ---- What is refused ----


def _require_result_fits(
    query: Tensor, key: Tensor, value: Tensor, *, lse: Tensor, **contexts: Tensor
) -> None:
    """Check what attention gave: one vector and one number for each query."""
    shape = (
        *_require.leading_axes(query, key, value),
        query.shape[-2],
        value.shape[-1],
    )
    _require.floating(lse=lse, **contexts)
    for name, context in contexts.items():
        if context.shape != shape:
            raise ValueError(
                f"{name} must have shape {shape}, one row for each query; "
                f"got {name}.shape={_require.shape(context)}."
            )
    if lse.shape != shape[:-1]:
        raise ValueError(
            f"lse must have shape {shape[:-1]}, one number for each query; "
            f"got lse.shape={_require.shape(lse)}."
        )
