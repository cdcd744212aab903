"""Layers of published models that are called with hidden states and masks."""

import math
from types import SimpleNamespace

import torch
from torch import nn
from torch.nn.functional import dropout, softmax

from tests.checks.corpus.ground_truth import (
    CONTEXT,
    KEPT,
    NAN,
    WIDTH,
    D,
    H,
    style,
    wrong,
)

CONFIG = SimpleNamespace(
    hidden_size=WIDTH,
    num_attention_heads=H,
    attention_probs_dropout_prob=0.1,
    hidden_dropout_prob=0.1,
    layer_norm_eps=1e-12,
    max_length=20,
    max_position_embeddings=512,
)


class Conv1D(nn.Module):
    """A linear layer whose matrix lies on its side."""

    def __init__(self, nf, nx):
        super().__init__()
        self.nf = nf
        self.weight = nn.Parameter(torch.randn(nx, nf) * 0.3)
        self.bias = nn.Parameter(torch.zeros(nf))

    def forward(self, x):
        rows = torch.addmm(self.bias, x.reshape(-1, x.size(-1)), self.weight)
        return rows.view(*x.size()[:-1], self.nf)


class GPT2Attention(nn.Module):
    def __init__(self, n_embd, n_head, n_positions):
        super().__init__()
        past = torch.ones(n_positions, n_positions, dtype=torch.bool).tril()
        self.register_buffer("bias", past[None, None], persistent=False)
        self.embed_dim, self.num_heads = n_embd, n_head
        self.head_dim, self.split_size = n_embd // n_head, n_embd
        self.c_attn, self.c_proj = Conv1D(3 * n_embd, n_embd), Conv1D(n_embd, n_embd)
        self.attn_dropout, self.resid_dropout = nn.Dropout(0.1), nn.Dropout(0.1)

    def heads(self, x):
        return x.view(*x.shape[:-1], self.num_heads, self.head_dim).permute(0, 2, 1, 3)

    def weigh(self, query, key, attention_mask, head_mask):
        w = torch.matmul(query, key.transpose(-1, -2)) / self.head_dim**0.5
        T, S = query.size(-2), key.size(-2)
        lowest = torch.full([], torch.finfo(w.dtype).min, dtype=w.dtype)
        w = torch.where(self.bias[:, :, S - T : S, :S], w, lowest)
        if attention_mask is not None:
            w = w + attention_mask
        w = self.attn_dropout(softmax(w, dim=-1))
        return w if head_mask is None else w * head_mask

    def forward(
        self,
        hidden_states,
        layer_past=None,
        attention_mask=None,
        head_mask=None,
        use_cache=False,
    ):
        three = self.c_attn(hidden_states).split(self.split_size, dim=2)
        query, key, value = map(self.heads, three)
        if layer_past is not None:
            key = torch.cat((layer_past[0], key), dim=-2)
            value = torch.cat((layer_past[1], value), dim=-2)
        rows = self.weigh(query, key, attention_mask, head_mask) @ value
        rows = rows.permute(0, 2, 1, 3).reshape(hidden_states.shape)
        rows = self.resid_dropout(self.c_proj(rows))
        return rows, (key, value) if use_cache else None


@style(causal=True)
def gpt2_transformers():
    """In the style of transformers' GPT-2: matrices on their side, a past of tuples."""
    return GPT2Attention(WIDTH, H, CONTEXT)


class BertSelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.num_attention_heads = config.num_attention_heads
        self.attention_head_size = config.hidden_size // config.num_attention_heads
        self.all_head_size = config.hidden_size
        self.query = nn.Linear(config.hidden_size, self.all_head_size)
        self.key = nn.Linear(config.hidden_size, self.all_head_size)
        self.value = nn.Linear(config.hidden_size, self.all_head_size)
        self.dropout = nn.Dropout(config.attention_probs_dropout_prob)

    def transpose_for_scores(self, x):
        shape = (*x.shape[:-1], self.num_attention_heads, self.attention_head_size)
        return x.view(shape).permute(0, 2, 1, 3)

    def forward(
        self,
        hidden_states,
        attention_mask=None,
        head_mask=None,
        encoder_hidden_states=None,
        output_attentions=False,
    ):
        given = (
            hidden_states if encoder_hidden_states is None else encoder_hidden_states
        )
        query = self.transpose_for_scores(self.query(hidden_states))
        key = self.transpose_for_scores(self.key(given))
        value = self.transpose_for_scores(self.value(given))
        scores = query @ key.transpose(-1, -2) / math.sqrt(self.attention_head_size)
        if attention_mask is not None:
            scores = scores + attention_mask
        probabilities = self.dropout(nn.functional.softmax(scores, dim=-1))
        if head_mask is not None:
            probabilities = probabilities * head_mask
        context = (probabilities @ value).permute(0, 2, 1, 3).contiguous()
        context = context.view(*context.shape[:-2], self.all_head_size)
        return (context, probabilities) if output_attentions else (context,)


