"""`headway check file.py:Name`, for a terminal."""

import argparse
import ast
import json
import math
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from headway.checks.command import baseline, junit, sarif
from headway.checks.command.changed import concerned
from headway.checks.command.configuration import (
    OF_CONSTRUCTORS,
    ConfiguredTarget,
    all_configured,
    configured,
)
from headway.checks.command.formats import join_json, to_github_error, to_json_error
from headway.checks.command.own_process import INTERRUPTED, LIMIT, Ask, Request, ask
from headway.checks.core.cannot_check import CannotCheckError

_NUMBERS = {
    "d_in": "numbers in a token",
    "context_length": "tokens in the longest text",
    "num_heads": "heads",
}
_DESIGNS: dict[str, tuple[type, str, str]] = {
    "scale": (float, "X", "what scores are meant to be multiplied by"),
    "normalize": (str, "HOW", 'softmax, sigmoid or "softmax plus one"'),
    "rotary_base": (float, "X", "the base of rotary positions"),
    "window": (int, "N", "how many of the latest keys a query is meant to see"),
}
# What a whole model is told. A constructor may well take arguments of these names, so
# the options are called otherwise.
_OF_MODELS = {
    "mask": ("--mask-argument", "NAME", "which of its arguments marks padding"),
    "positions": ("--positions-argument", "NAME", "which one gives positions"),
    "compile": ("--compile", "BACKEND", "compile it as well, such as with inductor"),
    "memory": ("--memory-limit", "GB", "gigabytes that it may take"),
}
# How a target is told that could not be checked, in a format that is one document.
_OF_ERRORS = {
    "json": to_json_error,
    "junit": junit.to_suite_error,
    "sarif": sarif.to_error_part,
}
_FORMATS = ("text", "github", *_OF_ERRORS)
_CONSTANTS = {"true": "True", "false": "False", "none": "None"}
_EPILOG = """\
All other options are arguments of the constructor, by name: --d-out 20, --qkv-bias; or
in its order, without names: 12 20. Fields of a config are given in the same way.
"headway check file.py:Name --help" lists them all. Name may also be a module
that is already built, a function of queries, keys and values, or one that builds the
module, such as file.py:make. A file may be a notebook, and a name may be left out if
there is only one module in it. Without a target, every target in pyproject.toml below
[tool.headway.checks] is checked. The file is imported, so its code runs. The exit
status is 0 if no property fails, 1 if one does, and 2 if the code could not be checked.
"""


def main(arguments: Sequence[str], *, ask: Ask = ask) -> int:
    """Check what the command line names, and print the report.

    Args:
        arguments: What stands behind `headway check`.
        ask: What checks a target: a process of its own, unless it is told otherwise.

    Returns:
        The exit status: 0, 1 if a property fails, 2 if the code could not be checked.
    """
    target = next((one for one in arguments[:1] if not one.startswith("-")), None)
    parser = _parser(_asked_format(arguments), target)
    known, rest = parser.parse_known_args(arguments)
    try:
        if known.help:
            return _help(parser, known.target, ask)
        requests = _requests(known, rest)
        if known.update_baseline:
            return _update_baseline(known, requests, ask)
        return _check_all(known, requests, ask)
    except CannotCheckError as error:
        _print_error(known.format, known.target, str(error))
        return _complain(known, 2, str(error))
    except KeyboardInterrupt:
        return _complain(known, INTERRUPTED, "interrupted.")


def _help(parser: argparse.ArgumentParser, target: str | None, ask: Ask) -> int:
    """Show what the target takes, if one is named, and the options of the check."""
    if target is not None:
        reply = ask(Request(ConfiguredTarget(target, {}, {}), explain=True))
        if reply.status:
            return _complain(None, reply.status, reply.text)
        print(reply.text)
    parser.print_help()
    return 0


def _requests(known: argparse.Namespace, rest: Sequence[str]) -> list[Request]:
    """Say how each target is to be checked."""
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    return [
        Request(
            target,
            known.format,
            colour,
            limit=_limit(target.options.pop("limit", LIMIT)),
        )
        for target in _targets(known, rest)
    ]


def _limit(seconds: float) -> float:
    if not 0 < seconds < math.inf:
        raise CannotCheckError(
            f"limit must be a positive number of seconds; got limit={seconds}."
        )
    return seconds


