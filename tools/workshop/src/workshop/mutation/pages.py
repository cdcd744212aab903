"""Prove that pages are checked: break copies of them, and see each found out.

    workshop mutate-pages docs README.md

Every mutant of `workshop.mutation.page_mutants` is a page of its own in one run of
pytest, together with the pages as they are, which must pass, and with the settings of
the project. Each program runs once, and what it printed is held against each copy of
its page. Other arguments are handed to pytest; `-n 2` takes two processes. With
`--sample 200` it is 200 of the mutants, drawn at random: `--seed 1` draws others.
"""

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

from pytest_proofread.page.markdown import pages
from workshop.mutation.page_mutants import Mutant, mutants
from workshop.mutation.run_once import UNCHANGED

SETTINGS = ("pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg")
Broken = Mapping[str, tuple[Path, Mutant]]


def break_pages(found: Sequence[Path]) -> Broken:
    """Return all mutants of some pages, each under the name of a file of its own."""
    every = [
        (path, mutant)
        for path in found
        for mutant in mutants(path.read_text(encoding="utf-8"))
    ]
    return {f"{number}.md": pair for number, pair in enumerate(every)}


def drawn(broken: Broken, number: int, seed: int) -> Broken:
    """Draw some mutants, or take all if there are no more; they keep their order."""
    names = random.Random(seed).sample([*broken], min(number, len(broken)))  # noqa: S311
    return {name: pair for name, pair in broken.items() if name in {*names}}


def caught(found: Sequence[Path], broken: Broken, options: Sequence[str]) -> set[str]:
    """Run pages as they are, and their mutants.

    Args:
        found: The pages.
        broken: Their mutants.
        options: Further options of pytest.

    Returns:
        The names of the mutants that have a test that fails.

    Raises:
        RuntimeError: If a page fails as it is, or pytest does not come to its end.
    """
    whole = {f"{n}.md": p.read_text(encoding="utf-8") for n, p in enumerate(found)}
    texts = {name: mutant.text for name, (_, mutant) in broken.items()}
    failing = failing_pages({UNCHANGED: whole, "broken": texts}, options)
    if wrong := [
        str(p) for n, p in enumerate(found) if f"{UNCHANGED}.{n}.md" in failing
    ]:
        raise RuntimeError(f"pages must pass as they are; got {', '.join(wrong)}.")
    return {name for name in broken if f"broken.{name}" in failing}


def failing_pages(
    folders: Mapping[str, Mapping[str, str]], options: Sequence[str]
) -> set[str]:
    """Run pages as tests, with the settings of pytest that the project has.

    Args:
        folders: The names of folders, and what each file in them holds.
        options: Further options of pytest.

    Returns:
        The pages that have a test that fails, as `folder.file`.

    Raises:
        RuntimeError: If pytest does not come to its end.
    """
    with tempfile.TemporaryDirectory() as temporary:
        project = Path(temporary)
        for settings in filter(Path.is_file, map(Path, SETTINGS)):
            shutil.copy(settings, project)
        for folder, texts in folders.items():
            (project / folder).mkdir()
            for name, text in texts.items():
                (project / folder / name).write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-p", "workshop.mutation.run_once"]
        command += ["--proofread", "--continue-on-collection-errors", "--tb=no", "-q"]
        if any(option.startswith("-n") for option in options):
            command += ["--dist=loadgroup"]
        command += ["--junitxml=report.xml", *options, *folders]
        done = subprocess.run(  # noqa: S603
            command, cwd=project, capture_output=True, text=True
        )
        if done.returncode not in (0, 1):
            output = (done.stdout + done.stderr).strip()
            raise RuntimeError(
                f"pytest must come to its end; got status {done.returncode}:\n{output}"
            )
        return failed(project / "report.xml")


def failed(report: Path) -> set[str]:
    """Return the pages that fail, as `folder.file`, from a report by pytest."""
    # The page is the class of its tests, or what cannot be collected.
    return {
        case.get("classname") or case.get("name") or ""
        for case in ElementTree.parse(report).iter("testcase")  # noqa: S314
        if case.find("failure") is not None or case.find("error") is not None
    }


def table(broken: Broken, found: set[str]) -> str:
    """Say how many mutants of each kind there are, and which were not caught."""
    number = Counter(mutant.kind for _, mutant in broken.values())
    good = Counter(broken[name][1].kind for name in found)
    rows = [f"{'mutants of the pages':36}{'number':>8}{'caught':>8}"]
    rows += [f"{kind:36}{number[kind]:8}{good[kind]:8}" for kind in sorted(number)]
    rows.append(f"{'all':36}{number.total():8}{good.total():8}")
    rows += [
        f"{path}:{mutant.line}: not caught: {mutant.kind}"
        for name, (path, mutant) in broken.items()
        if name not in found
    ]
    return "\n".join(rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Break the pages that are named; return 1 if a mutant survives."""
    parser = argparse.ArgumentParser(prog="workshop mutate-pages")
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    parser.add_argument("--sample", type=int, metavar="N", help="only N, at random")
    parser.add_argument("--seed", type=int, default=0, help="which ones are drawn")
    options, rest = parser.parse_known_args(arguments)
    paths = [*pages(options.paths)]
    broken = break_pages(paths)
    if options.sample is not None:
        broken = drawn(broken, options.sample, options.seed)
    try:
        found = caught(paths, broken, rest)
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 1
    print(table(broken, found))
    return 0 if broken.keys() == found else 1
