"""Causal attention, one head: a token sees itself and the past, and some dropout."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from headway import _dropout, _require, _saved_mask
from headway.basics.scaled_dot_product import attention


class CausalAttention(nn.Module):
    r"""Let each token attend to itself and to the tokens before it.

    $$Z = \operatorname{dropout}\left(\operatorname{softmax}\left(
    \frac{Q K^\top}{\sqrt{D}} + M\right)\right) V,
    \qquad M_{ts} = \begin{cases} 0 & s \le t \\ -\infty & s > t \end{cases}$$

    Changing a token leaves all earlier rows of the result exactly as they were, as long
    as its numbers are finite: infinity times a weight of zero is nan. The mask is built
    for each input, so the module stores none; a checkpoint that holds one as `mask`
    still loads.

    Args:
        d_in: Width of the tokens.
        d_out: Width of queries, keys and values, and so of the result.
        context_length: The largest number of tokens in a text.
        dropout: Probability with which a weight is dropped in training.
        qkv_bias: Whether the three projections add a bias.
        device: Where the weights are; `None` means torch's default.
        dtype: Their type; `None` means torch's default.

    Raises:
        ValueError: If a size is not a positive integer, or `dropout` outside [0, 1).

    Examples:
        >>> attend = CausalAttention(3, 2, context_length=7, dropout=0.0)
        >>> attend(torch.randn(5, 7, 3)).shape
        torch.Size([5, 7, 2])

    References:
        Vaswani et al. (2017), section 3.2.3,
        [arXiv:1706.03762](https://arxiv.org/abs/1706.03762).
    """

    def __init__(
        self,
        d_in: int,
        d_out: int,
        context_length: int,
        dropout: float,
        qkv_bias: bool = False,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        _require.positive(d_in=d_in, d_out=d_out, context_length=context_length)
        _require.probability(dropout=dropout)
        self.context_length = context_length
        self.W_query = nn.Linear(d_in, d_out, qkv_bias, device, dtype)
        self.W_key = nn.Linear(d_in, d_out, qkv_bias, device, dtype)
        self.W_value = nn.Linear(d_in, d_out, qkv_bias, device, dtype)
        self.dropout = nn.Dropout(dropout)
        self.register_load_state_dict_pre_hook(_saved_mask.accept_saved_mask)

    def forward(self, x: Float[Tensor, "*B T d_in"]) -> Float[Tensor, "*B T d_out"]:
        """Give each token its context vector.

        Args:
            x: The tokens, with any number of leading batch axes.

        Returns:
            One context vector for each token.

        Raises:
            ValueError: If `x` is not floating-point, not `d_in` wide, or longer than
                `context_length`.
        """
        _require.tokens(x, self.W_query.in_features, self.context_length)
        return attention(
            self.W_query(x),
            self.W_key(x),
            self.W_value(x),
            causal=True,
            dropout_p=_dropout.probability(self.dropout),
        )
