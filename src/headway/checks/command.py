"""`headway check file.py:Name`, for a terminal."""

import argparse
import ast
import functools
import importlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from torch import nn

from headway.checks.calling import THREE
from headway.checks.checking import check
from headway.checks.subject import explain

_TOLD = ("d_in", "context_length", "num_heads", "causal", "positions")
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
    options, rest = _parser().parse_known_args(arguments)
    try:
        given = _given(rest)
        told = {name: getattr(options, name) for name in _TOLD}
        told = {name: value for name, value in told.items() if value is not None}
        target = _build(options.target, told, given)
        weights = dict(pair.split("=", 1) for pair in options.weights or []) or None
        report = check(target, call=options.call, weights=weights, **told)
    except ValueError as error:
        print(f"headway check: {error}", file=sys.stderr)
        return 2
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    print(report.to_json() if options.json else report.table(colour=colour))
    return 0 if report.ok else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("headway", allow_abbrev=False)
    commands = parser.add_subparsers(required=True, metavar="check")
    one = commands.add_parser(
        "check",
        help="check attention code of your own",
        description="Ask of any attention code what must hold of attention.",
        epilog=_EPILOG,
        allow_abbrev=False,
    )
    one.add_argument("target", help="path/to/file.py:Name or package.module:Name")
    for name in _TOLD[:3]:
        one.add_argument(f"--{name.replace('_', '-')}", type=int, metavar="N")
    for name in _TOLD[3:]:
        one.add_argument(f"--{name}", action=argparse.BooleanOptionalAction)
    one.add_argument("--call", help='how to call it, such as "m(x, x, x)[0]"')
    one.add_argument(
        "--weights", nargs="+", metavar="ROLE=NAME", help="such as query=q.weight"
    )
    one.add_argument("--json", action="store_true", help="print a JSON object")
    return parser


def _given(rest: Sequence[str]) -> dict[str, Any]:
    """Read `--name value`, `--name=value`, `--name` and `--no-name`."""
    given: dict[str, Any] = {}
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
            given[key] = _literal(value)
        elif key.startswith("no_"):
            given[key.removeprefix("no_")] = False
        else:
            given[key] = True
    return given


def _literal(value: str) -> Any:
    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return value


def _build(target: str, told: dict[str, Any], given: dict[str, Any]) -> Any:
    """Import the target, and build it if it is a class or makes modules."""
    found = _import(target)
    name = target.rpartition(":")[2]
    if isinstance(found, nn.Module) or not callable(found):
        if given:
            raise ValueError(f"{name} is built already; got --{next(iter(given))}.")
        return found
    known = inspect.signature(found).parameters
    three = set([*known][:3]) in THREE
    if not isinstance(found, type) and (three or (not given and _needs(known))):
        return functools.partial(found, **given) if given else found
    values = {key: value for key, value in told.items() if key in known} | given
    return _call(name, found, known, values)


def _needs(known: Any) -> list[str]:
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [
        name
        for name, one in known.items()
        if one.default is one.empty and one.kind not in kinds
    ]


def _call(name: str, make: Callable[..., Any], known: Any, values: Any) -> Any:
    takes_all = any(one.kind is one.VAR_KEYWORD for one in known.values())
    for key in values:
        if key not in known and not takes_all:
            raise ValueError(
                f"{name} must be built with {', '.join(known)}; "
                f"got --{key.replace('_', '-')}."
            )
    for key in _needs(known):
        if key not in values:
            raise ValueError(f"{name} must be given --{key.replace('_', '-')}.")
    try:
        return make(**values)
    except Exception as raised:
        raise ValueError(f"{name} could not be built: {explain(raised)}") from raised


def _import(target: str) -> Any:
    place, _, name = target.rpartition(":")
    if not place or not name:
        raise ValueError(
            f"target must be file.py:Name or package.module:Name; got {target!r}."
        )
    try:
        found: Any = _file(Path(place)) if place.endswith(".py") else _module(place)
    except Exception as raised:
        raise ValueError(
            f"{place} could not be imported: {explain(raised)}"
        ) from raised
    for part in name.split("."):
        if not hasattr(found, part):
            raise ValueError(f"{place} must have {name}; got no {part!r} in it.")
        found = getattr(found, part)
    return found


def _module(name: str) -> Any:
    sys.path.insert(0, os.getcwd())
    return importlib.import_module(name)


def _file(path: Path) -> Any:
    sys.path.insert(0, str(path.resolve().parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no file of Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    sys.exit(main())
