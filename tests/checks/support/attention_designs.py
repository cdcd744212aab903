"""Attention with something inside besides the equation, as public code has it."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

WIDTH, HEADS, D, CONTEXT = 24, 3, 8, 17


def split(x: Tensor, width: int = D) -> Tensor:
    return x.unflatten(-1, (-1, width)).transpose(1, 2)


def merge(x: Tensor) -> Tensor:
    return x.transpose(1, 2).flatten(2)


def angles(count: int, pairs: int = D // 2, base: float = 1e4) -> Tensor:
    frequencies = base ** (-torch.arange(pairs, dtype=torch.float64) / pairs)
    return torch.outer(torch.arange(count, dtype=torch.float64), frequencies)


def turn_pairs(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    one, other = x[..., ::2], x[..., 1::2]
    turned = one * cos - other * sin, one * sin + other * cos
    return torch.stack(turned, dim=-1).flatten(-2)


def rotate_half(x: Tensor) -> Tensor:
    one, other = x.chunk(2, dim=-1)
    return torch.cat([-other, one], dim=-1)


class Base(nn.Module):
    """Attention of some heads; what is inside besides, a subclass says."""

    def __init__(self, *, causal: bool = True) -> None:
        super().__init__()
        self.num_heads, self.causal = HEADS, causal
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (
            nn.Linear(WIDTH, WIDTH) for _ in range(4)
        )

    def inside(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, ...]:
        return q, k, v

    def weigh(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return scaled_dot_product_attention(q, k, v, is_causal=self.causal)

    def forward(self, x: Tensor) -> Tensor:
        three = (split(one(x)) for one in (self.q_proj, self.k_proj, self.v_proj))
        return self.o_proj(merge(self.weigh(*self.inside(*three))))


class Halves(Base):
    """Frequencies in a submodule; cosines twice, one half beside the other."""

    def __init__(self, base: float = 1e4, **options: Any) -> None:
        super().__init__(**options)
        self.rotary_emb = nn.Module()
        self.rotary_emb.register_buffer("inv_freq", angles(2, base=base)[1])

    def turn(self, x: Tensor) -> Tensor:
        places = torch.arange(x.shape[2], dtype=x.dtype)
        half = torch.outer(places, self.rotary_emb.inv_freq.to(x.dtype))
        both = torch.cat([half, half], dim=-1)
        return x * both.cos() + rotate_half(x) * both.sin()

    def inside(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, ...]:
        return self.turn(q), self.turn(k), v


class Complex(Base):
    """A table of complex numbers, a plain attribute."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.freqs_cis = torch.polar(torch.ones(1).double(), angles(CONTEXT))

    def turn(self, x: Tensor) -> Tensor:
        pairs = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous())
        return (
            torch.view_as_real(pairs * self.freqs_cis[: x.shape[2]]).flatten(-2).to(x)
        )

    def inside(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, ...]:
        return self.turn(q), self.turn(k), v


