"""A cache in pages: texts of any length share one memory."""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headway import _require


class PagePool:
    r"""Hold the memory of one layer, cut into pages that texts take and give back.

    $$\text{token } i \text{ of a text lies on page } b_{\lfloor i / P \rfloor}
    \text{ in slot } i \bmod P$$

    with $P$ slots a page, and $b$ the table of the text. All memory is allocated here,
    once. Nothing is cleared, neither at first nor when a page is given back: what no
    text has written is not read.

    Args:
        num_pages: Number of pages.
        page_size: Number of tokens $P$ that fit on a page.
        num_kv_heads: Number of heads of keys and values.
        width: Width of a key in one head.
        value_width: Width of a value in one head; `None` means `width`.
        device: Where the memory is; `None` means torch's default.
        dtype: Type of keys and values; `None` means torch's default.

    Attributes:
        keys: The keys, (num_pages, page_size, num_kv_heads, width).
        values: The values, alike.
        positions: The positions, (num_pages, page_size).
        free_pages: The pages that no text has, the next one first.

    Raises:
        ValueError: If a size is not a positive integer.

    Examples:
        >>> pool = PagePool(4, 2, num_kv_heads=1, width=3)
        >>> pool.take(3), pool.free_pages
        ([0, 1, 2], [3])
        >>> pool.give_back([1])
        >>> pool.take(2), pool.nbytes
        ([3, 1], 192)

    References:
        Kwon et al. (2023), section 4.2,
        [arXiv:2309.06180](https://arxiv.org/abs/2309.06180), whose *blocks* are our
        pages.
    """

    def __init__(
        self,
        num_pages: int,
        page_size: int,
        *,
        num_kv_heads: int,
        width: int,
        value_width: int | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        value_width = width if value_width is None else value_width
        _require.positive(num_pages=num_pages, page_size=page_size)
        _require.positive(num_kv_heads=num_kv_heads, width=width)
        _require.positive(value_width=value_width)
        self.num_pages = num_pages
        self.page_size = page_size
        slots = num_pages, page_size
        self.keys = torch.empty(*slots, num_kv_heads, width, device=device, dtype=dtype)
        self.values = self.keys.new_empty(*slots, num_kv_heads, value_width)
        self.positions = self.keys.new_empty(slots, dtype=torch.int64)
        self.free_pages = [*range(num_pages)]

    @property
    def nbytes(self) -> int:
        """Number of bytes of keys and values, written or not."""
        return self.keys.nbytes + self.values.nbytes

    def take(self, count: int) -> list[int]:
        """Take pages from the front of `free_pages`.

        Args:
            count: How many.

        Returns:
            Their numbers.

        Raises:
            ValueError: If fewer are free; then none is taken.
        """
        _require_enough_pages(len(self.free_pages), count, self.num_pages)
        taken, self.free_pages = self.free_pages[:count], self.free_pages[count:]
        return taken

    def give_back(self, pages: Sequence[int]) -> None:
        """Put pages at the end of `free_pages`.

        Args:
            pages: Their numbers.

        Raises:
            ValueError: If one of them is free, or there is no such page; then none is
                given back.
        """
        _require_taken_pages(pages, self.free_pages, self.num_pages)
        self.free_pages = [*self.free_pages, *pages]


class PagedCache:
    """Keep the keys and values of one text on pages of a pool.

    It is handed to a module as `KeyValueCache` is, and gives the same. A page is taken
    when the one before it is full, so a text wastes less than one page. The pool must
    have the heads and widths of the module: `PagePool(..., num_kv_heads=3, width=4)`
    for `MultiHeadAttention` with three heads of width 4.

    What it gives is a copy. Pages are written in place, so they keep no gradients: call
    the module under `torch.no_grad()`. A call that is refused takes no page and changes
    nothing.

    Args:
        pool: Where pages are taken from; other texts may share it, other layers not.

    Attributes:
        table: The pages of the text, in the order of its tokens.
        length: Number of tokens appended so far.

    Examples:
        >>> pool = PagePool(4, 2, num_kv_heads=1, width=3)
        >>> one, other = PagedCache(pool), PagedCache(pool)
        >>> for cache in (one, other, one):
        ...     new = torch.ones(1, 2, 3)
        ...     key, value, positions = cache.append(new, new, torch.arange(2))
        >>> one.table, other.table, key.shape
        ([0, 2], [1], torch.Size([1, 4, 3]))
        >>> one.free()
        >>> pool.free_pages
        [3, 0, 2]

    References:
        Kwon et al. (2023), sections 4.1 to 4.3,
        [arXiv:2309.06180](https://arxiv.org/abs/2309.06180).
    """

    def __init__(self, pool: PagePool) -> None:
        self.pool = pool
        self.table: list[int] = []
        self.length = 0

    def append(
        self,
        key: Float[Tensor, "*A H S D"],
        value: Float[Tensor, "*A H S V"],
        positions: Int[Tensor, "*_ #S"],
    ) -> tuple[
        Float[Tensor, "*A H _ D"], Float[Tensor, "*A H _ V"], Int[Tensor, "*_ _"]
    ]:
        """Write keys, values and positions; return those of all tokens, in order.

        Args:
            key: Their keys. There may be axes before the heads, of one text: (H, S, D)
                or (1, H, S, D).
            value: Their values.
            positions: Where they stand.

        Returns:
            Keys, values and positions of all tokens so far, these at the end, with the
            leading axes that they are handed with.

        Raises:
            ValueError: If `key` and `value` are not those of one text, with the heads,
                widths, type and device of the pool, `positions` are not integers, one
                for each key, something must have a gradient, or no page is left.
        """
        pool, new = self.pool, key.shape[-2] if key.ndim > 1 else 0
        _require.one_each(key, value, positions)
        _require_like_pages(pool.keys, key=key)
        _require_like_pages(pool.values, value=value)
        _require_no_gradient(key=key, value=value)
        _require_of_one_text(positions)
        end = self.length + new
        needed = -(-end // pool.page_size)  # rounded up
        self.table = [*self.table, *pool.take(needed - len(self.table))]
        at = self._slots(self.length, end)
        pool.keys[at] = key.flatten(0, -3).transpose(0, 1)
        pool.values[at] = value.flatten(0, -3).transpose(0, 1)
        pool.positions[at] = positions.flatten().expand(new).to(pool.positions)
        self.length = end
        at = self._slots(0, end)
        return (
            pool.keys[at].transpose(0, 1).unflatten(0, key.shape[:-2]),
            pool.values[at].transpose(0, 1).unflatten(0, key.shape[:-2]),
            pool.positions[at].reshape(*positions.shape[:-1], end),
        )

    def free(self) -> None:
        """Return all pages to the pool; the empty cache may then take a new text."""
        self.pool.give_back(self.table)
        self.table, self.length = [], 0

    def _slots(self, start: int, end: int) -> tuple[Tensor, Tensor]:
        """Say where tokens lie: on which pages, and in which of their slots."""
        device = self.pool.keys.device
        tokens = torch.arange(start, end, device=device)
        table = torch.tensor(self.table, dtype=torch.int64, device=device)
        return table[tokens // self.pool.page_size], tokens % self.pool.page_size


# ---- What is refused ----


def _require_like_pages(pages: Tensor, **new: Tensor) -> None:
    """Check that rows of one text, (*1, H, S, D), fit on pages, (N, P, H, D)."""
    for name, tensor in new.items():
        *texts, heads = tensor.shape[:-2] or (0,)
        one = (math.prod(texts), heads, tensor.shape[-1], tensor.dtype, tensor.device)
        if one != (1, *pages.shape[-2:], pages.dtype, pages.device):
            raise ValueError(
                f"{name} must be of one text, and like what is on the pages; "
                f"got {name} of {_require.shape(tensor)}, {tensor.dtype}, "
                f"{tensor.device}, "
                f"pages of {_require.shape(pages)}, {pages.dtype}, {pages.device}."
            )


def _require_of_one_text(positions: Tensor) -> None:
    if math.prod(positions.shape[:-1]) != 1:
        raise ValueError(
            "positions must be of one text; got "
            f"positions.shape={_require.shape(positions)}."
        )


def _require_no_gradient(**tensors: Tensor) -> None:
    """Check that no gradient gets lost in memory that is written in place."""
    for name, tensor in tensors.items():
        if tensor.requires_grad and torch.is_grad_enabled():
            raise ValueError(
                f"{name} must not require a gradient, which pages do not keep; "
                f"got {name}.requires_grad=True."
            )


def _require_enough_pages(free: int, count: int, num_pages: int) -> None:
    if count > free:
        raise ValueError(
            "num_pages must be enough for all texts; "
            f"got num_pages={num_pages}, of which {free} free, {count} more needed."
        )


def _require_taken_pages(
    pages: Sequence[int], free: Sequence[int], num_pages: int
) -> None:
    """Check that pages can be given back, each once."""
    taken = {*range(num_pages)}.difference(free)
    for page in pages:
        if page not in taken:
            raise ValueError(
                f"pages must be taken, each by one text; got pages with {page}."
            )
        taken.remove(page)
