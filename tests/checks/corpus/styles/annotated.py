"""Tutorials that follow the first paper: four layers, and a mask of ones and zeros."""

import copy
import math

import torch
from torch import nn
from torch.nn.functional import relu

from tests.checks.corpus.ground_truth import (
    BY_MODEL,
    HALF,
    KEPT,
    NAN,
    OTHER,
    WIDTH,
    D,
    H,
    style,
    wrong,
)


def dot_product(query, key, value, mask=None, dropout=None):
    scores = query @ key.mT / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    weights = scores.softmax(dim=-1)
    if dropout is not None:
        weights = dropout(weights)
    return weights @ value, weights


class MultiHeadedAttention(nn.Module):
    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        self.d_k, self.h = d_model // h, h
        layer = nn.Linear(d_model, d_model)
        self.linears = nn.ModuleList([copy.deepcopy(layer) for _ in range(4)])
        self.attn = None
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, query, key, value, mask=None):
        if mask is not None:
            mask = mask.unsqueeze(1)
        texts = query.size(0)
        query, key, value = (
            one(given).view(texts, -1, self.h, self.d_k).transpose(1, 2)
            for one, given in zip(self.linears, (query, key, value), strict=False)
        )
        rows, self.attn = dot_product(query, key, value, mask, self.dropout)
        rows = rows.transpose(1, 2).contiguous().view(texts, -1, self.h * self.d_k)
        return self.linears[-1](rows)


@style(defects=(HALF,), harmless=KEPT, half_precision=True)
def annotated_transformer():
    """In the style of the annotated transformer."""
    return MultiHeadedAttention(H, WIDTH)


class MultiHeadAttentionBlock(nn.Module):
    def __init__(self, d_model, h, dropout):
        super().__init__()
        self.d_model, self.h, self.d_k = d_model, h, d_model // h
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.w_o = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)

    @staticmethod
    def attention(query, key, value, mask, dropout):
        attention_scores = (query @ key.transpose(-2, -1)) / math.sqrt(query.shape[-1])
        if mask is not None:
            attention_scores.masked_fill_(mask == 0, -1e9)
        attention_scores = attention_scores.softmax(dim=-1)
        if dropout is not None:
            attention_scores = dropout(attention_scores)
        return attention_scores @ value, attention_scores

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.h, self.d_k).transpose(1, 2)

    def forward(self, q, k, v, mask):
        query, key, value = (
            self.split(self.w_q(q)),
            self.split(self.w_k(k)),
            self.split(self.w_v(v)),
        )
        x, self.attention_scores = self.attention(query, key, value, mask, self.dropout)
        x = x.transpose(1, 2).contiguous().view(x.shape[0], -1, self.d_model)
        return self.w_o(x)


@style(defects=(HALF,), harmless=KEPT, half_precision=True)
def hkproj_transformer():
    """In the style of hkproj's transformer in PyTorch: a mask that must be given."""
    return MultiHeadAttentionBlock(WIDTH, H, 0.1)


class ScaledDotProduct(nn.Module):
    def __init__(self, d_head):
        super().__init__()
        self.d_head = d_head
        self.attention_dropout = nn.Dropout(p=0.1)

    def forward(self, q, k, v, mask=None):
        weights = torch.matmul(q, k.transpose(-2, -1))
        scaled = weights / math.sqrt(self.d_head)
        if mask is not None:
            scaled = scaled.masked_fill(mask, -1e9)
        self.attention = self.attention_dropout(scaled.softmax(dim=-1))
        return self.attention @ v


