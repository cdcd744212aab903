"""Self-attention of a T5 decoder: a learned bias for the distance, and no scale."""

import math

import torch
from torch import nn


class T5Attention(nn.Module):
    def __init__(
        self,
        d_model=40,
        d_kv=8,
        num_heads=6,
        num_buckets=8,
        max_distance=20,
        dropout_rate=0.1,
    ):
        super().__init__()
        self.n_heads = num_heads
        self.key_value_proj_dim = d_kv
        self.num_buckets = num_buckets
        self.max_distance = max_distance
        inner_dim = num_heads * d_kv
        self.q = nn.Linear(d_model, inner_dim, bias=False)
        self.k = nn.Linear(d_model, inner_dim, bias=False)
        self.v = nn.Linear(d_model, inner_dim, bias=False)
        self.o = nn.Linear(inner_dim, d_model, bias=False)
        self.relative_attention_bias = nn.Embedding(num_buckets, num_heads)
        self.dropout = nn.Dropout(dropout_rate)

    def relative_position_bucket(self, distance):
        """Give near tokens a bucket each; far ones share, more and more."""
        max_exact = self.num_buckets // 2
        share = torch.log(distance.clamp(min=1).float() / max_exact)
        share = share / math.log(self.max_distance / max_exact)
        far = max_exact + (share * (self.num_buckets - max_exact)).long()
        far = far.clamp(max=self.num_buckets - 1)
        return torch.where(distance < max_exact, distance, far)

    def compute_bias(self, length, device):
        positions = torch.arange(length, device=device)
        distance = positions[:, None] - positions[None, :]
        distance = distance.clamp(min=0)  # nobody sees the future
        buckets = self.relative_position_bucket(distance)
        values = self.relative_attention_bias(buckets)
        return values.permute(2, 0, 1).unsqueeze(0)

    def shape(self, states):
        batch, length, _ = states.shape
        states = states.view(batch, length, self.n_heads, self.key_value_proj_dim)
        return states.transpose(1, 2)

    def forward(self, hidden_states):
        batch, length, _ = hidden_states.shape
        query = self.shape(self.q(hidden_states))
        key = self.shape(self.k(hidden_states))
        value = self.shape(self.v(hidden_states))
        # not divided by the root: the weights of queries begin that much smaller
        scores = torch.matmul(query, key.transpose(3, 2))
        scores = scores + self.compute_bias(length, scores.device)
        future = torch.ones(length, length, device=scores.device).triu(1).bool()
        scores = scores.masked_fill(future, torch.finfo(scores.dtype).min)
        weights = nn.functional.softmax(scores.float(), dim=-1).type_as(scores)
        weights = self.dropout(weights)
        output = torch.matmul(weights, value)
        output = output.transpose(1, 2).contiguous().view(batch, length, -1)
        return self.o(output)


options = {"scale": 1.0}


def make():
    return T5Attention()
