"""Build what pages include and git does not keep: `python -m generators`."""

import argparse
from collections.abc import Sequence

from generators.built import build


def main(arguments: Sequence[str] | None = None) -> None:
    """Build all of it."""
    parser = argparse.ArgumentParser("python -m generators", description=__doc__)
    parser.parse_args(arguments)
    build()


if __name__ == "__main__":
    main()