def _targets(known: argparse.Namespace, rest: Sequence[str]) -> list[ConfiguredTarget]:
    """List what is to be checked; the command line goes before pyproject.toml."""
    arguments, by_place = _constructor_arguments(rest)
    if known.target is None and arguments:
        raise CannotCheckError(
            "target must be given with arguments of its constructor; "
            f"got --{next(iter(arguments)).replace('_', '-')}."
        )
    names = (*OF_CONSTRUCTORS, "call", "cached", *_OF_MODELS, "strict", "limit")
    options = {name: getattr(known, name) for name in names}
    options = {name: value for name, value in options.items() if value is not None}
    if known.weights:
        options["weights"] = _pairs("weights", "ROLE=NAME", known.weights)
    facts = {
        name: value if value == "none" else _literal(value)
        for name, value in _pairs("fact", "NAME=VALUE", known.fact).items()
    }
    for name in ("only", "skip"):
        if given := getattr(known, name):
            options[name] = [one for text in given for one in text.split(",")]
    expected = _pairs("expect", "ID=REASON", known.expect)
    found = [configured(known.target)] if known.target else all_configured()
    found = [target._replace(by_place=by_place) for target in found]
    if known.changed_since is not None:
        found = concerned(found, known.changed_since)
    excused = _baseline(known)
    for target in found:
        _declare(target.options, facts)
        target.options.update(options)
        target.arguments.update(arguments)
        # What somebody has given a reason for goes before what the file lists.
        given = target.options.get("expected", {}) | expected
        if excused:
            given = baseline.expected(excused, known.baseline, target.name) | given
        if given:
            target.options["expected"] = given
    return found


def _baseline(known: argparse.Namespace) -> baseline.Failures:
    """Read which failures are known, unless they are to be written."""
    if known.update_baseline and known.baseline is None:
        raise CannotCheckError("baseline must be given with update_baseline; got none.")
    if known.baseline is None or known.update_baseline:
        return {}
    return baseline.read(known.baseline)


def _declare(options: dict[str, Any], facts: Mapping[str, Any]) -> None:
    """Let facts of the command line go before those of pyproject.toml."""
    if facts:
        options["facts"] = options.get("facts", {}) | facts
    for name in facts:
        options.pop(name, None)


def _check_all(known: argparse.Namespace, requests: Sequence[Request], ask: Ask) -> int:
    """Check one target after the other, and give the worst exit status."""
    status = 0
    reports: list[str] = []
    to_error = _OF_ERRORS.get(known.format)
    for request in requests:
        reply = ask(request)
        status = max(status, reply.status)
        if reply.status > 1:
            _complain(known, *reply)
            if reply.status == INTERRUPTED:
                return INTERRUPTED
            if to_error:
                reports.append(to_error(request.target.name, reply.text))
            continue
        if not to_error:
            apart = known.format == "text" and reports
            print(f"\n{reply.text}" if apart else reply.text, flush=True)
        reports.append(reply.text)
    if not requests and not to_error:
        print(f"No target reaches what has changed since {known.changed_since}.")
    _print_all(known, reports)
    return status


def _print_all(known: argparse.Namespace, reports: Sequence[str]) -> None:
    """Print one document of all reports, in a format that is one."""
    if known.format == "json":
        print(join_json(reports, alone=known.target is not None))
    elif known.format == "junit":
        print(junit.join(reports))
    elif known.format == "sarif":
        print(sarif.join(reports))


def _print_error(format: str, target: str | None, sentence: str) -> None:
    """Print an error of the command line, in a format that is one document."""
    if to_error := _OF_ERRORS.get(format):
        known = argparse.Namespace(format=format, target=target)
        _print_all(known, [to_error(target or "headway check", sentence)])


def _update_baseline(
    known: argparse.Namespace, requests: Sequence[Request], ask: Ask
) -> int:
    """Write what fails into a file, or take from it what fails no longer."""
    reports = {}
    for request in requests:
        reply = ask(request._replace(format="json"))
        if reply.status > 1:  # nothing is written that is not known of all
            return _complain(known, *reply)
        reports[request.target.name] = json.loads(reply.text)
    kept, rest = baseline.update(known.baseline, reports)
    count = sum(map(len, kept.values()))
    print(f"{known.baseline} holds {count} known failure{'s' * (count != 1)}")
    for target, keys in rest.items():
        print(f"{target} fails, and not as it is known to: {' '.join(keys)}")
    return 1 if rest else 0


