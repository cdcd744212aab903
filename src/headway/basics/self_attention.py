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
    ) -> None:
        super().__init__()
        d_qk = d_out if d_qk is None else d_qk
        _require.positive(d_in=d_in, d_out=d_out, d_qk=d_qk)
        self.W_query = nn.Parameter(init(d_in, d_qk))
        self.W_key = nn.Parameter(init(d_in, d_qk))
        self.W_value = nn.Parameter(init(d_in, d_out))

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

    def copy_from(self, other: "SelfAttentionV2") -> "SelfAttentionV1":
        """Take over the weights of a module with linear layers.

        `nn.Linear` stores the transpose of our matrices.

        Args:
            other: A module of the same widths, without biases.

        Returns:
            This module, which now computes what `other` computes.

        Raises:
            ValueError: If `other` is of another class, has biases or other widths.
        """
        _require.module_is(SelfAttentionV2, other=other)
        if other.W_query.bias is not None:
            raise ValueError(
                "other must have no biases; got one built with qkv_bias=True."
            )
        _copy(self._matrices(), other._matrices())
        return self

    def _matrices(self) -> dict[str, Tensor]:
        return {
            "W_query": self.W_query,
            "W_key": self.W_key,
            "W_value": self.W_value,
        }


class SelfAttentionV2(nn.Module):
    r"""Let the tokens of a text attend to each other, with linear layers.

    $$Z = \operatorname{Attention}(X W_q^\top + b_q,\; X W_k^\top + b_k,\;
    X W_v^\top + b_v)$$

    `nn.Linear` brings an initialisation scaled to the width, and a bias if wanted.

    Args:
        d_in: Width of the tokens.
        d_out: Width of queries, keys and values, and so of the result.
        qkv_bias: Whether the three projections add a bias.

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

    def __init__(self, d_in: int, d_out: int, qkv_bias: bool = False) -> None:
        super().__init__()
        _require.positive(d_in=d_in, d_out=d_out)
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)

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

    def copy_from(self, other: SelfAttentionV1) -> "SelfAttentionV2":
        """Take over the weights of a module with plain matrices.

        A bias, where this module has one, is set to zero.

        Args:
            other: A module of the same widths.

        Returns:
            This module, which now computes what `other` computes.

        Raises:
            ValueError: If `other` is of another class or has other widths.
        """
        _require.module_is(SelfAttentionV1, other=other)
        _copy(self._matrices(), other._matrices())
        for layer in (self.W_query, self.W_key, self.W_value):
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
        return self

    def _matrices(self) -> dict[str, Tensor]:
        return {
            "W_query": self.W_query.weight.T,
            "W_key": self.W_key.weight.T,
            "W_value": self.W_value.weight.T,
        }


def _copy(ours: dict[str, Tensor], theirs: dict[str, Tensor]) -> None:
    """Copy all matrices or none, if a shape differs."""
    for name, weight in ours.items():
        if weight.shape != theirs[name].shape:
            raise ValueError(
                f"other must have the widths of this module, (d_in, width) of "
                f"{name}={tuple(weight.shape)}; "
                f"got other.{name} with {tuple(theirs[name].shape)}."
            )
    with torch.no_grad():
        for name, weight in ours.items():
            weight.copy_(theirs[name])
