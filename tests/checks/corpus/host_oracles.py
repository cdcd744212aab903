"""What the hosts must give, in loops over texts, heads, queries and keys.

Nothing here is taken from a host but its weights.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

Seen = Callable[[int, int, int], bool]  # text, query, key


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    scale: float,
    seen: Seen,
    bias: Callable[[int, int, int], float] = lambda h, t, s: 0.0,
    **also: Tensor | float,
) -> Tensor:
    """Mix values for each query by itself; heads share keys in neighbouring groups."""
    B, T, H, _ = q.shape
    share = H // k.shape[2]
    out = q.new_zeros(B, T, H, v.shape[3])
    for b in range(B):
        for h in range(H):
            for t in range(T):
                keys = [s for s in range(k.shape[1]) if seen(b, t, s)]
                scores = [scale * float(q[b, t, h] @ k[b, s, h // share]) for s in keys]
                if "cap" in also:
                    cap = float(also["cap"])
                    scores = [cap * math.tanh(score / cap) for score in scores]
                mass = [
                    math.exp(score + bias(h, t, s))
                    for score, s in zip(scores, keys, strict=True)
                ]
                total = sum(mass)
                if "sinks" in also:
                    total += math.exp(float(also["sinks"][h]))
                for part, s in zip(mass, keys, strict=True):
                    out[b, t, h] += part / total * v[b, s, h // share]
    return out.reshape(B, T, -1)


def causal(b: int, t: int, s: int) -> bool:
    """Let a token see itself and what came before."""
    return s <= t


def rotate(x: Tensor, base: float, first: int = 0, *, pairs: bool = False) -> Tensor:
    """Turn channels two by two, by an angle for each position."""
    x, D = x.clone(), x.shape[-1]
    for t in range(x.shape[1]):
        for i in range(D // 2):
            one, two = (2 * i, 2 * i + 1) if pairs else (i, i + D // 2)
            angle = (first + t) * base ** (-2 * i / D)
            a, b = x[:, t, :, one].clone(), x[:, t, :, two].clone()
            x[:, t, :, one] = a * math.cos(angle) - b * math.sin(angle)
            x[:, t, :, two] = a * math.sin(angle) + b * math.cos(angle)
    return x


def heads(layer: nn.Linear, x: Tensor, count: int) -> Tensor:
    """Project, and cut channels into heads: (texts, tokens, heads, width)."""
    rows = layer(x)
    return rows.reshape(*x.shape[:2], count, -1)


def rms(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """Divide by the root of the mean square."""
    size = torch.stack([row @ row for row in x.reshape(-1, x.shape[-1])])
    root = (size / x.shape[-1] + eps).sqrt().reshape(*x.shape[:-1], 1)
    return x / root * weight


def gpt2(m: nn.Module, x: Tensor, keep: Tensor | None = None) -> Tensor:
    q, k, v = m.c_attn(x).reshape(*x.shape[:2], 3, 3, 10).unbind(2)
    return m.c_proj(attend(q, k, v, 10**-0.5, causal))


def llama(m: nn.Module, x: Tensor, keep: Tensor | None = None) -> Tensor:
    inner = m.attention
    rows = rms(x, m.attention_norm.weight, 1e-5)
    q = rotate(heads(inner.wq, rows, 6), 500000.0)
    k = rotate(heads(inner.wk, rows, 3), 500000.0)
    v = heads(inner.wv, rows, 3)
    return x + inner.wo(attend(q, k, v, 8**-0.5, causal))


def visible(keep: Tensor | None, seen: Seen) -> Seen:
    """Hide the keys that are padding, too."""
    if keep is None:
        return seen
    return lambda b, t, s: seen(b, t, s) and bool(keep[b, s])


def qwen3(m: nn.Module, x: Tensor, keep: Tensor | None = None) -> Tensor:
    q = rms(heads(m.q_proj, x, 6), m.q_norm.weight, 1e-6)
    k = rms(heads(m.k_proj, x, 2), m.k_norm.weight, 1e-6)
    q, k, v = rotate(q, 1e6), rotate(k, 1e6), heads(m.v_proj, x, 2)
    return m.o_proj(attend(q, k, v, 8**-0.5, visible(keep, causal)))


def latest(count: int) -> Seen:
    """Let a token see the latest keys alone, itself included."""
    return lambda b, t, s: t - count < s <= t


def mistral(m: nn.Module, x: Tensor, keep: Tensor | None = None) -> Tensor:
    q = rotate(heads(m.q_proj, x, 6), 1000.0)
    k = rotate(heads(m.k_proj, x, 3), 1000.0)
    v = heads(m.v_proj, x, 3)
    return m.o_proj(attend(q, k, v, 8**-0.5, visible(keep, latest(4))))


def gpt_oss(m: nn.Module, x: Tensor, keep: Tensor | None = None) -> Tensor:
    rows = m.qkv(x).reshape(*x.shape[:2], 10, 8)
    q, k, v = rows.split([6, 2, 2], dim=2)
    q, k = rotate(q, 150000.0), rotate(k, 150000.0)
    return m.out(attend(q, k, v, 8**-0.5, latest(5), sinks=m.sinks))


def bert(m: nn.Module, x: Tensor, keep: Tensor | None = None) -> Tensor:
    inner, last = m.self, m.output
    q, k, v = (heads(layer, x, 4) for layer in (inner.query, inner.key, inner.value))
    rows = x + last.dense(
        attend(q, k, v, 12**-0.5, visible(keep, lambda b, t, s: True))
    )
    rows = rows - rows.sum(-1, keepdim=True) / 48
    return rms(rows, last.LayerNorm.weight, 1e-12) + last.LayerNorm.bias


def context(x: Tensor, length: int = 5) -> Tensor:
    """Make a context of another length and width, which depends on the tokens."""
    mix = torch.arange(length * x.shape[1]).reshape(length, -1).sin().to(x)
    return mix @ x[:, :, :20]


def cross(m: nn.Module, x: Tensor, keep: Tensor | None = None) -> Tensor:
    rows = context(x, 5 if keep is None else keep.shape[1])
    q, k, v = heads(m.to_q, x, 4), heads(m.to_k, rows, 4), heads(m.to_v, rows, 4)
    out = attend(q, k, v, 8**-0.5, visible(keep, lambda b, t, s: True))
    return m.to_out[0](out)


def bloom(m: nn.Module, x: Tensor, keep: Tensor | None = None) -> Tensor:
    q, k, v = m.query_key_value(x).reshape(*x.shape[:2], 6, 3, 8).unbind(3)
    slopes = [1 / 4, 1 / 16, 1 / 64, 1 / 256, 1 / 2, 1 / 8]
    falls = lambda h, t, s: -slopes[h] * (t - s)  # noqa: E731
    return m.dense(attend(q, k, v, 8**-0.5, causal, falls))


def t5(m: nn.Module, x: Tensor, keep: Tensor | None = None) -> Tensor:
    q, k, v = (heads(layer, x, 6) for layer in (m.q, m.k, m.v))

    def learned(h: int, t: int, s: int) -> float:
        # 4 is where far buckets begin, and each is wider by the fourth root of 5
        far = sum(t - s >= 4 * 5 ** (i / 4) for i in (1, 2, 3))
        bucket = t - s if t - s < 4 else 4 + far
        return float(m.relative_attention_bias.weight[bucket, h])

    return m.o(attend(q, k, v, 1.0, causal, learned))


def gemma2(m: nn.Module, x: Tensor, keep: Tensor | None = None) -> Tensor:
    q, k, v = heads(m.qkv_proj, x, 12).split([6, 3, 3], dim=2)
    q, k = rotate(q, 10000.0), rotate(k, 10000.0)
    return m.o_proj(attend(q, k, v, 1 / 4, causal, cap=2.0))


def complex_llama(m: nn.Module, x: Tensor, keep: Tensor | None = None) -> Tensor:
    q = rotate(heads(m.wq, x, 6), 10000.0, pairs=True)
    k = rotate(heads(m.wk, x, 3), 10000.0, pairs=True)
    return m.wo(attend(q, k, heads(m.wv, x, 3), 8**-0.5, causal))
