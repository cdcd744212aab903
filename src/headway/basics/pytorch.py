"""Weights from stacked heads, to and from PyTorch's module, and from GPT-2."""

from collections.abc import Mapping
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.utils import skip_init

from headway import _require
from headway.basics.causal_attention import CausalAttention
from headway.basics.fused import fused_attention
from headway.basics.multi_head_attention import AttentionFunction, MultiHeadAttention
from headway.basics.stacked_heads import MultiHeadAttentionWrapper

_PROJECTIONS = ("W_query", "W_key", "W_value")
_GPT2_WEIGHTS = ("c_attn.weight", "c_attn.bias", "c_proj.weight", "c_proj.bias")
_GPT2_BUFFERS = ("bias", "masked_bias")  # its triangle, and what it hides with


def from_heads(
    wrapper: MultiHeadAttentionWrapper, *, attend: AttentionFunction = fused_attention
) -> MultiHeadAttention:
    r"""Build a `MultiHeadAttention` that computes what stacked heads compute.

    The heads' weights are stacked, and `out_proj` is set to the identity:

    $$W_q = \begin{bmatrix} W_{q,1} \\ \vdots \\ W_{q,H} \end{bmatrix}, \qquad W_o = I$$

    With `attend=attention` only the last bit of a result can differ.

    Args:
        wrapper: The stacked heads; they are left as they are.
        attend: The attention function.

    Returns:
        A new module in the same mode, of width `d_out * num_heads`.

    Raises:
        ValueError: If `wrapper` is not a `MultiHeadAttentionWrapper`.

    Examples:
        >>> stacked = MultiHeadAttentionWrapper(3, 2, 7, 0.0, num_heads=5)
        >>> from_heads(stacked)(torch.randn(7, 3)).shape
        torch.Size([7, 10])
    """
    _require.module_is(MultiHeadAttentionWrapper, wrapper=wrapper)
    heads = cast(list[CausalAttention], list(wrapper.heads))
    first = heads[0].W_query

    def stacked(kind: str) -> Tensor:
        names = [f"{name}.{kind}" for name in _PROJECTIONS]
        return torch.cat([head.get_parameter(n) for n in names for head in heads])

    identity = torch.eye(
        len(heads) * first.out_features,
        device=first.weight.device,
        dtype=first.weight.dtype,
    )
    module = _from_projections(
        stacked("weight"),
        None if first.bias is None else stacked("bias"),
        identity,
        None,
        num_heads=len(heads),
        context_length=heads[0].context_length,
        dropout=heads[0].dropout.p,
        attend=attend,
    )
    return module.train(wrapper.training)


def to_torch(module: MultiHeadAttention) -> nn.MultiheadAttention:
    r"""Copy our module into PyTorch's `nn.MultiheadAttention`.

    PyTorch stacks the three projections into one matrix, queries first:

    $$W_{in} = \begin{bmatrix} W_q \\ W_k \\ W_v \end{bmatrix}$$

    The result knows nothing of the future: call it with
    `attn_mask=~causal_mask(T)`, since its `True` means *may not look*, unless ours was
    made with `causal=False`.

    Args:
        module: Ours, with `d_in` equal to `d_out`, which PyTorch's requires.

    Returns:
        A new module in the same mode, batch first, with weights of its own; missing
        biases are zero.

    Raises:
        ValueError: If `module` is of another class, `d_in` differs from `d_out`, or it
            has `rotate` or `bias`.

    Examples:
        >>> theirs = to_torch(MultiHeadAttention(6, 6, 7, 0.0, num_heads=2))
        >>> theirs.in_proj_weight.shape
        torch.Size([18, 6])
    """
    _require.module_is(MultiHeadAttention, module=module)
    if module.rotate is not None or module.bias is not None:
        raise ValueError(
            "module must have no rotate and no bias, which PyTorch's does not take; "
            f"got rotate={module.rotate!r}, bias={module.bias!r}."
        )
    d_in, d_out = module.W_query.in_features, module.W_query.out_features
    if d_in != d_out:
        raise ValueError(
            f"module must have d_in equal to d_out; got d_in={d_in}, d_out={d_out}."
        )
    weight = module.out_proj.weight
    theirs = skip_init(
        nn.MultiheadAttention,
        d_out,
        module.num_heads,
        dropout=module.dropout.p,
        batch_first=True,
        device=weight.device,
        dtype=weight.dtype,
    )
    layers = [module.W_query, module.W_key, module.W_value]
    weights: list[Tensor] = [layer.weight for layer in layers]
    no_bias = torch.zeros_like(module.out_proj.bias)
    biases: list[Tensor] = [no_bias if x.bias is None else x.bias for x in layers]
    theirs.load_state_dict(
        {
            "in_proj_weight": torch.cat(weights),
            "in_proj_bias": torch.cat(biases),
            "out_proj.weight": weight,
            "out_proj.bias": module.out_proj.bias,
        }
    )
    return theirs.train(module.training)


