"""What draws, trains and lists for the book: a generator for each kind of files.

`python -m generators.NAME` writes the files of one, and with `--check` compares them.
`python -m generators` builds those that git does not keep, where something has changed.
"""

from pathlib import Path

ROOT = Path(__file__).parents[1]
GENERATED = ROOT / "generated"
# Of the files in there that git does not keep.
HASHES = GENERATED / "hashes.txt"
