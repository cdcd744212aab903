"""`headway check file.py:Name`, for a terminal."""

import argparse
import ast
import contextlib
import os
import sys
from collections.abc import Sequence
from importlib import metadata
from typing import Any

from headway.checks.errors import describe
from headway.checks.load_target import load_target
from headway.checks.model import check_model
from headway.checks.report import Report
from headway.checks.run import check

_NUMBERS = {
    "d_in": "numbers in a token",
    "context_length": "tokens in the longest text",
    "num_heads": "heads",
}
_OPTIONS = (*_NUMBERS, "causal")
_CONSTANTS = {"true": "True", "false": "False", "none": "None"}
_EPILOG = """\
All other options are arguments of the constructor, by name: --d-out 20, --qkv-bias.
The file is imported, and so it is run. The exit status is 0 if no property fails, 1 if
one does, and 2 if the code could not be checked.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Check what the command line names, and print the report.

    Returns:
        The exit status: 0, 1 if a property fails, 2 if the code could not be checked.
    """
    known, rest = _parser().parse_known_args(arguments)
    try:
        # What the code itself prints is no part of the report.
        with contextlib.redirect_stdout(sys.stderr):
            report = _report(known, rest)
    except ValueError as error:
        print(f"headway check: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("headway check: interrupted.", file=sys.stderr)
        return 130
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    _print(report.to_json() if known.json else report.table(colour=colour))
    return 0 if report.ok else 1


def _report(known: argparse.Namespace, rest: Sequence[str]) -> Report:
    arguments = _constructor_arguments(rest)
    options = {name: getattr(known, name) for name in _OPTIONS}
    options = {name: value for name, value in options.items() if value is not None}
    weights = _pairs(known.weights) if known.weights else None
    sizes = options | ({"vocab_size": known.vocab_size} if known.vocab_size else {})
    with load_target(known.target, sizes, arguments) as target:
        try:
            if known.vocab_size is not None:
                return _model_report(known, target)
            return check(target, call=known.call, weights=weights, **options)
        except ValueError:
            raise
        except (Exception, SystemExit) as raised:  # whatever a reader's code may raise
            raise ValueError(
                f"{known.target} could not be checked: {describe(raised)}."
            ) from raised


def _model_report(known: argparse.Namespace, model: Any) -> Report:
    return check_model(
        model,
        vocab_size=known.vocab_size,
        context_length=known.context_length,
        causal=known.causal,
        call=known.call,
    )


def _print(text: str) -> None:
    """Print, and end quietly if nobody reads on, as in `headway check ... | head`."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # Python writes what is left when it ends, and would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "headway",
        description="Attention, and what must hold of it.",
        allow_abbrev=False,
    )
    version = f"headway {metadata.version('headway')}"
    parser.add_argument("--version", action="version", version=version)
    commands = parser.add_subparsers(required=True, metavar="check")
    one = commands.add_parser(
        "check",
        help="check attention code of your own",
        description="Ask of any attention code what must hold of attention.",
        epilog=_EPILOG,
        allow_abbrev=False,
    )
    one.add_argument("target", help="path/to/file.py:Name or package.module:Name")
    for name, counted in _NUMBERS.items():
        option = f"--{name.replace('_', '-')}"
        one.add_argument(option, type=int, metavar="N", help=f"how many {counted}")
    one.add_argument(
        "--causal",
        action=argparse.BooleanOptionalAction,
        help="whether it hides the future",
    )
    one.add_argument(
        "--vocab",
        dest="vocab_size",
        type=int,
        metavar="N",
        help="how many different tokens; for a whole model: token ids in, logits out",
    )
    one.add_argument("--call", help='how to call it, such as "m(x, x, x)[0]"')
    one.add_argument(
        "--weights", nargs="+", metavar="ROLE=NAME", help="such as query=q.weight"
    )
    one.add_argument("--json", action="store_true", help="print a JSON object")
    return parser


def _pairs(words: Sequence[str]) -> dict[str, str]:
    """Read `ROLE=NAME`."""
    for word in words:
        if "=" not in word:
            raise ValueError(f"weights must be pairs ROLE=NAME; got {word!r}.")
    return dict(word.split("=", 1) for word in words)


def _constructor_arguments(rest: Sequence[str]) -> dict[str, Any]:
    """Read `--name value`, `--name=value`, `--name` and `--no-name`."""
    arguments: dict[str, Any] = {}
    words = [*rest]
    while words:
        word = words.pop(0)
        if not word.startswith("--"):
            raise ValueError(f"options must begin with --; got {word!r}.")
        name, equals, value = word[2:].partition("=")
        if not equals and words and not words[0].startswith("--"):
            equals, value = "=", words.pop(0)
        key = name.replace("-", "_")
        if equals:
            arguments[key] = _literal(value)
        elif key.startswith("no_"):
            arguments[key.removeprefix("no_")] = False
        else:
            arguments[key] = True
    return arguments


def _literal(value: str) -> Any:
    """Read a value of Python, in small letters or large; all else is a string."""
    try:
        return ast.literal_eval(_CONSTANTS.get(value, value))
    except (ValueError, SyntaxError, TypeError):
        return value


if __name__ == "__main__":
    sys.exit(main())
