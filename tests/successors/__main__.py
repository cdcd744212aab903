"""Build the book with what may come after MkDocs, and compare the pages.

    python tests/successors

ProperDocs goes on where MkDocs 1 ended; Zensical is by the authors of the theme, and
leaves out what it does not know without a word. Each must make the pages that MkDocs
makes, and show the code of the book in them. The labs are not run.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import nbconvert
from bs4 import BeautifulSoup

from proofread.verify.site_matches_pages import census

ROOT = Path(__file__).parents[2]
COMMANDS = {
    "mkdocs": ["-m", "mkdocs", "build", "--strict"],
    "properdocs": ["-m", "properdocs", "build", "--strict", "-f", "mkdocs.yml"],
    "zensical": ["-m", "zensical", "build", "--strict", "-f", "mkdocs.yml"],
}
# It knows no mkdocs-jupyter, and says nothing of it.
KNOWN = {"zensical": ["labs/check_in_a_notebook/index.html is missing"]}
WHAT = {
    "formulas": "article math",
    "pictures": "article figure svg",
    "links": "article a[href]",
    "downloads": "article a[download]",
    "shapes": "article .hw-shapes dt",
}


def copied(folder: Path) -> None:
    """Copy what a build reads, so that no two write into one place."""
    listed = ["git", "ls-files", "-z", "mkdocs.yml", "docs", "overrides", "src"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True).stdout
    for name in filter(None, names.decode().split("\0")):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((ROOT / name).read_bytes())


def build(folder: Path, command: Sequence[str]) -> Path:
    """Build the site of a copy; return its folder."""
    copied(folder)
    # What was borrowed looks for its templates where it was not installed.
    borrowed = Path(nbconvert.__file__).parents[4] / "share" / "jupyter"
    quiet = {"LABS": "false", "NO_MKDOCS_2_WARNING": "1", "JUPYTER_PATH": str(borrowed)}
    done = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=os.environ | quiet,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        sys.exit(f"`{' '.join(command[1:])}` must succeed.\n{done.stdout}{done.stderr}")
    return folder / "site"


def counted(site: Path) -> dict[str, dict[str, int]]:
    """Count what each page of a site shows."""
    found = {}
    for path in sorted(site.rglob("*.html")):
        soup = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        counts = {what: len(soup.select(where)) for what, where in WHAT.items()}
        found[path.relative_to(site).as_posix()] = counts
    return found


def differences(
    wanted: dict[str, dict[str, int]], made: dict[str, dict[str, int]]
) -> list[str]:
    """List in what the pages of two sites differ."""
    found = [f"{page} is missing" for page in sorted(wanted.keys() - made.keys())]
    found += [f"{page} is new" for page in sorted(made.keys() - wanted.keys())]
    for page in sorted(wanted.keys() & made.keys()):
        for what, count in wanted[page].items():
            if made[page][what] < count:
                found.append(f"{page} has {made[page][what]} of {count} {what}")
    return found


def main() -> int:
    """Print what each of them leaves out; return 1 if that is not what is known."""
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        sites = {name: build(Path(folder, name), c) for name, c in COMMANDS.items()}
        wanted = counted(sites["mkdocs"])
        for name, site in sites.items():
            found = differences(wanted, counted(site))
            found += census(site.parent / "docs", site)
            print(f"{name} {version(name)}: {len(wanted)} pages, {len(found)} missing")
            print(*(f"  {sentence}\n" for sentence in found), sep="", end="")
            failed = failed or found != KNOWN.get(name, [])
    return failed


if __name__ == "__main__":
    sys.exit(main())
