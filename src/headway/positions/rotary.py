"""Rotary positions: queries and keys are turned by where their tokens stand."""

from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headway import _require
from headway.positions._exact import device_of_doubles


def rotary_frequencies(
    width: int, *, base: float = 10_000.0
) -> Float[Tensor, "{width//2}"]:
    r"""Compute the angle in radians by which each pair turns from a token to the next.

    $$\theta_i = b^{-2i/D}, \qquad i = 0, \dots, D/2 - 1$$

    The first pair turns fastest, by one radian. A larger $b$ slows all others down.

    Args:
        width: Width $D$ of a query and a key in one head; must be even.
        base: The number $b$.

    Returns:
        Angles in 64 bits, the largest first.

    Raises:
        ValueError: If `width` is not a positive even integer, or `base` is not positive
            and finite.

    Examples:
        >>> rotary_frequencies(4)
        tensor([1.0000, 0.0100], dtype=torch.float64)

    References:
        Su et al. (2021), equation 15, who count $i$ from one,
        [arXiv:2104.09864](https://arxiv.org/abs/2104.09864).
    """
    _require.even(width=width)
    _require.positive_and_finite(base=base)
    i = torch.arange(0, width, 2, dtype=torch.float64)
    return base ** (-i / width)


class Rotary:
    r"""Turn each pair of numbers of a vector by an angle that grows with the position.

    $$\begin{pmatrix} y_{2i} \\ y_{2i+1} \end{pmatrix} =
    \begin{pmatrix} \cos m\theta_i & -\sin m\theta_i \\
    \sin m\theta_i & \cos m\theta_i \end{pmatrix}
    \begin{pmatrix} x_{2i} \\ x_{2i+1} \end{pmatrix}$$

    A query turned by its position $m$ and a key turned by its position $n$ have a dot
    product that depends on $n - m$ only. Values are not turned. Hand an object of this
    class to `MultiHeadAttention` as `rotate`. It has no parameters and keeps no state,
    so all layers may share one.

    Angles are computed from integers and in 64 bits, whatever type the vectors have: a
    `bfloat16` cannot tell position 257 from 256. For vectors on a device without such
    numbers, as Apple's GPUs are, they are computed on the CPU.

    Args:
        width: Width $D$ of a query and a key in one head; must be even.
        base: The number $b$ of `rotary_frequencies`.
        frequencies: The angles $\theta_i$, if they are others than those of `base`.
        magnitude: What all results are multiplied by, and so the scores by its square.
        halves: Whether a pair is made of numbers $i$ and $i + D/2$ instead of $2i$ and
            $2i + 1$. Most checkpoints on Hugging Face are made for that;
            `pairs_to_halves_weight` makes weights for one of weights for the other.

    Raises:
        ValueError: If `width` is not a positive even integer, `base` or `magnitude` is
            not positive and finite, or there is not one frequency for each pair.

    Examples:
        >>> rotate = Rotary(2, frequencies=torch.tensor([torch.pi / 2]))
        >>> turned = rotate(torch.tensor([[1.0, 0.0]] * 4), torch.arange(4))
        >>> turned.round().int().tolist()
        [[1, 0], [0, 1], [-1, 0], [0, -1]]

    References:
        Su et al. (2021), equations 14 to 16 and 34,
        [arXiv:2104.09864](https://arxiv.org/abs/2104.09864).
    """

    def __init__(
        self,
        width: int,
        *,
        base: float = 10_000.0,
        frequencies: Float[Tensor, "{width//2}"] | None = None,
        magnitude: float = 1.0,
        halves: bool = False,
    ) -> None:
        if frequencies is None:
            frequencies = rotary_frequencies(width, base=base)
        _require.even(width=width)
        _require_one_per_pair(frequencies, width)
        _require.positive_and_finite(magnitude=magnitude)
        self.width = width
        exact = device_of_doubles(frequencies.device)
        self.frequencies = frequencies.to(exact).double()
        self.magnitude = magnitude
        self.halves = halves

    def __call__(
        self, x: Float[Tensor, "*B T D"], positions: Int[Tensor, "*#B #T"]
    ) -> Float[Tensor, "*B T D"]:
        """Turn vectors by where their tokens stand.

        Args:
            x: Queries or keys of one head, or of several with an axis of their own.
            positions: Where the tokens stand, as integers that broadcast to them; for
                heads with an axis of their own, (*B, 1, T).

        Returns:
            New vectors of the same shape and type.

        Raises:
            ValueError: If `x` is not floating-point or not `width` wide, or `positions`
                are not integers or do not broadcast to the tokens.
        """
        _require_vectors(x, self.width)
        _require.fit_tokens(positions, x.shape[:-1])
        exact = device_of_doubles(x.device)
        angles = positions.to(exact).unsqueeze(-1) * self.frequencies.to(exact)
        # What is narrower than 32 bits is turned in 32, and rounded once.
        dtype = torch.promote_types(x.dtype, torch.float32)
        cos = (angles.cos() * self.magnitude).to(dtype).to(x.device)
        sin = (angles.sin() * self.magnitude).to(dtype).to(x.device)
        if self.halves:
            a, b = x.chunk(2, dim=-1)
            y = torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)
        else:
            a, b = x[..., 0::2], x[..., 1::2]
            y = torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)
        return y.to(x.dtype)


