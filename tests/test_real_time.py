"""What brings real time into a test is listed with its reason, so that none wavers.

A test that waits for a time, or must end within one, is red on some machine some day.
It can be handed a clock, wait for what happens, or make its order certain. What is left
stands in `real_time.toml`. `PATIENCE` of `processes.py`, which ends a test that hangs,
may stand everywhere.
"""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LIST = Path(__file__).with_name("real_time.toml")
MODULES = {
    *("asyncio", "concurrent", "multiprocessing", "queue", "sched", "select"),
    *("socket", "threading", "time", "timeit"),
}
NAMES = {"alarm", "now", "setitimer", "sigtimedwait", "today", "utcnow"}
LIMITS = {"deadline", "limit", "patience", "seconds", "startup_timeout", "timeout"}
WAITS = {"join", "set_default_timeout", "wait", "wait_for_timeout"}
# What takes a limit without its name, and at which place.
POSITIONAL = {"dump_traceback_later": 0, "pressed": 0, "_end_after": 0, "_status": 2}
CONSTANTS = re.compile(
    r"(?:^|[._])(?:AFTER|DEADLINE|GRACE|LIMIT|PATIENCE|TIMEOUT)(?:_|$)"
)
IN_PROGRAMS = re.compile(
    r"\b(?:alarm|sleep|dump_traceback_later)\([^)]*\)?|\bsleep\b|monotonic"
    r"|perf_counter|process_time|setitimer|\btime\.time\b"
)


def brings_time(source: str) -> Iterator[str]:
    """List what brings real time into a program, or into one within its strings."""
    nodes = [*ast.walk(ast.parse(source))]
    documentation = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        match node:
            case ast.Import(names=names):
                yield from (f"import {one.name}" for one in names if _timed(one.name))
            case ast.ImportFrom(module=str(name)) if _timed(name):
                yield f"import {name}"
            case ast.Attribute(attr=name) if name in NAMES:
                yield ast.unparse(node)
            case ast.keyword(arg=str(name)) if name in LIMITS and not _net(node.value):
                yield ast.unparse(node)
            case ast.arguments():
                yield from _defaults(node)
            case ast.Call(func=ast.Attribute(attr=name), args=[value]) if (
                name in WAITS and not _net(value) and not _joins_words(name, value)
            ):
                yield f".{name}({ast.unparse(value)})"
            case ast.Call(func=function, args=given) if (
                (name := _name(function)) in POSITIONAL
                and (value := dict(enumerate(given)).get(POSITIONAL[name]))
                and not _net(value)
            ):
                yield f"{name}({ast.unparse(value)})"
            case ast.Call(func=function, args=[*_, ast.Constant(str(name)), value]) if (
                _name(function) == "setattr" and _is_limit(name, value)
            ):
                yield f"{name}={ast.unparse(value)}"
            case ast.Assign(targets=[ast.Attribute(attr=name)], value=value) if (
                _is_limit(name, value)
            ):
                yield f"{name}={ast.unparse(value)}"
            case ast.Assign(targets=[ast.Name(id="PATIENCE")]):
                yield "PATIENCE"
            case ast.Constant(value=str(text)) if id(node) not in documentation:
                yield from IN_PROGRAMS.findall(text)


def _name(function: ast.expr) -> str:
    """Give the last name of what is called."""
    if isinstance(function, ast.Name | ast.Attribute):
        return function.id if isinstance(function, ast.Name) else function.attr
    return ast.unparse(function).rpartition(".")[2]


def _is_limit(name: str, value: ast.expr) -> bool:
    """Say whether a constant of the package is set to a limit of its own."""
    return bool(CONSTANTS.search(name)) and not _net(value)


def _timed(module: str) -> bool:
    return module.partition(".")[0] in MODULES


def _defaults(given: ast.arguments) -> Iterator[str]:
    """List the limits that hold where a function is given none."""
    places = [*given.posonlyargs, *given.args]
    last = places[len(places) - len(given.defaults) :]
    pairs = [*zip(last, given.defaults, strict=True)]
    pairs += zip(given.kwonlyargs, given.kw_defaults, strict=True)
    for one, value in pairs:
        if value is not None and one.arg in LIMITS and not _net(value):
            yield f"{one.arg}={ast.unparse(value)}"


def _net(value: ast.expr) -> bool:
    """Say whether a limit is none, or the one that ends what hangs."""
    names = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
    return "PATIENCE" in names or ast.unparse(value) == "None"


def _joins_words(name: str, value: ast.expr) -> bool:
    """Say whether it is the `join` of words, as wherever it is given no number."""
    return name == "join" and not isinstance(value, ast.Constant | ast.BinOp)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import time, math", ["import time"]),
        ("from concurrent.futures import wait", ["import concurrent.futures"]),
        ("datetime.now()", ["datetime.now"]),
        ("run(limit=3)", ["limit=3"]),
        ("run(limit=PATIENCE / 2, timeout=None)", []),
        ("def run(a, limit=3, *, timeout=5): pass", ["limit=3", "timeout=5"]),
        ("def run(a, limit, *, timeout): pass", []),
        ("one.wait(3); one.wait(); one.wait(PATIENCE)", [".wait(3)"]),
        ("thread.join(3); ', '.join(words)", [".join(3)"]),
        ("pressed(0.05); pressed(PATIENCE)", ["pressed(0.05)"]),
        ("faulthandler.dump_traceback_later(1)", ["dump_traceback_later(1)"]),
        ("launch._status(command, folder, 0.1)", ["_status(0.1)"]),
        ("launch._status(0.1)", []),
        ("patch.setattr(launch, 'GRACE', 0.2)", ["GRACE=0.2"]),
        ("setattr(launch, '_START_LIMIT', 0.2)", ["_START_LIMIT=0.2"]),
        ("patch.setattr('launch._LIMIT_OF_START', 3)", ["launch._LIMIT_OF_START=3"]),
        ("patch.setattr(launch, 'GRACE', PATIENCE)", []),
        ("patch.setattr(launch, 'UNLIMITED', 3)", []),
        ("launch.AFTER = 3", ["AFTER=3"]),
        ("PATIENCE = 3", ["PATIENCE"]),
        ("'time.sleep(3)'", []),
        ("run('time.sleep(3)')", ["sleep(3)"]),
        ("run('dump_traceback_later(3)')", ["dump_traceback_later(3)"]),
    ],
)
def test_what_brings_time(source: str, found: list[str]) -> None:
    assert [*brings_time(source)] == found


def test_what_brings_real_time_is_listed_with_its_reason() -> None:
    files = [*ROOT.glob("tests/**/*.py"), *ROOT.glob("tools/*/tests/**/*.py")]
    found = {
        (path.relative_to(ROOT).as_posix(), what)
        for path in files
        if path != Path(__file__) and "node_modules" not in path.parts
        for what in brings_time(path.read_text("utf-8"))
    }
    listed = {
        (path, what)
        for path, lines in tomllib.loads(LIST.read_text("utf-8")).items()
        for what, reason in lines.items()
        if reason.strip()
    }
    assert sorted(found - listed) == [], (
        "hand in the clock, wait for what happens, or make the order certain; "
        f"if none of these can be, add a line to {LIST.name} that says why no machine "
        "is too slow for it"
    )
    assert sorted(listed - found) == [], f"gone: delete these lines from {LIST.name}"
