"""What attention weights tell: sizes, heads taken away, and maps multiplied."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import resources

import torch
from jaxtyping import Float
from torch import Tensor

from headway import _require
from headway.basics.multi_head_attention import MultiHeadAttention, split_heads
from headway.decoding.grouped_query import GroupedQueryAttention, repeat_heads
from headway.models.induction import attention_only_model
from headway.models.small_gpt import LanguageModel

_DATA = resources.files("headway.models") / "data"
_Heads = MultiHeadAttention | GroupedQueryAttention


def two_head_model() -> LanguageModel:
    """Return a trained induction model of two layers with two heads each.

    It is what `train_induction(2, 2, repeat_task, seed=1)` came to once, with weights
    rounded to 16 bits: the same numbers on every processor.

    Returns:
        A model of its own at each call.

    Examples:
        >>> [block.attention.num_heads for block in two_head_model().blocks]
        [2, 2]
    """
    model = attention_only_model(num_heads=2)
    # Made by `torch.save(train_induction(...).half().state_dict(), path)`.
    with (_DATA / "two_heads.pt").open("rb") as file:
        model.load_state_dict(torch.load(file, weights_only=True))
    return model


def _columns(module: _Heads) -> Float[Tensor, "E H D"]:
    """Cut the weight of `out_proj` into what each head's result is multiplied by."""
    weight: Tensor = module.out_proj.weight
    return weight.unflatten(1, (module.num_heads, -1))


@contextmanager
def silenced_heads(module: _Heads, heads: Sequence[int]) -> Iterator[None]:
    r"""Remove heads from an attention module while the `with` block lasts.

    $$Z = b_o + \sum_{h} O_h W_h^\top, \qquad W_h = 0 \text{ for } h \text{ in heads}$$

    $O_h$ is what head $h$ collects, and $W_h$ its columns of `out_proj`. The bias
    stays: it is no head's. Afterwards the weights are what they were, to the last bit.

    Args:
        module: The attention.
        heads: The numbers of the heads, counted from zero; empty takes none.

    Yields:
        None: Nothing; inside of the block the heads are silent.

    Raises:
        ValueError: If `heads` holds a number that no head has.

    Examples:
        >>> attend = MultiHeadAttention(3, 10, 7, 0.0, num_heads=5)
        >>> with silenced_heads(attend, range(5)):
        ...     alone = attend(torch.randn(7, 3))
        >>> torch.equal(alone, attend.out_proj.bias.expand(7, 10))
        True

    References:
        Michel, Levy and Neubig (2019),
        [arXiv:1905.10650](https://arxiv.org/abs/1905.10650).
    """
    _require_numbers_of_heads(heads, module.num_heads)
    columns = _columns(module).detach()  # a view: what is written goes to the weight
    kept = columns.clone()
    try:
        columns[:, list(heads)] = 0.0
        yield
    finally:
        columns.copy_(kept)


