"""Several heads from one projection: heads are one more leading axis."""

from typing import Protocol, cast, runtime_checkable

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from headway import _require
from headway.basics.causal_attention import CausalAttention, accept_saved_mask
from headway.basics.masks import causal_mask
from headway.basics.scaled_dot_product import fused_attention
from headway.basics.stacked_heads import MultiHeadAttentionWrapper


@runtime_checkable
class AttentionFunction(Protocol):
    """What `MultiHeadAttention` can be built on: the signature of `attention`."""

    def __call__(  # noqa: DOC101, DOC103, DOC201
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        *,
        mask: Tensor | None = None,
        dropout_p: float = 0.0,
        scale: float | None = None,
    ) -> Tensor:
        """Let each query collect the values of the keys it listens to."""


def split_heads(
    x: Float[Tensor, "*B T E"], num_heads: int
) -> Float[Tensor, "*B {num_heads} T D"]:
    r"""Cut each token's vector into heads and put the heads before the tokens.

    $$y_{htd} = x_{t,\,hD + d}$$

    Nothing is copied: the result is a view. A plain reshape to the same shape would mix
    tokens and heads.

    Args:
        x: One vector for each token.
        num_heads: Number of heads $H$; must divide the width.

    Returns:
        One shorter vector for each head and token.

    Raises:
        ValueError: If `num_heads` is not positive or does not divide the width, or `x`
            has fewer than two axes.

    Examples:
        >>> split_heads(torch.tensor([[0.0, 1.0, 10.0, 11.0]]), num_heads=2)
        tensor([[[ 0.,  1.]],
        <BLANKLINE>
                [[10., 11.]]])
    """
    _require.positive(num_heads=num_heads)
    _require.axes("tokens", "width", x=x)
    _require.divides(num_heads=num_heads, width=x.shape[-1])
    return x.unflatten(-1, (num_heads, -1)).transpose(-3, -2)


def merge_heads(x: Float[Tensor, "*B H T D"]) -> Float[Tensor, "*B T E"]:
    r"""Put the heads of each token side by side again; the inverse of `split_heads`.

    $$y_{t,\,hD + d} = x_{htd}$$

    Args:
        x: One vector for each head and token.

    Returns:
        One vector for each token, the heads in order.

    Raises:
        ValueError: If `x` has fewer than three axes.

    Examples:
        >>> merge_heads(torch.tensor([[[0.0, 1.0]], [[10.0, 11.0]]]))
        tensor([[ 0.,  1., 10., 11.]])
    """
    _require.axes("heads", "tokens", "width", x=x)
    return x.transpose(-3, -2).flatten(-2)


class MultiHeadAttention(nn.Module):
    r"""Let each token attend to the past with several heads at once.

    $$Z = \operatorname{Concat}_h\left[\operatorname{Attention}(Q_h, K_h, V_h)\right]
    W_o^\top + b_o$$

    One projection makes the queries of all heads, which are then split. With the fused
    kernel, the default, no $T \times T$ tensor is held unless there is dropout (on a
    CPU) or a further `mask`.

    Args:
        d_in: Width of the tokens.
        d_out: Width of all heads together, and of the result.
        context_length: The largest number of tokens in a text.
        dropout: Probability with which a weight is dropped in training.
        num_heads: Number of heads $H$; must divide `d_out`.
        qkv_bias: Whether the three projections add a bias; the last always does.
        attend: The attention function; any with the signature of `attention`.

    Raises:
        ValueError: If a size is not a positive integer, `num_heads` does not divide
            `d_out`, or `dropout` is outside [0, 1).

    Examples:
        >>> attend = MultiHeadAttention(3, 10, 7, 0.0, num_heads=5)
        >>> attend(torch.randn(7, 3)).shape
        torch.Size([7, 10])

    References:
        Vaswani et al. (2017), section 3.2.2,
        [arXiv:1706.03762](https://arxiv.org/abs/1706.03762); our `d_out` is their
        $d_{model}$, our `out_proj` their $W^O$ with a bias.
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
        attend: AttentionFunction = fused_attention,
    ) -> None:
        super().__init__()
        _require.positive(d_in=d_in, d_out=d_out, context_length=context_length)
        _require.positive(num_heads=num_heads)
        _require.divides(num_heads=num_heads, d_out=d_out)
        _require.probability(dropout=dropout)
        self.num_heads = num_heads
        self.context_length = context_length
        self.attend = attend
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_load_state_dict_pre_hook(accept_saved_mask)

    def forward(
        self,
        x: Float[Tensor, "*B T d_in"],
        *,
        mask: Bool[Tensor, "*#B #T T"] | None = None,
    ) -> Float[Tensor, "*B T d_out"]:
        """Give each token its context vector.

        Args:
            x: The tokens, with any number of leading batch axes.
            mask: Further keys to hide besides the future, such as `padding_mask`;
                `True` where a token may look. It is the same for all heads.

        Returns:
            One context vector for each token.

        Raises:
            ValueError: If `x` is not floating-point, not `d_in` wide, or longer than
                `context_length`, or if `mask` is not boolean or does not fit.
        """
        _require.tokens(x, self.W_query.in_features, self.context_length)
        query, key, value = (
            split_heads(project(x), self.num_heads)
            for project in (self.W_query, self.W_key, self.W_value)
        )
        dropout_p = self.dropout.p if self.dropout.training else 0.0
        if mask is None and self.attend is fused_attention:
            context = fused_attention(
                query, key, value, causal=True, dropout_p=dropout_p
            )
        else:
            visible = self._visible(x, mask)
            context = self.attend(query, key, value, mask=visible, dropout_p=dropout_p)
        return self.out_proj(merge_heads(context))

    def _visible(self, x: Tensor, mask: Tensor | None) -> Tensor:
        T = x.shape[-2]
        past = causal_mask(T, device=x.device)
        if mask is None:
            return past
        _require.mask_fits(mask, (*x.shape[:-1], T))
        return (mask & past).unsqueeze(-3)

    @classmethod
    def from_heads(
        cls,
        wrapper: MultiHeadAttentionWrapper,
        *,
        attend: AttentionFunction = fused_attention,
    ) -> "MultiHeadAttention":
        """Build one that computes what stacked heads compute.

        The heads' weights are stacked, and `out_proj` is set to the identity. With
        `attend=attention` only the last bit of a result can differ.

        Args:
            wrapper: The stacked heads; they are left as they are.
            attend: The attention function.

        Returns:
            A new module in the same mode, of width `d_out * num_heads`.

        Raises:
            ValueError: If `wrapper` is not a `MultiHeadAttentionWrapper`.
        """
        _require.module_is(MultiHeadAttentionWrapper, wrapper=wrapper)
        heads = cast(list[CausalAttention], list(wrapper.heads))
        first, num_heads = heads[0], len(heads)
        weight = first.W_query.weight
        width = num_heads * first.W_query.out_features
        with torch.device("meta"):  # draws no random numbers
            module = cls(
                first.W_query.in_features,
                width,
                first.context_length,
                first.dropout.p,
                num_heads,
                first.W_query.bias is not None,
                attend=attend,
            ).to(weight.dtype)
        module.to_empty(device=weight.device)
        stacked = {
            name: torch.cat([head.get_parameter(name) for head in heads])
            for name, _ in first.named_parameters()
        }
        module.load_state_dict(
            stacked
            | {
                "out_proj.weight": torch.eye(width, device=weight.device),
                "out_proj.bias": torch.zeros(width, device=weight.device),
            }
        )
        return module.train(wrapper.training)
