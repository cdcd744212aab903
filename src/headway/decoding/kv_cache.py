"""The key-value cache: what a token computes from the past is computed once."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headway import _require


class KeyValueCache:
    r"""Keep the keys and values of all tokens so far, for one layer.

    $$K \leftarrow [K; K_{new}], \qquad V \leftarrow [V; V_{new}]$$

    The caller makes one for each layer and each batch of texts, and hands it to the
    module with the tokens that are new. It is handed keys that are rotated already, and
    keeps them as they are. Gradients flow through what is kept; where none are wanted,
    as in writing, call the module under `torch.no_grad()`.

    Each call copies what is kept into a larger tensor. A call that is refused changes
    nothing.

    Examples:
        >>> cache = KeyValueCache()
        >>> for _ in range(3):
        ...     one = torch.ones(1, 2)
        ...     key, value, positions = cache.append(one, one, torch.tensor([0]))
        >>> key.shape, cache.length, cache.nbytes
        (torch.Size([3, 2]), 3, 48)

    References:
        Shazeer (2019), section 2.4,
        [arXiv:1911.02150](https://arxiv.org/abs/1911.02150), whose `prev_K` and
        `prev_V` it keeps.
    """

    def __init__(self) -> None:
        self._kept: tuple[Tensor, Tensor, Tensor] | None = None

    @property
    def length(self) -> int:
        """Number of tokens appended so far."""
        return 0 if self._kept is None else self._kept[0].shape[-2]

    @property
    def nbytes(self) -> int:
        """Number of bytes of the keys and values that are kept."""
        return 0 if self._kept is None else sum(kept.nbytes for kept in self._kept[:2])

    def append(
        self,
        key: Float[Tensor, "*A S D"],
        value: Float[Tensor, "*A S V"],
        positions: Int[Tensor, "*_ #S"],
    ) -> tuple[Float[Tensor, "*A _ D"], Float[Tensor, "*A _ V"], Int[Tensor, "*_ _"]]:
        """Append keys, values and positions; return those of all tokens, in order.

        Args:
            key: Their keys. The leading axes are texts and heads, if there are any.
            value: Their values.
            positions: Where they stand, the same for all texts or for each text.

        Returns:
            Keys, values and positions of all tokens so far, these at the end.

        Raises:
            ValueError: If `key` and `value` are not floating-point, with one value for
                each key, `positions` are not integers, one for each key, or one of
                these differs from what is kept in more than its length.
        """
        _require.one_each(key, value, positions)
        positions = positions.expand(*positions.shape[:-1], key.shape[-2])
        if self._kept is not None:
            old_key, old_value, old_positions = self._kept
            _require.like_kept(old_key, key=key)
            _require.like_kept(old_value, value=value)
            _require.positions_like_kept(positions, old_positions)
            key = torch.cat([old_key, key], dim=-2)
            value = torch.cat([old_value, value], dim=-2)
            positions = _join(old_positions, positions)
        self._kept = key, value, positions
        return self._kept


def _join(old: Tensor, new: Tensor) -> Tensor:
    """Put positions side by side; either may be the same for all texts."""
    texts = torch.broadcast_shapes(old.shape[:-1], new.shape[:-1])
    return torch.cat([old.expand(*texts, -1), new.expand(*texts, -1)], dim=-1)


def bytes_per_token(
    *,
    num_layers: int,
    num_kv_heads: int,
    width: int,
    dtype: torch.dtype = torch.float16,
) -> int:
    r"""Count the bytes that one token adds to the caches of all layers of a model.

    $$2 L G D b$$

    with $b$ bytes a number: a key and a value for each head and layer.

    Args:
        num_layers: Number of layers $L$.
        num_kv_heads: Number of heads of keys and values $G$ in each layer.
        width: Width $D$ of a key and of a value in one head.
        dtype: Type of the numbers.

    Returns:
        Number of bytes.

    Raises:
        ValueError: If a size is not a positive integer.

    Examples:
        >>> bytes_per_token(num_layers=12, num_kv_heads=12, width=64)  # GPT-2
        36864
    """
    _require.positive(num_layers=num_layers, num_kv_heads=num_kv_heads, width=width)
    return 2 * num_layers * num_kv_heads * width * dtype.itemsize
