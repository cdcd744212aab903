"""Prove that pages are checked: break copies of them, and see each found out.

    proofread mutate-pages docs README.md

Every mutant of `proofread.mutation.page_mutants` is a page of its own in one run of pytest, with the
settings of the project. First the pages are run as they are, and must pass. Then only
those programs run that a mutation touches, as by `pytest --changed`: what is caught so
is caught all the more when all of them run. Other arguments are handed to pytest.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

from proofread.mutation.page_mutants import Mutant, mutants
from proofread.page.markdown import pages

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


def failing(folder: Path, texts: Mapping[str, str], options: Sequence[str]) -> set[str]:
    """Run pages as tests.

    Args:
        folder: A new folder for them, in one that has the settings of pytest.
        texts: The pages, each under the name of a file.
        options: What else pytest is told.

    Returns:
        The names of those that have a test that fails.

    Raises:
        RuntimeError: If pytest does not come to its end.
    """
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    report = folder.with_suffix(".xml")
    told = ["--changed", "--continue-on-collection-errors", f"--junitxml={report}"]
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "pytest", *told, *options, folder.name],
        cwd=folder.parent,
        capture_output=True,
        text=True,
    )
    if done.returncode not in (0, 1):
        said = (done.stdout + done.stderr).strip()
        raise RuntimeError(
            f"pytest must come to its end; got status {done.returncode}:\n{said}"
        )
    return failed_pages(report)


def failed_pages(report: Path) -> set[str]:
    """Return the names of the pages that fail, from a report by pytest."""
    found = set()
    for case in ElementTree.parse(report).iter("testcase"):  # noqa: S314
        if case.find("failure") is not None or case.find("error") is not None:
            # The page is the class of its tests, or what cannot be collected.
            name = case.get("classname") or case.get("name") or ""
            found.add(".".join(name.split(".")[-2:]))
    return found


def caught(found: Sequence[Path], broken: Broken, options: Sequence[str]) -> set[str]:
    """Run pages as they are, and then their mutants.

    Args:
        found: The pages.
        broken: Their mutants.
        options: What else pytest is told.

    Returns:
        The names of the mutants that have a test that fails.

    Raises:
        RuntimeError: If a page fails as it is, or pytest does not come to its end.
    """
    with tempfile.TemporaryDirectory() as temporary:
        for settings in filter(Path.is_file, map(Path, SETTINGS)):
            shutil.copy(settings, temporary)
        whole = {f"{n}.md": p.read_text(encoding="utf-8") for n, p in enumerate(found)}
        if wrong := failing(Path(temporary, "whole"), whole, options):
            names = [str(path) for n, path in enumerate(found) if f"{n}.md" in wrong]
            raise RuntimeError(f"pages must pass as they are; got {', '.join(names)}.")
        texts = {name: mutant.text for name, (_, mutant) in broken.items()}
        return failing(Path(temporary, "broken"), texts, options)


def table(broken: Broken, found_out: set[str]) -> str:
    """Say how many mutants of each kind there are, and which were not caught."""
    number = Counter(mutant.kind for _, mutant in broken.values())
    good = Counter(broken[name][1].kind for name in found_out)
    rows = [f"{'mutants of the pages':36}{'number':>8}{'caught':>8}"]
    rows += [f"{kind:36}{number[kind]:8}{good[kind]:8}" for kind in sorted(number)]
    rows.append(f"{'all':36}{number.total():8}{good.total():8}")
    rows += [
        f"{path}:{mutant.line}: not caught: {mutant.kind}"
        for name, (path, mutant) in broken.items()
        if name not in found_out
    ]
    return "\n".join(rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Break the pages that are named; return 1 if a mutant survives."""
    parser = argparse.ArgumentParser(prog="proofread mutate-pages")
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    options, rest = parser.parse_known_args(arguments)
    found = [*pages(options.paths)]
    broken = break_pages(found)
    try:
        found_out = caught(found, broken, rest)
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 1
    print(table(broken, found_out))
    return 0 if broken.keys() == found_out else 1