@style()
def bert_self():
    """In the style of transformers' BERT: what is added to scores is handed in."""
    return BertSelfAttention(CONFIG)


class BertSelfOutput(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, hidden_states, input_tensor):
        return self.LayerNorm(self.dropout(self.dense(hidden_states)) + input_tensor)


class BertAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.self = BertSelfAttention(config)
        self.output = BertSelfOutput(config)

    def forward(self, hidden_states, attention_mask=None):
        rows = self.self(hidden_states, attention_mask)
        return (self.output(rows[0], hidden_states), *rows[1:])


@style()
def bert_with_output():
    """In the style of transformers' BERT: with the residual, and the norm after it."""
    return BertAttention(CONFIG)


class BertOfOnes(BertAttention):
    def __init__(self, config, by_rows=False):
        super().__init__(config)
        self.by_rows = by_rows

    def forward(self, hidden_states, attention_mask=None):
        if attention_mask is not None:
            wide = attention_mask[:, None, None, :].to(hidden_states.dtype)
            wide = wide.mT if self.by_rows else wide
            attention_mask = (1.0 - wide) * -10000.0
        return super().forward(hidden_states, attention_mask)


@style()
def bert_of_ones():
    """In the style of the first BERT in PyTorch: a mask of 1 and 0, and -10000."""
    return BertOfOnes(CONFIG)


@style(
    defects=(
        wrong(
            "The mask of keys is laid over queries, so that padding is seen.",
            r"hides? (the )?(rows|queries)|rows and not (the )?(columns|keys)",
            "masks",
            "padding",
            "fully-masked",
        ),
    )
)
def bert_of_rows():
    """In the style of encoders whose mask gets its further axis in the wrong place."""
    return BertOfOnes(CONFIG, by_rows=True)


class DistilBert(nn.Module):
    def __init__(self, dim, n_heads):
        super().__init__()
        self.n_heads, self.dim = n_heads, dim
        self.dropout = nn.Dropout(p=0.1)
        self.q_lin, self.k_lin = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.v_lin, self.out_lin = nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, query, key, value, mask, head_mask=None, output_attentions=False):
        texts, rows, _ = query.size()
        width = self.dim // self.n_heads

        def shape(x):
            return x.view(texts, -1, self.n_heads, width).transpose(1, 2)

        q = shape(self.q_lin(query)) / math.sqrt(width)
        k, v = shape(self.k_lin(key)), shape(self.v_lin(value))
        scores = torch.matmul(q, k.transpose(2, 3))
        hidden = (mask == 0).view(texts, 1, 1, key.size(1)).expand_as(scores)
        scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
        weights = self.dropout(softmax(scores, dim=-1))
        context = torch.matmul(weights, v).transpose(1, 2).contiguous()
        context = self.out_lin(context.view(texts, rows, self.dim))
        return (context, weights) if output_attentions else (context,)


@style()
def distilbert():
    """In the style of transformers' DistilBERT: a mask of keys that must be given."""
    return DistilBert(WIDTH, H)


class T5Attention(nn.Module):
    def __init__(self, d_model, d_kv, num_heads, is_decoder):
        super().__init__()
        self.is_decoder, self.n_heads, self.d_kv = is_decoder, num_heads, d_kv
        inner = num_heads * d_kv
        self.q = nn.Linear(d_model, inner, bias=False)
        self.k = nn.Linear(d_model, inner, bias=False)
        self.v = nn.Linear(d_model, inner, bias=False)
        self.o = nn.Linear(inner, d_model, bias=False)
        self.buckets, self.max_distance = 8, 20
        self.relative_attention_bias = nn.Embedding(self.buckets, num_heads)

    def bucket(self, distance):
        buckets = self.buckets
        found = torch.zeros_like(distance)
        if self.is_decoder:
            distance = (-distance).clamp(min=0)
        else:
            buckets //= 2
            found = (distance > 0).long() * buckets
            distance = distance.abs()
        near = buckets // 2
        far = near + (
            torch.log(distance.clamp(min=1).float() / near)
            / math.log(self.max_distance / near)
            * (buckets - near)
        ).long().clamp(max=buckets - near - 1)
        return found + torch.where(distance < near, distance, far)

    def compute_bias(self, rows, columns):
        distance = torch.arange(columns)[None] - torch.arange(rows)[:, None]
        return self.relative_attention_bias(self.bucket(distance)).permute(2, 0, 1)[
            None
        ]

    def forward(self, hidden_states, mask=None, key_value_states=None):
        given = hidden_states if key_value_states is None else key_value_states
        texts, rows, _ = hidden_states.shape

        def heads(x):
            return x.view(texts, -1, self.n_heads, self.d_kv).transpose(1, 2)

        q, k, v = (
            heads(self.q(hidden_states)),
            heads(self.k(given)),
            heads(self.v(given)),
        )
        scores = q @ k.transpose(3, 2) + self.compute_bias(rows, k.shape[2])
        if self.is_decoder:
            future = torch.ones(rows, k.shape[2]).triu(1).bool()
            scores = scores.masked_fill(future, torch.finfo(scores.dtype).min)
        if mask is not None:
            scores = scores + mask
        weights = softmax(scores.float(), dim=-1).type_as(scores)
        weights = dropout(weights, p=0.1, training=self.training)
        return self.o((weights @ v).transpose(1, 2).reshape(texts, rows, -1))


