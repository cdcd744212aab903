"""Small language models written as people write them, right and wrong."""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

VOCABULARY, WIDTH, HEADS, LONGEST = 31, 12, 2, 160


class Attention(nn.Module):
    """Causal self-attention; what a model below does wrong, it overrides."""

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.proj = nn.Linear(WIDTH, WIDTH)
        self.dropout = dropout

    def split(self, x: Tensor) -> tuple[Tensor, ...]:
        parts = self.qkv(x).unflatten(-1, (3, HEADS, -1)).unbind(-3)
        return tuple(one.transpose(1, 2) for one in parts)

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        p = self.dropout if self.training else 0.0
        return F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=p)

    def forward(self, x: Tensor) -> Tensor:
        rows = self.attend(*self.split(x))
        return self.proj(rows.transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, attention: nn.Module) -> None:
        super().__init__()
        self.norm, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = attention
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 20), nn.GELU(), nn.Linear(20, WIDTH))

    def forward(self, x: Tensor, **extra: Any) -> Tensor:
        x = x + self.attention(self.norm(x), **extra)
        return x + self.mlp(self.norm2(x))


class Plain(nn.Module):
    """Ids in, logits out, with learned positions."""

    attention: type[nn.Module] = Attention

    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.places = nn.Embedding(LONGEST, WIDTH)
        self.blocks = nn.ModuleList(Block(self.attention()) for _ in range(2))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def embed(self, ids: Tensor) -> Tensor:
        return self.tokens(ids) + self.places.weight[: ids.shape[-1]]

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embed(ids)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class Nano(Plain):
    """As nanoGPT is called: logits and a loss, of the last token without targets."""

    def forward(
        self, idx: Tensor, targets: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None]:
        logits = super().forward(idx)
        if targets is None:
            return logits[:, [-1]], None
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten())

    @torch.no_grad()
    def generate(
        self,
        idx: Tensor,
        max_new_tokens: int,
        temperature: float = 1.0,
        top_k: int | None = None,
    ) -> Tensor:
        for _ in range(max_new_tokens):
            logits, _ = self(idx[:, -LONGEST:])
            logits = logits[:, -1] / temperature
            if top_k is not None:
                least = logits.topk(top_k).values[:, [-1]]
                logits = logits.masked_fill(logits < least, -torch.inf)
            new = torch.multinomial(logits.softmax(-1), 1)
            idx = torch.cat([idx, new], dim=1)
        return idx


class Padded(Plain):
    """Masks and positions are taken, by the names that are common."""

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
    ) -> Tensor:
        T = input_ids.shape[1]
        if position_ids is None:
            position_ids = torch.arange(T)
        x = self.tokens(input_ids) + self.places(position_ids)
        mask = torch.ones(T, T, dtype=torch.bool).tril()
        if attention_mask is not None:
            mask = self.joined(mask, attention_mask.bool())
        for block in self.blocks:
            x = block(x, mask=mask)
        return self.head(self.norm(x))

    def joined(self, mask: Tensor, real: Tensor) -> Tensor:
        return (mask & real[:, None])[:, None]

    class attention(Attention):  # noqa: D106, N801
        def forward(self, x: Tensor, mask: Tensor) -> Tensor:
            q, k, v = self.split(x)
            rows = F.scaled_dot_product_attention(q, k, v, mask)
            return self.proj(rows.transpose(1, 2).flatten(2))


Past = list[tuple[Tensor, Tensor]]


class Cached(Plain):
    """Keys and values of all layers are handed on as a list of pairs."""

    def forward(
        self, ids: Tensor, past: Past | None = None, use_cache: bool = False
    ) -> Any:
        x = self.tokens(ids) + self.places(self.positions(ids, past))
        kept: Past = []
        for n, block in enumerate(self.blocks):
            rows, pair = block.attention(
                block.norm(x), None if past is None else past[n]
            )
            x = x + rows
            x = x + block.mlp(block.norm2(x))
            kept.append(pair)
        logits = self.head(self.norm(x))
        return (logits, kept) if use_cache else logits

    def positions(self, ids: Tensor, past: Past | None) -> Tensor:
        start = self.start(past)
        return torch.arange(start, start + ids.shape[-1])

    def start(self, past: Past | None) -> int:
        return 0 if past is None else past[0][0].shape[-2]

    class attention(Attention):  # noqa: D106, N801
        def forward(self, x: Tensor, past: tuple[Tensor, Tensor] | None) -> Any:
            q, k, v = self.split(x)
            if past is not None:
                k, v = torch.cat([past[0], k], -2), torch.cat([past[1], v], -2)
            mask = self.mask(q.shape[-2], k.shape[-2])
            rows = F.scaled_dot_product_attention(q, k, v, mask)
            return self.proj(rows.transpose(1, 2).flatten(2)), (k, v)

        def mask(self, T: int, S: int) -> Tensor:
            return torch.ones(T, S, dtype=torch.bool).tril(S - T)


