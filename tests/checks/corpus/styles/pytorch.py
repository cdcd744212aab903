"""PyTorch's own module and functions, and what is wrapped around them."""

import math

import torch
from torch import nn
from torch.nn.functional import linear, scaled_dot_product_attention, softmax

from tests.checks.corpus.ground_truth import (
    CONTEXT,
    HALF,
    NAN,
    WIDTH,
    D,
    H,
    style,
    wrong,
)

OF_MODULE = "m(*[x.transpose(0, 1)] * 3, key_padding_mask=mask)[0].transpose(0, 1)"


@style(defects=(NAN,))
def module_batch_first():
    """In the style of PyTorch: its module, batches first."""
    return nn.MultiheadAttention(WIDTH, H, batch_first=True)


@style(defects=(NAN,))
def module_time_first():
    """In the style of PyTorch: its module as it is by default, time first."""
    return nn.MultiheadAttention(WIDTH, H, dropout=0.1)


@style(defects=(NAN,), call=OF_MODULE)
def module_time_first_called():
    """In the style of PyTorch: its module time first, by who says how to call it."""
    return nn.MultiheadAttention(WIDTH, H, dropout=0.1)


@style()
def module_bias_kv():
    """In the style of PyTorch: its module with a learned key and value more."""
    return nn.MultiheadAttention(WIDTH, H, add_bias_kv=True, batch_first=True)


@style()
def module_zero_attn():
    """In the style of PyTorch: its module with a key of zeros more."""
    return nn.MultiheadAttention(WIDTH, H, add_zero_attn=True, batch_first=True)


@style(defects=(NAN,))
def module_kdim():
    """In the style of PyTorch: its module with keys and values of other widths."""
    return nn.MultiheadAttention(WIDTH, H, kdim=11, vdim=7, batch_first=True)


class ModuleWithTriangle(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.attn = nn.MultiheadAttention(embed_dim, num_heads, batch_first=True)

    def forward(self, x):
        future = nn.Transformer.generate_square_subsequent_mask(
            x.shape[1], device=x.device, dtype=x.dtype
        )
        rows, _ = self.attn(x, x, x, attn_mask=future, need_weights=False)
        return rows


@style(causal=True)
def module_with_triangle():
    """In the style of many models: PyTorch's module, and its own triangle."""
    return ModuleWithTriangle(WIDTH, H)


class Clip(nn.Module):
    def __init__(self, d_model, n_head, attn_mask=None):
        super().__init__()
        self.attn = nn.MultiheadAttention(d_model, n_head)
        self.ln_1 = nn.LayerNorm(d_model)
        self.attn_mask = attn_mask

    def forward(self, x):
        y, mask = self.ln_1(x), self.attn_mask
        if mask is not None:
            mask = mask.to(dtype=y.dtype, device=y.device)[: len(x), : len(x)]
        return x + self.attn(y, y, y, need_weights=False, attn_mask=mask)[0]


@style(causal=True, call="m(x.transpose(0, 1)).transpose(0, 1)")
def clip_text():
    """In the style of CLIP: norm before, residual, time first, one triangle."""
    future = torch.full((CONTEXT, CONTEXT), float("-inf")).triu(1)
    return Clip(WIDTH, H, future)


@style(call="m(x.transpose(0, 1)).transpose(0, 1)")
def clip_image():
    """In the style of CLIP's image tower: the same block without a mask."""
    return Clip(WIDTH, H)


@style()
def fused_function():
    """In the style of PyTorch: its fused function as it is."""
    return scaled_dot_product_attention


@style(causal=True)
def causal_function():
    """In the style of many kernels: a function of four axes that hides the future."""

    def causal_attention(q, k, v):
        return scaled_dot_product_attention(q, k, v, is_causal=True)

    return causal_attention


@style(defects=(HALF,), half_precision=True)
def naive_function():
    """In the style of every first program: a function of three matrices."""

    def attention(query, key, value, mask=None):
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        return softmax(scores, dim=-1) @ value

    return attention


@style(
    defects=(
        wrong(
            "Scores are divided by the root of the number of keys.",
            r"root of (the )?(number of )?(keys|tokens)|number of (keys|tokens)",
            "equation",
        ),
    )
)
def function_by_length():
    """In the style of a first program that takes the wrong axis for its scale."""

    def attention(query, key, value):
        scores = query @ key.transpose(-2, -1) / math.sqrt(key.size(-2))
        return softmax(scores, dim=-1) @ value

    return attention


@style(
    defects=(
        wrong(
            "The softmax runs over the queries.",
            r"softmax.*(axis|quer|column|dim)",
            "equation",
        ),
    )
)
def function_over_queries():
    """In the style of a first program whose softmax runs over the other axis."""

    def attention(q, k, v):
        return softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, dim=-2) @ v

    return attention