@style(scale=1.0)
def t5_encoder():
    """In the style of T5: a bias by buckets of distance, and no scale."""
    return T5Attention(WIDTH, D, H, is_decoder=False)


@style(causal=True, scale=1.0)
def t5_decoder():
    """In the style of T5's decoder: buckets of the past alone."""
    return T5Attention(WIDTH, D, H, is_decoder=True)


class OPTAttention(nn.Module):
    def __init__(self, config, is_decoder=False, is_causal=False):
        super().__init__()
        self.config, self.embed_dim = config, config.hidden_size
        self.num_heads = config.num_attention_heads
        self.head_dim = self.embed_dim // self.num_heads
        self.scaling = self.head_dim**-0.5
        self.is_decoder, self.is_causal = is_decoder, is_causal
        self.k_proj = nn.Linear(self.embed_dim, self.embed_dim)
        self.v_proj = nn.Linear(self.embed_dim, self.embed_dim)
        self.q_proj = nn.Linear(self.embed_dim, self.embed_dim)
        self.out_proj = nn.Linear(self.embed_dim, self.embed_dim)

    def _shape(self, tensor):
        cut = tensor.view(len(tensor), -1, self.num_heads, self.head_dim)
        return cut.transpose(1, 2).contiguous()

    def forward(
        self,
        hidden_states,
        key_value_states=None,
        past_key_value=None,
        attention_mask=None,
        output_attentions=False,
    ):
        given = hidden_states if key_value_states is None else key_value_states
        texts, rows, _ = hidden_states.size()
        query = self._shape(self.q_proj(hidden_states) * self.scaling)
        key, value = self._shape(self.k_proj(given)), self._shape(self.v_proj(given))
        if past_key_value is not None:
            key = torch.cat([past_key_value[0], key], dim=2)
            value = torch.cat([past_key_value[1], value], dim=2)
        past_key_value = (key, value) if self.is_decoder else None
        flat = (texts * self.num_heads, -1, self.head_dim)
        scores = torch.bmm(query.view(flat), key.view(flat).transpose(1, 2))
        scores = scores.view(texts, self.num_heads, rows, -1)
        if attention_mask is not None:
            scores = scores + attention_mask
        weights = softmax(scores, dim=-1)
        dropped = dropout(weights, p=0.1, training=self.training)
        out = dropped @ value
        out = self.out_proj(out.transpose(1, 2).reshape(texts, rows, self.embed_dim))
        return out, weights if output_attentions else None, past_key_value


@style()
def bart_encoder():
    """In the style of BART: also for other keys, with a mask that is added."""
    return OPTAttention(CONFIG)


@style()
def opt_decoder():
    """In the style of OPT: is_causal is told, and the model hands in the mask."""
    return OPTAttention(CONFIG, is_decoder=True, is_causal=True)