class Dreamgonfly(nn.Module):
    def __init__(self, d_model, heads_count, dropout_prob):
        super().__init__()
        self.heads_count, self.d_head = heads_count, d_model // heads_count
        self.query_projection = nn.Linear(d_model, d_model)
        self.key_projection = nn.Linear(d_model, d_model)
        self.value_projection = nn.Linear(d_model, d_model)
        self.final_projection = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout_prob)
        self.attention_inside = ScaledDotProduct(self.d_head)

    def forward(self, query, key, value, mask=None):
        texts, rows, width = query.size()

        def heads(projected):
            cut = projected.view(texts, -1, self.heads_count, self.d_head)
            return cut.transpose(1, 2)

        q = heads(self.query_projection(query))
        k = heads(self.key_projection(key))
        v = heads(self.value_projection(value))
        if mask is not None:
            mask = mask.unsqueeze(1).expand(texts, self.heads_count, rows, k.size(2))
        context = self.attention_inside(q, k, v, mask)
        self.attention = self.attention_inside.attention
        merged = context.transpose(1, 2).reshape(texts, rows, width)
        return self.final_projection(merged)


@style(defects=(HALF,), harmless=KEPT, half_precision=True)
def dreamgonfly_transformer():
    """In the style of dreamgonfly's transformer: True hides, weights are kept."""
    return Dreamgonfly(WIDTH, H, 0.1)


class ScaleDotProductAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, q, k, v, mask=None, e=1e-12):
        _, _, _, d_tensor = k.size()
        score = (q @ k.transpose(2, 3)) / math.sqrt(d_tensor)
        if mask is not None:
            score = score.masked_fill(mask == 0, -10000)
        score = self.softmax(score)
        return score @ v, score


