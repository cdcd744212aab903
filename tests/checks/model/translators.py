"""Models that read one text and write another."""

from typing import Any

import torch
from torch import Tensor, nn

WIDTH = 14


class Translator(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.read, self.write = nn.Embedding(43, WIDTH), nn.Embedding(37, WIDTH)
        self.mix, self.cross = (
            nn.MultiheadAttention(WIDTH, 2, batch_first=True) for _ in range(2)
        )
        self.head = nn.Linear(WIDTH, 37)

    def decode(self, source: Tensor, target: Tensor, hidden: Tensor | None) -> Tensor:
        x, memory = self.write(target), self.read(source)
        x = x + self.mix(x, x, x, attn_mask=hidden)[0]
        return self.head(x + self.cross(x, memory, memory)[0])


class Keeps(Translator):
    """True may be seen, and there is an axis of texts."""

    def forward(
        self, src: Tensor, trg: Tensor, src_mask: Any, trg_mask: Tensor
    ) -> Tensor:
        assert src_mask is None
        assert trg_mask.shape == (1, trg.shape[1], trg.shape[1])
        return self.decode(src, trg, ~trg_mask[0])


class KeepsForHeads(Translator):
    """True may be seen, and there are axes of texts and of heads."""

    def forward(self, src: Tensor, tgt: Tensor, look_ahead_mask: Tensor) -> Tensor:
        assert look_ahead_mask.shape == (1, 1, tgt.shape[1], tgt.shape[1])
        return self.decode(src, tgt, ~look_ahead_mask[0, 0])


class MasksBetween(Translator):
    """The mask of the source comes before the target, and must be given."""

    def forward(
        self, src_seq: Tensor, src_mask: Tensor, trg_seq: Tensor, trg_mask: Tensor
    ) -> Tensor:
        assert src_mask.shape == (len(src_seq), 1, src_seq.shape[1])
        return self.decode(src_seq, trg_seq, ~trg_mask[0])


class Hides(Translator):
    """True is hidden; nothing need be given."""

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        tgt_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
    ) -> Tensor:
        assert tgt_key_padding_mask is None
        return self.decode(src, tgt, tgt_mask)


class HidesByItself(Translator):
    def forward(
        self, source: Tensor, decoder_inputs: Tensor, memory_mask: Any = None
    ) -> Tensor:
        T = decoder_inputs.shape[1]
        hidden = torch.ones(T, T).triu(1).bool()
        return self.decode(source, decoder_inputs, hidden)


class TimeFirst(Hides):
    def forward(self, src: Tensor, tgt: Tensor, tgt_mask: Tensor) -> Tensor:
        assert tgt_mask.shape == (len(tgt), len(tgt))
        return self.decode(src.mT, tgt.mT, tgt_mask).transpose(0, 1)


class Shows(Translator):
    """The mask is dropped."""

    def forward(self, src: Tensor, trg: Tensor, trg_mask: Tensor) -> Tensor:
        return self.decode(src, trg, None)


class OfTokens(Translator):
    def forward(self, ids: Tensor, target: Tensor) -> Tensor:
        return self.decode(ids, ids, None)


class OfSizes(Translator):
    def forward(self, src: Tensor, tgt: Tensor, steps: int) -> Tensor:
        return self.decode(src, tgt, None)


class Beside(Translator):
    """A decoder beside an encoder: without ids of its own it gets those of the source.

    Each token sees what came before it, kept in a cache, and the whole source.
    """

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Any = None,
        decoder_input_ids: Tensor | None = None,
        decoder_attention_mask: Tensor | None = None,
        past_key_values: Tensor | None = None,
        use_cache: bool = False,
    ) -> Any:
        assert attention_mask is None
        written = input_ids.roll(1) if decoder_input_ids is None else decoder_input_ids
        x, source = self.write(written), self.read(input_ids)
        keys = x if past_key_values is None else torch.cat([past_key_values, x], 1)
        hidden = torch.ones(x.shape[1], keys.shape[1]).triu(self.ahead(x, keys)).bool()
        hidden = hidden.expand(2 * len(x), -1, -1)
        if decoder_attention_mask is not None:
            padding = decoder_attention_mask[:, None] == 0
            hidden = hidden | padding.repeat_interleave(2, 0)
            hidden = hidden & ~torch.eye(len(hidden[0])).bool()
        x = x + self.mix(x, keys, keys, attn_mask=hidden)[0]
        logits = self.head(x + self.cross(x, source, source)[0])
        return (logits, keys) if use_cache else logits

    def ahead(self, x: Tensor, keys: Tensor) -> int:
        """Say which diagonal is the first that is hidden."""
        return keys.shape[1] - x.shape[1] + 1


