"""What public histories had to mend, each in a module of its kind."""

import math

import torch
from torch import nn
from torch.nn.functional import relu, scaled_dot_product_attention, softmax

from tests.checks.corpus.ground_truth import (
    BY_MODEL,
    NAN,
    OTHER,
    WIDTH,
    D,
    H,
    style,
    wrong,
)
from tests.checks.corpus.styles.masking import Plain


class SplitByView(nn.Module):
    def __init__(self, embedding_dim, num_heads, transposed):
        super().__init__()
        self.num_heads, self.attention_dim = num_heads, embedding_dim // num_heads
        self.transposed = transposed
        self.W_q = nn.Linear(embedding_dim, embedding_dim, bias=False)
        self.W_k = nn.Linear(embedding_dim, embedding_dim, bias=False)
        self.W_v = nn.Linear(embedding_dim, embedding_dim, bias=False)

    def split(self, x):
        if self.transposed:
            wide = x.view(*x.shape[:2], self.num_heads, -1).transpose(1, 2)
            return wide.flatten(0, 1)
        return x.view(len(x) * self.num_heads, -1, self.attention_dim)

    def merge(self, rows, like):
        if self.transposed:
            wide = rows.unflatten(0, (-1, self.num_heads)).transpose(1, 2)
            return wide.flatten(2)
        return rows.view(like.shape)

    def forward(self, query, key, value):
        q, k, v = self.W_q(query), self.W_k(key), self.W_v(value)
        q, k, v = self.split(q), self.split(k), self.split(v)
        scores = torch.bmm(q, k.transpose(1, 2)) / self.attention_dim**0.5
        return self.merge(torch.bmm(scores.softmax(dim=-1), v), query)


@style()
def fuxictr():
    """In the style of FuxiCTR: heads in the axis of texts."""
    return SplitByView(WIDTH, H, transposed=True)


@style(
    defects=(
        wrong(
            "Heads are cut by a view alone, so that tokens get into each other.",
            r"heads are (cut|split|taken)|split.*(view|transpose)|how heads are split",
        ),
    )
)
def fuxictr_early():
    """In the style of FuxiCTR before its heads were split with a transpose."""
    return SplitByView(WIDTH, H, transposed=False)


class Scaled(Plain):
    """Scores are multiplied by a number that the style chooses."""

    def __init__(self, dim, n_heads, scale):
        super().__init__(dim, n_heads)
        self.scale = scale

    def scores(self, q, k):
        return q @ k.transpose(-2, -1) * self.scale


@style(
    causal=True,
    defects=(
        wrong(
            "Scores are multiplied by the root of a head's width, not divided by it.",
            r"multipl|not divided|wrong way",
            "equation",
        ),
    ),
)
def rasbt_combined_scale():
    """In the style of LLMs-from-scratch's combined layer before a sign was mended."""
    return Scaled(WIDTH, H, D**0.5)


@style(
    causal=True,
    defects=(
        wrong(
            "Scores are divided by the root of the number of heads.",
            r"number of heads",
            "equation",
        ),
    ),
)
def clip_by_heads():
    """In the style of a vendor's CLIP tutorial, which took heads for their width."""
    return Scaled(WIDTH, H, H**-0.5)


@style(causal=True, defects=(BY_MODEL,))
def vit_cifar():
    """In the style of an image classifier that divides by the root of all features."""
    return Scaled(WIDTH, H, WIDTH**-0.5)


@style(
    causal=True,
    defects=(
        wrong(
            "Scores are not scaled.",
            r"not (scaled|divided)|no scale|scale.*(missing|left out)",
            "equation",
        ),
    ),
)
def multi_query_unscaled():
    """In the style of timm's multi-query attention before its scale was put in."""
    return Scaled(WIDTH, H, 1.0)


