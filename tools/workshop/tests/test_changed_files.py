"""Which files count as changed, by what git answers."""

import subprocess

import pytest

from workshop import changed_files

MAINS = {"origin/HEAD": "b", "origin/main": "b", "main": "b"}


@pytest.mark.parametrize(
    ("answers", "expected", "unpushed"),
    [
        ({"HEAD": "b", "origin/main": "a", "HEAD~1": "c"}, "a", "a"),  # on a branch
        ({"HEAD": "b", "HEAD~1": "c"} | MAINS, "c", "b"),  # on the main one
        (
            {"HEAD": "b", "main": "b", "HEAD~1": "c"},
            "c",
            "c",
        ),  # without an origin
        ({"HEAD": "b", "HEAD~1": "c"}, "c", "c"),  # no main branch is known
        ({"HEAD": "b"}, None, None),  # nor what was before
        ({}, None, None),  # no repository
    ],
)
def test_changes_are_counted_from_where_a_branch_began(
    monkeypatch, answers, expected, unpushed
):
    def git(command, *arguments):
        return [answers[arguments[-1]]] if arguments[-1] in answers else None

    monkeypatch.setattr(changed_files, "git", git)
    monkeypatch.delenv("SINCE", raising=False)
    assert changed_files.starting_point() == expected
    assert changed_files.starting_point(unpushed=True) == unpushed


def test_in_an_untouched_clone_nothing_has_changed(tmp_path, monkeypatch):
    def git(folder, *arguments):
        settings = "user.name=A", "user.email=a@example.org", "commit.gpgsign=false"
        options = [word for one in settings for word in ("-c", one)]
        subprocess.run(["git", *options, *arguments], cwd=folder, check=True)

    origin, clone = tmp_path / "origin", tmp_path / "clone"
    origin.mkdir()
    git(origin, "init", "-q", "-b", "main")
    for name in ("first", "second"):
        (origin / name).write_text(name, "utf-8")
        git(origin, "add", name)
        git(origin, "commit", "-q", "-m", name)
    git(tmp_path, "clone", "-q", str(origin), str(clone))
    monkeypatch.chdir(clone)
    monkeypatch.delenv("SINCE", raising=False)
    assert changed_files.changed_files() == {"second"}
    assert not changed_files.has_changed(["first", "second"])
    (clone / "first").write_text("other", "utf-8")
    assert changed_files.has_changed(["first"])
    git(clone, "commit", "-q", "-a", "-m", "third")
    assert changed_files.has_changed(["first"])
    assert not changed_files.has_changed(["second"])


def test_changes_are_counted_from_where_one_says(monkeypatch):
    monkeypatch.setenv("SINCE", "v1.0")
    assert changed_files.starting_point() == "v1.0"
    monkeypatch.setattr(changed_files, "git", lambda *arguments: None)
    assert changed_files.changed_files() is None
    assert changed_files.has_changed(["docs"])  # so nothing is left out


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["tools/workshop"], True),
        (["tests", "constraints.txt"], True),
        (["tools/work"], False),
        ([], False),
    ],
)
def test_a_folder_has_changed_if_a_file_in_it_has(monkeypatch, names, expected):
    files = {"tools/workshop/src/a.py", "constraints.txt"}
    monkeypatch.setattr(changed_files, "changed_files", lambda **_: files)
    assert changed_files.has_changed(names) is expected
