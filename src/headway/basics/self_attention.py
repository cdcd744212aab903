"""Self-attention as a module: the three projections become trainable weights."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from headway import _require
from headway.basics.scaled_dot_product import attention


class SelfAttentionV1(nn.Module):
    r"""Let the tokens of a text attend to each other, with plain weight matrices.

    $$Z = \operatorname{Attention}(X W^Q,\; X W^K,\; X W^V)$$

    The matrices are stored as the equation has them, one column an output. Without a
    mask, permuting the tokens permutes the result.

    Args:
        d_in: Width of the tokens.
        d_out: Width of the values, and so of the result.
        d_qk: Width of the queries and keys; `None` means `d_out`.
        init: Draws a matrix of a given shape; `torch.rand` and `torch.randn` fit.
        device: Where to put the weights; `None` leaves them where they were drawn.
        dtype: What to make of them; `None` leaves them as they were drawn.

    Raises:
        ValueError: If a width is not a positive integer.

    Examples:
        >>> attend = SelfAttentionV1(3, 4, d_qk=2)
        >>> attend(torch.randn(7, 3)).shape
        torch.Size([7, 4])

    References:
        Vaswani et al. (2017), section 3.2.2,
        [arXiv:1706.03762](https://arxiv.org/abs/1706.03762); our `d_qk` is their $d_k$,
        our `d_out` their $d_v$.
    """

    def __init__(
        self,
        d_in: int,
        d_out: int,
        *,
        d_qk: int | None = None,
        init: Callable[[int, int], Tensor] = torch.rand,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        d_qk = d_out if d_qk is None else d_qk
        _require.positive(d_in=d_in, d_out=d_out, d_qk=d_qk)
        self.W_query = nn.Parameter(init(d_in, d_qk).to(device, dtype))
        self.W_key = nn.Parameter(init(d_in, d_qk).to(device, dtype))
        self.W_value = nn.Parameter(init(d_in, d_out).to(device, dtype))

    def forward(self, x: Float[Tensor, "*B T d_in"]) -> Float[Tensor, "*B T d_out"]:
        """Give each token its context vector.

        Args:
            x: The tokens, with any number of leading batch axes.

        Returns:
            One context vector for each token.

        Raises:
            ValueError: If `x` is not floating-point or not `d_in` wide.
        """
        _require.tokens(x, self.W_query.shape[0])
        return attention(x @ self.W_query, x @ self.W_key, x @ self.W_value)


class SelfAttentionV2(nn.Module):
    r"""Let the tokens of a text attend to each other, with linear layers.

    $$Z = \operatorname{Attention}(X W_q^\top + b_q,\; X W_k^\top + b_k,\;
    X W_v^\top + b_v)$$

    `nn.Linear` brings an initialisation scaled to the width, and a bias if wanted.

    Args:
        d_in: Width of the tokens.
        d_out: Width of queries, keys and values, and so of the result.
        qkv_bias: Whether the three projections add a bias.
        device: Where the weights are; `None` means torch's default.
        dtype: Their type; `None` means torch's default.

    Raises:
        ValueError: If a width is not a positive integer.

    Examples:
        >>> attend = SelfAttentionV2(3, 2)
        >>> attend(torch.randn(5, 7, 3)).shape
        torch.Size([5, 7, 2])

    References:
        Vaswani et al. (2017), section 3.2.2,
        [arXiv:1706.03762](https://arxiv.org/abs/1706.03762), without their output
        projection.
    """

    def __init__(
        self,
        d_in: int,
        d_out: int,
        qkv_bias: bool = False,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        _require.positive(d_in=d_in, d_out=d_out)
        self.W_query = nn.Linear(d_in, d_out, qkv_bias, device, dtype)
        self.W_key = nn.Linear(d_in, d_out, qkv_bias, device, dtype)
        self.W_value = nn.Linear(d_in, d_out, qkv_bias, device, dtype)

    def forward(self, x: Float[Tensor, "*B T d_in"]) -> Float[Tensor, "*B T d_out"]:
        """Give each token its context vector.

        Args:
            x: The tokens, with any number of leading batch axes.

        Returns:
            One context vector for each token.

        Raises:
            ValueError: If `x` is not floating-point or not `d_in` wide.
        """
        _require.tokens(x, self.W_query.in_features)
        return attention(self.W_query(x), self.W_key(x), self.W_value(x))
