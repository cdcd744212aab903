"""Draw the pictures of the book: `python docs/pictures [--check]`.

Every number in them is computed here and now. With `--check` nothing is written; the
command fails if a picture of the book is not the one that would be drawn.
"""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import backward
import blocks
import delta_rule
import difference
import distance
import flash_tiles
import hands
import heads
import hiding
import induction
import kv_cache
import latent_attention
import linear_attention
import longer
import loss_of_the_novel
import maps
import modules
import paged_cache
import pieces
import queries
import ring
import sharing
import sinks
import sliding_window
import sparse_attention
import stages
import streams
import tensor_parallel
import training
import turning
import two_texts
import words

from proofread.generated import generate

FIGURES = Path(__file__).parent.parent / "assets" / "figures"
PICTURES: dict[str, Callable[[], str]] = {
    **words.PICTURES,
    **queries.PICTURES,
    **modules.PICTURES,
    **training.PICTURES,
    **hiding.PICTURES,
    **heads.PICTURES,
    **two_texts.PICTURES,
    **sharing.PICTURES,
    **hands.PICTURES,
    **turning.PICTURES,
    **stages.PICTURES,
    **distance.PICTURES,
    **longer.PICTURES,
    **latent_attention.PICTURES,
    **kv_cache.PICTURES,
    **sliding_window.PICTURES,
    **paged_cache.PICTURES,
    **flash_tiles.PICTURES,
    **pieces.PICTURES,
    **blocks.PICTURES,
    **backward.PICTURES,
    **tensor_parallel.PICTURES,
    **ring.PICTURES,
    **streams.PICTURES,
    **sinks.PICTURES,
    **induction.PICTURES,
    **loss_of_the_novel.PICTURES,
    **sparse_attention.PICTURES,
    **difference.PICTURES,
    **linear_attention.PICTURES,
    **delta_rule.PICTURES,
    **maps.PICTURES,
}


def make() -> dict[str, str]:
    """Draw all pictures, by the names of their files."""
    return {f"{name}.svg": draw() for name, draw in PICTURES.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write all pictures, or compare them with those that are there."""
    return generate("python docs/pictures", make, FIGURES, arguments)


if __name__ == "__main__":
    sys.exit(main())
