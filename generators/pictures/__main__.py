"""Draw the pictures of the book: `python -m generators.pictures [--check]`.

Every number in them is computed here and now. With `--check` nothing is written; the
command fails if a picture of the book is not the one that would be drawn.
"""

import sys
from collections.abc import Callable, Sequence

from generators import GENERATED, HASHES
from generators.pictures.parts import (
    basics,
    decoding,
    distributed,
    home,
    kernels,
    models,
    positions,
    variants,
)
from workshop.generator_support import generate

COMMAND = "python -m generators.pictures"
FOLDER = GENERATED / "pictures"
PICTURES: dict[str, Callable[[], str]] = {
    **home.PICTURES,
    **basics.PICTURES,
    **positions.PICTURES,
    **decoding.PICTURES,
    **kernels.PICTURES,
    **variants.PICTURES,
    **distributed.PICTURES,
    **models.PICTURES,
}


def make() -> dict[str, str]:
    """Draw all pictures, by the names of their files."""
    return {f"{name}.svg": draw() for name, draw in PICTURES.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write all pictures, or compare them with those that are there."""
    return generate(COMMAND, make, FOLDER, arguments, hashes=HASHES)


if __name__ == "__main__":
    sys.exit(main())
