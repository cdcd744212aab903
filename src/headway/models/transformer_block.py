"""The block that language models are stacked of."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headway import _require
from headway.basics.multi_head_attention import Cache


class RMSNorm(nn.Module):
    r"""Bring each token's vector to one size, and then weigh its numbers.

    $$y_i = \frac{x_i}{\sqrt{\frac{1}{E} \sum_j x_j^2 + \epsilon}}\, g_i$$

    Args:
        width: Width $E$ of the tokens.
        eps: What keeps a token of zeros from being divided by zero.
        device: Where the weights are; `None` means torch's default.
        dtype: Their type; `None` means torch's default.
    """

    def __init__(
        self,
        width: int,
        *,
        eps: float = 1e-6,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        _require.positive(width=width)
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(width, device=device, dtype=dtype))

    def forward(self, x: Float[Tensor, "*B E"]) -> Float[Tensor, "*B E"]:
        """Bring each vector to one size."""
        size = x.pow(2).mean(dim=-1, keepdim=True)
        return x * (size + self.eps).rsqrt() * self.weight


class FeedForward(nn.Module):
    r"""Work on each token alone, as GPT-2 does: wider, GELU, and back.

    $$y = W_{down}\operatorname{GELU}(W_{up} x + b_{up}) + b_{down}$$

    Args:
        width: Width of the tokens.
        hidden: Width between the two matrices; `None` means four times `width`.
        device: Where the weights are; `None` means torch's default.
        dtype: Their type; `None` means torch's default.
    """

    def __init__(
        self,
        width: int,
        hidden: int | None = None,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        hidden = 4 * width if hidden is None else hidden
        _require.positive(width=width, hidden=hidden)
        self.up_proj = nn.Linear(width, hidden, device=device, dtype=dtype)
        self.down_proj = nn.Linear(hidden, width, device=device, dtype=dtype)

    def forward(self, x: Float[Tensor, "*B E"]) -> Float[Tensor, "*B E"]:
        """Work on each token alone."""
        return self.down_proj(nn.functional.gelu(self.up_proj(x), approximate="tanh"))


class SwiGLU(nn.Module):
    r"""Work on each token alone, as Llama does: one product opens and shuts another.

    $$y = W_{down}\left(\operatorname{SiLU}(W_{gate} x) \odot W_{up} x\right)$$

    Args:
        width: Width of the tokens.
        hidden: Width between.
        device: Where the weights are; `None` means torch's default.
        dtype: Their type; `None` means torch's default.
    """

    def __init__(
        self,
        width: int,
        hidden: int,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        _require.positive(width=width, hidden=hidden)
        self.gate_proj = nn.Linear(width, hidden, False, device, dtype)
        self.up_proj = nn.Linear(width, hidden, False, device, dtype)
        self.down_proj = nn.Linear(hidden, width, False, device, dtype)

    def forward(self, x: Float[Tensor, "*B E"]) -> Float[Tensor, "*B E"]:
        """Work on each token alone."""
        return self.down_proj(nn.functional.silu(self.gate_proj(x)) * self.up_proj(x))


class TransformerBlock(nn.Module):
    r"""Add to each token what attention finds, then what the token itself yields.

    $$y = x + \operatorname{Attend}(N_1(x)), \qquad z = y + F(N_2(y))$$

    Args:
        attention: The attention; `MultiHeadAttention`, `GroupedQueryAttention`, or any
            module with their signature of `forward` whose result is as wide as `x`.
        feed_forward: What works on each token alone, such as `FeedForward` or `SwiGLU`;
            `None` leaves that half out.
        attention_norm: What normalises before attention; `None` does not.
        feed_forward_norm: What normalises before `feed_forward`; `None` does not.
    """

    def __init__(
        self,
        attention: nn.Module,
        feed_forward: nn.Module | None,
        *,
        attention_norm: nn.Module | None = None,
        feed_forward_norm: nn.Module | None = None,
    ) -> None:
        super().__init__()
        self.attention_norm = attention_norm or nn.Identity()
        self.attention = attention
        self.feed_forward_norm = feed_forward_norm or nn.Identity()
        self.feed_forward = feed_forward

    def forward(
        self,
        x: Float[Tensor, "*B T E"],
        *,
        mask: Bool[Tensor, "*#B #T #S"] | None = None,
        positions: Int[Tensor, "*#B #T"] | None = None,
        cache: Cache | None = None,
    ) -> Float[Tensor, "*B T E"]:
        """Hand on the tokens, with what both halves add.

        Args:
            x: The tokens.
            mask: As for the attention.
            positions: As for the attention.
            cache: What the attention keeps keys and values in.

        Returns:
            The tokens, with what was added.
        """
        x = x + self.attention(
            self.attention_norm(x), mask=mask, positions=positions, cache=cache
        )
        if self.feed_forward is None:
            return x
        return x + self.feed_forward(self.feed_forward_norm(x))
