"""Attention of a Gemma 2: scores are capped by tanh, and scaled by a given number."""

import torch
from torch import nn


def rotary(x, base):
    """Rotate the two halves of channels, by angles of the position."""
    half = x.shape[-1] // 2
    steps = torch.arange(half, device=x.device, dtype=torch.float32) / half
    positions = torch.arange(x.shape[-2], device=x.device, dtype=torch.float32)
    angles = positions[:, None] * base**-steps
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    first, second = x[..., :half], x[..., half:]
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)


class Gemma2Attention(nn.Module):
    def __init__(
        self,
        hidden_size=40,
        num_heads=6,
        num_kv_heads=3,
        head_dim=8,
        query_pre_attn_scalar=16.0,
        attn_logit_softcapping=2.0,
        rope_theta=10000.0,
    ):
        super().__init__()
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        self.head_dim = head_dim
        self.scaling = query_pre_attn_scalar**-0.5
        self.attn_logit_softcapping = attn_logit_softcapping
        self.rope_theta = rope_theta
        total = (num_heads + 2 * num_kv_heads) * head_dim
        self.qkv_proj = nn.Linear(hidden_size, total, bias=False)
        self.o_proj = nn.Linear(num_heads * head_dim, hidden_size, bias=False)

    def forward(self, hidden_states):
        batch, length, _ = hidden_states.shape
        qkv = self.qkv_proj(hidden_states)
        qkv = qkv.view(batch, length, -1, self.head_dim).transpose(1, 2)
        sizes = [self.num_heads, self.num_kv_heads, self.num_kv_heads]
        xq, xk, xv = qkv.split(sizes, dim=1)

        xq = rotary(xq, self.rope_theta)
        xk = rotary(xk, self.rope_theta)
        groups = self.num_heads // self.num_kv_heads
        xk = torch.repeat_interleave(xk, groups, dim=1)
        xv = torch.repeat_interleave(xv, groups, dim=1)

        scores = torch.matmul(xq * self.scaling, xk.transpose(2, 3))
        scores = scores / self.attn_logit_softcapping
        scores = torch.tanh(scores)
        scores = scores * self.attn_logit_softcapping
        future = torch.full_like(scores[0, 0], float("-inf")).triu(diagonal=1)
        scores = scores + future
        weights = torch.softmax(scores, dim=-1)
        output = torch.matmul(weights, xv)
        output = output.transpose(1, 2).reshape(batch, length, -1)
        return self.o_proj(output)


options = {"scale": 0.25}


def make():
    return Gemma2Attention()