class Pairs(Base):
    """Buffers of cosines and sines, each number twice; neighbours are a pair."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        table = angles(CONTEXT).repeat_interleave(2, dim=-1)
        self.register_buffer("cos_cached", table.cos()[None, None])
        self.register_buffer("sin_cached", table.sin()[None, None])

    def turn(self, x: Tensor) -> Tensor:
        T = x.shape[2]
        cos, sin = self.cos_cached[:, :, :T], self.sin_cached[:, :, :T]
        other = torch.stack([-x[..., 1::2], x[..., ::2]], dim=-1).flatten(-2)
        return x * cos.to(x) + other * sin.to(x)

    def inside(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, ...]:
        return self.turn(q), self.turn(k), v


class InPart(Base):
    """Only the first half of each head is turned; a cache of cosine and sine."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        table = angles(CONTEXT, D // 4)
        self.register_buffer("rope_cache", torch.stack([table.cos(), table.sin()], -1))

    def turn(self, x: Tensor) -> Tensor:
        cos, sin = self.rope_cache[: x.shape[2]].to(x).unbind(-1)
        first, rest = x.split(D // 2, dim=-1)
        return torch.cat([turn_pairs(first, cos, sin), rest], dim=-1)

    def inside(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, ...]:
        return self.turn(q), self.turn(k), v


class Given(Base):
    """The caller hands over cosines and sines, as a model does that shares them."""

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        q, k, v = (split(one(x)) for one in (self.q_proj, self.k_proj, self.v_proj))
        q, k = turn_pairs(q, cos, sin), turn_pairs(k, cos, sin)
        return self.o_proj(merge(self.weigh(q, k, v)))


def given(m: Any, x: Tensor) -> Tensor:
    table = angles(x.shape[1]).to(x)
    return m(x, table.cos(), table.sin())


class Normed(Halves):
    """Queries and keys of each head are normed, then turned."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.q_norm, self.k_norm = nn.RMSNorm(D), nn.RMSNorm(D)

    def inside(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, ...]:
        return self.turn(self.q_norm(q)), self.turn(self.k_norm(k)), v


class NormedAfterwards(Normed):
    """They are turned, then normed."""

    def inside(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, ...]:
        return self.q_norm(self.turn(q)), self.k_norm(self.turn(k)), v


class NormedTogether(Base):
    """A norm over all heads side by side."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.ln_q, self.ln_k = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)

    def inside(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, ...]:
        return split(self.ln_q(merge(q))), split(self.ln_k(merge(k))), v


class Biased(Base):
    """ALiBi, with slopes in a buffer or made in the call."""

    def __init__(self, *, kept: bool = True, **options: Any) -> None:
        super().__init__(**options)
        slopes = torch.tensor([2**-4, 2**-8, 2**-2], dtype=torch.float64)
        if kept:
            self.register_buffer("slopes", slopes.view(-1, 1, 1))
        self.alibi = lambda m: m.slopes if kept else slopes.view(-1, 1, 1)

    def weigh(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        T = q.shape[2]
        places = torch.arange(T)
        bias = -self.alibi(self).to(q) * (places[:, None] - places).abs().to(q)
        if self.causal:
            future = torch.ones(T, T, dtype=torch.bool).triu(1)
            bias = bias.masked_fill(future, -torch.inf)
        return scaled_dot_product_attention(q, k, v, attn_mask=bias)


class Looked(Base):
    """A learned bias for each distance and head, looked up in a table."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.relative_bias = nn.Embedding(2 * CONTEXT, HEADS)

    def weigh(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        T = q.shape[2]
        places = torch.arange(T)
        far = (places - places[:, None]).clamp(-CONTEXT, CONTEXT - 1) + CONTEXT
        bias = self.relative_bias(far).permute(2, 0, 1)
        if self.causal:
            future = torch.ones(T, T, dtype=torch.bool).triu(1)
            bias = bias.masked_fill(future, -torch.inf)
        return scaled_dot_product_attention(q, k, v, attn_mask=bias)


class ByHand(Base):
    """Scores, weights and what is done to them, each a method of its own."""

    def scores(self, q: Tensor, k: Tensor) -> Tensor:
        return q @ k.mT / math.sqrt(D)

    def allowed(self, T: int) -> Tensor:
        full = torch.ones(T, T, dtype=torch.bool)
        return full.tril() if self.causal else full

    def weights(self, scores: Tensor) -> Tensor:
        return scores.softmax(-1)

    def weigh(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        scores = self.scores(q, k)
        hidden = ~self.allowed(q.shape[2])
        return self.weights(scores.masked_fill(hidden, -torch.inf)) @ v


class Capped(ByHand):
    """Scores are capped softly before masks."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.attn_logit_softcapping = 1.5

    def scores(self, q: Tensor, k: Tensor) -> Tensor:
        cap = self.attn_logit_softcapping
        return cap * torch.tanh(super().scores(q, k) / cap)


class Sunk(ByHand):
    """A learned sink for each head."""

    def __init__(self, name: str = "sinks", **options: Any) -> None:
        super().__init__(**options)
        self.name = name
        self.register_parameter(name, nn.Parameter(torch.zeros(HEADS)))

    def weights(self, scores: Tensor) -> Tensor:
        sinks = getattr(self, self.name).view(1, -1, 1, 1)
        sinks = sinks.expand(*scores.shape[:-1], 1)
        return torch.cat([scores, sinks], dim=-1).softmax(-1)[..., :-1]


class Windowed(ByHand):
    """Each token sees so many of the latest."""

    def __init__(self, name: str = "sliding_window", size: int = 4) -> None:
        super().__init__()
        self.size = size
        setattr(self, name, size)

    def allowed(self, T: int) -> Tensor:
        return super().allowed(T).triu(1 - self.size)


STYLES: dict[str, Callable[..., nn.Module]] = {
    "halves": Halves,
    "complex": Complex,
    "pairs": Pairs,
    "in part": InPart,
    "normed": Normed,
    "normed afterwards": NormedAfterwards,
    "normed together": NormedTogether,
    "slopes kept": Biased,
    "slopes made": lambda **options: Biased(kept=False, **options),
    "looked up": Looked,
    "capped": Capped,
    "sinks": Sunk,
    "sinks of another name": lambda **options: Sunk("empty", **options),
}
