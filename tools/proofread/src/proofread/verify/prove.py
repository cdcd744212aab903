"""Prove that no program needs another: `proofread prove docs README.md`.

The programs of all pages run in their order, in another, in two processes at once, as
on an older processor, and each alone in a fresh interpreter that knows nothing of this
tool. What they print must be the same to the letter each time.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

Results = dict[str, dict[str, Any]]
# What makes the libraries under PyTorch forget the newer half of what a processor can.
OLDER = {
    "ATEN_CPU_CAPABILITY": "default",
    "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
    "ONEDNN_MAX_CPU_ISA": "SSE41",
}
WAYS: dict[str, tuple[list[str], dict[str, str]]] = {
    "in order": ([], {}),
    "in another order": (["--shuffle=11"], {}),
    "in two processes": (["-n", "2"], {}),
    "on an older processor": (["--compare=exact"], OLDER),
}


class CannotProveError(Exception):
    """There is nothing to compare with."""


def by_pytest(
    paths: Sequence[Path], options: Sequence[str], environment: Mapping[str, str]
) -> Results:
    """Run the programs of pages by pytest; return what each did."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "results.json"
        command = [sys.executable, "-m", "pytest", "-q", "--proofread", *options]
        done = subprocess.run(  # noqa: S603
            [*command, f"--results={file}", *map(str, paths)],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
        )
        if not file.exists() or not (results := json.loads(file.read_text("utf-8"))):
            raise CannotProveError(f"no program ran; pytest says:\n{done.stdout}")
    return results


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


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all programs in each way; return 1 if two ways differ or one fails."""
    parser = argparse.ArgumentParser(prog="proofread prove")
    parser.add_argument("paths", nargs="+", type=Path, help="pages or folders")
    paths = parser.parse_args(arguments).paths

    expected: Results = {}
    wrong = 0
    for way, (options, environment) in WAYS.items():
        try:
            found = by_pytest(paths, options, environment)
        except CannotProveError as error:
            print(error, file=sys.stderr)
            return 1
        expected = expected or found
        failed = [n for n, result in found.items() if result["outcome"] != "passed"]
        said = [f"{name}: fails" for name in failed] + [*differences(expected, found)]
        wrong += report(way, len(found), said)
    wrong += report("each alone", len(expected), [*differences_alone(expected)])
    return 1 if wrong else 0


def report(way: str, count: int, said: Sequence[str]) -> int:
    """Print how a run went; return how many sentences there were to say."""
    print(f"{way:22} {count:5} programs, {len(said)} problems", flush=True)
    for sentence in sorted(said):
        print(f"  {sentence}")
    return len(said)
