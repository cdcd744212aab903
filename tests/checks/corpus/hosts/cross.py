"""Cross-attention of a decoder: queries of its own text, keys of a context."""

import torch
from torch import nn


class CrossAttention(nn.Module):
    """Let every token of `x` look at a context, which may be of another width.

    `key_padding_mask` is (batch, keys), True where the context is padding.
    """

    def __init__(self, query_dim=24, context_dim=20, heads=4, dim_head=8, dropout=0.1):
        super().__init__()
        inner_dim = heads * dim_head
        self.heads = heads
        self.dim_head = dim_head
        self.scale = dim_head**-0.5
        self.to_q = nn.Linear(query_dim, inner_dim, bias=False)
        self.to_k = nn.Linear(context_dim, inner_dim, bias=False)
        self.to_v = nn.Linear(context_dim, inner_dim, bias=False)
        self.attn_drop = nn.Dropout(dropout)
        self.to_out = nn.Sequential(
            nn.Linear(inner_dim, query_dim), nn.Dropout(dropout)
        )

    def split(self, t):
        b, n, _ = t.shape
        return t.reshape(b, n, self.heads, self.dim_head).permute(0, 2, 1, 3)

    def forward(self, x, context, key_padding_mask=None):
        b, n, _ = x.shape
        q = self.to_q(x)
        k = self.to_k(context)
        v = self.to_v(context)
        q, k, v = self.split(q), self.split(k), self.split(v)

        q = q * self.scale
        sim = torch.einsum("bhid,bhjd->bhij", q, k)

        if key_padding_mask is not None:
            hidden = key_padding_mask[:, None, None, :]
            sim = sim.masked_fill(hidden, -torch.finfo(sim.dtype).max)

        # over the keys
        attn = sim.softmax(dim=-1)
        attn = self.attn_drop(attn)

        out = torch.einsum("bhij,bhjd->bhid", attn, v)
        out = out.permute(0, 2, 1, 3)
        out = out.reshape(b, n, self.heads * self.dim_head)
        return self.to_out(out)


options = {"call": "m(x, x[..., :20])", "causal": False}


def make():
    return CrossAttention()