class SetAttention(nn.Module):
    def __init__(self, dim_q, dim_k, dim_v, num_heads, by_model=True):
        super().__init__()
        self.dim_v, self.num_heads = dim_v, num_heads
        self.divisor = math.sqrt(dim_v if by_model else dim_v // num_heads)
        self.fc_q = nn.Linear(dim_q, dim_v)
        self.fc_k = nn.Linear(dim_k, dim_v)
        self.fc_v = nn.Linear(dim_k, dim_v)
        self.fc_o = nn.Linear(dim_v, dim_v)

    def forward(self, Q, K):
        q, k, v = self.fc_q(Q), self.fc_k(K), self.fc_v(K)
        width = self.dim_v // self.num_heads
        q, k, v = (torch.cat(one.split(width, 2), 0) for one in (q, k, v))
        weights = softmax(q.bmm(k.transpose(1, 2)) / self.divisor, dim=2)
        rows = torch.cat((q + weights.bmm(v)).split(len(Q), 0), 2)
        return rows + relu(self.fc_o(rows))


@style(defects=(BY_MODEL,), harmless=OTHER)
def set_transformer():
    """In the style of the set transformer: queries are added, and the whole width."""
    return SetAttention(WIDTH, WIDTH, WIDTH, H)


class OverHeadsToo(Plain):
    def weigh(self, scores):
        texts, heads, T, S = scores.shape
        rows = scores.transpose(1, 2).flatten(2).softmax(dim=-1)
        return rows.view(texts, T, heads, S).transpose(1, 2)


@style(
    causal=True,
    defects=(
        wrong(
            "The softmax runs over keys and heads together.",
            r"softmax.*heads|heads.*softmax",
            "equation",
            "equal-tokens",
        ),
    ),
)
def detr_over_heads():
    """In the style of DETR's maps before each head got a softmax of its own."""
    return OverHeadsToo(WIDTH, H)


class MaskedWeights(Plain):
    """A mask of keys is laid over weights after the softmax."""

    def __init__(self, dim, n_heads, after):
        super().__init__(dim, n_heads)
        self.after = after

    def forward(self, x, attn_mask=None):
        q, k, v = self.project(x)
        scores = self.scores(q, k)
        seen = None if attn_mask is None else attn_mask.to(torch.bool)[:, None, None, :]
        if seen is not None and not self.after:
            scores = scores.masked_fill(~seen, torch.finfo(scores.dtype).min)
        weights = softmax(scores, dim=-1)
        if seen is not None and self.after:
            weights = weights.masked_fill(~seen, 0.0)
        return self.merge(weights @ v)


@style()
def eva():
    """In the style of timm's EVA: a mask of keys."""
    return MaskedWeights(WIDTH, H, after=False)


@style(
    defects=(
        wrong(
            "The mask acts after the softmax, so that weights sum to less than one.",
            r"after the softmax|sum to (less|one)|do(es)? not sum",
            "masks",
            "padding",
        ),
    )
)
def eva_early():
    """In the style of timm's EVA before its mask went in front of the softmax."""
    return MaskedWeights(WIDTH, H, after=True)


class MaskUsedOnce(Plain):
    """The mask that is handed in is taken, and one path forgets it."""

    def forward(self, x, key_padding_mask=None, need_weights=False):
        q, k, v = self.project(x)
        if not need_weights:
            return self.merge(scaled_dot_product_attention(q, k, v))
        scores = self.scores(q, k)
        if key_padding_mask is not None:
            hidden = key_padding_mask[:, None, None].bool()
            scores = scores.masked_fill(hidden, -torch.inf)
        return self.merge(softmax(scores, dim=-1) @ v)


@style(
    defects=(
        wrong(
            "The fast path takes the mask and never uses it.",
            r"changes nothing|mask.*(not used|ignor|nothing)",
            "masks",
            "padding",
        ),
    )
)
def mask_forgotten_when_fast():
    """In the style of models whose fused path forgets the mask of the slow one."""
    return MaskUsedOnce(WIDTH, H)


class HidesForBoth(Plain):
    """What is padding is hidden as a row and as a column, and its row is nan."""

    def forward(self, x, pad_mask=None):
        q, k, v = self.project(x)
        scores = self.scores(q, k)
        if pad_mask is not None:
            real = ~pad_mask.bool()
            both = real[:, None, :, None] & real[:, None, None, :]
            scores = scores.masked_fill(~both, -torch.inf)
        return self.merge(softmax(scores, dim=-1) @ v)


@style(defects=(NAN,))
def pads_on_both_sides():
    """In the style of encoders that hide rows of padding too, and get nan there."""
    return HidesForBoth(WIDTH, H)
