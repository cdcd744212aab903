"""Small models of today: masks of their own, caches as objects, narrow keys."""

import math

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention, softmax

from tests.checks.corpus.ground_truth import (
    CONTEXT,
    EVEN,
    KEPT,
    WIDTH,
    D,
    H,
    style,
    wrong,
)


class Plain(nn.Module):
    """Four layers and a triangle; each step may be done otherwise."""

    def __init__(self, dim, n_heads):
        super().__init__()
        self.n_heads, self.head_dim = n_heads, dim // n_heads
        self.q_proj = nn.Linear(dim, dim, bias=False)
        self.k_proj = nn.Linear(dim, dim, bias=False)
        self.v_proj = nn.Linear(dim, dim, bias=False)
        self.o_proj = nn.Linear(dim, dim, bias=False)

    def heads(self, x):
        return x.view(*x.shape[:2], self.n_heads, self.head_dim).transpose(1, 2)

    def scores(self, q, k):
        return q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)

    def hide(self, scores):
        T, S = scores.shape[-2:]
        future = torch.ones(T, S, dtype=torch.bool).triu(S - T + 1)
        return scores.masked_fill(future, -torch.inf)

    def weigh(self, scores):
        return softmax(scores, dim=-1)

    def project(self, x):
        return (self.heads(one(x)) for one in (self.q_proj, self.k_proj, self.v_proj))

    def merge(self, rows):
        return self.o_proj(rows.transpose(1, 2).flatten(2))

    def mix(self, q, k, v):
        return self.weigh(self.hide(self.scores(q, k))) @ v

    def forward(self, x):
        return self.merge(self.mix(*self.project(x)))


class LitGpt(Plain):
    def forward(self, x, mask=None):
        q, k, v = self.project(x)
        rows = scaled_dot_product_attention(
            q, k, v, attn_mask=mask, is_causal=mask is None
        )
        return self.merge(rows)


@style(causal=True)
def litgpt():
    """In the style of LitGPT: a mask that is handed in takes the triangle's place."""
    return LitGpt(WIDTH, H)


class MiniMind(Plain):
    def forward(self, x, attention_mask=None):
        q, k, v = self.project(x)
        scores, T = self.scores(q, k), x.shape[1]
        future = torch.full((T, T), float("-inf"), dtype=scores.dtype).triu(1)
        scores = scores + future
        if attention_mask is not None:
            wide = attention_mask.unsqueeze(1).unsqueeze(2)
            scores = scores + (1.0 - wide) * -1e9
        return self.merge(self.weigh(scores) @ v)


@style(causal=True)
def minimind():
    """In the style of MiniMind: a mask of ones and zeros, made to -1e9 and added."""
    return MiniMind(WIDTH, H)


class DropsScores(Plain):
    def __init__(self, dim, n_heads, dropout):
        super().__init__(dim, n_heads)
        self.attn_dropout = nn.Dropout(dropout)

    def weigh(self, scores):
        return softmax(self.attn_dropout(scores), dim=-1)


@style(
    causal=True,
    defects=(
        wrong(
            "Dropout acts on scores, so that hidden keys come back or hide others.",
            r"dropout.*(scores|before the softmax)|scores.*dropout",
        ),
    ),
)
def drops_scores():
    """In the style of a tutorial that drops before the softmax."""
    return DropsScores(WIDTH, H, 0.3)


class MaskedLate(Plain):
    def mix(self, q, k, v):
        weights = softmax(self.scores(q, k), dim=-1)
        past = torch.ones(weights.shape[-2:]).tril().to(weights)
        return (weights * past) @ v


@style(
    causal=True,
    defects=(
        wrong(
            "The mask multiplies weights, so that they sum to less than one.",
            r"after the softmax",
        ),
    ),
)
def masked_after_softmax():
    """In the style of a tutorial whose triangle comes after the softmax."""
    return MaskedLate(WIDTH, H)


class Renormalised(Plain):
    def mix(self, q, k, v):
        weights = softmax(self.scores(q, k), dim=-1)
        past = torch.ones(weights.shape[-2:]).tril().to(weights)
        weights = weights * past
        return (weights / weights.sum(dim=-1, keepdim=True)) @ v


