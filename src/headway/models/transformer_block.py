"""The block that language models are stacked of."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headway import _require
from headway.basics.multi_head_attention import Cache


class RMSNorm(nn.Module):
    r"""Scale each token's vector to one size, then multiply its numbers by weights.

    $$b_i = \frac{a_i}{\operatorname{RMS}(a)}\, g_i, \qquad
    \operatorname{RMS}(a) = \sqrt{\epsilon + \frac{1}{n} \sum_{j=1}^{n} a_j^2}$$

    The mean of the squares is one, then, and their sum $n$. Nothing is subtracted: for
    vectors whose mean is zero this is `nn.LayerNorm` without a bias. The paper has no
    $\epsilon$; it stands below the root here, as in Llama. What is narrower than 32
    bits is squared in 32, since the square of 256 is too large for 16, and the result
    is rounded before it is weighed.

    Args:
        width: Width $n$ of the tokens.
        eps: What keeps a token of zeros from being divided by zero.
        device: Where the weights are; `None` means torch's default.
        dtype: Their type; `None` means torch's default.

    Raises:
        ValueError: If `width` is not a positive integer, or `eps` is not positive and
            finite.

    Examples:
        >>> norm = RMSNorm(4)
        >>> norm(torch.tensor([1.0, 1.0, 7.0, 7.0])).detach()
        tensor([0.2000, 0.2000, 1.4000, 1.4000])

    References:
        Zhang and Sennrich (2019), equation 4,
        [arXiv:1910.07467](https://arxiv.org/abs/1910.07467).
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
        _require.positive_and_finite(eps=eps)
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(width, device=device, dtype=dtype))

    def forward(self, x: Float[Tensor, "*B E"]) -> Float[Tensor, "*B E"]:
        """Scale each vector to one size.

        Args:
            x: The vectors.

        Returns:
            Vectors of the same shape.

        Raises:
            ValueError: If `x` is not floating-point or not `width` wide.
        """
        _require_as_wide(x, width=self.weight.shape[0])
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        mean = wide.square().mean(dim=-1, keepdim=True)
        return (wide * (mean + self.eps).rsqrt()).to(x.dtype) * self.weight