def from_torch(
    module: nn.MultiheadAttention, context_length: int
) -> MultiHeadAttention:
    """Copy PyTorch's `nn.MultiheadAttention` into our module.

    Ours is causal: it equals theirs called with `attn_mask=~causal_mask(T)`. It takes
    the batch first, whatever theirs does.

    Args:
        module: Theirs, for queries, keys and values of one width.
        context_length: The largest number of tokens in a text.

    Returns:
        A new module in the same mode, with weights of its own. Without biases in
        `module`, ours has none but a zero one in `out_proj`.

    Raises:
        ValueError: If `module` is of another class, has separate widths for keys or
            values, or appends keys (`add_bias_kv`, `add_zero_attn`).

    Examples:
        >>> ours = from_torch(nn.MultiheadAttention(6, 2), context_length=7)
        >>> ours(torch.randn(7, 6)).shape
        torch.Size([7, 6])
    """
    _require.module_is(nn.MultiheadAttention, module=module)
    if module.in_proj_weight is None:
        raise ValueError(
            "module must have one width for queries, keys and values; "
            f"got embed_dim={module.embed_dim}, kdim={module.kdim}, "
            f"vdim={module.vdim}."
        )
    if module.bias_k is not None or module.add_zero_attn:
        raise ValueError(
            "module must append no keys; "
            f"got add_bias_kv={module.bias_k is not None}, "
            f"add_zero_attn={module.add_zero_attn}."
        )
    ours = _from_projections(
        module.in_proj_weight,
        module.in_proj_bias,
        module.out_proj.weight,
        module.out_proj.bias,
        num_heads=module.num_heads,
        context_length=context_length,
        dropout=module.dropout,
    )
    return ours.train(module.training)


def from_gpt2(
    state: Mapping[str, Tensor], num_heads: int, context_length: int
) -> MultiHeadAttention:
    r"""Build our module from the state of one attention block of GPT-2.

    GPT-2 keeps matrices as $x W$ has them, the transpose of `nn.Linear`'s, and the
    three projections side by side: $W = [\, W^Q \mid W^K \mid W^V \,]$.

    Args:
        state: The block's own state dict: `c_attn.weight` of shape (E, 3 * E),
            `c_attn.bias`, `c_proj.weight` of shape (E, E), and `c_proj.bias`. The
            buffers `bias` and `masked_bias` of older checkpoints are not needed.
        num_heads: Number of heads; 12 in the smallest GPT-2.
        context_length: The largest number of tokens; 1024 in GPT-2.

    Returns:
        A new module with weights of its own and no dropout.

    Raises:
        ValueError: If a weight is missing, unknown, not floating-point or of another
            shape, or `num_heads` does not divide the width.

    Examples:
        >>> state = {
        ...     "c_attn.weight": torch.zeros(6, 18),
        ...     "c_attn.bias": torch.zeros(18),
        ...     "c_proj.weight": torch.zeros(6, 6),
        ...     "c_proj.bias": torch.ones(6),
        ... }
        >>> from_gpt2(state, num_heads=2, context_length=7)(torch.randn(1, 6))
        tensor([[1., 1., 1., 1., 1., 1.]], grad_fn=<AddmmBackward0>)
    """
    _check_gpt2(state)
    return _from_projections(
        state["c_attn.weight"].T,
        state["c_attn.bias"],
        state["c_proj.weight"].T,
        state["c_proj.bias"],
        num_heads=num_heads,
        context_length=context_length,
    )


def _check_gpt2(state: Mapping[str, Tensor]) -> None:
    found = [name for name in state if name not in _GPT2_BUFFERS]
    if set(found) != set(_GPT2_WEIGHTS):
        raise ValueError(
            f"state must hold {', '.join(_GPT2_WEIGHTS)}; got state with {found}."
        )
    for name in _GPT2_WEIGHTS:
        if not state[name].is_floating_point():
            raise ValueError(
                f"state must hold {name} in floating-point numbers; "
                f"got state[{name!r}].dtype={state[name].dtype}."
            )
    square = tuple(state["c_proj.weight"].shape)
    if len(square) != 2 or square[0] != square[1]:
        raise ValueError(
            "state must hold c_proj.weight as a square matrix; "
            f"got state['c_proj.weight'].shape={square}."
        )
    E = square[0]
    shapes = ((E, 3 * E), (3 * E,), (E, E), (E,))
    for name, shape in zip(_GPT2_WEIGHTS, shapes, strict=True):
        if state[name].shape != shape:
            raise ValueError(
                f"state must hold {name} of shape {shape}; "
                f"got state[{name!r}].shape={tuple(state[name].shape)}."
            )


def _from_projections(
    in_weight: Tensor,
    in_bias: Tensor | None,
    out_weight: Tensor,
    out_bias: Tensor | None,
    *,
    num_heads: int,
    context_length: int,
    dropout: float = 0.0,
    attend: AttentionFunction = fused_attention,
) -> MultiHeadAttention:
    """Build ours from projections stacked along the first axis, queries first."""
    ours = skip_init(
        MultiHeadAttention,
        in_weight.shape[1],
        len(out_weight),
        context_length,
        dropout,
        num_heads,
        in_bias is not None,
        attend=attend,
        device=out_weight.device,
        dtype=out_weight.dtype,
    )
    no_bias = out_weight.new_zeros(len(out_weight))
    state = {
        "out_proj.weight": out_weight,
        "out_proj.bias": no_bias if out_bias is None else out_bias,
    }
    for name, weight in zip(_PROJECTIONS, in_weight.chunk(3), strict=True):
        state[f"{name}.weight"] = weight
    if in_bias is not None:
        for name, bias in zip(_PROJECTIONS, in_bias.chunk(3), strict=True):
            state[f"{name}.bias"] = bias
    ours.load_state_dict(state)
    return ours
