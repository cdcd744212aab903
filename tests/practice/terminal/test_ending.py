"""The ending: what is solved is put together, and writes a text."""

import json
from pathlib import Path

import pytest

from headway.practice.task.library import Library, book
from headway.practice.task.refused import RefusedError
from headway.practice.terminal import ending
from headway.practice.terminal.assembled import answer
from headway.practice.terminal.ending import ending_text
from headway.practice.terminal.folder import Folder
from tests.practice.terminal.test_folder import write
from tests.support.processes import PATIENCE

pytestmark = pytest.mark.xdist_group("processes")


@pytest.fixture
def evening(tmp_path: Path) -> Folder:
    """Give a folder in which all of the evening is solved."""
    folder = Folder(tmp_path / "practice", book(), way="evening")
    folder.make()
    for task in folder.tasks:
        folder.path_of(task).write_text(task.source.solution, encoding="utf-8")
        folder.mark(task, passed=True)
    return folder


@pytest.mark.usefixtures("coverage_of_processes")
def test_what_is_solved_writes_a_text(evening: Folder) -> None:
    text = ending_text(evening, begin="Mr. Darcy ", seed=3, width=70, limit=PATIENCE)
    assert text.startswith("All 12 exercises are solved. Put together, they are")
    assert "\n  softmax               makes the weights of head 2\n" in text
    assert "\nThe book's own are lookup, angles, repeat_groups, keep_tail," in text
    assert "\n    Mr. Darcy " in text
    last = " ".join(text.split()).rpartition(" ... ")[2]
    assert last == (
        "A model of this size writes words, not sense. Your leaks finds no leak in it, "
        "and each guess is that of the book's model."
    )
    assert all(len(line) <= 70 for line in text.splitlines())


def test_a_function_that_is_broken_after_it_was_judged_shows(
    evening: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What a process of its own answers, which would import PyTorch first.
    monkeypatch.setattr(
        ending, "_answered", lambda request, *_: json.loads(answer(request))
    )
    task = evening.library["causal_mask"]
    line = "return torch.ones(T, S, dtype=torch.bool)"
    evening.path_of(task).write_text(task.source.filled_with(line), encoding="utf-8")
    evening.mark(task, passed=True)
    text = " ".join(ending_text(evening, seed=3, limit=PATIENCE).split())
    assert "Your leaks finds a leak in it, and its guesses differ" in text


def test_a_function_that_never_ends_is_ended(evening: Folder) -> None:
    path = evening.path_of(evening.library["rotate"])
    path.write_text("while True: pass", encoding="utf-8")
    evening.mark(evening.library["rotate"], passed=True)
    text = " ".join(ending_text(evening, limit=0.2).split())
    assert text == (
        "All 12 exercises are solved. Put together into a model, they do not run: It "
        "must end within 0.2 seconds: a loop may never end."
    )


def test_a_reader_who_does_not_wait_ends_it(evening: Folder) -> None:
    with pytest.raises(KeyboardInterrupt):
        ending_text(evening, stopped=lambda: True)


def test_what_was_solved_and_does_not_pass_now_is_told_apart(evening: Folder) -> None:
    softmax, online = evening.library["softmax"], evening.library["online"]
    write(evening, "online", "return None")
    told = "Solved once, but not passing now: 65_online.py. Solve it again."
    told = told.replace("65_online.py", evening.path_of(online).name)
    assert " ".join(ending_text(evening).split()).endswith(f"a text. {told}")
    for _ in range(2):
        write(evening, "softmax", "return None")
        evening.reset(softmax)
    evening.mark(online, passed=True)
    assert " ".join(ending_text(evening).split()).endswith(
        "a text. Solved once, but not passing now: 06_softmax.py. Solve it again, or "
        "rename 06_softmax.py.bak1 back and call headway practice --all."
    )


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "practice", book(), way="evening")
    folder.make()
    assert " ".join(ending_text(folder).split()).endswith(
        "Still to be solved: softmax, attention, causal_mask, padding_mask, "
        "causal_attention and 7 more."
    )
    for task in folder.tasks:
        if task.name not in ("softmax", "online"):
            folder.mark(task, passed=True)
    text = " ".join(ending_text(folder).split())
    assert text.endswith("Still to be solved: softmax, online.")


def test_all_parts_may_be_the_readers(
    evening: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("lookup", "angles", "repeat_groups", "keep_tail", "merge_heads", "block")
    for name in names:
        write(evening, name, "return None")
        evening.mark(evening.library[name], passed=True)
    evening.mark(evening.library["leaks"], passed=True)
    found = {"text": "Mr.\nX Y", "leaks": False, "off": 0.0}
    monkeypatch.setattr(ending, "_answered", lambda *_: found)
    text = ending_text(evening)
    assert "The book's own" not in text
    assert "\n    Mr.\n    X ...\n" in text


def test_where_another_function_stands_for_leaks_it_is_not_yours(
    evening: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = [one for one in evening.tasks if one.name != "leaks"]
    monkeypatch.setattr(Folder, "tasks", tasks)
    evening.mark(evening.library["leaks"], passed=False)
    found = {"text": "Mr. X", "leaks": False, "off": 0.5}
    monkeypatch.setattr(ending, "_answered", lambda *_: found)
    assert " ".join(ending_text(evening).split()).endswith(
        "The test leaks finds no leak in it, and its guesses differ from those of the "
        "book's model, by up to 0.5."
    )


def test_another_set_has_no_model(folder: Folder, library: Library) -> None:
    for name in library:
        folder.mark(library[name], passed=True)
    assert ending_text(folder) == "All 2 exercises are solved."


@pytest.mark.parametrize(
    ("begin", "said"),
    [("", "got 0"), ("a" * 65, "got 65"), ("Zo\u00eb", "got begin with")],
)
def test_a_beginning_that_cannot_be_read_is_refused(
    folder: Folder, begin: str, said: str
) -> None:
    with pytest.raises(RefusedError, match=said):
        ending_text(folder, begin=begin)
