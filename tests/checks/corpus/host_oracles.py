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