RIGHT: list[type[nn.Module]] = [Plain, Nano, Padded, Cached]


# ---- Wrong, as models have been published ----


class DroppedWithDropout(Plain):
    """The mask is made in the branch without dropout alone."""

    class attention(Attention):  # noqa: D106, N801
        def __init__(self) -> None:
            super().__init__(dropout=0.1)

        def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            if self.training and self.dropout > 0:
                weights = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
                return F.dropout(weights, self.dropout) @ v
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)


class Encoder(Plain):
    """A decoder that is given the mask of an encoder: none."""

    class attention(Attention):  # noqa: D106, N801
        def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            return F.scaled_dot_product_attention(q, k, v)


class BiasInsteadOfMask(Plain):
    """A bias learned from values is added; where it is, no mask is made."""

    class attention(Attention):  # noqa: D106, N801
        def __init__(self) -> None:
            super().__init__()
            self.fused = True

        def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            bias = v.sum(-1)[..., None, :].expand(*q.shape[:-1], -1)
            T = q.shape[-2]
            if not self.fused:
                future = torch.ones(T, T, dtype=torch.bool).triu(1)
                bias = bias.masked_fill(future, -torch.inf)
                return (q @ k.mT / q.shape[-1] ** 0.5 + bias).softmax(-1) @ v
            return F.scaled_dot_product_attention(q, k, v, attn_mask=bias)


class MeanOfBlock(Plain):
    """Each token is given the mean of the block of four that it stands in."""

    def embed(self, ids: Tensor) -> Tensor:
        x = super().embed(ids)
        T = x.shape[1]
        padded = F.pad(x, (0, 0, 0, -T % 4)).unflatten(1, (-1, 4))
        mean = padded.mean(2, keepdim=True).expand_as(padded).flatten(1, 2)
        return x + mean[:, :T]


class LongChunks(Plain):
    """Texts of more than 64 tokens are mixed in chunks of 32."""

    def embed(self, ids: Tensor) -> Tensor:
        x = super().embed(ids)
        T = x.shape[1]
        if T <= 64:
            return x
        chunks = F.pad(x, (0, 0, 0, -T % 32)).unflatten(1, (-1, 32))
        return x + chunks.flip(2).flatten(1, 2)[:, :T]


class WrapsRound(Plain):
    """The token before is added; before the first comes the last."""

    def embed(self, ids: Tensor) -> Tensor:
        x = super().embed(ids)
        return x + x.roll(1, dims=1)


class InvertedMask(Plain):
    """A mask that is True where it hides, given to a function that wants the other."""

    class attention(Attention):  # noqa: D106, N801
        def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            T = q.shape[-2]
            future = torch.ones(T, T, dtype=torch.bool).triu(1)
            return F.scaled_dot_product_attention(q, k, v, attn_mask=future)


class RestartsPositions(Cached):
    """Each piece counts its positions from nought again."""

    def start(self, past: Past | None) -> int:
        return 0


class UpperCorner(Cached):
    """The triangle stands in the upper left corner, whatever was kept."""

    class attention(Cached.attention):  # noqa: D106, N801
        def mask(self, T: int, S: int) -> Tensor:
            return torch.ones(T, S, dtype=torch.bool).tril()


class NoMaskBehind(Cached):
    """Behind a cache no mask is made: right for one token, wrong for several."""

    class attention(Cached.attention):  # noqa: D106, N801
        def mask(self, T: int, S: int) -> Tensor:
            mask = torch.ones(T, S, dtype=torch.bool)
            return mask.tril() if T == S else mask