@style(
    defects=(
        wrong(
            "Nothing divides the scores.",
            r"not (divided|scaled)|no scale|scale.*(missing|left out)|without.*scal",
            "equation",
        ),
    )
)
def function_without_scale():
    """In the style of a first program that forgets the scale."""

    def attention(q, k, v):
        return softmax(q @ k.transpose(-2, -1), dim=-1) @ v

    return attention


@style(
    call="f(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)).transpose(1, 2)"
)
def heads_third():
    """In the style of xformers and flash-attn: (texts, tokens, heads, width)."""

    def memory_efficient_attention(query, key, value, p=0.0, scale=None):
        q, k, v = (one.transpose(1, 2) for one in (query, key, value))
        scale = q.shape[-1] ** -0.5 if scale is None else scale
        weights = (q * scale @ k.transpose(-2, -1)).softmax(-1)
        return (weights @ v).transpose(1, 2)

    return memory_efficient_attention


@style()
def of_score_mods():
    """In the style of FlexAttention, by hand: a function that changes each score."""

    def flex(query, key, value, score_mod=None):
        scores = query @ key.transpose(-2, -1) * query.shape[-1] ** -0.5
        if score_mod is not None:
            scores = score_mod(scores)
        return softmax(scores, dim=-1).to(query.dtype) @ value

    return flex


@style(
    causal=True,
    harmless={"half-precision": "It takes nothing but 16 bits, as is said."},
)
def half_only():
    """In the style of flash-attn: 16 bits alone, and the future is hidden."""

    def flash_attn_func(q, k, v):
        if q.dtype not in (torch.float16, torch.bfloat16):
            raise RuntimeError("FlashAttention only supports fp16 and bf16 data type")
        T, S = q.shape[-2], k.shape[-2]
        scores = q.float() @ k.float().transpose(-2, -1) * q.shape[-1] ** -0.5
        past = torch.ones(T, S, dtype=torch.bool).tril(S - T)
        weights = scores.masked_fill(~past, -torch.inf).softmax(-1)
        return (weights @ v.float()).to(q.dtype)

    return flash_attn_func


class DotProductAttention(nn.Module):
    """Scores, a softmax over valid lengths, and values."""

    def __init__(self, rate=0.1):
        super().__init__()
        self.dropout = nn.Dropout(rate)

    def forward(self, queries, keys, values, valid_lens=None):
        scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
        if valid_lens is not None:
            columns = torch.arange(scores.shape[-1])[None, None]
            lengths = valid_lens if valid_lens.dim() > 1 else valid_lens[:, None]
            scores = scores.masked_fill(columns >= lengths[:, :, None], -1e6)
        self.attention_weights = softmax(scores, dim=-1)
        return torch.bmm(self.dropout(self.attention_weights), values)


class DiveIn(nn.Module):
    def __init__(self, num_hiddens, num_heads, rate=0.1, bias=False):
        super().__init__()
        self.num_heads, self.attention = num_heads, DotProductAttention(rate)
        self.W_q = nn.LazyLinear(num_hiddens, bias=bias)
        self.W_k = nn.LazyLinear(num_hiddens, bias=bias)
        self.W_v = nn.LazyLinear(num_hiddens, bias=bias)
        self.W_o = nn.LazyLinear(num_hiddens, bias=bias)

    def transpose_qkv(self, x):
        x = x.reshape(x.shape[0], x.shape[1], self.num_heads, -1).permute(0, 2, 1, 3)
        return x.reshape(-1, x.shape[2], x.shape[3])

    def forward(self, queries, keys, values, valid_lens):
        queries = self.transpose_qkv(self.W_q(queries))
        keys = self.transpose_qkv(self.W_k(keys))
        values = self.transpose_qkv(self.W_v(values))
        if valid_lens is not None:
            valid_lens = valid_lens.repeat_interleave(self.num_heads, dim=0)
        output = self.attention(queries, keys, values, valid_lens)
        output = output.reshape(-1, self.num_heads, *output.shape[1:])
        return self.W_o(output.transpose(1, 2).flatten(2))


LENS = {"state": "Weights are kept for pictures."}


@style(defects=(HALF,), harmless=LENS, half_precision=True)
def d2l_layer():
    """In the style of Dive into Deep Learning: lazy layers, and valid lengths."""
    made = DiveIn(WIDTH, H)
    x = torch.zeros(1, 2, 11)
    made(x, x, x, None)
    return made


