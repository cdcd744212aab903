"""The command `headway`: `check`, `explain` and `practice`."""

import argparse
import sys
from collections.abc import Sequence
from difflib import get_close_matches

from headway import __version__
from headway._pipes import quiet_if_closed

_CHECK = "check what must hold of attention code, or of a whole model"
_EXPLAIN = "show what the book says of a property or a mistake, by its id"
_PRACTICE = "write each stage of attention, and learn which mistake you made"
_COMMANDS = ("check", "explain", "practice", "practise")


def main(arguments: Sequence[str] | None = None) -> int:
    """Hand the command line to the part that its first word names.

    Returns:
        The exit status of that part.
    """
    words = [*(sys.argv[1:] if arguments is None else arguments)]
    return quiet_if_closed(lambda: _main(words))


def _main(words: Sequence[str]) -> int:
    # Each part is imported when it is asked for: practice needs PyTorch.
    parser = _parser()
    if not words:
        parser.print_help(sys.stderr)
        return 2
    if words[0] not in _COMMANDS and not words[0].startswith("-"):
        near = get_close_matches(words[0], _COMMANDS, 1)
        hint = f" Did you mean {near[0]}?" if near else ""
        parser.error(f"there is no command {words[0]!r}.{hint}")
    command = parser.parse_args(words[:1]).command
    if command == "check":
        from headway.checks import cli as checks

        return checks.main(words[1:])
    if command == "explain":
        from headway.checks import explain

        return explain.main(words[1:])
    from headway.practice import cli as practice

    return practice.main(words[1:])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "headway",
        description="Check attention code, or practise writing it.",
        epilog='"headway COMMAND --help" says more about each.',
        allow_abbrev=False,
    )
    version = f"headway {__version__}"
    parser.add_argument("--version", action="version", version=version)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("check", help=_CHECK)
    commands.add_parser("explain", help=_EXPLAIN)
    commands.add_parser("practice", aliases=["practise"], help=_PRACTICE)
    return parser


if __name__ == "__main__":
    sys.exit(main())