class FeedForward(nn.Module):
    r"""Transform each token alone, as GPT-2 does: wider, GELU, and back.

    $$y = W_{down}\operatorname{GELU}(W_{up} x + b_{up}) + b_{down}$$

    GELU is computed with a hyperbolic tangent, as GPT-2 was trained; PyTorch's own
    default, with the error function, differs in the fourth decimal.

    Args:
        width: Width of the tokens.
        hidden: Width between the two matrices; `None` means four times `width`.
        device: Where the weights are; `None` means torch's default.
        dtype: Their type; `None` means torch's default.

    Raises:
        ValueError: If a width is not a positive integer.

    Examples:
        >>> feed_forward = FeedForward(6)
        >>> feed_forward.up_proj.weight.shape
        torch.Size([24, 6])
        >>> feed_forward(torch.randn(7, 6)).shape
        torch.Size([7, 6])

    References:
        Vaswani et al. (2017), section 3.3, with a ReLU; Hendrycks and Gimpel (2016),
        [arXiv:1606.08415](https://arxiv.org/abs/1606.08415), for GELU.
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
        _require.positive(width=width)
        hidden = 4 * width if hidden is None else hidden
        _require.positive(hidden=hidden)
        self.up_proj = nn.Linear(width, hidden, device=device, dtype=dtype)
        self.down_proj = nn.Linear(hidden, width, device=device, dtype=dtype)

    def forward(self, x: Float[Tensor, "*B E"]) -> Float[Tensor, "*B E"]:
        """Transform each token alone.

        Args:
            x: The tokens.

        Returns:
            One vector for each token, to be added to it.

        Raises:
            ValueError: If `x` is not floating-point or not `width` wide.
        """
        _require_as_wide(x, width=self.up_proj.in_features)
        return self.down_proj(nn.functional.gelu(self.up_proj(x), approximate="tanh"))


class SwiGLU(nn.Module):
    r"""Transform each token alone, as Llama does: one product gates a second one.

    $$y = W_{down}\left(\operatorname{SiLU}(W_{gate} x) \odot W_{up} x\right), \qquad
    \operatorname{SiLU}(a) = a\, \sigma(a)$$

    With a third matrix it has the parameters of a feed-forward part with two if it is
    2/3 as wide between them. No product has a bias.

    Args:
        width: Width of the tokens.
        hidden: Width between.
        device: Where the weights are; `None` means torch's default.
        dtype: Their type; `None` means torch's default.

    Raises:
        ValueError: If a width is not a positive integer.

    Examples:
        >>> feed_forward = SwiGLU(6, 16)
        >>> feed_forward(torch.randn(7, 6)).shape
        torch.Size([7, 6])
        >>> count_parameters(feed_forward) == 2 * 6 * 24
        True

    References:
        Shazeer (2020), equation 6, [arXiv:2002.05202](https://arxiv.org/abs/2002.05202).
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
        """Transform each token alone.

        Args:
            x: The tokens.

        Returns:
            One vector for each token, to be added to it.

        Raises:
            ValueError: If `x` is not floating-point or not `width` wide.
        """
        _require_as_wide(x, width=self.up_proj.in_features)
        return self.down_proj(nn.functional.silu(self.gate_proj(x)) * self.up_proj(x))


class TransformerBlock(nn.Module):
    r"""Add to each token the result of attention, then that of a feed-forward part.

    $$y = x + \operatorname{Attend}(N_1(x)), \qquad z = y + F(N_2(y))$$

    The norms stand before the two halves (pre-norm) and touch only what these read:
    what is added to is handed on as it was. So with zeros in the last matrix of each
    half, and in its bias, the block is the identity. It is causal if its attention is.

    Args:
        attention: The attention; `MultiHeadAttention`, `GroupedQueryAttention`, or any
            module with their signature of `forward` whose result is as wide as `x`.
        feed_forward: What works on each token alone, such as `FeedForward` or `SwiGLU`;
            `None` leaves that half out.
        attention_norm: What normalises before attention; `None` does not.
        feed_forward_norm: What normalises before `feed_forward`; `None` does not.

    Raises:
        ValueError: If one of them is not a module.

    Examples:
        >>> from headway import MultiHeadAttention
        >>> attention = MultiHeadAttention(6, 6, 11, 0.0, num_heads=3)
        >>> block = TransformerBlock(
        ...     attention,
        ...     FeedForward(6),
        ...     attention_norm=nn.LayerNorm(6),
        ...     feed_forward_norm=nn.LayerNorm(6),
        ... )
        >>> block(torch.randn(2, 7, 6)).shape
        torch.Size([2, 7, 6])

    References:
        Xiong et al. (2020), [arXiv:2002.04745](https://arxiv.org/abs/2002.04745), for
        what becomes of gradients with the norm before or after; Vaswani et al. (2017),
        section 3.1, where it stands after.
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
        optional = {
            "feed_forward": feed_forward,
            "attention_norm": attention_norm,
            "feed_forward_norm": feed_forward_norm,
        }
        given = {name: part for name, part in optional.items() if part is not None}
        _require.module_is(nn.Module, attention=attention, **given)
        self.attention_norm = (
            nn.Identity() if attention_norm is None else attention_norm
        )
        self.attention = attention
        self.feed_forward_norm = (
            nn.Identity() if feed_forward_norm is None else feed_forward_norm
        )
        self.feed_forward = feed_forward

    def forward(
        self,
        x: Float[Tensor, "*B T E"],
        *,
        mask: Bool[Tensor, "*#B #T #S"] | None = None,
        positions: Int[Tensor, "*#B #T"] | None = None,
        cache: Cache | None = None,
    ) -> Float[Tensor, "*B T E"]:
        """Return the tokens, with the results of both halves added.

        Args:
            x: The tokens.
            mask: As for the attention.
            positions: As for the attention.
            cache: What the attention keeps keys and values in.

        Returns:
            The tokens, with what was added.

        Raises:
            ValueError: If a half yields another shape than that of `x`, which would
                broadcast or fail; and whatever the parts refuse.
        """
        found = self.attention(
            self.attention_norm(x), mask=mask, positions=positions, cache=cache
        )
        _require_addable(x, attention=found)
        x = x + found
        if self.feed_forward is None:
            return x
        yielded = self.feed_forward(self.feed_forward_norm(x))
        _require_addable(x, feed_forward=yielded)
        return x + yielded


def count_parameters(module: nn.Module) -> int:
    r"""Count the trainable parameters of a module.

    A tensor that is used in several places, such as a table of embeddings that is the
    last matrix as well, counts once. On the device `meta`, where tensors have shapes
    and no numbers, models of any size can be counted.

    Args:
        module: The module.

    Returns:
        How many numbers its parameters hold; buffers do not count.

    Raises:
        ValueError: If `module` is not a module.

    Examples:
        >>> count_parameters(SwiGLU(4096, 14_336, device="meta"))
        176160768
    """
    _require.module_is(nn.Module, module=module)
    return sum(parameter.numel() for parameter in module.parameters())


# ---- What is refused ----


def _require_as_wide(x: Tensor, *, width: int) -> None:
    """Check what works on each vector alone: float, (*B, width)."""
    _require.floating(x=x)
    if x.ndim == 0 or x.shape[-1] != width:
        raise ValueError(
            f"x must have shape (..., width={width}); got x.shape={_require.shape(x)}."
        )


def _require_addable(x: Tensor, **results: Tensor) -> None:
    """Check that what a half of a block yields has the shape of what it is added to."""
    for name, result in results.items():
        if result.shape != x.shape:
            raise ValueError(
                f"{name} must yield the shape of x, to be added to it; "
                f"got a result of {_require.shape(result)}, "
                f"x.shape={_require.shape(x)}."
            )
