"""Masks and biases as functions, for PyTorch's FlexAttention."""

import warnings
from collections.abc import Callable
from typing import Any, no_type_check

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.attention.flex_attention import (
    BlockMask,
    and_masks,
    create_block_mask,
    flex_attention,
)

from headway import _require

# FlexAttention counts the parameters of a function: four are a mask's, five a score's.
# A function that is wrapped to check its types seems to have none: `no_type_check`.
MaskMod = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
ScoreMod = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]


@no_type_check
def causal_mod(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
    r"""Allow each query the keys up to its own position; the mask of `causal_mask`.

    $$m(q, k) = [\, k \le q \,]$$

    Places are counted from the first query and the first key. Where the last query
    belongs to the last key, as behind a cache, use `shift_queries`.

    Args:
        b: Number of the text, which does not matter here.
        h: Number of the head, which does not matter here.
        q_idx: Place of the query.
        kv_idx: Place of the key.

    Returns:
        Whether the query may look at the key.

    Examples:
        >>> places = torch.arange(3)
        >>> causal_mod(places, places, places[:, None], places).int()
        tensor([[1, 0, 0],
                [1, 1, 0],
                [1, 1, 1]], dtype=torch.int32)

    References:
        Dong et al. (2024), [arXiv:2412.05496](https://arxiv.org/abs/2412.05496).
    """
    return kv_idx <= q_idx


def window_mod(window: int) -> MaskMod:
    r"""Make the mask of `sliding_window_mask`, the newest keys up to one's position.

    $$m(q, k) = [\, q - W < k \le q \,]$$

    The window $W$ counts the token itself. Where it counts only the tokens before, as
    in attention-gym's `generate_sliding_window(window_size)`, our `window` is
    `window_size + 1`.

    Args:
        window: How many keys a query may see, $W$.

    Returns:
        A function of text, head, query and key.

    Raises:
        ValueError: If `window` is not a positive integer.

    Examples:
        >>> q, k = torch.arange(4)[:, None], torch.arange(4)
        >>> window_mod(2)(q, q, q, k).sum(dim=-1)
        tensor([1, 2, 2, 2])
    """
    _require.positive(window=window)

    @no_type_check
    def mod(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        return (kv_idx <= q_idx) & (q_idx - kv_idx < window)

    return mod


def prefix_mod(prefix_lengths: Int[Tensor, "B"]) -> MaskMod:
    r"""Make the mask of a prefix that all may see, before a causal rest.

    $$m(b, q, k) = [\, k < \ell_b \,] \lor [\, k \le q \,]$$

    The dense form is `padding_mask(prefix_lengths, S) | causal_mask(T, S)`.

    Args:
        prefix_lengths: Number of tokens $\ell_b$ of the prefix of each text.

    Returns:
        A function of text, head, query and key.

    Raises:
        ValueError: If `prefix_lengths` are not integers, one for each text.

    Examples:
        >>> q, k = torch.arange(4)[:, None], torch.arange(4)
        >>> prefix_mod(torch.tensor([3]))(q * 0, q, q, k).sum(dim=-1)
        tensor([3, 3, 3, 4])

    References:
        Raffel et al. (2020), section 3.2.1,
        [arXiv:1910.10683](https://arxiv.org/abs/1910.10683).
    """
    _require_one_length_per_text(prefix_lengths=prefix_lengths)

    @no_type_check
    def mod(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        return (kv_idx < prefix_lengths[b]) | (kv_idx <= q_idx)

    return mod


def document_mod(document_ids: Int[Tensor, "*#B S"]) -> MaskMod:
    r"""Make the mask of `document_mask`: the tokens of one's own text.

    $$m(b, q, k) = [\, d_{bq} = d_{bk} \,]\,[\, d_{bk} \ge 0 \,]$$

    It does not hide the future: combine it by PyTorch's `and_masks`.

    Args:
        document_ids: The number of the text to which each token belongs; negative for
            padding. One row for all of a batch, or one for each.

    Returns:
        A function of row, head, query and key.

    Raises:
        ValueError: If `document_ids` are not integers, with one axis or two.

    Examples:
        >>> q, k = torch.arange(4)[:, None], torch.arange(4)
        >>> document_mod(torch.tensor([0, 1, 1, -1]))(q, q, q, k).int()
        tensor([[1, 0, 0, 0],
                [0, 1, 1, 0],
                [0, 1, 1, 0],
                [0, 0, 0, 0]], dtype=torch.int32)
    """
    _require.document_ids(document_ids)
    _require_at_most_two_axes(document_ids=document_ids)

    def number(b: Tensor, place: Tensor) -> Tensor:
        one_row = document_ids.ndim == 1
        return document_ids[place] if one_row else document_ids[b, place]

    @no_type_check
    def mod(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        key = number(b, kv_idx)
        return (number(b, q_idx) == key) & (key >= 0)

    return mod


def padding_mod(lengths: Int[Tensor, "B"]) -> MaskMod:
    r"""Make the mask of `padding_mask`: the real tokens of each text.

    $$m(b, k) = [\, k < \ell_b \,]$$

    Args:
        lengths: Number of real tokens $\ell_b$ of each text; padding stands behind.

    Returns:
        A function of text, head, query and key.

    Raises:
        ValueError: If `lengths` are not integers, one for each text.

    Examples:
        >>> k = torch.arange(4)
        >>> padding_mod(torch.tensor([3]))(k * 0, k, k, k)
        tensor([ True,  True,  True, False])
    """
    _require_one_length_per_text(lengths=lengths)

    @no_type_check
    def mod(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        return kv_idx < lengths[b]

    return mod


def alibi_mod(slopes: Float[Tensor, "H"]) -> ScoreMod:
    r"""Make the bias of `ALiBi`, which lowers a score in proportion to the distance.

    $$f(\omega; h, q, k) = \omega - m_h \, |q - k|$$

    Args:
        slopes: One number $m_h$ for each head, such as `alibi_slopes(num_heads)`. It
            is used in its own type, and what is taken off is rounded last.

    Returns:
        A function of score, text, head, query and key.

    Raises:
        ValueError: If `slopes` are not floating-point, one for each head.

    Examples:
        >>> score, zero = torch.zeros(3), torch.tensor(0)
        >>> mod = alibi_mod(torch.tensor([0.5]))
        >>> mod(score, zero, zero, torch.tensor(2), torch.arange(3))
        tensor([-1.0000, -0.5000,  0.0000])

    References:
        Press et al. (2022), section 3,
        [arXiv:2108.12409](https://arxiv.org/abs/2108.12409).
    """
    _require_one_slope_per_head(slopes)

    @no_type_check
    def mod(
        score: Tensor, b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor
    ) -> Tensor:
        return score - (slopes[h] * (q_idx - kv_idx).abs()).to(score.dtype)

    return mod


def relative_mod(
    bias: Callable[[Tensor, Tensor], Tensor],
    length: int,
    *,
    device: torch.device | str | None = None,
) -> ScoreMod:
    r"""Make a function of a bias that depends only on the distance of two tokens.

    $$f(\omega; h, q, k) = \omega + B_h(k - q)$$

    Instead of a table of all pairs, there is one of all distances: $2n - 1$ numbers for
    each head. It is made here and now, and is a copy: nothing is trained through it.

    Args:
        bias: What makes numbers to add to the scores, (H, T, S), of the positions of
            queries and keys, such as `T5Bias`. It must depend on the differences of
            positions only.
        length: The largest number $n$ of tokens. A pair that is further apart gets
            nan, unless a mask hides it.
        device: Where to build the table; `None` means torch's default.

    Returns:
        A function of score, text, head, query and key.

    Raises:
        ValueError: If `length` is not a positive integer.

    Examples:
        >>> score, zero = torch.zeros(3), torch.tensor(0)
        >>> mod = relative_mod(lambda q, k: -1.0 * (q[:, None] - k).abs()[None], 3)
        >>> mod(score, zero, zero, torch.tensor(2), torch.arange(3))
        tensor([-2., -1.,  0.])
    """
    _require.positive(length=length)
    # One query in the middle sees all distances.
    places = torch.arange(2 * length - 1, device=device)
    table = bias(places[length - 1 : length], places)[:, 0].detach()

    @no_type_check
    def mod(
        score: Tensor, b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor
    ) -> Tensor:
        distance = kv_idx - q_idx
        number = table[h, distance.clamp(1 - length, length - 1) + length - 1]
        number = torch.where(distance.abs() < length, number, torch.nan)
        return score + number.to(score.dtype)

    return mod


def shift_queries(mod: MaskMod, start: int) -> MaskMod:
    """Let the first query stand at a later position, as behind the keys of a cache.

    Args:
        mod: A function of text, head, query and key.
        start: The place of the first query; with the last query at the last key, as
            everywhere in this package, it is S - T.

    Returns:
        The function with other places for queries.

    Examples:
        >>> q, k = torch.arange(2)[:, None], torch.arange(4)
        >>> shift_queries(causal_mod, 2)(q, q, q, k).int()
        tensor([[1, 1, 1, 0],
                [1, 1, 1, 1]], dtype=torch.int32)
    """

    @no_type_check
    def shifted(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        return mod(b, h, q_idx + start, kv_idx)

    return shifted


def count_blocks(block_mask: BlockMask) -> tuple[int, int]:
    """Count the blocks that a kernel visits, and all blocks.

    A block is visited if a single pair of it is allowed. `BlockMask.sparsity()` counts
    pairs instead, and those beyond the last token, too.

    Args:
        block_mask: What `create_block_mask` made.

    Returns:
        Blocks to visit, and blocks, of all texts and heads that `block_mask` tells
        apart.

    Examples:
        >>> from torch.nn.attention.flex_attention import create_block_mask
        >>> sizes = {"device": "cpu", "BLOCK_SIZE": 4}
        >>> count_blocks(create_block_mask(causal_mod, None, None, 10, 10, **sizes))
        (6, 9)
    """
    visited = int(block_mask.kv_num_blocks.sum())
    if block_mask.full_kv_num_blocks is not None:
        visited += int(block_mask.full_kv_num_blocks.sum())
    return visited, block_mask.kv_indices.numel()


class FlexAttend:
    r"""Attend with PyTorch's FlexAttention, for inference.

    What can be called like `attention`, and so `MultiHeadAttention(attend=...)` takes
    it. The masks and biases of such a call are tables; those that are given here, once
    and for all, are functions. The result is that of `attention`, fully masked rows
    included. The last query belongs to the last key, for functions too.

    There is no dropout, and on a CPU no gradient. Not compiled, as it is without
    `flex`, it makes all scores, as `attention` does. The blocks to visit are found
    anew in each call.

    Functions are asked with the number of the text, which is the first of four axes,
    and of the head, the second. `GroupedQueryAttention` has an axis for groups instead:
    there, use `torch.nn.attention.flex_attention.flex_attention` with `enable_gqa`.

    Args:
        mask_mod: Function of text, head, query and key that says whether the query may
            look at the key; `None` hides nothing.
        score_mod: Function of score, text, head, query and key that gives the score;
            `None` leaves it as it is.
        block_size: Queries and keys of a block.
        flex: `torch.compile(flex_attention)`, for example; `None` means PyTorch's own,
            not compiled.

    Raises:
        ValueError: If `block_size` is not a positive integer.

    Examples:
        >>> x = torch.eye(2)
        >>> FlexAttend(causal_mod)(x, x, x)[0]
        tensor([1., 0.])

    References:
        Dong et al. (2024), [arXiv:2412.05496](https://arxiv.org/abs/2412.05496).
    """

    def __init__(
        self,
        mask_mod: MaskMod | None = None,
        score_mod: ScoreMod | None = None,
        *,
        block_size: int = 128,
        flex: Callable[..., Any] | None = None,
    ) -> None:
        _require.positive(block_size=block_size)
        self.mask_mod = mask_mod
        self.score_mod = score_mod
        self.block_size = block_size
        self.flex = _quietly if flex is None else flex

    def __call__(
        self,
        query: Float[Tensor, "*#B T D"],
        key: Float[Tensor, "*#B S D"],
        value: Float[Tensor, "*#B S V"],
        *,
        mask: Bool[Tensor, "*#B #T #S"] | None = None,
        bias: Float[Tensor, "*#B #T #S"] | None = None,
        causal: bool = False,
        dropout_p: float = 0.0,
        scale: float | None = None,
    ) -> Float[Tensor, "*B T V"]:
        r"""Mix the values for each query, by its attention weights.

        Args:
            query: What each position looks for.
            key: What each position offers to be found by.
            value: What each position hands over when it is found.
            mask: `True` where a query may look at a key; `None` hides nothing more.
            bias: Numbers to add to the scaled scores, before `score_mod`.
            causal: Whether to hide the future too, with the last query at the last
                key.
            dropout_p: Must be zero.
            scale: Factor of the scores; `None` means $1/\sqrt{D}$.

        Returns:
            One context vector for each query.

        Raises:
            ValueError: If the tensors do not fit, there is dropout, a tensor on a CPU
                requires a gradient, or axes do not say which is text and which head.
        """
        _require.matching(query, key)
        _require.one_value_per_key(query, key, value)
        _require.scale(scale)
        _require_no_dropout(dropout_p)
        if self.mask_mod is not None or self.score_mod is not None:
            _require_texts_and_heads(query, key)
        shape = _require.scores_shape(query, key)
        if mask is not None:
            _require.mask_fits(mask, shape)
        if bias is not None:
            _require.bias_fits(bias, shape)
        leading = torch.broadcast_shapes(*(x.shape[:-2] for x in (query, key, value)))
        tensors = [_four_axes(x, leading) for x in (query, key, value)]
        tables = [
            None if x is None else _table(x, leading, shape) for x in (mask, bias)
        ]
        if query.device.type == "cpu":
            _require_inference(query=query, key=key, value=value, bias=bias)
            tensors = [x.detach() for x in tensors]
        if 0 in shape:
            return query.new_zeros((*leading, query.shape[-2], value.shape[-1]))
        context: Tensor = self.flex(
            *tensors,
            score_mod=self._score_mod(tables[1], start=shape[-1] - shape[-2]),
            block_mask=self._block_mask(tables[0], causal, *tensors[:2]),
            scale=scale,
        )
        return context.reshape(*leading, query.shape[-2], value.shape[-1])

    def _score_mod(self, bias: Tensor | None, *, start: int) -> ScoreMod | None:
        """Join the bias of a call with the function, whose first query is at start."""
        own = self.score_mod
        if bias is None and own is None:
            return None

        @no_type_check
        def mod(
            score: Tensor, b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor
        ) -> Tensor:
            if bias is not None:
                score = score + bias[b, h, q_idx, kv_idx].to(score.dtype)
            return score if own is None else own(score, b, h, q_idx + start, kv_idx)

        return mod

    def _block_mask(
        self, mask: Tensor | None, causal: bool, query: Tensor, key: Tensor
    ) -> BlockMask | None:
        """Join the mask of a call with the functions, and find the blocks to visit."""
        texts, heads, T, _ = query.shape
        S = key.shape[-2]
        functions: list[MaskMod] = [causal_mod] if causal else []
        if self.mask_mod is not None:
            functions.append(self.mask_mod)
        mods = [shift_queries(mod, S - T) for mod in functions]
        if mask is not None:
            mods.append(_looked_up(mask))
        if not mods:
            return None
        return create_block_mask(
            and_masks(*mods),
            texts,
            heads,
            T,
            S,
            device=query.device,
            BLOCK_SIZE=self.block_size,
        )


def _quietly(*tensors: Tensor, **options: Any) -> Any:
    """Call FlexAttention without its reminder, once a process, that it is slow so."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="flex_attention called without")
        flex: Callable[..., Any] = flex_attention
        return flex(*tensors, **options)


def _looked_up(mask: Tensor) -> MaskMod:
    """Make a function of a table."""

    @no_type_check
    def mod(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        return mask[b, h, q_idx, kv_idx]

    return mod


def _four_axes(tensor: Tensor, leading: tuple[int, ...]) -> Tensor:
    """Bring leading axes to texts and heads."""
    return tensor.expand(1, 1, *leading, *tensor.shape[-2:]).flatten(0, -4)


def _table(table: Tensor, leading: tuple[int, ...], shape: tuple[int, ...]) -> Tensor:
    """Give a mask or a bias all axes of the scores.

    With at most two leading axes, what is shared is not copied.
    """
    return _four_axes(table.expand(*table.shape[:-2], *shape[-2:]), leading)


# ---- What is refused ----


def _require_one_length_per_text(**lengths: Tensor) -> None:
    _require.integers(**lengths)
    for name, numbers in lengths.items():
        if numbers.ndim != 1:
            raise ValueError(
                f"{name} must have one number for each text; "
                f"got {name}.shape={_require.shape(numbers)}."
            )


def _require_one_slope_per_head(slopes: Tensor) -> None:
    _require.floating(slopes=slopes)
    if slopes.ndim != 1:
        raise ValueError(
            "slopes must have one number for each head; "
            f"got slopes.shape={_require.shape(slopes)}."
        )


def _require_at_most_two_axes(**tensors: Tensor) -> None:
    for name, tensor in tensors.items():
        if tensor.ndim > 2:
            raise ValueError(
                f"{name} must have at most two axes, rows and tokens; "
                f"got {name}.shape={_require.shape(tensor)}."
            )


def _require_no_dropout(dropout_p: float) -> None:
    if dropout_p != 0.0:
        raise ValueError(
            "dropout_p must be zero, because FlexAttention has no dropout; "
            f"got dropout_p={dropout_p!r}."
        )


def _require_inference(**tensors: Tensor | None) -> None:
    for name, tensor in tensors.items():
        if tensor is None or not torch.is_grad_enabled():
            continue
        if tensor.requires_grad:
            raise ValueError(
                f"{name} must not require a gradient, which FlexAttention does not "
                f"compute on a CPU; got {name}.requires_grad=True."
            )


def _require_texts_and_heads(query: Tensor, key: Tensor) -> None:
    """Check that a function of text and head can be asked: (B, H, T, D) or less."""
    if query.ndim > 4 or query.shape[:-2][-1:] != key.shape[:-2][-1:]:
        raise ValueError(
            "query must have the heads of key, and be (texts, heads, tokens, width), "
            "where a function is asked for a text and a head; "
            f"got query.shape={_require.shape(query)}, key.shape={_require.shape(key)}."
        )