@style(defects=(HALF,), harmless=LENS, half_precision=True)
def d2l_scores():
    """In the style of Dive into Deep Learning: three axes, no weights."""
    return DotProductAttention(rate=0.1)


class KeywordOnly(nn.Module):
    def __init__(self, model_dim, head_count):
        super().__init__()
        self.head_count = head_count
        self.query_layer = nn.Linear(model_dim, model_dim)
        self.key_layer = nn.Linear(model_dim, model_dim)
        self.value_layer = nn.Linear(model_dim, model_dim)
        self.output_layer = nn.Linear(model_dim, model_dim)

    def forward(self, *, query, key, value, attention_mask=None):
        def heads(x):
            return x.unflatten(-1, (self.head_count, -1)).transpose(-3, -2)

        rows = scaled_dot_product_attention(
            heads(self.query_layer(query)),
            heads(self.key_layer(key)),
            heads(self.value_layer(value)),
            attn_mask=attention_mask,
        )
        return self.output_layer(rows.transpose(-3, -2).flatten(-2))


@style()
def keywords_alone():
    """In the style of careful libraries: query, key and value by keyword alone."""
    return KeywordOnly(WIDTH, H)


class ThreeAxes(nn.Module):
    """Weights of three axes, as in libraries that look into models."""

    def __init__(self, d_model, n_heads, d_head, n_ctx, swapped=False):
        super().__init__()
        self.d_head, self.swapped = d_head, swapped
        shape = (n_heads, d_model, d_head)
        self.W_Q = nn.Parameter(torch.randn(shape))
        self.W_K = nn.Parameter(torch.randn(shape))
        self.W_V = nn.Parameter(torch.randn(shape))
        self.W_O = nn.Parameter(torch.randn(n_heads, d_head, d_model))
        self.b_Q = nn.Parameter(torch.zeros(n_heads, d_head))
        self.b_K = nn.Parameter(torch.zeros(n_heads, d_head))
        self.b_V = nn.Parameter(torch.zeros(n_heads, d_head))
        self.b_O = nn.Parameter(torch.zeros(d_model))
        past = torch.ones(n_ctx, n_ctx, dtype=torch.bool).tril()
        self.register_buffer("mask", past)
        self.register_buffer("IGNORE", torch.tensor(float("-inf")))

    def forward(self, normalized_resid_pre):
        x, T = normalized_resid_pre, normalized_resid_pre.shape[1]
        q = torch.einsum("bpd,hde->bphe", x, self.W_Q) + self.b_Q
        k = torch.einsum("bpd,hde->bphe", x, self.W_K) + self.b_K
        v = torch.einsum("bpd,hde->bphe", x, self.W_V) + self.b_V
        if self.swapped:
            q, k = k, q
        scores = torch.einsum("bqhe,bkhe->bhqk", q, k) / self.d_head**0.5
        scores = scores.masked_fill(~self.mask[:T, :T], self.IGNORE)
        z = torch.einsum("bhqk,bkhe->bqhe", softmax(scores, dim=-1), v)
        return torch.einsum("bqhe,hed->bqd", z, self.W_O) + self.b_O


@style(causal=True)
def three_axes():
    """In the style of TransformerLens and ARENA: weights of three axes, and einsum."""
    return ThreeAxes(WIDTH, H, 7, CONTEXT)


@style(
    causal=True,
    defects=(
        wrong(
            "Queries and keys change places.",
            r"quer.*key.*(swap|exchang|place)|(swap|exchang).*quer.*key|roles",
            "equation",
        ),
    ),
)
def three_axes_swapped():
    """In the style of ARENA's exercise, with queries and keys in each other's place."""
    return ThreeAxes(WIDTH, H, 7, CONTEXT, swapped=True)


@style()
def parameters_in_a_dictionary():
    """In the style of JAX libraries: a function of parameters in a dictionary."""
    made = {name: torch.randn(WIDTH, WIDTH) for name in ("query", "key", "value")}
    made["out"] = torch.randn(WIDTH, WIDTH)

    class Params(nn.Module):
        def __init__(self):
            super().__init__()
            kept = {name: nn.Parameter(matrix) for name, matrix in made.items()}
            self.params = nn.ParameterDict(kept)

        def forward(self, x):
            def apply(params, inputs):
                q, k, v = (
                    linear(inputs, params[name]).unflatten(-1, (H, D)).transpose(1, 2)
                    for name in ("query", "key", "value")
                )
                logits = torch.einsum("bhtd,bhsd->bhts", q / D**0.5, k)
                rows = torch.einsum("bhts,bhsd->bthd", logits.softmax(-1), v)
                return linear(rows.flatten(2), params["out"])

            return apply(self.params, x)

    return Params()
