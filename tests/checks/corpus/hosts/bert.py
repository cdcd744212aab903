"""Attention of a BERT: both directions, a mask of ones and zeros, a norm at the end."""

import math

import torch
from torch import nn


class BertSelfAttention(nn.Module):
    def __init__(self, hidden_size, num_heads, attention_dropout):
        super().__init__()
        if hidden_size % num_heads != 0:
            raise ValueError(f"{hidden_size} is not a multiple of {num_heads}")
        self.num_attention_heads = num_heads
        self.attention_head_size = hidden_size // num_heads
        self.all_head_size = hidden_size
        self.query = nn.Linear(hidden_size, self.all_head_size)
        self.key = nn.Linear(hidden_size, self.all_head_size)
        self.value = nn.Linear(hidden_size, self.all_head_size)
        self.dropout = nn.Dropout(attention_dropout)

    def transpose_for_scores(self, x):
        new_shape = x.size()[:-1] + (self.num_attention_heads, self.attention_head_size)
        x = x.view(new_shape)
        return x.permute(0, 2, 1, 3)

    def forward(self, hidden_states, extended_mask=None):
        query_layer = self.transpose_for_scores(self.query(hidden_states))
        key_layer = self.transpose_for_scores(self.key(hidden_states))
        value_layer = self.transpose_for_scores(self.value(hidden_states))
        attention_scores = torch.matmul(query_layer, key_layer.transpose(-1, -2))
        attention_scores = attention_scores / math.sqrt(self.attention_head_size)
        if extended_mask is not None:
            attention_scores = attention_scores + extended_mask
        attention_probs = nn.functional.softmax(attention_scores, dim=-1)
        # whole tokens are dropped, as in the paper
        attention_probs = self.dropout(attention_probs)
        context_layer = torch.matmul(attention_probs, value_layer)
        context_layer = context_layer.permute(0, 2, 1, 3).contiguous()
        new_shape = context_layer.size()[:-2] + (self.all_head_size,)
        return context_layer.view(new_shape)


class BertSelfOutput(nn.Module):
    def __init__(self, hidden_size, hidden_dropout, layer_norm_eps):
        super().__init__()
        self.dense = nn.Linear(hidden_size, hidden_size)
        self.LayerNorm = nn.LayerNorm(hidden_size, eps=layer_norm_eps)
        self.dropout = nn.Dropout(hidden_dropout)

    def forward(self, hidden_states, input_tensor):
        hidden_states = self.dense(hidden_states)
        hidden_states = self.dropout(hidden_states)
        hidden_states = self.LayerNorm(hidden_states + input_tensor)
        return hidden_states


class BertAttention(nn.Module):
    def __init__(
        self,
        hidden_size=48,
        num_attention_heads=4,
        attention_probs_dropout_prob=0.1,
        hidden_dropout_prob=0.1,
        layer_norm_eps=1e-12,
    ):
        super().__init__()
        self.self = BertSelfAttention(
            hidden_size, num_attention_heads, attention_probs_dropout_prob
        )
        self.output = BertSelfOutput(hidden_size, hidden_dropout_prob, layer_norm_eps)

    def get_extended_mask(self, attention_mask, dtype):
        """From (batch, keys) of ones and zeros to what is added to scores."""
        extended_mask = attention_mask[:, None, None, :]
        extended_mask = (1.0 - extended_mask.to(dtype)) * torch.finfo(dtype).min
        return extended_mask

    def forward(self, hidden_states, attention_mask=None):
        extended_mask = None
        if attention_mask is not None:
            extended_mask = self.get_extended_mask(attention_mask, hidden_states.dtype)
        self_output = self.self(hidden_states, extended_mask)
        attention_output = self.output(self_output, hidden_states)
        return attention_output


options = {"causal": False}


def make():
    return BertAttention()
