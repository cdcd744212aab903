"""`headway check file.py:Name`, for a terminal."""

import argparse
import ast
import contextlib
import os
import sys
from collections.abc import Sequence
from importlib import metadata
from typing import Any

from headway.checks.attention_or_model import check_attention_or_model
from headway.checks.errors import describe
from headway.checks.formats import FORMATS, Place, place_of, to_github, to_github_error
from headway.checks.progress import shown_if_slow
from headway.checks.report import Report
from headway.checks.target.configuration import Target, all_configured, configured
from headway.checks.target.load import explain_target, load_target

_NUMBERS = {
    "d_in": "numbers in a token",
    "context_length": "tokens in the longest text",
    "num_heads": "heads",
}
_DESIGNS: dict[str, tuple[type, str, str]] = {
    "scale": (float, "X", "what scores are multiplied by, if it is meant"),
    "normalize": (str, "HOW", 'softmax, sigmoid or "softmax plus one"'),
    "rotary_base": (float, "X", "the base of rotary positions"),
    "window": (int, "N", "how many of the latest keys a query is meant to see"),
}
# What a whole model is told. A constructor may well take arguments of these names, so
# the options are called otherwise.
_OF_MODELS = {
    "mask": ("--mask-argument", "NAME", "which of its arguments tells padding"),
    "positions": ("--positions-argument", "NAME", "which one tells positions"),
    "compile": ("--compile", "BACKEND", "compile it, too, such as with inductor"),
}
# A constructor gets those that it takes, too.
_SHARED = (*_NUMBERS, "causal", "vocab_size", *_DESIGNS)
_CONSTANTS = {"true": "True", "false": "False", "none": "None"}
_EPILOG = """\
All other options are arguments of the constructor, by name: --d-out 20, --qkv-bias; or
in its order, without names: 12 20. Fields of a config are given in the same way.
"headway check file.py:Name --help" lists them all. Name may also be what is built
already, a function of queries, keys and values, or one that builds the module, such as
file.py:make. A file may be a notebook, and a name may be left out if there is only one
module in it. Without a target, all are checked that pyproject.toml names below
[tool.headway.checks]. The file is imported, and so it is run. The exit status is 0 if
no property fails, 1 if one does, and 2 if the code could not be checked.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Check what the command line names, and print the report.

    Returns:
        The exit status: 0, 1 if a property fails, 2 if the code could not be checked.
    """
    known, rest = _parser().parse_known_args(arguments)
    try:
        return _check_all(known, _targets(known, rest))
    except ValueError as error:
        return _complain(known, error)
    except KeyboardInterrupt:
        print("headway check: interrupted.", file=sys.stderr)
        return 130


def _targets(known: argparse.Namespace, rest: Sequence[str]) -> list[Target]:
    """List what is to be checked; the command line goes before pyproject.toml."""
    arguments, by_place = _constructor_arguments(rest)
    if known.target is None and arguments:
        raise ValueError(
            "target must be given with arguments of its constructor; "
            f"got --{next(iter(arguments)).replace('_', '-')}."
        )
    names = (*_SHARED, "call", "cached", *_OF_MODELS)
    options = {name: getattr(known, name) for name in names}
    options = {name: value for name, value in options.items() if value is not None}
    if known.weights:
        options["weights"] = _pairs("weights", "ROLE=NAME", known.weights)
    expected = _pairs("expect", "PROPERTY=REASON", known.expect)
    found = [configured(known.target)] if known.target else all_configured()
    found = [target._replace(by_place=by_place) for target in found]
    for target in found:
        target.options.update(options)
        target.arguments.update(arguments)
        if expected:
            before = target.options.get("expected", {})
            target.options["expected"] = before | expected
    return found


def _check_all(known: argparse.Namespace, targets: Sequence[Target]) -> int:
    """Check one target after the other, and give the worst exit status."""
    status = 0
    reports: list[Report] = []
    for target in targets:
        try:
            # What the code itself prints is no part of the report.
            with contextlib.redirect_stdout(sys.stderr):
                report, place = _report(target)
        except ValueError as error:
            status = _complain(known, error)
            continue
        status = max(status, 0 if report.ok else 1)
        if known.format == "github":
            _print(to_github(report, place))
        elif known.format == "text":
            colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
            _print("\n" * bool(reports) + report.table(colour=colour))
        reports.append(report)
    if known.format == "json":
        _print_json(reports, one=known.target is not None)
    return status


