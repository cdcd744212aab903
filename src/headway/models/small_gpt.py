"""A language model small enough to read in one sitting, and trained."""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headway.basics.multi_head_attention import Cache
from headway.models.transformer_block import TransformerBlock


class LanguageModel(nn.Module):
    r"""Give a score to each token that may come next, at each place of a text.

    Args:
        vocab_size: Number of different tokens.
        width: Width of the tokens' vectors.
        blocks: The blocks, the first one first.
        final_norm: What normalises after the last block; `None` does not.
        positions: What makes vectors of positions that are added to those of the
            tokens, such as `LearnedPositions`; `None` adds none, as with rotary ones.
        tied: Whether the table of embeddings is the last matrix as well.
    """

    def __init__(
        self,
        vocab_size: int,
        width: int,
        blocks: Sequence[TransformerBlock],
        *,
        final_norm: nn.Module | None = None,
        positions: nn.Module | None = None,
        tied: bool = False,
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, width)
        self.positions = positions
        self.blocks = nn.ModuleList(blocks)
        self.final_norm = final_norm or nn.Identity()
        self.head = nn.Linear(width, vocab_size, bias=False)
        if tied:
            self.head.weight = self.embedding.weight

    def forward(
        self,
        ids: Int[Tensor, "*B T"],
        *,
        mask: Bool[Tensor, "*#B #T #S"] | None = None,
        positions: Int[Tensor, "*#B #T"] | None = None,
        caches: Sequence[Cache] | None = None,
    ) -> Float[Tensor, "*B T vocab_size"]:
        """Score the next token.

        Args:
            ids: The tokens' numbers.
            mask: As for the attention.
            positions: Where the tokens stand; `None` counts on from those in `caches`.
            caches: One cache for each block.

        Returns:
            One row of scores, the logits, for each token.
        """
        if positions is None:
            kept = caches[0].length if caches else 0
            positions = torch.arange(kept, kept + ids.shape[-1], device=ids.device)
        x = self.embedding(ids)
        if self.positions is not None:
            x = x + self.positions(positions)
        for block, cache in zip(
            self.blocks, caches or [None] * len(self.blocks), strict=True
        ):
            x = block(x, mask=mask, positions=positions, cache=cache)
        return self.head(self.final_norm(x))