class BesideHides(Translator):
    """The future is hidden by a mask that may be given."""

    def forward(
        self, src: Tensor, decoder_input_ids: Tensor, tgt_mask: Tensor | None = None
    ) -> Tensor:
        return self.decode(src, decoder_input_ids, tgt_mask)


class BesideLeaks(Beside):
    """It sees one token too many."""

    def ahead(self, x: Tensor, keys: Tensor) -> int:
        return super().ahead(x, keys) + 1


class Padded(Translator):
    """Padding of the source is hidden, by a mask or by an id of its own."""

    encoder_sees = decoder_sees = False
    reads = True

    def __init__(self) -> None:
        super().__init__()
        self.encode = nn.MultiheadAttention(WIDTH, 2, batch_first=True)

    def forward(self, src: Tensor, tgt: Tensor, src_mask: Any = None) -> Tensor:
        x, memory = self.write(tgt), self.read(src)
        hidden = None if src_mask is None else ~src_mask.bool()
        seen = None if self.encoder_sees else hidden
        memory = memory + self.encode(memory, memory, memory, seen)[0]
        ahead = torch.ones(tgt.shape[1], tgt.shape[1]).triu(1).bool()
        x = x + self.mix(x, x, x, attn_mask=ahead)[0]
        seen = None if self.decoder_sees else hidden
        read = self.cross(x, memory, memory, seen)[0] if self.reads else 0.0
        return self.head(x + read)


class PaddedForHeads(Padded):
    """The mask has axes of heads and queries, and must be given."""

    def forward(self, src: Tensor, tgt: Tensor, src_mask: Any) -> Tensor:
        flat = None if src_mask is None else src_mask[:, 0, 0]
        return super().forward(src, tgt, flat)


class Counted(Padded):
    """It is told how many tokens of each source there are."""

    def forward(self, src: Tensor, tgt: Tensor, src_lengths: Any = None) -> Tensor:
        real = None
        if src_lengths is not None:
            assert src_lengths.shape == (len(src),)
            real = torch.arange(src.shape[1]) < src_lengths[:, None]
        return super().forward(src, tgt, real)


class PaddedByItself(Padded):
    """It makes the mask of an id that it knows."""

    hides = True

    def __init__(self) -> None:
        super().__init__()
        self.src_pad_idx = 1

    def forward(self, src: Tensor, trg: Tensor) -> Tensor:
        mask = src != self.src_pad_idx if self.hides else None
        return super().forward(src, trg, mask)


class PaddedTwice(Padded):
    """Encoder and decoder take a mask each; texts come second."""

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Any = None,
        src_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
    ) -> Tensor:
        assert src_mask is None
        one, two = src_key_padding_mask, memory_key_padding_mask
        assert (one is None) == (two is None)
        seen = None if one is None or two is None else ~(one & two)
        return super().forward(src.mT, tgt.mT, seen).transpose(0, 1)


class Remembers(Translator):
    """It keeps the embedded tokens of the target."""

    shift = 0

    def forward(
        self, src: Tensor, tgt: Tensor, past: Tensor | None = None, use_cache: Any = 0
    ) -> Any:
        x, memory = self.write(tgt), self.read(src)
        keys = x if past is None else torch.cat([past, x], 1)
        ahead = keys.shape[1] - x.shape[1] + 1 + self.shift * (past is not None)
        hidden = torch.ones(x.shape[1], keys.shape[1]).triu(ahead).bool()
        x = x + self.mix(x, keys, keys, attn_mask=hidden)[0]
        logits = self.head(x + self.cross(x, memory, memory)[0])
        return (logits, keys) if use_cache else logits