def _print_json(reports: Sequence[Report], *, one: bool) -> None:
    """Print one object, or a list of all if no target was named."""
    objects = ", ".join(report.to_json() for report in reports)
    if reports or not one:
        _print(objects if one else f"[{objects}]")


def _report(target: Target) -> tuple[Report, Place | None]:
    shared = {key: one for key, one in target.options.items() if key in _SHARED}
    name, by_place = target.name, target.by_place
    with load_target(name, shared, target.arguments, by_place) as code:
        try:
            with shown_if_slow(sys.stderr):
                return check_attention_or_model(code, target.options), place_of(code)
        except ValueError:
            raise
        except (Exception, SystemExit) as raised:  # whatever a reader's code may raise
            raise ValueError(
                f"{target.name} could not be checked: {describe(raised)}."
            ) from raised


def _complain(known: argparse.Namespace, error: ValueError) -> int:
    """Say in one sentence why something could not be checked."""
    if known.format == "github":
        _print(to_github_error(f"headway check: {error}"))
    else:
        print(f"headway check: {error}", file=sys.stderr)
    return 2


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
        add_help=False,
    )
    target = "path/to/file.py:Name or package.module:Name"
    one.add_argument("target", nargs="?", help=target)
    one.add_argument(
        "-h",
        "--help",
        action=_Help,
        nargs=0,
        help="show this, or what Name takes, and end",
    )
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
    _add_designs_and_formats(one)
    return parser


def _add_designs_and_formats(one: argparse.ArgumentParser) -> None:
    """Add what says which designs are meant, what is expected, and how to print."""
    for name, (kind, shown, words) in _DESIGNS.items():
        option = f"--{name.replace('_', '-')}"
        one.add_argument(option, type=kind, metavar=shown, help=words)
    one.add_argument("--cached", help='how to call it with a cache: "m(x, past)"')
    for name, (option, shown, words) in _OF_MODELS.items():
        words = f"of a whole model: {words}"
        one.add_argument(option, dest=name, metavar=shown, help=words)
    one.add_argument(
        "--expect",
        action="append",
        default=[],
        metavar="PROPERTY=REASON",
        help="a property that is known to fail, and why; may be repeated",
    )
    one.add_argument(
        "--format",
        choices=FORMATS,
        default="text",
        help="print a table, a JSON object, or annotations for GitHub",
    )
    one.add_argument(
        "--json",
        action="store_const",
        const="json",
        dest="format",
        help="the same as --format json",
    )


class _Help(argparse.Action):
    """Show what the target takes, if one is named, and the options of the check."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        target = getattr(namespace, "target", None)
        if target is not None:
            try:
                with contextlib.redirect_stdout(sys.stderr):
                    text = explain_target(target)
            except ValueError as error:
                parser.exit(2, f"headway check: {error}\n")
            print(text)
        parser.print_help()
        parser.exit()


def _pairs(option: str, form: str, words: Sequence[str]) -> dict[str, str]:
    """Read pairs such as `ROLE=NAME`."""
    for word in words:
        if "=" not in word:
            raise ValueError(f"{option} must be {form}; got {word!r}.")
    return dict(word.split("=", 1) for word in words)


def _constructor_arguments(
    rest: Sequence[str],
) -> tuple[dict[str, Any], list[Any]]:
    """Read `--name value`, `--name=value`, `--name`, `--no-name`, and values alone."""
    arguments: dict[str, Any] = {}
    by_place: list[Any] = []
    words = [*rest]
    while words:
        word = words.pop(0)
        if not word.startswith("--"):
            by_place.append(_literal(word))
            continue
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
    return arguments, by_place


def _literal(value: str) -> Any:
    """Read a value of Python, in small letters or large; all else is a string."""
    try:
        return ast.literal_eval(_CONSTANTS.get(value, value))
    except (ValueError, SyntaxError, TypeError):
        return value


if __name__ == "__main__":
    sys.exit(main())