def weighted_norms(
    module: _Heads, x: Float[Tensor, "*B S d_in"], weights: Float[Tensor, "*B H T S"]
) -> Float[Tensor, "*B H T S"]:
    r"""Measure the size of the vector that each key adds to the result.

    $$\lVert \alpha_{ts} f_h(x_s) \rVert = \alpha_{ts} \lVert f_h(x_s) \rVert, \qquad
    f_h(x) = W_h (W_v x + b_v)_h$$

    The result of a layer is the sum of these vectors over keys and heads, and the bias
    of `out_proj`. The lengths of vectors that cancel are counted all the same.

    Args:
        module: The attention.
        x: The tokens that it reads, behind the norm if there is one.
        weights: Its attention weights, such as `recorded_weights` gives.

    Returns:
        For each weight the length of the vector that it multiplies, times the weight.

    Raises:
        ValueError: If `x` is not floating-point or not `d_in` wide, or `weights` have
            other heads or keys.

    Examples:
        >>> attend = MultiHeadAttention(3, 10, 7, 0.0, num_heads=5)
        >>> weighted_norms(attend, torch.randn(7, 3), torch.ones(5, 7, 7) / 7).shape
        torch.Size([5, 7, 7])

    References:
        Kobayashi et al. (2020), [arXiv:2004.10102](https://arxiv.org/abs/2004.10102);
        our $f_h$ is their $f$ for one head, with weights that multiply from the left.
    """
    _require.tokens(x, module.W_value.in_features)
    _require_weights_of_heads(weights, module.num_heads, x.shape[-2])
    columns = _columns(module)
    shared = module.num_heads * columns.shape[-1] // module.W_value.out_features
    value = split_heads(module.W_value(x), module.num_heads // shared)
    value = repeat_heads(value, shared)
    brought = torch.einsum("...hsd,ehd->...hse", value, columns)
    return weights * brought.norm(dim=-1).unsqueeze(-2)


def rollout(
    weights: Sequence[Float[Tensor, "*B _H T T"]], *, residual: float = 0.5
) -> Float[Tensor, "*B T T"]:
    r"""Multiply the maps of all layers into one, from the last back to the tokens.

    $$R = A_L \cdots A_2 A_1, \qquad
    A_l = r I + (1 - r) \frac{1}{H} \sum_h \alpha^{(l)}_h$$

    $r$ is the share that is taken to come through the residual connection. Rows sum to
    one, and a key that no path leads to has a zero. How large values are, what
    `out_proj` and feed-forward layers make of them, and what acts on queries and keys
    is left out.

    Args:
        weights: Attention weights of each layer, the first one first.
        residual: The share $r$.

    Returns:
        For each token the shares of all tokens that the model has read.

    Raises:
        ValueError: If `weights` are none, are not floating-point, or their shapes are
            not those of layers of one model, or `residual` is outside [0, 1].

    Examples:
        >>> one_back = torch.eye(3)[None, [0, 0, 1]]  # the first looks at itself
        >>> rollout([one_back, one_back])
        tensor([[1.0000, 0.0000, 0.0000],
                [0.7500, 0.2500, 0.0000],
                [0.2500, 0.5000, 0.2500]])

    References:
        Abnar and Zuidema (2020), [arXiv:2005.00928](https://arxiv.org/abs/2005.00928),
        with $r = 0.5$.
    """
    _require_share(residual=residual)
    _require_layers_of_weights(weights)
    tokens = weights[0].shape[-1]
    same = torch.eye(tokens, dtype=weights[0].dtype, device=weights[0].device)
    result = same
    for layer in weights:
        step = residual * same + (1.0 - residual) * layer.mean(dim=-3)
        result = step @ result
    return result


# ---- What is refused ----


def _require_share(**shares: float) -> None:
    for name, part in shares.items():
        if not 0.0 <= part <= 1.0:
            raise ValueError(f"{name} must be in [0, 1]; got {name}={part!r}.")


def _require_numbers_of_heads(heads: Sequence[int], num_heads: int) -> None:
    if any(not 0 <= head < num_heads for head in heads):
        raise ValueError(
            "heads must hold numbers from 0 to num_heads - 1; "
            f"got heads={heads}, num_heads={num_heads}."
        )


def _require_weights_of_heads(weights: Tensor, num_heads: int, keys: int) -> None:
    _require.floating(weights=weights)
    if weights.ndim < 3 or weights.shape[-3::2] != (num_heads, keys):
        raise ValueError(
            f"weights must have shape (..., {num_heads}, queries, {keys}); "
            f"got weights.shape={_require.shape(weights)}."
        )


def _require_layers_of_weights(weights: Sequence[Tensor]) -> None:
    if not len(weights):
        raise ValueError("weights must be of at least one layer; got weights=[].")
    for layer in weights:
        _require.floating(weights=layer)
        tokens = layer.shape[-1:]
        fits = layer.ndim >= 3 and layer.shape[-2:] == tokens + tokens
        first = weights[0].shape
        if not fits or layer.shape[:-3] != first[:-3] or tokens != first[-1:]:
            raise ValueError(
                "weights must have shape (..., heads, tokens, tokens) in each layer; "
                f"got {', '.join(_require.shape(layer) for layer in weights)}."
            )
