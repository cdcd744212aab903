"""Prove that a package is checked: mutate copies of it, and see each mutant caught.

    workshop mutate-package tests/package_mutants.toml

The list names the folder of the package, the checks, which are calls of pytest, and the
mutants, by the file of the package that they change. Each has a reason in plain words,
and replaces text that stands there once:

    package = "src/shop"

    [[check]]
    name = "the book"
    arguments = ["--proofread", "docs"]

    [[mutant."prices.py"]]
    old = "price * count"
    new = "price + count"
    why = "a second apple would cost one unit more, whatever an apple costs"

The checks come in their order, until one of them fails; on the package as it is all
must pass. In their arguments `{test}` is the file of the tests of a module: that of
`cart/_prices.py` is `cart/test_prices.py`. It must exist.

With `preload = ["torch"]`, a process loads these modules once, and forks one for each
call of pytest.
"""

import argparse
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple, Self

from headway._edits import Edit
from pytest_proofread.runner import Job, Worker

# `python -m pytest` in an environment that has a copy of the package in PYTHONPATH.
# A process that it starts looks for the file of its main module, and there is none.
PYTEST = """\
import os, sys
del __file__
os.chdir({folder!r})
os.environ["PYTHONPATH"] = {path!r}
sys.path[:1] = [{folder!r}, {copy!r}]
sys.argv[:] = ["pytest", *{arguments!r}]
import pytest
if status := pytest.main():
    raise RuntimeError(status)
"""

# Prints what a test would import, without the time that an import takes.
ORIGIN = "import importlib.util as u, sys; print(u.find_spec(sys.argv[1]).origin)"


class Check(NamedTuple):
    """A call of pytest that may catch a mutant."""

    name: str
    arguments: list[str]


@dataclass(frozen=True)
class Mutant(Edit):
    """A change of a file of the package.

    Attributes:
        why: What a reader would get wrong.
        file: Where it is made.
    """

    why: str
    file: str

    @property
    def test(self) -> str:
        """The file of the tests of the module, in a folder of the same name."""
        path = Path(self.file)
        return path.with_name(f"test_{path.stem.strip('_')}.py").as_posix()


