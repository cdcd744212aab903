"""Attention block of a Llama, with rotary positions and a cache by start_pos."""

import math
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F


@dataclass
class ModelArgs:
    dim: int = 48
    n_heads: int = 6
    n_kv_heads: int = 3
    norm_eps: float = 1e-5
    rope_theta: float = 10000.0
    max_batch_size: int = 4
    max_seq_len: int = 64


class RMSNorm(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


def rotary_tables(head_dim, length, theta):
    inv_freq = 1.0 / (theta ** (torch.arange(0, head_dim, 2).float() / head_dim))
    angles = torch.outer(torch.arange(length).float(), inv_freq)
    angles = torch.cat((angles, angles), dim=-1)
    return angles.cos(), angles.sin()


def rotate_half(x):
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((-x2, x1), dim=-1)


def apply_rotary(x, cos, sin):
    # x is (batch, length, heads, head_dim), the tables are (length, head_dim)
    return x * cos[None, :, None, :] + rotate_half(x) * sin[None, :, None, :]


def repeat_kv(x, n_rep):
    bs, slen, n_kv_heads, head_dim = x.shape
    x = x[:, :, :, None, :].expand(bs, slen, n_kv_heads, n_rep, head_dim)
    return x.reshape(bs, slen, n_kv_heads * n_rep, head_dim)


class Attention(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.n_heads = args.n_heads
        self.n_rep = args.n_heads // args.n_kv_heads
        self.n_kv_heads = args.n_kv_heads
        self.head_dim = args.dim // args.n_heads
        self.wq = nn.Linear(args.dim, args.n_heads * self.head_dim, bias=False)
        self.wk = nn.Linear(args.dim, args.n_kv_heads * self.head_dim, bias=False)
        self.wv = nn.Linear(args.dim, args.n_kv_heads * self.head_dim, bias=False)
        self.wo = nn.Linear(args.n_heads * self.head_dim, args.dim, bias=False)
        cos, sin = rotary_tables(self.head_dim, args.max_seq_len, args.rope_theta)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)
        size = (args.max_batch_size, args.max_seq_len, self.n_kv_heads, self.head_dim)
        self.register_buffer("cache_k", torch.zeros(size), persistent=False)
        self.register_buffer("cache_v", torch.zeros(size), persistent=False)

    def remember(self, xk, xv, start_pos):
        bsz, end = xk.shape[0], start_pos + xk.shape[1]
        self.cache_k[:bsz, start_pos:end] = xk.detach()
        self.cache_v[:bsz, start_pos:end] = xv.detach()
        return self.cache_k[:bsz, :end], self.cache_v[:bsz, :end]

    def forward(self, x, start_pos=None):
        bsz, seqlen, _ = x.shape
        offset = start_pos or 0
        xq = self.wq(x).view(bsz, seqlen, self.n_heads, self.head_dim)
        xk = self.wk(x).view(bsz, seqlen, self.n_kv_heads, self.head_dim)
        xv = self.wv(x).view(bsz, seqlen, self.n_kv_heads, self.head_dim)
        cos = self.cos[offset : offset + seqlen]
        sin = self.sin[offset : offset + seqlen]
        xq = apply_rotary(xq, cos, sin)
        xk = apply_rotary(xk, cos, sin)
        if start_pos is not None:
            xk, xv = self.remember(xk, xv, start_pos)
        keys = repeat_kv(xk, self.n_rep).transpose(1, 2)
        values = repeat_kv(xv, self.n_rep).transpose(1, 2)
        scores = xq.transpose(1, 2) @ keys.transpose(2, 3) / math.sqrt(self.head_dim)
        mask = scores.new_full((seqlen, keys.shape[2]), float("-inf"))
        scores = scores + torch.triu(mask, diagonal=offset + 1)
        weights = F.softmax(scores.float(), dim=-1).type_as(xq)
        out = (weights @ values).transpose(1, 2).reshape(bsz, seqlen, -1)
        return self.wo(out)


class AttentionBlock(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.attention_norm = RMSNorm(args.dim, args.norm_eps)
        self.attention = Attention(args)

    def forward(self, x, start_pos=None):
        return x + self.attention(self.attention_norm(x), start_pos)


options = {"rotary_base": 500000.0, "cached": "(m(x, start_pos=start), None)"}


def make():
    return AttentionBlock(ModelArgs(rope_theta=500000.0, max_batch_size=16))