class Concatenating(nn.Module):
    def __init__(self, d_model, n_head):
        super().__init__()
        self.n_head = n_head
        self.attention = ScaleDotProductAttention()
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_concat = nn.Linear(d_model, d_model)

    def split(self, tensor):
        texts, length, d_model = tensor.size()
        cut = tensor.view(texts, length, self.n_head, d_model // self.n_head)
        return cut.transpose(1, 2)

    def concat(self, tensor):
        texts, head, length, d_tensor = tensor.size()
        return tensor.transpose(1, 2).reshape(texts, length, head * d_tensor)

    def forward(self, q, k, v, mask=None):
        q, k, v = self.split(self.w_q(q)), self.split(self.w_k(k)), self.w_v(v)
        out, _ = self.attention(q, k, self.split(v), mask=mask)
        return self.w_concat(self.concat(out))


@style()
def hyunwoongko_layer():
    """In the style of hyunwoongko's transformer: a layer that ends in w_concat."""
    return Concatenating(WIDTH, H)


@style()
def hyunwoongko_scores():
    """In the style of hyunwoongko's transformer: four axes, and no weights."""
    return ScaleDotProductAttention()


class Temper(nn.Module):
    def __init__(self, temperature, attn_dropout=0.1):
        super().__init__()
        self.temperature = temperature
        self.dropout = nn.Dropout(attn_dropout)

    def forward(self, q, k, v, mask=None):
        attn = torch.matmul(q / self.temperature, k.transpose(2, 3))
        if mask is not None:
            attn = attn.masked_fill(mask == 0, -1e9)
        attn = self.dropout(attn.softmax(dim=-1))
        return torch.matmul(attn, v), attn


class Jadore(nn.Module):
    def __init__(self, n_head, d_model, d_k, d_v, temperature, dropout=0.1):
        super().__init__()
        self.n_head, self.d_k, self.d_v = n_head, d_k, d_v
        self.w_qs = nn.Linear(d_model, n_head * d_k, bias=False)
        self.w_ks = nn.Linear(d_model, n_head * d_k, bias=False)
        self.w_vs = nn.Linear(d_model, n_head * d_v, bias=False)
        self.fc = nn.Linear(n_head * d_v, d_model, bias=False)
        self.attention = Temper(temperature=temperature)
        self.dropout = nn.Dropout(dropout)
        self.layer_norm = nn.LayerNorm(d_model, eps=1e-6)

    def forward(self, q, k, v, mask=None):
        texts, rows, columns = q.size(0), q.size(1), k.size(1)
        residual = q
        q = self.w_qs(q).view(texts, rows, self.n_head, self.d_k).transpose(1, 2)
        k = self.w_ks(k).view(texts, columns, self.n_head, self.d_k).transpose(1, 2)
        v = self.w_vs(v).view(texts, columns, self.n_head, self.d_v).transpose(1, 2)
        q, attn = self.attention(q, k, v, None if mask is None else mask.unsqueeze(1))
        q = self.dropout(self.fc(q.transpose(1, 2).reshape(texts, rows, -1)))
        return self.layer_norm(q + residual), attn


@style(defects=(HALF,), half_precision=True)
def jadore_transformer():
    """In the style of jadore801120's transformer: residual and norm after it."""
    return Jadore(H, WIDTH, D, 7, D**0.5)


@style(
    defects=(
        HALF,
        BY_MODEL,
    ),
    half_precision=True,
)
def jadore_early():
    """In the style of the first versions of jadore801120's transformer."""
    return Jadore(H, WIDTH, D, 7, WIDTH**0.5)


class Activated(nn.Module):
    def __init__(self, in_features, head_num, activation=relu):
        super().__init__()
        self.head_num, self.activation = head_num, activation
        self.linear_q = nn.Linear(in_features, in_features)
        self.linear_k = nn.Linear(in_features, in_features)
        self.linear_v = nn.Linear(in_features, in_features)
        self.linear_o = nn.Linear(in_features, in_features)

    def to_batches(self, x):
        texts, rows, width = x.size()
        sub = width // self.head_num
        x = x.reshape(texts, rows, self.head_num, sub).permute(0, 2, 1, 3)
        return x.reshape(texts * self.head_num, rows, sub)

    def from_batches(self, x):
        texts, rows, width = x.size()
        x = x.reshape(texts // self.head_num, self.head_num, rows, width)
        return x.permute(0, 2, 1, 3).reshape(len(x), rows, self.head_num * width)

    def forward(self, q, k, v, mask=None):
        q, k, v = self.linear_q(q), self.linear_k(k), self.linear_v(v)
        if self.activation is not None:
            q, k, v = (self.activation(one) for one in (q, k, v))
        if mask is not None:
            mask = mask.repeat(self.head_num, 1, 1)
        q, k, v = (self.to_batches(one) for one in (q, k, v))
        y = self.linear_o(self.from_batches(dot_product(q, k, v, mask)[0]))
        return y if self.activation is None else self.activation(y)


MASKS_REPEATED = wrong(
    "The mask is repeated in another order than the heads, so that texts get the "
    "masks of others.",
    r"mask.*(other|another) texts?|(other|another) text.*mask|texts? .*wrong mask",
    "masks",
    "padding",
)


@style(
    defects=(
        HALF,
        MASKS_REPEATED,
    ),
    harmless=OTHER,
    half_precision=True,
)
def cyberzhg_relu():
    """In the style of CyberZHG's multi-head attention: relu after every layer."""
    return Activated(WIDTH, H)


@style(
    defects=(
        HALF,
        MASKS_REPEATED,
    ),
    half_precision=True,
)
def cyberzhg_plain():
    """In the style of CyberZHG's multi-head attention, without its activation."""
    return Activated(WIDTH, H, activation=None)


class ScaledDotProductAttention(nn.Module):
    def forward(self, query, key, value, mask=None):
        return dot_product(query, key, value, mask)[0]


@style(defects=(HALF,), half_precision=True)
def cyberzhg_scores():
    """In the style of CyberZHG's scaled dot product: three axes, no weights."""
    return ScaledDotProductAttention()


class Graykode(nn.Module):
    def __init__(self, d_model, n_heads, d_k, d_v):
        super().__init__()
        self.n_heads, self.d_k, self.d_v, self.d_model = n_heads, d_k, d_v, d_model
        self.W_Q = nn.Linear(d_model, d_k * n_heads)
        self.W_K = nn.Linear(d_model, d_k * n_heads)
        self.W_V = nn.Linear(d_model, d_v * n_heads)

    def after(self, context, residual):
        output = nn.Linear(self.n_heads * self.d_v, self.d_model).to(context)(context)
        return nn.LayerNorm(self.d_model).to(context)(output + residual)

    def forward(self, Q, K, V, attn_mask):
        residual, texts = Q, Q.size(0)
        q = self.W_Q(Q).view(texts, -1, self.n_heads, self.d_k).transpose(1, 2)
        k = self.W_K(K).view(texts, -1, self.n_heads, self.d_k).transpose(1, 2)
        v = self.W_V(V).view(texts, -1, self.n_heads, self.d_v).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.d_k)
        scores.masked_fill_(attn_mask.unsqueeze(1), -1e9)
        attn = scores.softmax(dim=-1)
        context = torch.matmul(attn, v).transpose(1, 2)
        context = context.contiguous().view(texts, -1, self.n_heads * self.d_v)
        return self.after(context, residual), attn


class GraykodeMended(Graykode):
    def __init__(self, d_model, n_heads, d_k, d_v):
        super().__init__(d_model, n_heads, d_k, d_v)
        self.linear = nn.Linear(n_heads * d_v, d_model)
        self.layer_norm = nn.LayerNorm(d_model)

    def after(self, context, residual):
        return self.layer_norm(self.linear(context) + residual)


@style(defects=(HALF,), half_precision=True)
def graykode_transformer():
    """In the style of graykode's nlp-tutorial: True hides, and must be given."""
    return GraykodeMended(WIDTH, H, D, 7)


@style(
    defects=(
        HALF,
        wrong(
            "The last layer is made anew in every call, so that it never learns.",
            r"made (anew|again)|new (layer|weights)|(each|every) call|random",
        ),
    ),
    half_precision=True,
)
def graykode_early():
    """In the style of the first versions of graykode's nlp-tutorial."""
    return Graykode(WIDTH, H, D, 7)


class Aladdin(nn.Module):
    def __init__(self, embed_size, heads, divisor):
        super().__init__()
        self.heads, self.head_dim = heads, embed_size // heads
        self.divisor = divisor
        self.values = nn.Linear(embed_size, embed_size)
        self.keys = nn.Linear(embed_size, embed_size)
        self.queries = nn.Linear(embed_size, embed_size)
        self.fc_out = nn.Linear(embed_size, embed_size)

    def forward(self, values, keys, query, mask=None):
        texts, rows, columns = query.shape[0], query.shape[1], values.shape[1]
        shape = (texts, columns, self.heads, self.head_dim)
        values = self.values(values).reshape(shape)
        keys = self.keys(keys).reshape(shape)
        queries = self.queries(query).reshape(texts, rows, self.heads, self.head_dim)
        energy = torch.einsum("nqhd,nkhd->nhqk", queries, keys)
        if mask is not None:
            energy = energy.masked_fill(mask == 0, -1e20)
        attention = torch.softmax(energy / self.divisor**0.5, dim=3)
        out = torch.einsum("nhql,nlhd->nqhd", attention, values)
        return self.fc_out(out.reshape(texts, rows, self.heads * self.head_dim))


@style(
    defects=(
        HALF,
        BY_MODEL,
    ),
    half_precision=True,
)
def aladdin_transformer():
    """In the style of a well-known video: values first, and einsum."""
    return Aladdin(WIDTH, H, WIDTH)


@style(defects=(HALF,), half_precision=True)
def aladdin_mended():
    """In the style of a well-known video, with the scale of a head."""
    return Aladdin(WIDTH, H, D)


class Gordic(nn.Module):
    def __init__(self, model_dimension, number_of_heads, dropout=0.1):
        super().__init__()
        self.head_dimension = model_dimension // number_of_heads
        self.number_of_heads = number_of_heads
        three = [nn.Linear(model_dimension, model_dimension) for _ in range(3)]
        self.qkv_nets = nn.ModuleList(three)
        self.out_projection_net = nn.Linear(model_dimension, model_dimension)
        self.attention_dropout = nn.Dropout(p=dropout)
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, query, key, value, mask=None):
        texts = query.shape[0]
        size = (texts, -1, self.number_of_heads, self.head_dimension)
        query, key, value = [
            net(given).view(size).transpose(1, 2)
            for net, given in zip(self.qkv_nets, (query, key, value), strict=True)
        ]
        scores = query @ key.transpose(-2, -1) / math.sqrt(self.head_dimension)
        if mask is not None:
            scores.masked_fill_(mask == torch.tensor(False), float("-inf"))
        weights = self.attention_dropout(self.softmax(scores))
        together = (weights @ value).transpose(1, 2)
        return self.out_projection_net(together.reshape(texts, -1, size[2] * size[3]))