def _complain(known: argparse.Namespace | None, status: int, sentence: str) -> int:
    """Say in one sentence why something could not be checked."""
    if known is not None and known.format == "github":
        print(to_github_error(f"headway check: {sentence}"))
    else:
        print(f"headway check: {sentence}", file=sys.stderr)
    return status


def _asked_format(arguments: Sequence[str]) -> str:
    """Find the format that is asked for, though the rest may be wrong."""
    asked = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    asked.add_argument("--format", nargs="?")
    asked.add_argument("--json", action="store_const", const="json", dest="format")
    return asked.parse_known_args(arguments)[0].format or "text"


class _Parser(argparse.ArgumentParser):
    """It says what is wrong with a command line in the format that it asks for."""

    def __init__(self, format: str, target: str | None, **settings: Any) -> None:
        super().__init__(**settings)
        self.format, self.target = format, target

    def error(self, message: str) -> NoReturn:
        """Print what is wrong, and end with status 2."""
        _print_error(self.format, self.target, message)
        super().error(message)


def _parser(format: str, target: str | None) -> argparse.ArgumentParser:
    one = _Parser(
        format,
        target,
        prog="headway check",
        description="Check what must hold of any attention code.",
        epilog=_EPILOG,
        allow_abbrev=False,
        add_help=False,
    )
    target = "path/to/file.py:Name or package.module:Name"
    one.add_argument("target", nargs="?", help=target)
    one.add_argument(
        "-h",
        "--help",
        action="store_true",
        help="show this, or the arguments of Name, and exit",
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
    return one


def _add_designs_and_formats(one: argparse.ArgumentParser) -> None:
    """Add what says which designs are meant, what is expected, and how to print."""
    for name, (kind, shown, words) in _DESIGNS.items():
        option = f"--{name.replace('_', '-')}"
        one.add_argument(option, type=kind, metavar=shown, help=words)
    one.add_argument(
        "--fact",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="any other fact, such as positions=rotary; may be repeated",
    )
    one.add_argument("--cached", help='how to call it with a cache: "m(x, past)"')
    for name, (option, shown, words) in _OF_MODELS.items():
        words = f"for a whole model: {words}"
        kind = float if name == "memory" else str
        one.add_argument(option, dest=name, metavar=shown, help=words, type=kind)
    one.add_argument(
        "--expect",
        action="append",
        default=[],
        metavar="ID=REASON",
        help="a property that is known to fail, and why; may be repeated",
    )
    for name, words in (("only", "to check"), ("skip", "to leave out")):
        one.add_argument(
            f"--{name}",
            action="append",
            metavar="ID,...",
            help=f"properties {words}; may be repeated",
        )
    one.add_argument(
        "--strict",
        action="store_true",
        default=None,
        help="fail where rows differ from the equation and nothing explains it, which "
        "is a note else, beside a design that may",
    )
    one.add_argument(
        "--baseline",
        type=Path,
        metavar="FILE",
        help="a file of failures that are known and may only become fewer",
    )
    one.add_argument(
        "--update-baseline",
        action="store_true",
        help="write what fails into that file, or take from it what fails no longer",
    )
    one.add_argument(
        "--changed-since",
        metavar="REVISION",
        help="check only what reaches a file that has changed since, as git knows",
    )
    one.add_argument(
        "--limit",
        type=float,
        metavar="SECONDS",
        help=f"how long one call may take; {LIMIT:g} seconds by default",
    )
    one.add_argument(
        "--format",
        choices=_FORMATS,
        default="text",
        help="print a table, annotations for GitHub, a JSON object, JUnit's XML or a "
        "SARIF log",
    )
    one.add_argument(
        "--json",
        action="store_const",
        const="json",
        dest="format",
        help="the same as --format json",
    )


def _pairs(option: str, form: str, words: Sequence[str]) -> dict[str, str]:
    """Read pairs such as `ROLE=NAME`."""
    for word in words:
        if "=" not in word:
            raise CannotCheckError(f"{option} must be {form}; got {word!r}.")
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
