"""CONTRIBUTING.md leads to places that there are."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
# What commands make, and a name that is no path.
MADE = {".venv", ".cache/kept", "site/", "headway.checks", "tests.support"}
TAG = re.compile(r"\w+-v\d")


def test_each_path_is_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    files = {Path(name) for name in listed.stdout.splitlines()}
    there = {place.as_posix() for path in files for place in (path, *path.parents)}
    named = {name for name in re.findall(r"`([^`\s]+)`", text) if is_path(name)}
    assert len(named) > 50
    assert named - there == MADE


def is_path(name: str) -> bool:
    return "/" in name or (bool(re.search(r"\.\w+$", name)) and not TAG.match(name))