@style(
    causal=True,
    defects=(
        wrong(
            "Where hidden scores are much larger, what is left is divided by zero.",
            r"not finite|\bnan\b|divided by zero|0 / 0",
            "large-scores",
            "leak",
        ),
    ),
)
def renormalised():
    """In the style of a chapter's first causal mask: weights are made to sum again."""
    return Renormalised(WIDTH, H)


class NothingHidden(Plain):
    def hide(self, scores):
        T = scores.shape[-1]
        causal_mask = torch.ones(T, T, dtype=torch.bool).triu(1)
        scores.masked_fill(causal_mask, -torch.inf)
        return scores


@style(
    causal=True,
    defects=(
        wrong(
            "The result of hiding is dropped, so that nothing is hidden.",
            r"nothing is hidden|result of hiding|no mask acts",
            "leak",
            "earlier-rows",
            "equation",
        ),
    ),
)
def hiding_dropped():
    """In the style of a tutorial that takes masked_fill for masked_fill_."""
    return NothingHidden(WIDTH, H)


class ZeroForHidden(Plain):
    causal = True

    def hide(self, scores):
        T = scores.shape[-1]
        past = torch.ones(T, T, dtype=torch.bool).tril()
        return scores * past


@style(
    causal=True,
    defects=(
        wrong(
            "Scores are multiplied by zero, which hides nothing.",
            r"multipl|\bzeros?\b|set to 0",
        ),
    ),
)
def zero_for_hidden():
    """In the style of a tutorial that multiplies scores by the triangle."""
    return ZeroForHidden(WIDTH, H)


class DynamicCache:
    """Keys and values of all layers, as an object."""

    def __init__(self):
        self.kept = {}

    def update(self, k, v, layer_idx):
        if layer_idx in self.kept:
            k = torch.cat([self.kept[layer_idx][0], k], dim=2)
            v = torch.cat([self.kept[layer_idx][1], v], dim=2)
        self.kept[layer_idx] = k, v
        return k, v

    def get_seq_length(self, layer_idx=0):
        return self.kept[layer_idx][0].shape[2] if layer_idx in self.kept else 0


class WithCache(Plain):
    def __init__(self, dim, n_heads, layer_idx):
        super().__init__(dim, n_heads)
        self.layer_idx = layer_idx

    def forward(self, hidden_states, past_key_values=None, attention_mask=None):
        q, k, v = self.project(hidden_states)
        if past_key_values is not None:
            k, v = past_key_values.update(k, v, self.layer_idx)
        scores = self.hide(self.scores(q, k))
        if attention_mask is not None:
            scores = scores + attention_mask
        return self.merge(self.weigh(scores) @ v), None


@style(causal=True)
def cache_object():
    """In the style of transformers of today: a cache that updates itself."""
    return WithCache(WIDTH, H, 0)


class AlwaysCaching(Plain):
    """Keep keys of every call, and never ask whether they are wanted."""

    def __init__(self, dim, n_heads):
        super().__init__(dim, n_heads)
        self.k_cache = self.v_cache = None

    def forward(self, x):
        q, k, v = self.project(x)
        if self.k_cache is not None and self.k_cache.shape[0] == len(x):
            k = torch.cat([self.k_cache, k], dim=2)
            v = torch.cat([self.v_cache, v], dim=2)
        self.k_cache, self.v_cache = k.detach(), v.detach()
        return self.merge(self.mix(q, k, v))


@style(
    causal=True,
    defects=(
        wrong(
            "Keys of the last text are seen by the next: the cache is never emptied.",
            r"(earlier|last|previous|former|other) calls?|keeps|is kept",
        ),
    ),
)
def cache_never_emptied():
    """In the style of a first program with a cache, which nobody empties."""
    return AlwaysCaching(WIDTH, H)


class MaskOfFirstCall(Plain):
    def __init__(self, dim, n_heads):
        super().__init__(dim, n_heads)
        self.mask = None

    def hide(self, scores):
        T = scores.shape[-1]
        if self.mask is None or self.mask.shape[-1] < T:
            self.mask = torch.ones(T, T, dtype=torch.bool).triu(1)
        return scores.masked_fill(self.mask[:T, :T], -torch.inf)


@style(causal=True, harmless=KEPT)
def mask_kept():
    """In the style of programs that keep the largest triangle they have needed."""
    return MaskOfFirstCall(WIDTH, H)


