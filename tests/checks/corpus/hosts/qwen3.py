"""Attention of a Qwen 3: norms of queries and keys, rotary positions, groups."""

import torch
from torch import nn


class Qwen3Config:
    def __init__(self, **kwargs):
        self.hidden_size = 40
        self.num_attention_heads = 6
        self.num_key_value_heads = 2
        self.head_dim = 8
        self.rms_norm_eps = 1e-6
        self.rope_theta = 1000000.0
        self.attention_dropout = 0.0
        self.__dict__.update(kwargs)


class Qwen3RMSNorm(nn.Module):
    def __init__(self, size, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, hidden_states):
        variance = hidden_states.pow(2).mean(-1, keepdim=True)
        hidden_states = hidden_states * torch.rsqrt(variance + self.eps)
        return self.weight * hidden_states


class Qwen3RotaryEmbedding(nn.Module):
    def __init__(self, dim, base):
        super().__init__()
        inv_freq = base ** (-torch.arange(0, dim, 2, dtype=torch.float) / dim)
        self.register_buffer("inv_freq", inv_freq, persistent=False)

    def forward(self, position_ids):
        freqs = position_ids[:, :, None].to(self.inv_freq) * self.inv_freq
        emb = torch.cat((freqs, freqs), dim=-1)
        return emb.cos(), emb.sin()


def rotate_half(x):
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), dim=-1)


def apply_rotary_pos_emb(q, k, cos, sin):
    cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)
    q_embed = q * cos + rotate_half(q) * sin
    k_embed = k * cos + rotate_half(k) * sin
    return q_embed, k_embed


class Qwen3Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.head_dim = config.head_dim
        self.num_heads = config.num_attention_heads
        self.num_kv_heads = config.num_key_value_heads
        self.groups = self.num_heads // self.num_kv_heads
        self.scaling = self.head_dim**-0.5
        hidden, inner = config.hidden_size, self.num_heads * self.head_dim
        kv_inner = self.num_kv_heads * self.head_dim
        self.q_proj = nn.Linear(hidden, inner, bias=False)
        self.k_proj = nn.Linear(hidden, kv_inner, bias=False)
        self.v_proj = nn.Linear(hidden, kv_inner, bias=False)
        self.o_proj = nn.Linear(inner, hidden, bias=False)
        self.q_norm = Qwen3RMSNorm(self.head_dim, config.rms_norm_eps)
        self.k_norm = Qwen3RMSNorm(self.head_dim, config.rms_norm_eps)
        self.rotary_emb = Qwen3RotaryEmbedding(self.head_dim, config.rope_theta)

    def forward(
        self,
        hidden_states,
        attention_mask=None,
        position_ids=None,
        past_key_value=None,
        use_cache=False,
    ):
        bsz, q_len, _ = hidden_states.size()
        past_len = 0 if past_key_value is None else past_key_value[0].shape[-2]
        if position_ids is None:
            position_ids = torch.arange(past_len, past_len + q_len)
            position_ids = position_ids.to(hidden_states.device)[None].expand(bsz, -1)

        query = self.q_proj(hidden_states).view(bsz, q_len, -1, self.head_dim)
        key = self.k_proj(hidden_states).view(bsz, q_len, -1, self.head_dim)
        value = self.v_proj(hidden_states).view(bsz, q_len, -1, self.head_dim)
        query = self.q_norm(query).transpose(1, 2)
        key = self.k_norm(key).transpose(1, 2)
        value = value.transpose(1, 2)
        cos, sin = self.rotary_emb(position_ids)
        query, key = apply_rotary_pos_emb(query, key, cos, sin)
        if past_key_value is not None:
            key = torch.cat([past_key_value[0], key], dim=2)
            value = torch.cat([past_key_value[1], value], dim=2)
        present = (key, value) if use_cache else None

        key = key.repeat_interleave(self.groups, dim=1)
        value = value.repeat_interleave(self.groups, dim=1)
        attn_weights = torch.matmul(query, key.transpose(2, 3)) * self.scaling
        kv_len = key.shape[2]
        causal = torch.ones(q_len, kv_len, dtype=torch.bool, device=query.device)
        visible = causal.tril(kv_len - q_len)[None, None]
        if attention_mask is not None:
            visible = visible & attention_mask[:, None, None, :].bool()
        lowest = torch.finfo(attn_weights.dtype).min
        attn_weights = attn_weights.masked_fill(~visible, lowest)
        attn_weights = nn.functional.softmax(attn_weights, dim=-1)
        attn_output = torch.matmul(attn_weights, value).transpose(1, 2).contiguous()
        attn_output = self.o_proj(attn_output.view(bsz, q_len, -1))
        return attn_output, present


options = {"rotary_base": 1000000.0}


def make():
    return Qwen3Attention(Qwen3Config())
