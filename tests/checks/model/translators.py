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
        self, source: Tensor, decoder_input_ids: Tensor, memory_mask: Any = None
    ) -> Tensor:
        T = decoder_input_ids.shape[1]
        hidden = torch.ones(T, T).triu(1).bool()
        return self.decode(source, decoder_input_ids, hidden)


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
