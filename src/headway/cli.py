"""The command `headway`: `check` and `practice`."""

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Hand the command line to the part that its first word names.

    Returns:
        The exit status of that part.
    """
    words = [*(sys.argv[1:] if arguments is None else arguments)]
    # Each part is imported when it is asked for: both take long.
    if words[:1] == ["practice"]:
        from headway.practice import cli as practice

        return practice.main(words[1:])
    from headway.checks import cli as checks

    return checks.main(words)


if __name__ == "__main__":
    sys.exit(main())