class Whisper(nn.Module):
    def __init__(self, n_state, n_head):
        super().__init__()
        self.n_head = n_head
        self.query = nn.Linear(n_state, n_state)
        self.key = nn.Linear(n_state, n_state, bias=False)
        self.value = nn.Linear(n_state, n_state)
        self.out = nn.Linear(n_state, n_state)

    def forward(self, x, xa=None, mask=None, kv_cache=None):
        given = x if xa is None else xa
        q, k, v = self.query(x), self.key(given), self.value(given)
        T, scale = q.shape[1], (q.shape[-1] // self.n_head) ** -0.25
        q = q.view(*q.shape[:2], self.n_head, -1).permute(0, 2, 1, 3) * scale
        k = k.view(*k.shape[:2], self.n_head, -1).permute(0, 2, 3, 1) * scale
        v = v.view(*v.shape[:2], self.n_head, -1).permute(0, 2, 1, 3)
        qk = q @ k
        if mask is not None:
            qk = qk + mask[:T, :T]
        qk = qk.float() if qk.dtype == torch.float16 else qk
        w = softmax(qk, dim=-1).to(q.dtype)
        return self.out((w @ v).permute(0, 2, 1, 3).flatten(start_dim=2)), qk.detach()


@style()
def whisper():
    """In the style of Whisper: scaled on both sides, keys without a bias."""
    return Whisper(WIDTH, H)


class Fairseq(nn.Module):
    def __init__(self, embed_dim, num_heads, rate=0.1):
        super().__init__()
        self.num_heads, self.head_dim = num_heads, embed_dim // num_heads
        self.scaling = self.head_dim**-0.5
        self.dropout_module = nn.Dropout(rate)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(
        self,
        query,
        key,
        value,
        key_padding_mask=None,
        incremental_state=None,
        need_weights=True,
        attn_mask=None,
    ):
        rows, texts, width = query.size()

        def heads(x):
            x = x.contiguous().view(-1, texts * self.num_heads, self.head_dim)
            return x.transpose(0, 1)

        q = heads(self.q_proj(query) * self.scaling)
        k, v = heads(self.k_proj(key)), heads(self.v_proj(value))
        if incremental_state is not None:
            if "prev_key" in incremental_state:
                k = torch.cat([incremental_state["prev_key"], k], dim=1)
                v = torch.cat([incremental_state["prev_value"], v], dim=1)
            incremental_state.update(prev_key=k, prev_value=v)
        scores = torch.bmm(q, k.transpose(1, 2))
        if attn_mask is not None:
            scores = scores + attn_mask.unsqueeze(0)
        if key_padding_mask is not None:
            wide = scores.view(texts, self.num_heads, rows, -1)
            hidden = key_padding_mask[:, None, None, :].to(torch.bool)
            scores = wide.masked_fill(hidden, float("-inf")).view(scores.shape)
        weights = softmax(scores, dim=-1)
        attn = torch.bmm(self.dropout_module(weights), v)
        attn = attn.transpose(0, 1).contiguous().view(rows, texts, width)
        shown = weights.view(texts, self.num_heads, rows, -1).mean(dim=1)
        return self.out_proj(attn), shown if need_weights else None


TIME_FIRST = "x.transpose(0, 1)"
OF_FAIRSEQ = f"m(*[{TIME_FIRST}] * 3, key_padding_mask=mask)[0].transpose(0, 1)"
OF_LABML = (
    f"m(query={TIME_FIRST}, key={TIME_FIRST}, value={TIME_FIRST}, "
    "mask=None if mask is None else mask.movedim(0, -1)).transpose(0, 1)"
)


@style(defects=(NAN,), call=OF_FAIRSEQ)
def fairseq_time_first():
    """In the style of fairseq: time first, and a state that grows in a dictionary."""
    return Fairseq(WIDTH, H)


class Prepare(nn.Module):
    def __init__(self, d_model, heads, d_k, bias):
        super().__init__()
        self.linear = nn.Linear(d_model, heads * d_k, bias=bias)
        self.heads, self.d_k = heads, d_k

    def forward(self, x):
        return self.linear(x).view(*x.shape[:-1], self.heads, self.d_k)


class Labml(nn.Module):
    def __init__(self, heads, d_model, dropout_prob=0.1):
        super().__init__()
        self.d_k, self.heads = d_model // heads, heads
        self.query = Prepare(d_model, heads, self.d_k, True)
        self.key = Prepare(d_model, heads, self.d_k, True)
        self.value = Prepare(d_model, heads, self.d_k, True)
        self.softmax = nn.Softmax(dim=1)
        self.output = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout_prob)
        self.scale = 1 / math.sqrt(self.d_k)
        self.attn = None

    def forward(self, *, query, key, value, mask=None):
        rows, texts, _ = query.shape
        query, key, value = self.query(query), self.key(key), self.value(value)
        scores = torch.einsum("ibhd,jbhd->ijbh", query, key) * self.scale
        if mask is not None:
            scores = scores.masked_fill(mask.unsqueeze(-1) == 0, float("-inf"))
        attn = self.softmax(scores)
        self.attn = attn.detach()
        x = torch.einsum("ijbh,jbhd->ibhd", self.dropout(attn), value)
        return self.output(x.reshape(rows, texts, -1))


@style(defects=(NAN,), harmless=KEPT, call=OF_LABML)
def labml_keywords():
    """In the style of labml: time first, called by keywords alone."""
    return Labml(H, WIDTH)