def pairs_to_halves(x: Float[Tensor, "*B D"]) -> Float[Tensor, "*B D"]:
    r"""Reorder vectors whose pairs are neighbours: first members first, then second.

    $$y_i = x_{2i}, \qquad y_{i + D/2} = x_{2i+1}$$

    `Rotary(..., halves=True)` does to the result what `Rotary(...)` does to `x`. A dot
    product of two vectors stays as it is if both are reordered.

    Args:
        x: Queries or keys.

    Returns:
        New vectors of the same shape.

    Raises:
        ValueError: If the width of `x` is not even.

    Examples:
        >>> pairs_to_halves(torch.tensor([0.0, 1.0, 2.0, 3.0, 4.0, 5.0]))
        tensor([0., 2., 4., 1., 3., 5.])
    """
    _require_even_width(x)
    return torch.cat([x[..., 0::2], x[..., 1::2]], dim=-1)


def halves_to_pairs(x: Float[Tensor, "*B D"]) -> Float[Tensor, "*B D"]:
    r"""Bring the members of each pair together; the inverse of `pairs_to_halves`.

    $$y_{2i} = x_i, \qquad y_{2i+1} = x_{i + D/2}$$

    Args:
        x: Queries or keys.

    Returns:
        New vectors of the same shape.

    Raises:
        ValueError: If the width of `x` is not even.

    Examples:
        >>> halves_to_pairs(torch.tensor([0.0, 2.0, 4.0, 1.0, 3.0, 5.0]))
        tensor([0., 1., 2., 3., 4., 5.])
    """
    _require_even_width(x)
    return torch.stack(x.chunk(2, dim=-1), dim=-1).flatten(-2)


def pairs_to_halves_weight(
    weight: Float[Tensor, "E *d_in"], num_heads: int
) -> Float[Tensor, "E *d_in"]:
    """Reorder the rows of a projection, so that it makes halves where it made pairs.

    Do it to the weights, and the biases, of both `W_query` and `W_key`. Values are not
    turned, so `W_value` and `out_proj` stay as they are.

    Args:
        weight: Weight of an `nn.Linear` that makes queries or keys of all heads, or its
            bias.
        num_heads: Number of heads that it makes.

    Returns:
        A new tensor of the same shape.

    Raises:
        ValueError: If `weight` has no axis, `num_heads` is not a positive integer that
            divides its rows, or the width of a head is not even.

    Examples:
        >>> pairs_to_halves_weight(torch.arange(8.0), num_heads=2)
        tensor([0., 2., 1., 3., 4., 6., 5., 7.])
    """
    return _by_heads(weight, num_heads, pairs_to_halves)


def halves_to_pairs_weight(
    weight: Float[Tensor, "E *d_in"], num_heads: int
) -> Float[Tensor, "E *d_in"]:
    """Reorder the rows of a projection, so that it makes pairs where it made halves.

    The inverse of `pairs_to_halves_weight`.

    Args:
        weight: Weight of an `nn.Linear` that makes queries or keys of all heads, or its
            bias.
        num_heads: Number of heads that it makes.

    Returns:
        A new tensor of the same shape.

    Raises:
        ValueError: If `weight` has no axis, `num_heads` is not a positive integer that
            divides its rows, or the width of a head is not even.

    Examples:
        >>> halves_to_pairs_weight(torch.arange(8.0), num_heads=2)
        tensor([0., 2., 1., 3., 4., 6., 5., 7.])
    """
    return _by_heads(weight, num_heads, halves_to_pairs)


def _by_heads(
    weight: Tensor, num_heads: int, reorder: Callable[[Tensor], Tensor]
) -> Tensor:
    """Reorder the rows of each head by themselves."""
    _require.positive(num_heads=num_heads)
    _require_pairs_of_rows(weight, num_heads)
    heads = weight.unflatten(0, (num_heads, -1)).movedim(1, -1)
    return reorder(heads).movedim(-1, 1).flatten(0, 1)


# ---- What is refused ----


def _require_vectors(x: Tensor, width: int) -> None:
    """Check what is turned: float, (*B, T, width)."""
    _require.floating(x=x)
    if x.ndim < 2 or x.shape[-1] != width:
        raise ValueError(
            f"x must have shape (..., tokens, width={width}); got "
            f"x.shape={_require.shape(x)}."
        )


def _require_even_width(x: Tensor) -> None:
    if x.ndim == 0 or x.shape[-1] % 2:
        raise ValueError(f"x must have an even width; got x.shape={_require.shape(x)}.")


def _require_one_per_pair(frequencies: Tensor, width: int) -> None:
    _require.floating(frequencies=frequencies)
    if frequencies.shape != (width // 2,):
        raise ValueError(
            f"frequencies must have shape ({width // 2},), one for each pair; "
            f"got frequencies.shape={_require.shape(frequencies)}."
        )


def _require_pairs_of_rows(weight: Tensor, num_heads: int) -> None:
    """Check the rows of a projection: heads of one even width."""
    if weight.ndim == 0 or weight.shape[0] % (2 * num_heads):
        raise ValueError(
            f"weight must have {num_heads} heads of one even width as rows; "
            f"got weight.shape={_require.shape(weight)}."
        )