@style(defects=(NAN,))
def gordicaleksa_transformer():
    """In the style of gordicaleksa's transformer: a list of three layers."""
    return Gordic(WIDTH, H)


class Sgrvinod(nn.Module):
    def __init__(self, d_model, n_heads, d_queries, d_values, dropout, in_decoder):
        super().__init__()
        self.n_heads, self.d_queries, self.d_values = n_heads, d_queries, d_values
        self.d_keys, self.in_decoder = d_queries, in_decoder
        self.cast_queries = nn.Linear(d_model, n_heads * d_queries)
        self.cast_keys_values = nn.Linear(d_model, n_heads * (d_queries + d_values))
        self.cast_output = nn.Linear(n_heads * d_values, d_model)
        self.softmax = nn.Softmax(dim=-1)
        self.layer_norm = nn.LayerNorm(d_model)
        self.apply_dropout = nn.Dropout(dropout)

    def heads(self, x, width):
        texts, rows = x.shape[:2]
        x = x.contiguous().view(texts, rows, self.n_heads, width).transpose(1, 2)
        return x.reshape(-1, rows, width)

    def forward(self, query_sequences, key_value_sequences, key_value_sequence_lengths):
        texts, rows, _ = query_sequences.shape
        columns = key_value_sequences.shape[1]
        to_itself = rows == columns and torch.equal(
            key_value_sequences, query_sequences
        )
        residual = query_sequences.clone()
        query_sequences = self.layer_norm(query_sequences)
        if to_itself:
            key_value_sequences = self.layer_norm(key_value_sequences)
        queries = self.heads(self.cast_queries(query_sequences), self.d_queries)
        both = self.cast_keys_values(key_value_sequences)
        keys, values = both.split(self.n_heads * self.d_keys, dim=-1)
        keys = self.heads(keys, self.d_keys)
        values = self.heads(values, self.d_values)
        scores = torch.bmm(queries, keys.mT) / math.sqrt(self.d_keys)
        columns = torch.arange(columns).view(1, 1, -1)
        lengths = key_value_sequence_lengths.repeat_interleave(self.n_heads)
        scores = scores.masked_fill(columns >= lengths.view(-1, 1, 1), -float("inf"))
        if self.in_decoder and to_itself:
            past = torch.ones_like(scores).tril().bool()
            scores = scores.masked_fill(~past, -float("inf"))
        weights = self.apply_dropout(self.softmax(scores))
        rows_of = torch.bmm(weights, values).view(texts, self.n_heads, rows, -1)
        merged = rows_of.transpose(1, 2).reshape(texts, rows, -1)
        return self.apply_dropout(self.cast_output(merged)) + residual


def with_lengths(m, x):
    return m(x, x, torch.full((len(x),), x.shape[1]))


@style(call=with_lengths)
def sgrvinod_encoder():
    """In the style of sgrvinod's tutorial: norm before, lengths, and a flag."""
    return Sgrvinod(WIDTH, H, D, D, 0.1, in_decoder=False)


@style(causal=True, call=with_lengths)
def sgrvinod_decoder():
    """In the style of sgrvinod's tutorial: the same layer in a decoder."""
    return Sgrvinod(WIDTH, H, D, D, 0.1, in_decoder=True)
