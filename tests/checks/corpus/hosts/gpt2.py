"""Attention of a small GPT-2: one layer makes queries, keys and values."""

import math
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F


@dataclass
class GPTConfig:
    block_size: int = 64
    n_embd: int = 48
    n_head: int = 4
    attn_pdrop: float = 0.1
    resid_pdrop: float = 0.1
    bias: bool = True


class CausalSelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        if config.n_embd % config.n_head != 0:
            raise ValueError("n_embd must be a multiple of n_head")
        self.n_head = config.n_head
        self.n_embd = config.n_embd
        self.head_size = config.n_embd // config.n_head
        # queries, keys and values of all heads, in one go
        self.c_attn = nn.Linear(config.n_embd, 3 * config.n_embd, bias=config.bias)
        # back into the residual stream
        self.c_proj = nn.Linear(config.n_embd, config.n_embd, bias=config.bias)
        self.attn_dropout = nn.Dropout(config.attn_pdrop)
        self.resid_dropout = nn.Dropout(config.resid_pdrop)
        # ones on and below the diagonal: what a token may look at
        past = torch.tril(torch.ones(config.block_size, config.block_size))
        past = past.view(1, 1, config.block_size, config.block_size)
        self.register_buffer("past", past, persistent=False)

    def split_heads(self, x):
        B, T, _ = x.size()
        return x.view(B, T, self.n_head, self.head_size).transpose(1, 2)

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
        q = self.split_heads(q)
        k = self.split_heads(k)
        v = self.split_heads(v)
        # (B, heads, T, T)
        att = q @ k.transpose(-2, -1)
        att = att * (1.0 / math.sqrt(self.head_size))
        att = att.masked_fill(self.past[:, :, :T, :T] == 0, float("-inf"))
        att = F.softmax(att, dim=-1)
        att = self.attn_dropout(att)
        y = att @ v
        # heads side by side again
        y = y.transpose(1, 2).contiguous()
        y = y.view(B, T, C)
        y = self.c_proj(y)
        return self.resid_dropout(y)


options = {}


def make():
    return CausalSelfAttention(GPTConfig(block_size=24, n_embd=30, n_head=3))
