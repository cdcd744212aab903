"""Weights to and from PyTorch's own multi-head attention and GPT-2's layout."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from headway import _require
from headway.basics.multi_head_attention import MultiHeadAttention

_PROJECTIONS = ("W_query", "W_key", "W_value")


def to_torch(module: MultiHeadAttention) -> nn.MultiheadAttention:
    r"""Copy our module into PyTorch's `nn.MultiheadAttention`.

    PyTorch stacks the three projections into one matrix, queries first:

    $$W_{in} = \begin{bmatrix} W_q \\ W_k \\ W_v \end{bmatrix}$$

    The result knows nothing of the future: call it with
    `attn_mask=~causal_mask(T)`, since its `True` means *may not look*.

    Args:
        module: Ours, with `d_in` equal to `d_out`, which PyTorch's requires.

    Returns:
        A new module in the same mode, batch first, with weights of its own; missing
        biases are zero.

    Raises:
        ValueError: If `module` is of another class, or `d_in` differs from `d_out`.

    Examples:
        >>> theirs = to_torch(MultiHeadAttention(6, 6, 7, 0.0, num_heads=2))
        >>> theirs.in_proj_weight.shape
        torch.Size([18, 6])
    """
    _require.module_is(MultiHeadAttention, module=module)
    d_in, d_out = module.W_query.in_features, module.W_query.out_features
    if d_in != d_out:
        raise ValueError(
            f"module must have d_in equal to d_out; got d_in={d_in}, d_out={d_out}."
        )
    weight = module.out_proj.weight
    theirs = nn.MultiheadAttention(
        d_out,
        module.num_heads,
        dropout=module.dropout.p,
        batch_first=True,
        device="meta",  # draws no random numbers
        dtype=weight.dtype,
    ).to_empty(device=weight.device)
    layers = [module.W_query, module.W_key, module.W_value]
    weights: list[Tensor] = [layer.weight for layer in layers]
    no_bias = torch.zeros_like(module.out_proj.bias)
    biases: list[Tensor] = [
        no_bias if layer.bias is None else layer.bias for layer in layers
    ]
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
    ours = _stacked(
        module.in_proj_weight,
        module.in_proj_bias,
        module.out_proj.weight,
        module.out_proj.bias,
        module.num_heads,
        context_length,
        module.dropout,
    )
    return ours.train(module.training)


def from_gpt2(
    c_attn_weight: Float[Tensor, "E 3*E"],
    c_attn_bias: Float[Tensor, " 3*E"],
    c_proj_weight: Float[Tensor, "E E"],
    c_proj_bias: Float[Tensor, " E"],
    num_heads: int,
    context_length: int,
) -> MultiHeadAttention:
    r"""Build our module from the weights of one attention block of GPT-2.

    GPT-2 keeps matrices as $x W$ has them, the transpose of `nn.Linear`'s, and the
    three projections side by side: $W = [\, W^Q \mid W^K \mid W^V \,]$.

    Args:
        c_attn_weight: The fused projection to queries, keys and values.
        c_attn_bias: Its bias.
        c_proj_weight: The output projection.
        c_proj_bias: Its bias.
        num_heads: Number of heads; 12 in the smallest GPT-2.
        context_length: The largest number of tokens; 1024 in GPT-2.

    Returns:
        A new module with weights of its own and no dropout.

    Raises:
        ValueError: If a tensor has another shape, or `num_heads` does not divide the
            width.

    Examples:
        >>> c_attn, c_proj = torch.zeros(6, 18), torch.zeros(6, 6)
        >>> block = c_attn, torch.zeros(18), c_proj, torch.ones(6)
        >>> from_gpt2(*block, num_heads=2, context_length=7)(torch.randn(1, 6))
        tensor([[1., 1., 1., 1., 1., 1.]], grad_fn=<AddmmBackward0>)
    """
    E = c_proj_weight.shape[0]
    for name, tensor, shape in (
        ("c_attn_weight", c_attn_weight, (E, 3 * E)),
        ("c_attn_bias", c_attn_bias, (3 * E,)),
        ("c_proj_weight", c_proj_weight, (E, E)),
        ("c_proj_bias", c_proj_bias, (E,)),
    ):
        if tensor.shape != shape:
            raise ValueError(
                f"{name} must have shape {shape}; "
                f"got {name}.shape={tuple(tensor.shape)}."
            )
    return _stacked(
        c_attn_weight.T,
        c_attn_bias,
        c_proj_weight.T,
        c_proj_bias,
        num_heads,
        context_length,
    )


def _stacked(
    in_weight: Tensor,
    in_bias: Tensor | None,
    out_weight: Tensor,
    out_bias: Tensor | None,
    num_heads: int,
    context_length: int,
    dropout: float = 0.0,
) -> MultiHeadAttention:
    """Build ours from projections stacked along the first axis, queries first."""
    E = out_weight.shape[0]
    with torch.device("meta"):  # draws no random numbers
        ours = MultiHeadAttention(
            E, E, context_length, dropout, num_heads, in_bias is not None
        ).to(out_weight.dtype)
    ours.to_empty(device=out_weight.device)
    no_bias = torch.zeros(E, device=out_weight.device)
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
