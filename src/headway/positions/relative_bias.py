"""A number is added to each score, and depends on how far apart two tokens stand."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from headway import _require


def alibi_slopes(num_heads: int) -> Float[Tensor, "{num_heads}"]:
    r"""Compute the slope of each head of ALiBi, which a score loses at each step.

    $$m_h = 2^{-8h/n}, \qquad h = 1, \dots, n$$

    for $n$ heads, if $n$ is a power of two. Other numbers of heads begin with the
    slopes of the next smaller power of two, and go on with every other one of the next
    larger, from its first: this is the rule of the authors' code, which the published
    models follow, and not the formula with another $n$.

    Args:
        num_heads: Number of heads $H$.

    Returns:
        One positive slope for each head, in 64 bits.

    Raises:
        ValueError: If `num_heads` is not a positive integer.

    Examples:
        >>> alibi_slopes(4)
        tensor([0.2500, 0.0625, 0.0156, 0.0039], dtype=torch.float64)
        >>> alibi_slopes(6)[4:]
        tensor([0.5000, 0.1250], dtype=torch.float64)

    References:
        Press et al. (2022), section 3,
        [arXiv:2108.12409](https://arxiv.org/abs/2108.12409).
    """
    _require.positive(num_heads=num_heads)
    n = 1 << (int(num_heads).bit_length() - 1)  # the next smaller power of two
    slopes = [2.0 ** (-8 * h / n) for h in range(1, n + 1)]
    between = [2.0 ** (-8 * h / (2 * n)) for h in range(1, 2 * n, 2)]
    return torch.tensor((slopes + between)[:num_heads], dtype=torch.float64)


class ALiBi:
    r"""Subtract from each score in proportion to the distance.

    $$B_{hts} = -m_h \, |p_t - p_s|$$

    Nothing is learned. The numbers are made from integers in 64 bits, and attention
    rounds them to the type of its queries last: near keys have small numbers, and so
    exact ones. The paper's rule is for tokens that see only their past; here a step
    into the future counts as much as one into the past.

    Args:
        num_heads: Number of heads $H$.

    Raises:
        ValueError: If `num_heads` is not a positive integer.

    Examples:
        >>> bias = ALiBi(num_heads=8)
        >>> bias(torch.tensor([2]), torch.arange(3))[0]
        tensor([[-1.0000, -0.5000,  0.0000]], dtype=torch.float64)

    References:
        Press et al. (2022), section 3,
        [arXiv:2108.12409](https://arxiv.org/abs/2108.12409).
    """

    def __init__(self, num_heads: int) -> None:
        self.slopes = alibi_slopes(num_heads)

    def __call__(
        self,
        query_positions: Int[Tensor, "*#B T"],
        key_positions: Int[Tensor, "*#B S"],
    ) -> Float[Tensor, "*B H T S"]:
        """Return what is added to the score of each head, query and key.

        Args:
            query_positions: Where the tokens stand that ask.
            key_positions: Where the tokens stand that are asked.

        Returns:
            Numbers that are zero or negative, in 64 bits.

        Raises:
            ValueError: If positions are not integers, or do not fit together.
        """
        distance = _offsets(query_positions, key_positions).abs().unsqueeze(-3)
        return self.slopes.to(distance.device)[:, None, None] * -distance


def relative_buckets(
    query_positions: Int[Tensor, "*#B T"],
    key_positions: Int[Tensor, "*#B S"],
    *,
    num_buckets: int = 32,
    max_distance: int = 128,
    bidirectional: bool = False,
) -> Int[Tensor, "*B T S"]:
    r"""Sort distances into buckets, which grow wider with the distance, as T5 does.

    With $N$ buckets for one direction and $k = \lfloor N/2 \rfloor$, distance $n$ gets

    $$b(n) = \begin{cases} n & n < k \\
    \min\left(N - 1,\; k + \left\lfloor (N - k)\,
    \dfrac{\ln(n/k)}{\ln(n_{\max}/k)} \right\rfloor\right) & n \ge k \end{cases}$$

    The formula is that of the authors' code; the paper only describes it in a sentence.
    So the last bucket begins before $n_{\max}$, the place where one more would begin.
    Where buckets begin is counted in integers here, so no logarithm is rounded.

    Args:
        query_positions: Where the tokens stand that ask.
        key_positions: Where the tokens stand that are asked.
        num_buckets: Number of buckets of all directions together.
        max_distance: The distance $n_{\max}$.
        bidirectional: Whether the second half of the buckets is for keys after the
            query, as in T5's encoder; if not, they share the bucket of distance zero.

    Returns:
        The number of a bucket for each query and key.

    Raises:
        ValueError: If positions are not integers or do not fit together, there are not
            two buckets for each direction, they cannot be halved though they must, or
            `max_distance` is not beyond the buckets of a single distance.

    Examples:
        >>> relative_buckets(torch.tensor([200]), torch.tensor([200, 185, 180, 0]))
        tensor([[ 0, 15, 17, 31]])

    References:
        Raffel et al. (2020), section 2.1,
        [arXiv:1910.10683](https://arxiv.org/abs/1910.10683).
    """
    _require_buckets(num_buckets, max_distance, bidirectional)
    offsets = _offsets(query_positions, key_positions)
    one_way = num_buckets // 2 if bidirectional else num_buckets
    distance = offsets.abs() if bidirectional else (-offsets).clamp(min=0)
    starts = _starts(one_way, max_distance).to(distance.device)
    buckets = torch.bucketize(distance, starts, right=True)
    return buckets + one_way * (offsets > 0) if bidirectional else buckets


class T5Bias(nn.Module):
    r"""Add to each score a learned number for its head and its bucket.

    $$B_{hts} = w_{b(p_t - p_s),\,h}$$

    The table $w$ begins with zeros, which change nothing. T5 has one for all layers:
    hand one module to all of them. T5 does not scale its scores besides, so that its
    attention is `partial(attention, scale=1.0)`.

    Args:
        num_heads: Number of heads $H$.
        num_buckets: Number of buckets of all directions together.
        max_distance: Where one more bucket would begin; see `relative_buckets`.
        bidirectional: Whether keys after the query have buckets of their own.
        device: Where the table is; `None` means torch's default.
        dtype: Its type; `None` means torch's default.

    Raises:
        ValueError: If `num_heads` is not a positive integer, or the buckets are not
            possible.

    Examples:
        >>> bias = T5Bias(num_heads=2)
        >>> bias.weight.shape
        torch.Size([32, 2])
        >>> bias(torch.arange(5), torch.arange(5)).shape
        torch.Size([2, 5, 5])

    References:
        Raffel et al. (2020), section 2.1,
        [arXiv:1910.10683](https://arxiv.org/abs/1910.10683).
    """

    def __init__(
        self,
        num_heads: int,
        *,
        num_buckets: int = 32,
        max_distance: int = 128,
        bidirectional: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        _require.positive(num_heads=num_heads)
        _require_buckets(num_buckets, max_distance, bidirectional)
        self.max_distance = max_distance
        self.bidirectional = bidirectional
        zeros = torch.zeros(num_buckets, num_heads, device=device, dtype=dtype)
        self.weight = nn.Parameter(zeros)

    def forward(
        self,
        query_positions: Int[Tensor, "*#B T"],
        key_positions: Int[Tensor, "*#B S"],
    ) -> Float[Tensor, "*B H T S"]:
        """Return what is added to the score of each head, query and key.

        Args:
            query_positions: Where the tokens stand that ask.
            key_positions: Where the tokens stand that are asked.

        Returns:
            Numbers of the table, in its type.

        Raises:
            ValueError: If positions are not integers, or do not fit together.
        """
        buckets = relative_buckets(
            query_positions,
            key_positions,
            num_buckets=len(self.weight),
            max_distance=self.max_distance,
            bidirectional=self.bidirectional,
        )
        return self.weight[buckets].movedim(-1, -3)


def _offsets(query_positions: Tensor, key_positions: Tensor) -> Tensor:
    """Give key position minus query position: negative in the past."""
    _require_two_rows_of_positions(query_positions, key_positions)
    return key_positions.unsqueeze(-2) - query_positions.unsqueeze(-1)


def _starts(num_buckets: int, max_distance: int) -> Tensor:
    """List the distances at which buckets begin, from the second bucket on.

    With e for `exact`, bucket e + k begins at the least n with
    e + (N - e) ln(n/e) / ln(max/e) >= e + k, that is (n/e)^(N - e) >= (max/e)^k.
    """
    exact = num_buckets // 2
    wide = num_buckets - exact
    starts, n = [*range(1, exact + 1)], exact
    for k in range(1, wide):
        while n**wide * exact**k < max_distance**k * exact**wide:
            n += 1
        starts.append(n)
    return torch.tensor(starts)


# ---- What is refused ----


def _require_two_rows_of_positions(
    query_positions: Tensor, key_positions: Tensor
) -> None:
    """Check integers, one for each query and key, with leading axes that broadcast."""
    rows = {"query_positions": query_positions, "key_positions": key_positions}
    _require.integers(**rows)
    for name, row in rows.items():
        if row.ndim == 0:
            raise ValueError(
                f"{name} must have shape (..., tokens); got {name}.shape=()."
            )
    try:
        torch.broadcast_shapes(query_positions.shape[:-1], key_positions.shape[:-1])
    except RuntimeError:
        raise ValueError(
            "key_positions must have leading axes that broadcast with those of "
            "query_positions; got "
            f"key_positions.shape={_require.shape(key_positions)}, "
            f"query_positions.shape={_require.shape(query_positions)}."
        ) from None


def _require_buckets(num_buckets: int, max_distance: int, bidirectional: bool) -> None:
    """Check that there are near and far buckets, in each direction as many."""
    _require.positive(num_buckets=num_buckets, max_distance=max_distance)
    directions = 2 if bidirectional else 1
    if num_buckets < 2 * directions or num_buckets % directions:
        must = "be an even number of at least 4" if bidirectional else "be at least 2"
        raise ValueError(
            f"num_buckets must {must} with bidirectional={bidirectional}; "
            f"got num_buckets={num_buckets}."
        )
    exact = num_buckets // directions // 2
    if max_distance <= exact:
        raise ValueError(
            f"max_distance must be more than {exact}, the number of near buckets; "
            f"got max_distance={max_distance}."
        )
