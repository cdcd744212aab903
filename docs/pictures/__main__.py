"""Draw the pictures of the book: `python docs/pictures [--check]`.

Every number in them is computed here and now. With `--check` nothing is written; the
command fails if a picture of the book is not the one that would be drawn.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import heads
import hiding
import modules
import queries
import stages
import words

FIGURES = Path(__file__).parent.parent / "assets" / "figures"
PICTURES: dict[str, Callable[[], str]] = {
    **words.PICTURES,
    **queries.PICTURES,
    **modules.PICTURES,
    **hiding.PICTURES,
    **heads.PICTURES,
    **stages.PICTURES,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write all pictures, or compare them with those that are there."""
    parser = argparse.ArgumentParser(description="Draw the pictures of the book.")
    parser.add_argument("--check", action="store_true", help="compare, do not write")
    parser.add_argument("--to", type=Path, default=FIGURES, help="folder of pictures")
    options = parser.parse_args(arguments)
    drawn = {f"{name}.svg": draw() for name, draw in PICTURES.items()}
    if options.check:
        return compare(drawn, options.to)
    options.to.mkdir(parents=True, exist_ok=True)
    for name, picture in drawn.items():
        (options.to / name).write_text(picture, encoding="utf-8", newline="\n")
    return 0


def compare(drawn: dict[str, str], folder: Path) -> int:
    """Name the pictures that are missing, outdated or not ours."""
    found = {path.name: path.read_text("utf-8") for path in folder.glob("*.svg")}
    names = sorted(found.keys() | drawn.keys())
    wrong = [name for name in names if found.get(name) != drawn.get(name)]
    for name in wrong:
        print(f"{folder / name} must be as drawn now; run python docs/pictures.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
