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

ROOT = Path(__file__).parents[1]
LIST = Path(__file__).with_name("real_time.toml")
MODULES = {
    *("asyncio", "concurrent", "multiprocessing", "queue", "sched", "select"),
    *("socket", "threading", "time", "timeit"),
}
NAMES = {"alarm", "now", "setitimer", "sigtimedwait", "today", "utcnow"}
LIMITS = {"deadline", "limit", "patience", "seconds", "startup_timeout", "timeout"}
WAITS = {"join", "set_default_timeout", "wait", "wait_for_timeout"}
IN_PROGRAMS = re.compile(
    r"\b(?:alarm|sleep)\([^)]*\)?|\bsleep\b|monotonic|perf_counter|process_time"
    r"|setitimer|\btime\.time\b"
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
            case ast.Assign(targets=[ast.Name(id="PATIENCE")]):
                yield "PATIENCE"
            case ast.Constant(value=str(text)) if id(node) not in documentation:
                yield from IN_PROGRAMS.findall(text)


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
