"""Prove that a package is checked: put faults into copies of it, and see each found.

    proofread mutate-package tests/mutants.toml

The list names the folder of the package, the checks, which are calls of pytest, and the
faults. Each fault has a reason in plain words, and replaces text that occurs once:

    package = "src/shop"

    [[check]]
    name = "the book"
    arguments = ["--proofread", "docs"]

    [[mutant]]
    file = "prices.py"
    old = "price * count"
    new = "price + count"
    why = "a second apple would cost one unit more, whatever an apple costs"

The checks come in their order, until one of them fails; without a fault all must pass.
In their arguments `{stem}` is the name of the file, without `.py` and underscores in
front.
"""

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

# What a test would import, told without the time that an import takes.
ORIGIN = "import importlib.util as u, sys; print(u.find_spec(sys.argv[1]).origin)"


class Check(NamedTuple):
    """A call of pytest that may find a fault."""

    name: str
    arguments: list[str]


class Fault(NamedTuple):
    """A place of the package, and what is put there."""

    file: str
    old: str
    new: str
    why: str

    @property
    def stem(self) -> str:
        """The name of the module, as that of its tests has it."""
        return Path(self.file).stem.strip("_")


@dataclass(frozen=True)
class Trial:
    """What is tried.

    Args:
        package: The folder of the package.
        checks: What may find a fault, in this order.
        faults: What is to be found.
        limit: Seconds that a check may run; one that is stopped has found the fault.
    """

    package: Path
    checks: list[Check]
    faults: list[Fault]
    limit: float = 600.0

    def told(self, fault: Fault) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield each check by name, with what pytest is told to find a fault."""
        for name, arguments in self.checks:
            yield name, tuple(a.format(stem=fault.stem) for a in arguments)

    def broken(self, fault: Fault) -> str:
        """Return the text of a file with a fault in it.

        Raises:
            ValueError: If it is not clear where the fault goes.
        """
        text = (self.package / fault.file).read_text(encoding="utf-8")
        if (times := text.count(fault.old)) != 1:
            raise ValueError(
                f"old must occur once in {fault.file}; "
                f"got old={fault.old!r}, which occurs {times} times."
            )
        return text.replace(fault.old, fault.new)

    def found_by(self, fault: Fault) -> str:
        """Return the name of the first check that fails, or nothing."""
        with copied(self.package) as copy:
            (copy / fault.file).write_text(self.broken(fault), encoding="utf-8")
            for name, arguments in self.told(fault):
                if fails(arguments, copy, self.limit):
                    return name
        return ""


def read(path: Path) -> Trial:
    """Read a list of faults.

    Raises:
        ValueError: If it is not clear where a fault goes, or why.
    """
    known = tomllib.loads(path.read_text(encoding="utf-8"))
    faults = []
    for entry in known["mutant"]:
        if entry.keys() != {*Fault._fields}:
            raise ValueError(
                f"a mutant must have {', '.join(Fault._fields)}; got {entry}."
            )
        faults.append(Fault(**entry))
    checks = [Check(**check) for check in known["check"]]
    trial = Trial(Path(known["package"]), checks, faults, known.get("limit", 600.0))
    for fault in faults:
        trial.broken(fault)
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
    known = os.environ.get("PYTHONPATH")
    path = os.pathsep.join([str(copy.parent), *([known] if known else [])])
    return {**os.environ, "PYTHONPATH": path}


def fails(arguments: Sequence[str], copy: Path, limit: float) -> bool:
    """Say whether pytest fails, or must be stopped, with a copy of the package."""
    with subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
        env=environment(copy),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            return process.wait(limit) != 0
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # and what it may have started
            return True


# ---- All of them -------------------------------------------------------------------


def table(trial: Trial, found: Sequence[str]) -> str:
    """Say how many faults of each module there are, what found them, and which not."""
    names = [check.name for check in trial.checks]
    number = Counter(fault.file for fault in trial.faults)
    pairs = [*zip(trial.faults, found, strict=True)]
    good = Counter((fault.file, name) for fault, name in pairs)
    rows: list[list[str | int]] = [
        ["mutants of the package", "number", *(f"by {name}" for name in names)]
    ]
    for file in sorted(number):
        rows.append([file, number[file], *(good[file, name] for name in names)])
    sums = Counter(found)
    rows.append(["all", number.total(), *(sums[name] for name in names)])
    lines = [
        f"{row[0]:30}" + "".join(f"{cell:>14}" for cell in row[1:]) for row in rows
    ]
    lines += [
        f"{trial.package / fault.file}: not caught: {fault.why}\n"
        f"    - {fault.old}\n    + {fault.new}"
        for fault, name in pairs
        if not name
    ]
    return "\n".join(lines)


def try_all(trial: Trial, at_once: int) -> list[str]:
    """Put each fault into a copy; return by which check each was found, or nothing.

    Raises:
        RuntimeError: If a check fails without a fault.
    """
    calls = [*dict.fromkeys(call for f in trial.faults for call in trial.told(f))]
    with ThreadPoolExecutor(at_once) as pool, copied(trial.package) as copy:
        failed = pool.map(lambda call: fails(call[1], copy, trial.limit), calls)
        for (name, arguments), wrong in zip(calls, failed, strict=True):
            if wrong:
                raise RuntimeError(
                    "checks must pass without a fault; "
                    f"got {name}: pytest {' '.join(arguments)}."
                )
        found = []
        for fault, name in zip(
            trial.faults, pool.map(trial.found_by, trial.faults), strict=True
        ):
            print(f"{name or 'NOT CAUGHT':12} {fault.file}: {fault.why}", flush=True)
            found.append(name)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the faults of a list; return 1 if one of them survives."""
    parser = argparse.ArgumentParser(prog="proofread mutate-package")
    parser.add_argument("list", type=Path, metavar="LIST", help="a file in TOML")
    parser.add_argument("--at-once", type=int, default=2, help="how many in parallel")
    parser.add_argument("--only", default="", metavar="TEXT", help="faults with TEXT")
    options = parser.parse_args(arguments)
    try:
        trial = read(options.list)
        chosen = [fault for fault in trial.faults if options.only in "\n".join(fault)]
        trial = replace(trial, faults=chosen)
        found = try_all(trial, options.at_once)
    except (ValueError, RuntimeError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"\n{table(trial, found)}")
    return 0 if all(found) else 1