class Latent(nn.Module):
    """Keys and values from a narrow latent, and a part that is turned."""

    def __init__(self, dim, n_heads, latent, nope, rope, v_head_dim):
        super().__init__()
        self.n_heads, self.nope, self.rope, self.wide = n_heads, nope, rope, v_head_dim
        self.q_proj = nn.Linear(dim, n_heads * (nope + rope), bias=False)
        self.kv_a_proj = nn.Linear(dim, latent + rope, bias=False)
        self.kv_a_norm = nn.RMSNorm(latent, eps=1e-6)
        self.kv_b_proj = nn.Linear(latent, n_heads * (nope + v_head_dim), bias=False)
        self.o_proj = nn.Linear(n_heads * v_head_dim, dim, bias=False)
        self.softmax_scale = (nope + rope) ** -0.5
        freqs = 10000.0 ** (-torch.arange(0, rope, 2).double() / rope)
        self.register_buffer("inv_freq", freqs, persistent=False)

    def turned(self, x):
        angles = torch.arange(x.shape[1]).to(x.dtype)[:, None] * self.inv_freq.to(
            x.dtype
        )
        cos, sin = angles.cos()[:, None], angles.sin()[:, None]
        a, b = x[..., ::2], x[..., 1::2]
        return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)

    def forward(self, x):
        T, S = x.shape[1], x.shape[1]
        q = self.q_proj(x).unflatten(-1, (self.n_heads, -1))
        q_nope, q_rope = q.split((self.nope, self.rope), dim=-1)
        latent = self.kv_a_proj(x)
        latent, k_rope = latent[..., : -self.rope], latent[..., -self.rope :]
        both = self.kv_b_proj(self.kv_a_norm(latent)).unflatten(-1, (self.n_heads, -1))
        k_nope, v = both.split((self.nope, self.wide), dim=-1)
        k_rope = self.turned(k_rope[:, :, None]).expand(-1, -1, self.n_heads, -1)
        q = torch.cat((q_nope, self.turned(q_rope)), dim=-1)
        scores = torch.einsum("bthd,bshd->bhts", q, torch.cat((k_nope, k_rope), dim=-1))
        future = torch.ones(T, S, dtype=torch.bool).triu(1)
        scores = (scores * self.softmax_scale).masked_fill(future, -torch.inf)
        rows = torch.einsum("bhts,bshd->bthd", scores.softmax(-1), v)
        return self.o_proj(rows.flatten(2))


@style(causal=True)
def deepseek_latent():
    """In the style of DeepSeek: a latent for keys and values, a part that is turned."""
    return Latent(WIDTH, H, 11, D, 4, 7)


class Looped(nn.Module):
    """One head after the other, one query after the other, by loops."""

    def __init__(self, dim, heads, width):
        super().__init__()
        self.Wq = nn.ParameterList(torch.randn(dim, width) for _ in range(heads))
        self.Wk = nn.ParameterList(torch.randn(dim, width) for _ in range(heads))
        self.Wv = nn.ParameterList(torch.randn(dim, width) for _ in range(heads))
        self.Wo = nn.Parameter(torch.randn(heads * width, dim))

    def forward(self, inputs):
        made = []
        for wq, wk, wv in zip(self.Wq, self.Wk, self.Wv, strict=True):
            queries, keys, values = inputs @ wq, inputs @ wk, inputs @ wv
            rows = []
            for t in range(inputs.shape[1]):
                past = keys[:, : t + 1] @ queries[:, t, :, None] / wq.shape[1] ** 0.5
                rows.append((past.softmax(dim=1) * values[:, : t + 1]).sum(dim=1))
            made.append(torch.stack(rows, dim=1))
        return torch.cat(made, dim=-1) @ self.Wo


@style(causal=True)
def by_loops():
    """In the style of makers who trust no tensors: loops, and matrices in lists."""
    return Looped(WIDTH, 2, EVEN)


class Sized(Plain):
    def __init__(self, dim, n_heads, block_size):
        super().__init__(dim, n_heads)
        self.block_size = block_size

    def forward(self, idx):
        if idx.shape[1] > self.block_size:
            raise AssertionError
        return super().forward(idx)


@style(causal=True)
def refuses_long_texts():
    """In the style of small decoders: a text that is too long is refused."""
    return Sized(WIDTH, H, CONTEXT)
