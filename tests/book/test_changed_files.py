"""Which files count as changed, by what git answers."""

import pytest

import changed_files


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ({"HEAD": "b", "merge-base": "a", "HEAD~1": "c"}, "a"),  # on a branch
        ({"HEAD": "b", "merge-base": "b", "HEAD~1": "c"}, "c"),  # on the main one
        ({"HEAD": "b", "HEAD~1": "c"}, "c"),  # no main branch is known
        ({"HEAD": "b"}, None),  # nor what was before
        ({}, None),  # no repository
    ],
)
def test_changes_are_counted_from_where_a_branch_began(monkeypatch, answers, expected):
    def git(command, *arguments):
        asked = command if command == "merge-base" else arguments[-1]
        return [answers[asked]] if asked in answers else None

    monkeypatch.setattr(changed_files, "git", git)
    monkeypatch.delenv("SINCE", raising=False)
    assert changed_files.starting_point() == expected


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
    monkeypatch.setattr(changed_files, "changed_files", lambda: files)
    assert changed_files.has_changed(names) is expected
