"""A build tells its date and its environment, and the date is not the clock's."""

import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

import pytest

from workshop.website.build_info import build_time, environment

TIME = "workshop.website.build_info.time.time"


def test_the_date_that_is_given_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert build_time() == 86400


def test_the_sentence_names_the_day_and_the_versions() -> None:
    assert environment(["pytest"], 86400) == (
        f"1970-01-02 with pytest {version('pytest')}, Python "
        f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    )


def test_else_the_date_is_that_of_the_last_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.setattr(TIME, lambda: 86400.9)
    assert build_time() == 86400  # there is no commit
    monkeypatch.setenv("GIT_COMMITTER_DATE", "1000000000 +0000")
    for command in (
        ["init", "-q"],
        ["config", "user.name", "a"],
        ["config", "user.email", "b"],
        ["commit", "-q", "--allow-empty", "-m", "x"],
    ):
        subprocess.run(["git", *command], check=True)
    assert build_time() == 1000000000


def test_without_git_the_date_is_today(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(TIME, lambda: 86400.9)
    assert build_time() == 86400
