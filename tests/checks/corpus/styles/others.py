"""Other equations by design, and what is no attention at all."""

import torch
from torch import nn
from torch.nn.functional import elu

from tests.checks.corpus.ground_truth import OTHER, WIDTH, H, style, wrong

NO_ATTENTION = wrong(
    "It is no attention.",
    r"never meet|sees only itself|\b(no|not) attention|recurren",
)


class Three(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.to_q = nn.Linear(dim, dim, bias=False)
        self.to_k = nn.Linear(dim, dim, bias=False)
        self.to_v = nn.Linear(dim, dim, bias=False)
        self.to_out = nn.Linear(dim, dim)

    def forward(self, x):
        q, k, v = (
            one(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for one in (self.to_q, self.to_k, self.to_v)
        )
        return self.to_out(self.mix(q, k, v).transpose(1, 2).flatten(2))


class Linear(Three):
    def mix(self, q, k, v):
        q, k = elu(q) + 1, elu(k) + 1
        summed = torch.einsum("bhsd,bhse->bhde", k, v)
        divisor = torch.einsum("bhtd,bhd->bht", q, k.sum(dim=2))
        return torch.einsum("bhtd,bhde->bhte", q, summed) / (divisor[..., None] + 1e-6)


@style(harmless=OTHER)
def linear_attention():
    """In the style of linear attention: a kernel of elu plus one, and a divisor."""
    return Linear(WIDTH, H)


class CausalLinear(Three):
    causal = True

    def mix(self, q, k, v):
        q, k = elu(q) + 1, elu(k) + 1
        summed = torch.einsum("bhsd,bhse->bhsde", k, v).cumsum(dim=2)
        divisor = (q * k.cumsum(dim=2)).sum(-1, keepdim=True)
        return torch.einsum("bhtd,bhtde->bhte", q, summed) / (divisor + 1e-6)


@style(causal=True, harmless=OTHER)
def linear_attention_causal():
    """In the style of linear attention: sums of the past."""
    return CausalLinear(WIDTH, H)


class Sigmoid(Three):
    causal = True

    def mix(self, q, k, v):
        T = q.shape[2]
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        future = torch.ones(T, T, dtype=torch.bool).triu(1)
        return torch.sigmoid(scores.masked_fill(future, -torch.inf)) @ v


@style(causal=True, normalize="sigmoid")
def sigmoid_attention():
    """In the style of sigmoid attention: each weight for itself."""
    return Sigmoid(WIDTH, H)


class PlusOne(Three):
    def mix(self, q, k, v):
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        most = scores.amax(dim=-1, keepdim=True).clamp(min=0).detach()
        shares = (scores - most).exp()
        return shares / ((-most).exp() + shares.sum(dim=-1, keepdim=True)) @ v


@style(normalize="softmax plus one")
def softmax_plus_one():
    """In the style of attention that may look nowhere: one more in the divisor."""
    return PlusOne(WIDTH, H)


class Additive(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.W_q = nn.Linear(dim, hidden, bias=False)
        self.W_k = nn.Linear(dim, hidden, bias=False)
        self.w_v = nn.Linear(hidden, 1, bias=False)

    def forward(self, queries, keys, values):
        both = self.W_q(queries)[:, :, None] + self.W_k(keys)[:, None]
        return self.w_v(both.tanh()).squeeze(-1).softmax(dim=-1) @ values


@style(harmless=OTHER)
def additive_attention():
    """In the style of additive attention: a small network gives each score."""
    return Additive(WIDTH, 7)


class Recurrent(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.lstm = nn.LSTM(dim, dim, batch_first=True)

    def forward(self, x):
        return self.lstm(x)[0]


@style(causal=True, defects=(NO_ATTENTION,))
def no_attention_recurrent():
    """In the style of what came before: an LSTM."""
    return Recurrent(WIDTH)


@style(defects=(NO_ATTENTION,))
def no_attention_linear():
    """In the style of nothing: one linear layer."""
    return nn.Linear(WIDTH, WIDTH)
