"""Choosing keys: each query scores all blocks cheaply, and attends to the best few."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from headway import _require, _triangle
from headway.basics.scaled_dot_product import attention


def block_scores(
    query: Float[Tensor, "*#B T D"],
    key: Float[Tensor, "*#B S D"],
    *,
    block: int,
    mask: Bool[Tensor, "*#B #T #S"] | None = None,
) -> Float[Tensor, "*B T N"]:
    r"""Score each block of keys: the mean score of those that a query may see.

    $$s_{ti} = \Big\langle q_t, \frac{1}{|I_{ti}|} \sum_{s \in I_{ti}} k_s \Big\rangle
    = \frac{1}{|I_{ti}|} \sum_{s \in I_{ti}} q_t \cdot k_s$$

    $I_{ti}$ are the keys of block $i$ that query $t$ may see. The score of a mean is
    the mean of the scores, so a block that is seen whole costs one dot product, with
    its mean key. Blocks are counted from the first key; the last may be shorter. The
    scores are not scaled, which changes no order.

    Args:
        query: What each position looks for.
        key: What each position offers to be found by.
        block: How many keys make a block.
        mask: `True` where a query may look at a key; `None` hides nothing.

    Returns:
        One score for each query and block; minus infinity where none of its keys may
        be seen.

    Raises:
        ValueError: If the tensors do not fit, `block` is not a positive integer, or
            `mask` is not boolean.

    Examples:
        >>> key = torch.tensor([[1.0], [3.0], [4.0], [6.0], [9.0]])
        >>> block_scores(torch.ones(1, 1), key, block=2)
        tensor([[2., 5., 9.]])

    References:
        Lu et al. (2025), eq. 5 and 6,
        [arXiv:2502.13189](https://arxiv.org/abs/2502.13189).
    """
    _require.positive(block=block)
    _require.matching(query, key)
    scores = query @ key.transpose(-2, -1)
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    _require.mask_fits(mask, scores.shape)
    sums = _in_blocks(scores.masked_fill(~mask, 0.0), block)
    counts = _in_blocks(mask.broadcast_to(scores.shape), block)
    return (sums / counts.clamp(min=1)).masked_fill(counts == 0, -torch.inf)


def indexer_scores(
    query: Float[Tensor, "*#B H T D"],
    key: Float[Tensor, "*#B S D"],
    weight: Float[Tensor, "*#B T H"],
) -> Float[Tensor, "*B T S"]:
    r"""Score each key by small heads that share it, one score for all heads.

    $$I_{ts} = \sum_h w_{th} \operatorname{ReLU}(q_{th} \cdot k_s)$$

    These are queries and keys of their own, narrower than those that attend.

    Args:
        query: What each position looks for, for each of the small heads.
        key: What each position offers, the same for all of them.
        weight: How much each small head counts, for each query.

    Returns:
        One score for each query and key.

    Raises:
        ValueError: If the tensors do not hold floating-point numbers or do not fit.

    Examples:
        >>> query = torch.tensor([[[1.0]], [[-1.0]]])  # two heads, one query
        >>> key = torch.tensor([[2.0], [-3.0]])
        >>> indexer_scores(query, key, torch.tensor([[10.0, 1.0]]))
        tensor([[20.,  3.]])

    References:
        DeepSeek-AI (2025), DeepSeek-V3.2-Exp, eq. 1.
    """
    _require_indexer(query, key, weight)
    scores = (query @ key.unsqueeze(-3).transpose(-2, -1)).relu()
    return (weight.transpose(-2, -1).unsqueeze(-1) * scores).sum(dim=-3)


def topk_mask(
    scores: Float[Tensor, "*B T N"],
    *,
    keep: int,
    mask: Bool[Tensor, "*#B #T #N"] | None = None,
) -> Bool[Tensor, "*B T N"]:
    r"""Choose the highest scores of each row among those that it may see.

    What is hidden is out before the choice, so it takes no place and decides nothing.
    Of equal scores the first is chosen. A choice is not a number: no gradient passes.

    Args:
        scores: One row for each query, one column for each key or block.
        keep: How many of a row to choose; all that it sees, if these are fewer.
        mask: `True` where a query may look; `None` hides nothing. A score of minus
            infinity is hidden too.

    Returns:
        A boolean mask, `True` at what is chosen.

    Raises:
        ValueError: If `keep` is not a positive integer, `scores` are not
            floating-point, or `mask` is not boolean or does not fit.

    Examples:
        >>> scores = torch.tensor([[1.0, 5.0, 3.0, 9.0]])
        >>> topk_mask(scores, keep=2, mask=torch.tensor([[True, True, True, False]]))
        tensor([[False,  True,  True, False]])
    """
    _require.positive(keep=keep)
    _require.floating(scores=scores)
    if mask is not None:
        _require.mask_fits(mask, scores.shape)
        scores = scores.masked_fill(~mask, -torch.inf)
    order = scores.detach().argsort(dim=-1, descending=True, stable=True)
    chosen = torch.zeros_like(scores, dtype=torch.bool)
    return chosen.scatter(-1, order[..., :keep], True) & (scores > -torch.inf)


def block_topk_mask(
    query: Float[Tensor, "*#B T D"],
    key: Float[Tensor, "*#B S D"],
    *,
    block: int,
    keep: int,
    mask: Bool[Tensor, "*#B #T #S"] | None = None,
    causal: bool = False,
) -> Bool[Tensor, "*B T S"]:
    r"""Allow each query the keys of the blocks with the highest scores.

    $$m_{ts} = 1 \text{ if } i(s) \in \operatorname{top}_k (s_{t0}, s_{t1}, \dots)
    \text{, else } 0$$

    $i(s)$ is the block of key $s$. With `causal` the future is hidden, and the block
    of the query itself is always one of the `keep`. Each head chooses for itself.

    Args:
        query: What each position looks for.
        key: What each position offers to be found by.
        block: How many keys make a block.
        keep: How many blocks a query may see.
        mask: `True` where a query may look at a key; `None` hides nothing. What it
            hides has no part in the choice.
        causal: Whether to hide the future too, with the last query at the last key.

    Returns:
        A boolean mask, `True` where a query may look at a key, all in all.

    Raises:
        ValueError: If the tensors do not fit, `block` or `keep` is not a positive
            integer, or `mask` is not boolean.

    Examples:
        >>> key = torch.tensor([[9.0], [9.0], [1.0], [1.0], [2.0], [2.0]])
        >>> block_topk_mask(key[-2:], key, block=2, keep=2, causal=True).int()
        tensor([[1, 1, 0, 0, 1, 0],
                [1, 1, 0, 0, 1, 1]], dtype=torch.int32)

    References:
        Lu et al. (2025), eq. 5 and 6,
        [arXiv:2502.13189](https://arxiv.org/abs/2502.13189).
    """
    _require.matching(query, key)
    T, S = query.shape[-2], key.shape[-2]
    if causal:
        shape = _require.scores_shape(query, key)
        mask = _triangle.and_past(mask, shape, query.device)
    scores = block_scores(query.detach(), key.detach(), block=block, mask=mask)
    if causal:
        blocks = torch.arange(scores.shape[-1], device=query.device)
        stands = torch.arange(S - T, S, device=query.device).unsqueeze(-1)
        own = (stands // block == blocks) & (scores > -torch.inf)
        scores = scores.masked_fill(own, torch.inf)
    chosen = topk_mask(scores, keep=keep).repeat_interleave(block, dim=-1)[..., :S]
    return chosen if mask is None else chosen & mask


def sparse_attention(
    query: Float[Tensor, "*#B T D"],
    key: Float[Tensor, "*#B S D"],
    value: Float[Tensor, "*#B S V"],
    *,
    block: int,
    keep: int,
    mask: Bool[Tensor, "*#B #T #S"] | None = None,
    bias: Float[Tensor, "*#B #T #S"] | None = None,
    causal: bool = False,
    dropout_p: float = 0.0,
    scale: float | None = None,
) -> Float[Tensor, "*B T V"]:
    r"""Attend to the keys of the blocks with the highest scores, and to no other.

    With as many blocks kept as there are it is `attention`; so are the first
    `keep * block` rows of causal attention. Queries and keys learn as in attention to
    what was chosen: the choice itself has no gradient. Blocks are counted from the
    first key, so a cache must keep all keys; one at a time or all at once, the result
    is the same.

    This is what block-sparse attention computes, by a mask. It scores every pair and
    saves nothing; a kernel that skips does.

    Args:
        query: What each position looks for.
        key: What each position offers to be found by.
        value: What each position hands over when it is found.
        block: How many keys make a block.
        keep: How many blocks a query may see, its own among them with `causal`.
        mask: `True` where a query may look at a key; `None` hides nothing.
        bias: Finite numbers that are added to the scaled scores; the choice does not
            know them. `None` adds nothing.
        causal: Whether to hide the future too, with the last query at the last key.
        dropout_p: Probability with which a weight is set to zero, as in `attention`.
        scale: Factor of the scores; `None` means $1/\sqrt{D}$.

    Returns:
        One context vector for each query.

    Raises:
        ValueError: If the tensors do not fit, `block` or `keep` is not a positive
            integer, `mask` is not boolean, `bias` is not floating-point, `dropout_p`
            is outside [0, 1), or `scale` is not positive.

    Examples:
        >>> key = torch.tensor([[9.0], [9.0], [1.0], [1.0]])
        >>> value = torch.tensor([[2.0], [4.0], [50.0], [60.0]])
        >>> sparse_attention(torch.ones(1, 1), key, value, block=2, keep=1)
        tensor([[3.]])

    References:
        Lu et al. (2025), eq. 5 and 6,
        [arXiv:2502.13189](https://arxiv.org/abs/2502.13189).
    """
    chosen = block_topk_mask(
        query, key, block=block, keep=keep, mask=mask, causal=causal
    )
    return attention(
        query, key, value, mask=chosen, bias=bias, dropout_p=dropout_p, scale=scale
    )


def _in_blocks(row: Tensor, block: int) -> Tensor:
    """Add up the columns of each block, of which the last may be shorter."""
    S = row.shape[-1]
    count = -(-S // block)
    padded = nn.functional.pad(row, (0, count * block - S))
    return padded.unflatten(-1, (count, block)).sum(dim=-1)


# ---- What is refused ----


def _require_indexer(query: Tensor, key: Tensor, weight: Tensor) -> None:
    """Check small heads, (*B, H, T, D), one key for all, (*B, S, D), and (*B, T, H)."""
    _require.floating(query=query, key=key, weight=weight)
    if query.ndim < 3:
        raise ValueError(
            "query must have shape (..., heads, tokens, width); "
            f"got query.shape={_require.shape(query)}."
        )
    text = query[..., 0, :, :]
    fits = key.ndim >= 2 and key.shape[-1] == query.shape[-1]
    if not fits or not _require.leading_axes_broadcast(text, key):
        raise ValueError(
            "key must have the width of query, and no axis of heads; "
            f"got key.shape={_require.shape(key)}, query.shape={_require.shape(query)}."
        )
    fits = weight.shape[-2:] == (query.shape[-2], query.shape[-3])
    if not fits or not _require.leading_axes_broadcast(text, key, weight):
        raise ValueError(
            "weight must have one number for each query and head; "
            f"got weight.shape={_require.shape(weight)}, "
            f"query.shape={_require.shape(query)}."
        )
