"""Measure proofread and four other tools on the same pages, in one run.

    python tools/workshop/benchmark docs/basics

The tools run the pages as they are in turn, three times, and then their mutants, of
which they run only what is new. A mutant is caught if a test fails, of a program that
passes as it is. pytest-examples gets the pages in its own notation, with the outputs
that it has written itself, and mutants in that notation; nbval gets notebooks, and the
new cells of all mutants of a page in one of them.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import tools
from pytest_proofread.page.markdown import pages
from tools import TOOLS, Tool
from workshop.mutation.page_mutants import Mutant, mutants
from workshop.mutation.pages import SETTINGS, break_pages, caught

HERE = Path(__file__).parent
HEAD = """\
# What five tools find, and how long they take

Written by `python tools/workshop/benchmark`: each tool on the same pages, in one run.
The seconds are those of the whole process, the best of several.
A mutant is a page with one fault; it is caught if a test fails that passed before.

"""
US = Tool("proofread", ["-p", "pytest_proofread.options", "--proofread"])
Pages = Mapping[str, str]
Broken = Mapping[str, tuple[str, Mutant]]


class Timed(NamedTuple):
    """A run of pages as they are: seconds, tests, and those that fail."""

    seconds: float
    tests: int
    failed: int


class Found(NamedTuple):
    """What a tool did with pages, and with how many of their mutants, by kind."""

    name: str
    as_is: Timed
    caught: Counter[str]
    number: Counter[str]


def run(folder: Path, *options: str) -> tuple[float, dict[str, bool]]:
    """Run pytest without what is installed besides; return seconds and outcomes."""
    if not (folder / "pyproject.toml").exists():
        (folder / "pytest.ini").touch()
    report = folder / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}"]
    command += ["--continue-on-collection-errors", *options, "."]
    path = f"{HERE}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    alone = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": path}
    start = time.perf_counter()
    done = subprocess.run(
        command, cwd=folder, env=os.environ | alone, capture_output=True, text=True
    )
    seconds = time.perf_counter() - start
    if done.returncode not in (0, 1, 5):
        raise RuntimeError(f"{' '.join(command)} must end; got\n{done.stdout[-3000:]}")
    outcomes = {
        f"{case.get('classname')} {case.get('name')}": len(case) > 0
        and case[0].tag in ("failure", "error")
        for case in ElementTree.parse(report).iter("testcase")  # noqa: S314
    }
    return seconds, outcomes


def put(folder: Path, tool: Tool, texts: Pages) -> None:
    """Write pages as a tool reads them."""
    folder.mkdir()
    for name, text in tool.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    for name, text in texts.items():
        file = folder / f"{name}{tool.suffix}"
        file.write_text(tool.made(text), encoding="utf-8")


def failing(folder: Path, tool: Tool, broken: Pages, known: Path) -> set[str]:
    """Return the names of the mutants that a tool fails on."""
    put(folder, tool, broken)
    new = ["-p", "skip_known", f"--known={known}"]
    _, outcomes = run(folder, *tool.options, *new)
    return {
        name[1]
        for test, fails in outcomes.items()
        if fails and (name := re.search(r"(?:^|\W)(\d+)\.(?:md|ipynb)", test))
    }


def failing_cells(
    folder: Path, tool: Tool, whole: Pages, broken: Broken, known: Path
) -> set[str]:
    """Do the same for notebooks, with one kernel for all mutants of a page."""
    folder.mkdir()
    owners = {}
    for page, text in whole.items():
        made = {n: tool.made(m.text) for n, (of, m) in broken.items() if of == page}
        notebook, owners[page] = tools.new_cells(tool.made(text), made)
        (folder / f"{page}.ipynb").write_text(notebook, encoding="utf-8")
    new = ["-p", "skip_known", f"--known={known}"]
    _, outcomes = run(folder, *tool.options, *new)
    found: set[str] = set()
    for test, fails in outcomes.items():
        place = re.search(r"(?:^|\W)(\w+)\.ipynb.*Cell (\d+)", test)
        if fails and place is not None:
            found |= owners[place[1]][int(place[2])]
    return found


def own(texts: Pages) -> Pages:
    """Return pages as pytest-examples writes them itself."""
    tool = next(tool for tool in TOOLS if tool.name == "pytest-examples")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, "pages")
        bare = {name: tools.without_outputs(text) for name, text in texts.items()}
        put(folder, tool, bare)
        run(folder, *tool.options, "--update-examples")
        return {n: (folder / f"{n}.md").read_text(encoding="utf-8") for n in texts}


def prepared(tool: Tool, texts: Pages) -> Pages:
    """Return pages in the notation of a tool."""
    return own(texts) if tool.name == "pytest-examples" else texts


def caught_by(tool: Tool, texts: Pages) -> tuple[Counter[str], Counter[str]]:
    """Return how many mutants a tool catches of each kind, and how many there are."""
    make = tools.mutants if tool.name == "pytest-examples" else mutants
    every = [(page, mutant) for page, text in texts.items() for mutant in make(text)]
    broken = {str(number): pair for number, pair in enumerate(every)}
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        known = root / "known.json"
        put(root / "whole", tool, texts)
        run(root / "whole", *tool.options, "-p", "skip_known", f"--known={known}")
        if tool.suffix == ".ipynb":
            found = failing_cells(root / "broken", tool, texts, broken, known)
        else:
            wrong = {name: mutant.text for name, (_, mutant) in broken.items()}
            found = failing(root / "broken", tool, wrong, known)
    kinds = Counter(broken[name][1].kind for name in found)
    return kinds, Counter(mutant.kind for _, mutant in every)


def caught_by_us(paths: Sequence[Path]) -> tuple[Counter[str], Counter[str]]:
    """Return the same for proofread."""
    broken = break_pages(paths)
    found = Counter(broken[name][1].kind for name in caught(paths, broken, []))
    return found, Counter(mutant.kind for _, mutant in broken.values())


def timed(chosen: Sequence[Tool], texts: Pages, times: int) -> dict[str, Timed]:
    """Run the pages as they are, all tools in turn: what else runs slows all alike."""
    found: dict[str, list[Timed]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        for tool in chosen:
            put(root / tool.name, tool, prepared(tool, texts))
        for file in filter(Path.is_file, map(Path, SETTINGS)):
            shutil.copy(file, root / chosen[0].name)
        for tool in [*chosen] * times:
            seconds, outcomes = run(root / tool.name, *tool.options)
            programs = [t for t in outcomes if not t.endswith(("[fences]", "[prose]"))]
            failed = sum(outcomes.values())
            found.setdefault(tool.name, []).append(
                Timed(seconds, len(programs), failed)
            )
    return {name: min(runs) for name, runs in found.items()}


def importing(times: int) -> float:
    """Return the seconds that one process needs to import what the pages do."""
    command = [sys.executable, "-c", "import torch"]
    starts = []
    for _ in range(times):
        start = time.perf_counter()
        subprocess.run(command, check=True)
        starts.append(time.perf_counter() - start)
    return min(starts)


def table(results: Sequence[Found], seconds: float) -> str:
    """Return all of it as a table in Markdown."""
    once = f"without one `import torch`, {seconds:.1f} s"
    rows = [
        ["", *(result.name for result in results)],
        ["---", *("---:" for _ in results)],
        ["seconds", *(f"{r.as_is.seconds:.1f}" for r in results)],
        [once, *(f"{r.as_is.seconds - seconds:.1f}" for r in results)],
        ["programs run", *(str(r.as_is.tests) for r in results)],
        ["of these fail as they are", *(str(r.as_is.failed) for r in results)],
    ]
    for kind in sorted(results[0].number):
        cells = (f"{r.caught[kind]} of {r.number[kind]}" for r in results)
        rows.append([kind, *cells])
    sums = (f"{r.caught.total()} of {r.number.total()}" for r in results)
    rows.append(["**all mutants**", *sums])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(prog="python tools/workshop/benchmark")
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--times", type=int, default=3, help="of which the best counts")
    parser.add_argument("--only", default="", help="tools with this in their name")
    options = parser.parse_args()
    found = [*pages(options.paths)]
    texts = {path.stem: path.read_text(encoding="utf-8") for path in found}
    chosen = [US, *(tool for tool in TOOLS if options.only in tool.name)]
    times = timed(chosen, texts, options.times)
    results = [Found(US.name, times[US.name], *caught_by_us(found))]
    for tool in chosen[1:]:
        kinds, number = caught_by(tool, prepared(tool, texts))
        title = f"{tool.name} {version(tool.name)}"
        results.append(Found(title, times[tool.name], kinds, number))
        print(title, kinds, file=sys.stderr, flush=True)
    made = table(results, importing(options.times))
    (HERE / "results.md").write_text(f"{HEAD}{made}\n", encoding="utf-8", newline="\n")
    print(made)


if __name__ == "__main__":
    main()
