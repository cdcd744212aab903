"""Attention of a BLOOM: no positions but a bias that grows with distance (ALiBi)."""

import math

import torch
import torch.nn.functional as F
from torch import nn


def alibi_slopes(num_heads):
    """Return a slope for each head; where heads are no power of two, odd powers."""
    closest = 2 ** math.floor(math.log2(num_heads))
    base = 2.0 ** (-8.0 / closest)
    slopes = [base ** (i + 1) for i in range(closest)]
    if closest != num_heads:
        extra = 2.0 ** (-4.0 / closest)
        slopes += [extra ** (2 * i + 1) for i in range(num_heads - closest)]
    return torch.tensor(slopes)


class BloomAttention(nn.Module):
    def __init__(
        self, hidden_size=48, n_head=6, attention_dropout=0.0, hidden_dropout=0.0
    ):
        super().__init__()
        self.hidden_size = hidden_size
        self.num_heads = n_head
        self.head_dim = hidden_size // n_head
        self.inv_norm_factor = 1.0 / math.sqrt(self.head_dim)
        self.query_key_value = nn.Linear(hidden_size, 3 * hidden_size, bias=True)
        self.dense = nn.Linear(hidden_size, hidden_size)
        self.attention_dropout = nn.Dropout(attention_dropout)
        self.hidden_dropout = hidden_dropout
        self.register_buffer("slopes", alibi_slopes(n_head), persistent=False)

    def _split_heads(self, fused_qkv):
        """Cut (batch, length, 3 * hidden): each head's query, key and value in turn."""
        batch, length, _ = fused_qkv.shape
        fused_qkv = fused_qkv.view(batch, length, self.num_heads, 3, self.head_dim)
        query = fused_qkv[:, :, :, 0].transpose(1, 2)
        key = fused_qkv[:, :, :, 1].transpose(1, 2)
        value = fused_qkv[:, :, :, 2].transpose(1, 2)
        return query, key, value

    def _alibi(self, q_length, kv_length):
        keys = torch.arange(kv_length, device=self.slopes.device)
        queries = torch.arange(kv_length - q_length, kv_length, device=keys.device)
        distance = queries[:, None] - keys[None, :]
        return -self.slopes[:, None, None] * distance

    def forward(self, hidden_states, layer_past=None, use_cache=False):
        batch, q_length, _ = hidden_states.shape
        query, key, value = self._split_heads(self.query_key_value(hidden_states))
        if layer_past is not None:
            past_key, past_value = layer_past
            key = torch.cat((past_key, key), dim=2)
            value = torch.cat((past_value, value), dim=2)
        present = (key, value) if use_cache else None
        kv_length = key.shape[2]

        scores = query @ key.transpose(-1, -2)
        scores = scores * self.inv_norm_factor
        scores = scores + self._alibi(q_length, kv_length)
        future = torch.ones(q_length, kv_length, dtype=torch.bool, device=key.device)
        future = future.triu(kv_length - q_length + 1)
        scores = scores.masked_fill(future, torch.finfo(scores.dtype).min)
        probs = F.softmax(scores, dim=-1)
        probs = self.attention_dropout(probs)

        context = probs @ value
        context = context.transpose(1, 2)
        context = context.reshape(batch, q_length, self.hidden_size)
        output = self.dense(context)
        output = F.dropout(output, p=self.hidden_dropout, training=self.training)
        return (output, present) if use_cache else output


options = {}


def make():
    return BloomAttention(attention_dropout=0.1, hidden_dropout=0.1)
