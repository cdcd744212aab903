"""Attention of a Mistral: rotary positions, grouped queries and a sliding window."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class RotaryEmbedding(nn.Module):
    def __init__(self, dim, base=10000.0, max_position=128):
        super().__init__()
        inv_freq = 1.0 / base ** (torch.arange(0, dim, 2).float() / dim)
        t = torch.arange(max_position).float()
        freqs = torch.einsum("i,j->ij", t, inv_freq)
        emb = torch.cat([freqs, freqs], dim=-1)
        self.register_buffer("cos_cached", emb.cos(), persistent=False)
        self.register_buffer("sin_cached", emb.sin(), persistent=False)

    def forward(self, seq_len):
        return self.cos_cached[:seq_len], self.sin_cached[:seq_len]


def rotate_half(x):
    first, second = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
    return torch.cat([-second, first], dim=-1)


def make_window_mask(seq_len, window, dtype, device):
    """Zero where a query may look, the lowest number elsewhere."""
    ones = torch.ones(seq_len, seq_len, dtype=torch.bool, device=device)
    past = torch.tril(ones, diagonal=0)
    near = torch.triu(ones, diagonal=1 - window)
    mask = torch.zeros(seq_len, seq_len, dtype=dtype, device=device)
    return mask.masked_fill(~(past & near), torch.finfo(dtype).min)


class MistralAttention(nn.Module):
    """A token sees itself and the `sliding_window - 1` tokens before it."""

    def __init__(
        self,
        hidden_size=48,
        num_heads=6,
        num_key_value_heads=3,
        sliding_window=4,
        rope_theta=10000.0,
        attention_dropout=0.0,
    ):
        super().__init__()
        self.num_heads = num_heads
        self.num_key_value_heads = num_key_value_heads
        self.num_key_value_groups = num_heads // num_key_value_heads
        self.head_dim = hidden_size // num_heads
        self.sliding_window = sliding_window
        self.attention_dropout = attention_dropout
        kv_size = num_key_value_heads * self.head_dim
        self.q_proj = nn.Linear(hidden_size, hidden_size, bias=False)
        self.k_proj = nn.Linear(hidden_size, kv_size, bias=False)
        self.v_proj = nn.Linear(hidden_size, kv_size, bias=False)
        self.o_proj = nn.Linear(hidden_size, hidden_size, bias=False)
        self.rotary_emb = RotaryEmbedding(self.head_dim, base=rope_theta)

    def _shape(self, tensor, heads):
        bsz, seq_len, _ = tensor.shape
        return tensor.view(bsz, seq_len, heads, self.head_dim).transpose(1, 2)

    def _repeat(self, x):
        bsz, heads, seq_len, head_dim = x.shape
        groups = self.num_key_value_groups
        x = x.unsqueeze(2).expand(bsz, heads, groups, seq_len, head_dim)
        return x.reshape(bsz, heads * groups, seq_len, head_dim)

    def forward(self, hidden_states, attention_mask=None):
        """`attention_mask` is added to scores: (batch, 1, queries, keys)."""
        bsz, q_len, hidden_size = hidden_states.shape
        q = self._shape(self.q_proj(hidden_states), self.num_heads)
        k = self._shape(self.k_proj(hidden_states), self.num_key_value_heads)
        v = self._shape(self.v_proj(hidden_states), self.num_key_value_heads)

        cos, sin = self.rotary_emb(q_len)
        q = q * cos + rotate_half(q) * sin
        k = k * cos + rotate_half(k) * sin
        k = self._repeat(k)
        v = self._repeat(v)

        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.head_dim)
        window = self.sliding_window
        mask = make_window_mask(q_len, window, scores.dtype, scores.device)
        scores = scores + mask
        if attention_mask is not None:
            scores = torch.clamp(scores + attention_mask, min=mask.min())
        probs = F.softmax(scores, dim=-1)
        probs = F.dropout(probs, p=self.attention_dropout, training=self.training)
        out = torch.matmul(probs, v)
        out = out.transpose(1, 2).contiguous()
        out = out.reshape(bsz, q_len, hidden_size)
        return self.o_proj(out)


options = {"rotary_base": 1000.0}


def make():
    return MistralAttention(rope_theta=1000.0, attention_dropout=0.1)
