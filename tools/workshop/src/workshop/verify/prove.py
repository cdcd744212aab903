"""Prove that no program needs another, and that no digit depends on the processor.

    workshop prove docs README.md --also 'python -m generators.live --check'

The programs of all pages run in their order, in another, in two processes at once, on
each code path that PyTorch and the libraries under it can be told to take here, and
each alone in a fresh interpreter that knows nothing of this tool. What they print must
be the same to the letter each time. On each path other commands can run too, such as
generators that compare what they make with the files that are there. A table at the end
says what ran, and which code paths could not be tried.

    pytest --proofread --results=results.json docs README.md

Where that has just run, `--results results.json` takes it for the first way.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from pytest_proofread.page.markdown import pages, programs, skipped
from pytest_proofread.pytest_plugin.elsewhere import NoProgramRanError, run_pages
from workshop.run.code_paths import BY_THEMSELVES, PATHS, CodePath, not_taken, taken

Results = dict[str, dict[str, Any]]
ORDERS = {"in another order": ["--shuffle=11"], "in two processes": ["-n", "2"]}


class Leg(NamedTuple):
    """One way in which everything ran."""

    name: str
    programs: int
    commands: int
    problems: list[str]


# ---- One leg -----------------------------------------------------------------------


def alone(code: str) -> dict[str, str]:
    """Run a program as a file of its own in an empty folder."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        program = Path(folder) / "program.py"
        program.write_text(code, encoding="utf-8")
        done = subprocess.run(  # noqa: S603
            [sys.executable, program.name],
            cwd=folder,
            env={**os.environ, "PYTHONIOENCODING": "utf-8"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
        )
    return {"output": done.stdout, "stderr": done.stderr}


def differences(expected: Results, found: Results) -> Iterator[str]:
    """Say which programs did not do the same."""
    for name in expected.keys() ^ found.keys():
        yield f"{name}: ran in one way and not in the other"
    for name in expected.keys() & found.keys():
        for part in ("output", "error"):
            one, other = expected[name][part], found[name][part]
            if one != other:
                yield f"{name}: {part} was {one!r}, and is {other!r}"


def differences_alone(expected: Results) -> Iterator[str]:
    """Run each program alone, and say which did not do the same."""
    programs = [result["code"] for result in expected.values()]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        outcomes = pool.map(alone, programs)
        for (name, result), own in zip(expected.items(), outcomes, strict=True):
            one, other = result["output"], own["output"]
            if one != other:
                yield f"{name}: output was {one!r}, and is {other!r}"
            # A traceback ends with the error; without one nothing is written at all.
            end = f"\n{result['error']}\n" if result["error"] else ""
            if not own["stderr"].endswith(end) or bool(own["stderr"]) != bool(end):
                yield f"{name}: must end with {end!r}; wrote {own['stderr']!r}"


def read_results(file: Path, paths: Sequence[Path]) -> Results:
    """Read what a run of all programs of some pages did.

    Raises:
        NoProgramRanError: If it was no run of these programs.
    """
    found: Results = json.loads(file.read_text(encoding="utf-8"))
    ran = Counter((one["page"], one["code"]) for one in found.values())
    there = [
        (str(path), program)
        for path in pages(paths)
        for program in programs(path.read_text(encoding="utf-8"))
    ]
    known = Counter((page, program.code) for page, program in there)
    must = Counter((page, one.code) for page, one in there if not skipped(one))
    if wrong := sorted({page for page, _ in (ran - known) + (must - ran)}):
        raise NoProgramRanError(
            f"{file} must hold what each program of the pages did; it does not of "
            f"{', '.join(wrong)}."
        )
    return found


def failures(results: Results) -> Iterator[str]:
    """Say which programs failed."""
    for name, result in results.items():
        if result["outcome"] != "passed":
            yield f"{name}: fails"


def command_problems(command: str, environment: Mapping[str, str]) -> Iterator[str]:
    """Run a command, and say so if it fails."""
    words = shlex.split(command)
    if words[0] == "python":
        words[0] = sys.executable
    done = subprocess.run(words, env=environment, capture_output=True, text=True)  # noqa: S603
    if done.returncode:
        said = (done.stdout + done.stderr).strip()
        yield f"{command}: ends with status {done.returncode}; it says:\n{said}"


# ---- All legs ----------------------------------------------------------------------


class Proof:
    """Runs pages and commands in many ways, and keeps what came of it.

    Args:
        pages: Pages, or folders of pages.
        commands: What else must succeed on each code path.
    """

    def __init__(self, pages: Sequence[Path], commands: Sequence[str]) -> None:
        self.pages = pages
        self.commands = commands
        self.expected: Results = {}
        self.legs: list[Leg] = []
        self.untried: dict[str, None] = {}  # in their order, each once

    def run(
        self,
        name: str,
        options: Sequence[str],
        path: CodePath,
        commands: Sequence[str] = (),
        results: Path | None = None,
    ) -> None:
        """Run the pages with options of pytest, and commands, on a code path.

        The commands run one after another, beside the pages. Of pages that have run,
        the results are read.
        """
        environment = path.environment(os.environ)

        def run_commands() -> list[str]:
            said = (command_problems(command, environment) for command in commands)
            return [problem for problems in said for problem in problems]

        with ThreadPoolExecutor(1) as beside:
            commands_ran = beside.submit(run_commands)
            if results is None:
                found = run_pages(self.pages, options, environment)
            else:
                found = read_results(results, self.pages)
        self.expected = self.expected or found
        problems = [*failures(found), *differences(self.expected, found)]
        problems += commands_ran.result()
        self.keep(Leg(name, len(found), len(commands), sorted(problems)))

    def run_path(self, path: CodePath) -> None:
        """Run pages and commands on a code path, if PyTorch takes it here."""
        missing = dict(not_taken(path, taken(path)))
        self.untried |= dict.fromkeys(missing.values())
        if "PyTorch" not in missing:
            self.run(path.name, ["--compare=exact"], path, self.commands)

    def run_alone(self) -> None:
        """Run each program in an interpreter of its own."""
        problems = sorted(differences_alone(self.expected))
        self.keep(Leg("each alone", len(self.expected), 0, problems))

    def keep(self, leg: Leg) -> None:
        """Take note of a leg, and say at once what is wrong."""
        self.legs.append(leg)
        for problem in leg.problems:
            print(f"{leg.name}: {problem}", flush=True)

    def table(self) -> Iterator[str]:
        """Yield the lines of a table of all legs, and what could not be tried."""
        yield f"{'':22}  programs  commands  problems"
        for leg in self.legs:
            counts = (leg.programs, leg.commands, len(leg.problems))
            yield f"{leg.name:22}" + "".join(f"{count:10}" for count in counts)
        for sentence in self.untried:
            yield f"not tried: {sentence}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run everything in each way; return 1 if two ways differ or something fails."""
    parser = argparse.ArgumentParser(prog="workshop prove")
    parser.add_argument("paths", nargs="+", type=Path, help="pages or folders")
    parser.add_argument(
        "--also",
        action="append",
        default=[],
        metavar="COMMAND",
        help="run this too on each code path; it must succeed",
    )
    parser.add_argument(
        "--quick", action="store_true", help="the two cheapest code paths, no more"
    )
    parser.add_argument(
        "--results", type=Path, metavar="FILE", help="what they did in their order"
    )
    options = parser.parse_args(arguments)
    proof = Proof(options.paths, options.also)
    try:
        in_order = "in order", ["--no-lookahead"], BY_THEMSELVES
        proof.run(*in_order, options.also, options.results)
        for name, order in () if options.quick else ORDERS.items():
            proof.run(name, order, BY_THEMSELVES)
        for path in PATHS[1:2] if options.quick else PATHS[1:]:
            proof.run_path(path)
    except NoProgramRanError as error:
        print(error, file=sys.stderr)
        return 1
    if not options.quick:
        proof.run_alone()
    print(*proof.table(), sep="\n")
    return 1 if any(leg.problems for leg in proof.legs) else 0