class SmearedChunks(Cached):
    """Each token reads the one before; behind a cache the first of a piece does not."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = _Smearing(VOCABULARY, WIDTH)

    def forward(self, ids: Tensor, past: Any = None, use_cache: bool = False) -> Any:
        self.tokens.before = None if past is None else past[1]
        result = super().forward(ids, None if past is None else past[0], use_cache)
        if not use_cache:
            return result
        return result[0], (
            result[1],
            nn.functional.embedding(ids[:, -1:], self.tokens.weight),
        )


class _Smearing(nn.Embedding):
    before: Tensor | None = None

    def forward(self, ids: Tensor) -> Tensor:
        x = super().forward(ids)
        if self.before is not None and ids.shape[1] == 1:
            return x + self.before
        return torch.cat([x[:, :1], x[:, 1:] + x[:, :-1]], dim=1)


class Centred(Plain):
    """A mean is taken over the texts of a batch."""

    def embed(self, ids: Tensor) -> Tensor:
        x = super().embed(ids)
        return x - x.mean(0)


class CentredInTraining(Plain):
    """The same, in training alone."""

    def embed(self, ids: Tensor) -> Tensor:
        x = super().embed(ids)
        return x - x.mean(0) if self.training else x


class OverBatchAndText(Plain):
    """In training the mean is of all tokens there are, as a norm of batches has it."""

    def embed(self, ids: Tensor) -> Tensor:
        x = super().embed(ids)
        return x - x.mean((0, 1)) if self.training else x


class KeepsTheText(Plain):
    """Keys and values are kept from call to call, and nobody lets go of them."""

    class attention(Attention):  # noqa: D106, N801
        kept: tuple[Tensor, Tensor] | None = None

        def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            old, self.kept = self.kept, (k, v)
            if old is not None and old[0].shape[:2] == k.shape[:2]:
                k, v = torch.cat([old[0], k], -2), torch.cat([old[1], v], -2)
            mask = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool)
            mask = mask.tril(k.shape[-2] - q.shape[-2])
            return F.scaled_dot_product_attention(q, k, v, mask)


class KeepsTheLength(Plain):
    """A text that is shorter than one before is refused."""

    longest = 0

    def embed(self, ids: Tensor) -> Tensor:
        self.longest = max(self.longest, ids.shape[1])
        if ids.shape[1] < self.longest:
            raise RuntimeError("shorter")
        return super().embed(ids)


class AlwaysDrops(Plain):
    """Dropout of the fused function knows nothing of eval."""

    class attention(Attention):  # noqa: D106, N801
        def __init__(self) -> None:
            super().__init__(dropout=0.1)

        def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            return F.scaled_dot_product_attention(
                q, k, v, is_causal=True, dropout_p=self.dropout
            )


class AlwaysDropsATenth(Plain):
    """The same, at a rate that stands in the call."""

    def embed(self, ids: Tensor) -> Tensor:
        return F.dropout(super().embed(ids), 0.1)


class Exhibit(NamedTuple):
    """A wrong model, and what is said of it.

    Attributes:
        model: The model.
        failed: The properties that fail, in the order of the report.
        says: A part of the first sentence.
    """

    model: Callable[[], nn.Module]
    failed: tuple[str, ...]
    says: str


EXHIBITS = [
    Exhibit(
        DroppedWithDropout,
        ("leak-training",),
        "in training with dropout, and not without: a branch for dropout",
    ),
    Exhibit(Encoder, ("leak",), "no mask acts"),
    Exhibit(BiasInsteadOfMask, ("leak", "eager"), "no mask acts"),
    Exhibit(MeanOfBlock, ("leak",), "its block of 4 tokens"),
    Exhibit(LongChunks, ("leak-long",), "of 131 tokens, and not of 11"),
    Exhibit(WrapsRound, ("leak",), "something wraps round"),
    Exhibit(InvertedMask, ("leak", "past"), "the mask is inverted"),
    Exhibit(RestartsPositions, ("cache",), "begin again from position zero"),
    Exhibit(UpperCorner, ("cache",), "a mask hides it"),
    Exhibit(NoMaskBehind, ("cache",), "no mask acts there"),
    Exhibit(SmearedChunks, ("cache",), "a branch computes"),
    Exhibit(Centred, ("batch", "alone", "padding-right"), "over the batch"),
    Exhibit(
        CentredInTraining,
        ("training",),
        "In training texts of a batch move each other",
    ),
    Exhibit(
        OverBatchAndText,
        ("leak-training", "training"),
        "takes something over the whole text or batch",
    ),
    Exhibit(KeepsTheText, ("state",), "something is kept"),
    Exhibit(KeepsTheLength, ("state",), "raised RuntimeError"),
    Exhibit(AlwaysDrops, ("eval",), "dropout is still on"),
]