@dataclass(frozen=True)
class Trial:
    """What is tried.

    Args:
        package: The folder of the package.
        checks: What may catch a mutant, in this order.
        mutants: What is to be caught.
        limit: Seconds that a check may run; one that is stopped has caught the mutant.
        preload: Modules that the checks need, and that are no part of the package.
    """

    package: Path
    checks: list[Check]
    mutants: list[Mutant]
    limit: float = 600.0
    preload: Sequence[str] = ()

    def calls(self, mutant: Mutant) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield each check by name, with the arguments of pytest for a mutant."""
        for name, arguments in self.checks:
            yield name, tuple(a.format(test=mutant.test) for a in arguments)

    def own_tests(self, mutant: Mutant) -> list[Path]:
        """Return the files of the tests of its module.

        Raises:
            ValueError: If one does not exist.
        """
        patterns = [
            a for check in self.checks for a in check.arguments if "{test}" in a
        ]
        found = [Path(pattern.format(test=mutant.test)) for pattern in patterns]
        for path in found:
            if not path.exists():
                raise ValueError(f"the tests of {mutant.file} must exist; got {path}.")
        return found

    def mutated(self, mutant: Mutant) -> str:
        """Return the text of a file after a mutation.

        Raises:
            ValueError: If it is not clear what is replaced.
        """
        text = (self.package / mutant.file).read_text(encoding="utf-8")
        return mutant.apply(text, mutant.file)

    def caught_by(self, mutant: Mutant, servers: "Servers") -> str:
        """Return the name of the first check that fails, or nothing."""
        with copied(self.package) as copy:
            (copy / mutant.file).write_text(self.mutated(mutant), encoding="utf-8")
            for name, arguments in self.calls(mutant):
                if servers.fail(arguments, copy, self.limit):
                    return name
        return ""


def read(path: Path) -> Trial:
    """Read a list of mutants.

    Raises:
        ValueError: If it is not clear what a mutant replaces, or why, or if a module
            has no tests.
    """
    config = tomllib.loads(path.read_text(encoding="utf-8"))
    mutants = [
        Mutant.read({**entry, "file": file})
        for file, entries in config["mutant"].items()
        for entry in entries
    ]
    checks = [Check(**check) for check in config["check"]]
    options = {name: config[name] for name in ("limit", "preload") if name in config}
    trial = Trial(Path(config["package"]), checks, mutants, **options)
    for mutant in mutants:
        trial.mutated(mutant)
        trial.own_tests(mutant)
    return trial


# ---- One check ---------------------------------------------------------------------


@contextlib.contextmanager
def copied(package: Path) -> Iterator[Path]:
    """Make a copy of a package, to be imported in its place.

    Raises:
        RuntimeError: If it is not the copy that would be imported.
    """
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder).resolve() / package.name
        without = shutil.ignore_patterns("__pycache__")
        shutil.copytree(package, copy, ignore=without)
        ask = [sys.executable, "-c", ORIGIN, copy.name]
        done = subprocess.run(  # noqa: S603
            ask, env=environment(copy), capture_output=True, text=True
        )
        if copy not in Path(origin := done.stdout.strip()).parents:
            raise RuntimeError(
                f"what is imported must be the copy of {package}; got {origin}."
            )
        yield copy


def environment(copy: Path) -> dict[str, str]:
    """Return an environment in which Python finds the copy first."""
    given = os.environ.get("PYTHONPATH")
    path = os.pathsep.join([str(copy.parent), *([given] if given else [])])
    return {**os.environ, "PYTHONPATH": path}


class Servers:
    """Processes that have loaded modules, and fork one for each call of pytest.

    Args:
        number: How many.
        preload: The modules. None of the package may be among them, and nothing of
            pytest, which rewrites what it loads.
    """

    def __init__(self, number: int, preload: Sequence[str]) -> None:
        options = ["--preload", " ".join(preload)]
        python = [sys.executable]
        self.all = [Worker(python, options, os.environ) for _ in range(number)]
        self.free: SimpleQueue[Worker] = SimpleQueue()
        for server in self.all:
            self.free.put(server)

    def __enter__(self) -> Self:
        """Begin nothing yet."""
        return self

    def __exit__(self, *error: object) -> None:
        """End them."""
        for server in self.all:
            server.close()

    def fail(self, arguments: Sequence[str], copy: Path, limit: float) -> bool:
        """Say whether pytest fails with a copy of the package, or must be stopped.

        Raises:
            RuntimeError: If it could not be started.
        """
        code = PYTEST.format(
            folder=os.getcwd(),
            copy=str(copy.parent),
            path=environment(copy)["PYTHONPATH"],
            arguments=["-p", "no:cacheprovider", *arguments],
        )
        server = self.free.get()
        try:
            result = server.run(Job(code, limit=limit, output_limit=10**7))
        finally:
            self.free.put(server)
        for problem in result.problems:
            if re.match("the (server of programs|worker) ended", problem):
                raise RuntimeError(problem)
        return bool(result.error) or not result.finished


# ---- All of them -------------------------------------------------------------------


def table(trial: Trial, caught: Sequence[str]) -> str:
    """Count the mutants of each module by what caught them; name those that survive."""
    names = [check.name for check in trial.checks]
    number = Counter(mutant.file for mutant in trial.mutants)
    pairs = [*zip(trial.mutants, caught, strict=True)]
    good = Counter((mutant.file, name) for mutant, name in pairs)
    rows: list[list[str | int]] = [
        ["mutants of the package", "number", *(f"by {name}" for name in names)]
    ]
    for file in sorted(number):
        rows.append([file, number[file], *(good[file, name] for name in names)])
    sums = Counter(caught)
    rows.append(["all", number.total(), *(sums[name] for name in names)])
    width = max(30, *(len(file) + 2 for file in number))
    lines = [
        f"{row[0]:{width}}" + "".join(f"{cell:>14}" for cell in row[1:]) for row in rows
    ]
    lines += [
        f"{trial.package / mutant.file}: not caught: {mutant.why}\n"
        f"    - {mutant.old}\n    + {mutant.new}"
        for mutant, name in pairs
        if not name
    ]
    return "\n".join(lines)


def try_all(trial: Trial, at_once: int) -> list[str]:
    """Try each mutant; return by which check each was caught, or nothing.

    Raises:
        RuntimeError: If a check fails on the package as it is.
    """
    calls = [*dict.fromkeys(call for m in trial.mutants for call in trial.calls(m))]
    with (
        Servers(at_once, trial.preload) as servers,
        ThreadPoolExecutor(at_once) as pool,
        copied(trial.package) as copy,
    ):
        failed = pool.map(lambda call: servers.fail(call[1], copy, trial.limit), calls)
        for (name, arguments), wrong in zip(calls, failed, strict=True):
            if wrong:
                raise RuntimeError(
                    "checks must pass on the package as it is; "
                    f"got {name}: pytest {' '.join(arguments)}."
                )
        caught = []
        checks = pool.map(lambda one: trial.caught_by(one, servers), trial.mutants)
        for mutant, name in zip(trial.mutants, checks, strict=True):
            print(f"{name or 'NOT CAUGHT':12} {mutant.file}: {mutant.why}", flush=True)
            caught.append(name)
    return caught


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the mutants of a list; return 1 if one of them survives."""
    parser = argparse.ArgumentParser(prog="workshop mutate-package")
    parser.add_argument("list", type=Path, metavar="LIST", help="a file in TOML")
    parser.add_argument(
        "--at-once", type=int, default=os.cpu_count(), help="how many in parallel"
    )
    parser.add_argument("--only", default="", metavar="TEXT", help="mutants with TEXT")
    options = parser.parse_args(arguments)
    try:
        trial = read(options.list)
        chosen = [m for m in trial.mutants if options.only in "\n".join(astuple(m))]
        trial = replace(trial, mutants=chosen)
        caught = try_all(trial, options.at_once)
    except (ValueError, RuntimeError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"\n{table(trial, caught)}")
    return 0 if all(caught) else 1
