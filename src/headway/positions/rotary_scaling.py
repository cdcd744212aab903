"""Longer than trained: slower rotations for texts longer than those of training."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from headway import _require
from headway.positions.rotary import rotary_frequencies


def linear_frequencies(
    width: int, *, base: float = 10_000.0, factor: float
) -> Float[Tensor, "{width//2}"]:
    r"""Turn every pair more slowly, all by the same factor.

    $$h(\theta_i) = \theta_i / s$$

    Position $s \cdot p$ then gets the angles that position $p$ had: this is position
    interpolation. No angle is new, and neighbours are told apart less well.

    Args:
        width: Width of the vectors that are turned, an even number.
        base: Base of the frequencies.
        factor: How many times longer the texts become, at least one.

    Returns:
        Radians from a token to the next for each pair, in float64, for `Rotary`.

    Raises:
        ValueError: If `factor` is less than one, or `width` or `base`
            is refused by `rotary_frequencies`.

    Examples:
        >>> linear_frequencies(4, factor=8.0)
        tensor([0.1250, 0.0013], dtype=torch.float64)

    References:
        Chen et al. (2023), section 2.3,
        [arXiv:2306.15595](https://arxiv.org/abs/2306.15595).
    """
    _require_at_least_one(factor=factor)
    return rotary_frequencies(width, base=base) / factor


def ntk_frequencies(
    width: int, *, base: float = 10_000.0, factor: float
) -> Float[Tensor, "{width//2}"]:
    r"""Keep the fastest pair, and turn the others more slowly the slower they are.

    $$h(\theta_i) = b'^{-2i/D}, \qquad b' = b \, s^{D/(D-2)}$$

    Pair $i$ is divided by $s^{2i/(D-2)}$: the fastest by one, the slowest, which has
    $i = D/2 - 1$, by $s$. Some pairs that never completed a turn in training are
    divided by less than $s$, so that they do reach new angles.

    Args:
        width: Width of the vectors that are turned, an even number, at least four.
        base: Base of the frequencies.
        factor: How many times more slowly the slowest pair turns, at least one.

    Returns:
        Radians from a token to the next for each pair, in float64, for `Rotary`.

    Raises:
        ValueError: If `factor` is less than one, `width` less than four, or `width` or
            `base` is refused by `rotary_frequencies`.

    Examples:
        >>> ntk_frequencies(4, factor=8.0)
        tensor([1.0000, 0.0013], dtype=torch.float64)

    References:
        Peng et al. (2023), section 3.1,
        [arXiv:2309.00071](https://arxiv.org/abs/2309.00071), who credit a post by
        bloc97.
    """
    _require_at_least_one(factor=factor)
    _require_two_pairs(width)
    return rotary_frequencies(width, base=base * factor ** (width / (width - 2)))


def yarn_frequencies(
    width: int,
    *,
    base: float = 10_000.0,
    factor: float,
    original_length: int,
    fast: float = 32.0,
    slow: float = 1.0,
    truncate: bool = True,
) -> Float[Tensor, "{width//2}"]:
    r"""Keep fast pairs, divide slow ones, and go from one to the other in between.

    $$h(\theta_i) = (1 - \rho_i)\,\theta_i + \rho_i\,\theta_i / s, \qquad
    \rho_i = \min\!\Big(1, \max\!\Big(0,
    \frac{i - i_\beta}{i_\alpha - i_\beta}\Big)\Big)$$

    A pair is fast if it completes $\beta$ turns within the length of training, and slow
    if it does not complete $\alpha$ of them. The pair that completes $r$ turns has the
    number

    $$i_r = \frac{D}{2} \, \frac{\ln (L / 2 \pi r)}{\ln b}$$

    which need not be whole. The ramp $\rho$ is linear in the number of the pair, as in
    the code of the authors and in all that followed it. Equation 18 of the paper has a
    ramp that is linear in the turns: `llama3_frequencies` with `low=1, high=32`.

    Hand the result to `Rotary` together with `yarn_magnitude`, the other half of YaRN.

    Args:
        width: Width of the vectors that are turned, an even number.
        base: Base of the frequencies.
        factor: How many times longer the texts become, at least one.
        original_length: Tokens of the texts in training, $L$.
        fast: Turns from which on a pair is kept, $\beta$.
        slow: Turns up to which a pair is divided, $\alpha$.
        truncate: Whether the ramp begins and ends at whole numbers, rounded outwards.

    Returns:
        Radians from a token to the next for each pair, in float64, for `Rotary`.

    Raises:
        ValueError: If `factor` is less than one, `fast` is not greater than `slow`,
            `slow` or `original_length` are not positive, or `width` or `base`
            is refused by `rotary_frequencies`.

    Examples:
        >>> yarn_frequencies(4, factor=8.0, original_length=256)
        tensor([1.0000, 0.0013], dtype=torch.float64)

    References:
        Peng et al. (2023), equations 17 to 20,
        [arXiv:2309.00071](https://arxiv.org/abs/2309.00071).
    """
    _require_at_least_one(factor=factor)
    _require.positive(original_length=original_length)
    _require_greater(fast=fast, slow=slow)
    _require_more_than_one(base=base)
    frequencies = rotary_frequencies(width, base=base)
    first, last = (
        width / 2 * math.log(original_length / (2 * math.pi * turns)) / math.log(base)
        for turns in (fast, slow)
    )
    if truncate:
        first, last = math.floor(first), math.ceil(last)
    # The bounds, and the step that stands for a ramp without length, are the authors'.
    first = max(first, 0)
    last = max(min(last, width - 1), first + 0.001)
    pair = torch.arange(width // 2, dtype=torch.float64)
    kept = 1 - ((pair - first) / (last - first)).clamp(0, 1)
    return _by_parts(frequencies, kept, factor)


def yarn_magnitude(factor: float) -> float:
    r"""Compute the factor by which YaRN lengthens queries and keys.

    $$\sqrt{1/t} = 0.1 \ln s + 1$$

    The temperature $t$ divides the scores. Turned queries and keys are both multiplied
    by $\sqrt{1/t}$, which has the same effect and costs nothing. Where only a part of
    a vector is turned, as in `LatentAttention`, give its square to `scale` instead.

    Args:
        factor: How many times longer the texts become, at least one.

    Returns:
        The factor of a query and of a key, for `Rotary(magnitude=...)`.

    Raises:
        ValueError: If `factor` is less than one.

    Examples:
        >>> round(yarn_magnitude(16.0), 4)
        1.2773

    References:
        Peng et al. (2023), equations 21 and 22,
        [arXiv:2309.00071](https://arxiv.org/abs/2309.00071).
    """
    _require_at_least_one(factor=factor)
    return 0.1 * math.log(factor) + 1.0


def llama3_frequencies(
    width: int,
    *,
    base: float = 500_000.0,
    factor: float = 8.0,
    low: float = 1.0,
    high: float = 4.0,
    original_length: int = 8192,
) -> Float[Tensor, "{width//2}"]:
    r"""Keep and divide by parts, with a ramp that is linear in the turns.

    $$h(\theta_i) = \gamma_i\,\theta_i + (1 - \gamma_i)\,\theta_i / s, \qquad
    \gamma_i = \min\!\Big(1, \max\!\Big(0,
    \frac{r_i - \alpha}{\beta - \alpha}\Big)\Big), \qquad
    r_i = \frac{L \theta_i}{2\pi}$$

    The defaults are those of Llama 3.1. With `low=1, high=32` it is equation 18 of the
    paper on YaRN. There is no temperature.

    Args:
        width: Width of the vectors that are turned, an even number.
        base: Base of the frequencies.
        factor: How many times longer the texts become, at least one.
        low: Turns up to which a pair is divided, $\alpha$.
        high: Turns from which on a pair is kept, $\beta$.
        original_length: Tokens of the texts in training, $L$.

    Returns:
        Radians from a token to the next for each pair, in float64, for `Rotary`.

    Raises:
        ValueError: If `factor` is less than one, `high` is not greater than `low`,
            `low` or `original_length` are not positive, or `width` or `base`
            is refused by `rotary_frequencies`.

    Examples:
        >>> plain = llama3_frequencies(128, factor=1.0)
        >>> divided_by = plain / llama3_frequencies(128)
        >>> int((divided_by == 1).sum()), int((divided_by == 8).sum())
        (29, 29)

    References:
        Llama 3.1's published code, whose function is named `apply_scaling`; Peng et al.
        (2023), equations 17 to 20,
        [arXiv:2309.00071](https://arxiv.org/abs/2309.00071).
    """
    _require_at_least_one(factor=factor)
    _require.positive(original_length=original_length)
    _require_greater(high=high, low=low)
    frequencies = rotary_frequencies(width, base=base)
    turns = original_length * frequencies / (2 * math.pi)
    return _by_parts(frequencies, ((turns - low) / (high - low)).clamp(0, 1), factor)


def _by_parts(
    frequencies: Float[Tensor, "N"], kept: Float[Tensor, "N"], factor: float
) -> Float[Tensor, "N"]:
    """Keep a share of each frequency as it is, and divide the rest."""
    return kept * frequencies + (1 - kept) * frequencies / factor


# ---- What is refused ----


def _require_at_least_one(**factors: float) -> None:
    for name, factor in factors.items():
        if not 1.0 <= factor < math.inf:
            raise ValueError(
                f"{name} must be finite and at least 1; got {name}={factor!r}."
            )


def _require_more_than_one(**bases: float) -> None:
    for name, base in bases.items():
        if not 1.0 < base < math.inf:
            raise ValueError(
                f"{name} must be finite and greater than 1; got {name}={base!r}."
            )


def _require_two_pairs(width: int) -> None:
    """Check that the fastest pair is not the slowest."""
    _require.positive(width=width)
    if width < 4:
        raise ValueError(f"width must be at least 4; got width={width}.")


def _require_greater(**limits: float) -> None:
    """Check two limits, the greater first: finite, positive, and not the same."""
    (above, more), (below, less) = limits.items()
    if not 0.0 < less < more < math.inf:
        raise ValueError(
            f"{above} must be greater than {below}, and both positive and finite; "
            f"got {above}={more!r}, {below}={less!r}."
        )
