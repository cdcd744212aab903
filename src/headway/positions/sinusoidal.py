"""Positions as vectors that are added to tokens: waves, or rows that are learned."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from headway import _require
from headway.positions._exact import device_of_doubles


def sinusoidal_positions(
    positions: Int[Tensor, "*T"],
    width: int,
    *,
    base: float = 10_000.0,
    halves: bool = False,
    dtype: torch.dtype | None = None,
) -> Float[Tensor, "*T {width}"]:
    r"""Compute sines and cosines of each position, from high frequencies to low ones.

    $$PE_{p,\,2i} = \sin\frac{p}{b^{2i/E}}, \qquad
    PE_{p,\,2i+1} = \cos\frac{p}{b^{2i/E}}$$

    A step of $k$ positions turns each pair by an angle that does not depend on $p$: the
    same rotation takes every $PE_p$ to $PE_{p+k}$. So all rows have the length
    $\sqrt{E/2}$, and the dot product of two depends on their distance only. Angles are
    computed in 64 bits, on the CPU if the positions are on a device without such
    numbers, as Apple's GPUs are.

    Args:
        positions: Where tokens stand, as integers.
        width: Width $E$ of the tokens; must be even.
        base: The number $b$.
        halves: Whether all sines come first and then all cosines, instead of in turn,
            as in the paper. The authors' own code has this order, too, but other
            speeds: $b^{-i/(E/2-1)}$.
        dtype: Type of the result; `None` means torch's default.

    Returns:
        One row for each position, to be added to its token.

    Raises:
        ValueError: If `positions` are not integers, `width` is not a positive even
            integer, or `base` is not positive and finite.

    Examples:
        >>> sinusoidal_positions(torch.arange(3), 2)
        tensor([[ 0.0000,  1.0000],
                [ 0.8415,  0.5403],
                [ 0.9093, -0.4161]])

    References:
        Vaswani et al. (2017), section 3.5,
        [arXiv:1706.03762](https://arxiv.org/abs/1706.03762); our $E$ is their
        $d_{model}$.
    """
    _require.integers(positions=positions)
    _require.even(width=width)
    _require.positive_and_finite(base=base)
    exact = device_of_doubles(positions.device)
    twice_i = torch.arange(0, width, 2, dtype=torch.float64, device=exact)
    angles = positions.to(exact).unsqueeze(-1) * base ** (-twice_i / width)
    dtype = torch.get_default_dtype() if dtype is None else dtype
    # Rounded first: the device of the positions may have no float64.
    sine = angles.sin().to(dtype).to(positions.device)
    cosine = angles.cos().to(dtype).to(positions.device)
    if halves:
        return torch.cat([sine, cosine], dim=-1)
    return torch.stack([sine, cosine], dim=-1).flatten(-2)


class LearnedPositions(nn.Module):
    r"""Give each position a learned row of a table.

    $$PE_p = W_p$$

    A position that training never meets keeps the numbers it was drawn with, and one
    behind the end of the table does not exist.

    Args:
        context_length: Number of positions.
        d_out: Width of the tokens to which the rows are added.
        device: Where the table is; `None` means torch's default.
        dtype: Its type; `None` means torch's default.

    Raises:
        ValueError: If a size is not a positive integer.

    Examples:
        >>> where = LearnedPositions(1024, 768)
        >>> where(torch.arange(5)).shape, where.weight.numel()
        (torch.Size([5, 768]), 786432)

    References:
        Radford et al. (2019), GPT-2, whose checkpoints call the table `wpe`; Vaswani et
        al. (2017), section 3.5, who found nearly identical results with both.
    """

    def __init__(
        self,
        context_length: int,
        d_out: int,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        _require.positive(context_length=context_length, d_out=d_out)
        self.context_length = context_length
        table = torch.empty(context_length, d_out, device=device, dtype=dtype)
        self.weight = nn.Parameter(nn.init.normal_(table, std=0.02))

    def forward(self, positions: Int[Tensor, "*T"]) -> Float[Tensor, "*T d_out"]:
        """Look up positions.

        Args:
            positions: Where tokens stand, as integers.

        Returns:
            One row for each position.

        Raises:
            ValueError: If a position is not an integer in [0, `context_length`).
        """
        _require.within_context(positions, self.context_length)
        return nn.functional.embedding(positions, self.weight)
