"""Several heads, stacked: the plainest multi-head attention."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from headway import _require
from headway.basics.causal_attention import CausalAttention


class MultiHeadAttentionWrapper(nn.Module):
    r"""Run several causal heads side by side and join their results.

    $$Z = [\, Z_1 \mid Z_2 \mid \dots \mid Z_H \,]$$

    Each head has weights of its own and sees all of the input. The result is
    `d_out * num_heads` wide.

    Args:
        d_in: Width of the tokens.
        d_out: Width of each head's result.
        context_length: The largest number of tokens in a text.
        dropout: Probability with which a weight is dropped in training.
        num_heads: Number of heads $H$.
        qkv_bias: Whether the projections add a bias.
        device: Where the weights are; `None` means torch's default.
        dtype: Their type; `None` means torch's default.

    Raises:
        ValueError: If a size is not a positive integer, or `dropout` outside [0, 1).

    Examples:
        >>> attend = MultiHeadAttentionWrapper(3, 2, 7, 0.0, num_heads=5)
        >>> attend(torch.randn(7, 3)).shape
        torch.Size([7, 10])

    References:
        Vaswani et al. (2017), section 3.2.2,
        [arXiv:1706.03762](https://arxiv.org/abs/1706.03762), without their $W^O$; our
        `d_out` is their $d_v$.
    """

    def __init__(
        self,
        d_in: int,
        d_out: int,
        context_length: int,
        dropout: float,
        num_heads: int,
        qkv_bias: bool = False,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        _require.positive(num_heads=num_heads)
        self.heads = nn.ModuleList(
            CausalAttention(
                d_in,
                d_out,
                context_length,
                dropout,
                qkv_bias,
                device=device,
                dtype=dtype,
            )
            for _ in range(num_heads)
        )

    def forward(self, x: Float[Tensor, "*B T d_in"]) -> Float[Tensor, "*B T H_d_out"]:
        """Give each token the context vectors of all heads, side by side.

        Args:
            x: The tokens, with any number of leading batch axes.

        Returns:
            One row for each token, the heads in order.

        Raises:
            ValueError: If `x` is not floating-point, not `d_in` wide, or longer than
                `context_length`.
        """
        return torch.cat([head(x) for head in self.heads], dim=-1)
