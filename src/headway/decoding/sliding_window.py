"""A window on the past: each token sees the newest W tokens, and a ring keeps those."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from headway import _require, _triangle


def sliding_window_mask(
    T: int,
    S: int | None = None,
    *,
    window: int,
    device: torch.device | str | None = None,
) -> Bool[Tensor, "T S"]:
    r"""Allow each query the newest keys up to its own position, itself among them.

    $$m_{ts} = [\, p - W < s \le p \,], \qquad p = t + S - T$$

    The window $W$ counts the token itself. Where it counts only the tokens before, as
    in FlashAttention's `window_size=(left, 0)`, `window` is `left + 1`. With
    $W \ge S$ the mask is `causal_mask(T, S)`. The last query is aligned to the last
    key, as when the newest T tokens of a longer text ask.

    Args:
        T: Number of queries.
        S: Number of keys; `None` means as many as queries.
        window: How many keys a query may see, $W$.
        device: Where to build the mask; `None` means torch's default.

    Returns:
        A boolean mask, `True` where a query may look at a key.

    Raises:
        ValueError: If a number is not a positive integer.

    Examples:
        >>> sliding_window_mask(5, window=3).int()
        tensor([[1, 0, 0, 0, 0],
                [1, 1, 0, 0, 0],
                [1, 1, 1, 0, 0],
                [0, 1, 1, 1, 0],
                [0, 0, 1, 1, 1]], dtype=torch.int32)

    References:
        Beltagy et al. (2020), section 3.1,
        [arXiv:2004.05150](https://arxiv.org/abs/2004.05150), whose window lies half
        before and half behind a token; Jiang et al. (2023), section 2,
        [arXiv:2310.06825](https://arxiv.org/abs/2310.06825), whose figure 1 counts the
        token itself.
    """
    S = T if S is None else S
    _require.positive(T=T, S=S, window=window)
    return _triangle.band(T, S, window, device)


class RingCache:
    r"""Keep the keys and values of the newest tokens only, for one layer.

    $$\operatorname{slot}(p) = p \bmod W$$

    There are $W$ slots, however long the text gets: token $p$, counted from zero,
    overwrites token $p - W$, which no later token may see. What is handed back is in
    order, and a copy: at most $W - 1$ tokens that were kept, then all that are new.
    That is what the first of the new ones may see, so an append may be longer than the
    window. Later ones see less of it: `GroupedQueryAttention(window=...)` hides the
    rest.

    `length` counts the forgotten tokens too, for the next position follows from it.
    Tokens are counted as they are appended; `positions` do not choose a slot.

    Args:
        window: How many tokens a token may see, $W$, itself among them.

    Raises:
        ValueError: If `window` is not a positive integer.

    Examples:
        >>> cache = RingCache(window=3)
        >>> for p in range(5):
        ...     one = torch.full((1, 2), float(p))
        ...     key, value, positions = cache.append(one, one, torch.tensor([p]))
        >>> positions, cache.length, cache.nbytes
        (tensor([2, 3, 4]), 5, 48)

    References:
        Jiang et al. (2023), section 2 ("Rolling Buffer Cache"),
        [arXiv:2310.06825](https://arxiv.org/abs/2310.06825).
    """

    def __init__(self, window: int) -> None:
        _require.positive(window=window)
        self.window = window
        self._length = 0
        self._slots: list[Tensor] = []  # keys, values, positions

    @property
    def length(self) -> int:
        """Number of tokens appended so far, those forgotten included."""
        return self._length

    @property
    def nbytes(self) -> int:
        """Number of bytes of the slots for keys and values; after the first append."""
        return sum(held.nbytes for held in self._slots[:2])

    def append(
        self,
        key: Float[Tensor, "*A S D"],
        value: Float[Tensor, "*A S V"],
        positions: Int[Tensor, "*_ #S"],
    ) -> tuple[Float[Tensor, "*A _ D"], Float[Tensor, "*A _ V"], Int[Tensor, "*_ _"]]:
        """Append keys, values and positions; return those that new tokens may see.

        Args:
            key: Keys of the new tokens. The leading axes are texts and heads, if there
                are any.
            value: Their values.
            positions: Where they stand, the same for all texts or for each text.

        Returns:
            Keys, values and positions of the tokens before, at most `window - 1`, and
            of the new ones, in order.

        Raises:
            ValueError: If `key` and `value` are not floating-point, with one value for
                each key, `positions` are not integers, one for each key, or one of
                these differs from what is kept in more than its length.
        """
        _require.one_each(key, value, positions)
        S = key.shape[-2]
        where = positions.long().expand(*positions.shape[:-1], S).unsqueeze(-1)
        slots = self._slots or [_empty(one, self.window) for one in (key, value, where)]
        _require.like_kept(slots[0], key=key)
        _require.like_kept(slots[1], value=value)
        _require.positions_like_kept(positions, slots[2][..., 0])
        texts = torch.broadcast_shapes(slots[2].shape[:-2], where.shape[:-2])
        slots = [slots[0], slots[1], _of_texts(slots[2], texts)]
        new = [key, value, _of_texts(where, texts)]

        seen = self._newest(min(self._length, self.window - 1), key.device)
        visible = [
            torch.cat([held.index_select(-2, seen), one], dim=-2)
            for held, one in zip(slots, new, strict=True)
        ]
        self._length += S
        kept = min(S, self.window)
        taken = self._newest(kept, key.device)
        for held, one in zip(slots, new, strict=True):
            held.index_copy_(-2, taken, one[..., S - kept :, :])
        self._slots = slots
        return visible[0], visible[1], visible[2].squeeze(-1)

    def _newest(self, count: int, device: torch.device) -> Tensor:
        """Give the slots of the newest tokens, oldest first."""
        tokens = torch.arange(self._length - count, self._length, device=device)
        return tokens % self.window


def _empty(rows: Tensor, window: int) -> Tensor:
    return rows.new_zeros(*rows.shape[:-2], window, rows.shape[-1])


def _of_texts(rows: Tensor, texts: torch.Size) -> Tensor:
    """Give each text its own rows, where they were the same for all."""
    return rows.expand(*texts, *rows.shape[-2:]).contiguous()
