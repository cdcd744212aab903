"""An exercise in a notebook shows its task, and judges what was defined."""

import json
import signal
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from headway.practice import exercise, exercises, notebook
from headway.practice.judging.judge import made
from headway.practice.task.library import book
from tests.support.processes import PATIENCE


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what ends have time to end."""
    monkeypatch.setattr(notebook, "_LIMIT", PATIENCE)


@pytest.fixture(autouse=True)
def _begun_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "_progress", notebook._Progress())


@pytest.fixture
def beside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Give the file of a notebook's progress, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=object))
    return tmp_path / ".headway.json"


def right_mask(T: int, S: int) -> torch.Tensor:
    """Give the causal mask."""
    return torch.ones(T, S, dtype=torch.bool).tril(S - T)


def test_it_judges_a_function() -> None:
    one = exercise("causal_mask")
    wrong = one.check(lambda T, S: torch.ones(T, S, dtype=torch.bool).tril(), seed=4)
    assert "upper left corner" in wrong.mistakes[0]
    assert wrong.seed == 4
    assert "<strong" in wrong._repr_html_()
    assert one.check(lambda T, S: torch.ones(T, S, dtype=torch.bool).tril(S - T)).ok


def test_it_shows_its_task() -> None:
    one = exercise("causal_mask")
    place, title, _, task = repr(one).splitlines()[:4]
    number = [*exercises()].index("causal_mask") + 1
    assert place.startswith(f"{number} of {len(exercises())}  causal_mask")
    assert title == "Hide the future"
    assert task.startswith("Write `causal_mask(T, S)`")
    shown = one._repr_html_()
    assert "<h4>Hide the future</h4><p>Write <code>causal_mask(T, S)</code>" in shown
    program, printed = book()["causal_mask"].source.example
    for text in (repr(one), shown.replace("&quot;", '"')):
        assert program in text
        assert f"# {printed.splitlines()[0]}\n" in text


def test_how_long_it_takes_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "  gpt2, about 45 minutes\n" in repr(exercise("gpt2"))
    monkeypatch.setitem(vars(book()["gpt2"].exercise), "minutes", 0)
    assert "  gpt2\n" in repr(exercise("gpt2"))


def test_a_cell_begins_with_the_stub_alone() -> None:
    stub = exercise("causal_mask").stub
    assert stub.endswith(
        "  raise NotImplementedError  # write your lines here, in place of this one\n"
    )
    assert "__main__" not in stub
    compile(stub, "stub", "exec")


def test_hints_and_solution() -> None:
    one = exercise("causal_mask")
    first = one.hint()
    hints = [first, *(exercise("causal_mask").hint() for _ in range(3))]
    assert hints[2] == hints[3] != hints[1]
    assert hints[2].startswith("hint 3/3  ")
    assert "every.tril(S - T)" in one.solution()
    ways = one.other_ways()
    assert len(ways) == len(book()["causal_mask"].exercise.right)
    assert all(way == way.strip("\n") and way[0] != " " for way in ways)


def test_what_is_no_exercise_is_refused() -> None:
    with pytest.raises(ValueError, match=r"Did you mean causal_mask\?"):
        exercise("causal_mak")


def test_the_exercises_are_listed_in_their_order() -> None:
    lines = repr(exercises()).splitlines()
    assert lines[:2] == [
        "basics/embedding",
        "    1  lookup               *   From an index to a vector",
    ]
    assert next(iter(exercises())) == "lookup"
    assert lines[-1].startswith(f"0 of {len(exercises())} solved, about ")
    assert repr(exercise(1)) == repr(exercise("1")) == repr(exercise("lookup"))


def test_a_path_has_its_own_order_and_leads_to_what_is_not_solved() -> None:
    evening = exercises("evening")
    names = [*evening]
    assert names == [one.name for one in book().path("evening")]
    assert names != sorted(names, key=lambda name: book()[name].number)
    one = evening.next()
    assert repr(one).startswith(f"1 of {len(evening)}  softmax")
    second = one.next()
    assert repr(second).startswith(f"2 of {len(evening)}  {names[1]}")
    for name in names:
        if name not in (names[0], names[2]):
            notebook._progress.note(name, solved="2026-11-26")
    assert repr(one.next()).startswith(f"3 of {len(evening)}  ")
    third = one.next()
    assert repr(third.next()).startswith(f"1 of {len(evening)}  ")
    for name in (names[0], names[2]):
        notebook._progress.note(name, solved="2026-11-26")
    assert repr(third.next()).startswith(f"{len(evening)} of {len(evening)}  ")
    with pytest.raises(ValueError, match="path must be one of this set"):
        exercises("nights")


def test_what_is_solved_is_marked_and_what_a_checkpoint_contains() -> None:
    assert exercise("causal_mask").check(right_mask).ok
    assert ", solved\n" in repr(exercise("causal_mask"))
    assert ", solved\n" not in repr(exercise("padding_mask"))
    listed = repr(exercises("evening"))
    assert "\nx  " in listed
    assert f"\n1 of {len(exercises('evening'))} solved" in listed
    notebook._progress.note("gpt2", solved="2026-11-26")
    assert exercises().solved == {
        "causal_mask",
        "gpt2",
        *book()["gpt2"].exercise.covers,
    }
    assert exercises("evening").solved == {"causal_mask", "split_heads"}


def test_outside_of_a_notebook_no_file_is_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for shell in (None, SimpleNamespace(get_ipython=lambda: None)):
        monkeypatch.setitem(sys.modules, "IPython", shell)
        assert exercise("causal_mask").check(right_mask).ok
        exercise("causal_mask").hint()
    assert [*tmp_path.iterdir()] == []
    assert exercises().solved == {"causal_mask"}


def test_a_notebook_keeps_what_is_solved_in_a_file(
    beside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exercise("causal_mask").hint()
    assert not exercise("causal_mask").check(lambda T, S: None)
    known = json.loads(beside.read_text("utf-8"))
    assert known == {"exercises": {"causal_mask": {"hints": 1}}, "version": 2}
    assert exercise("causal_mask").check(right_mask).ok
    known = json.loads(beside.read_text("utf-8"))["exercises"]["causal_mask"]
    assert known == {"hints": 1, "solved": known["last"], "last": known["last"]}
    changed = {"exercises": {"causal_mask": {"solved": "2026-01-02"}}, "way": "core"}
    beside.write_text(json.dumps(changed), "utf-8")
    assert exercise("causal_mask").check(right_mask).ok
    found = json.loads(beside.read_text("utf-8"))
    assert found["exercises"]["causal_mask"]["solved"] == "2026-01-02"
    assert found["way"] == "core"
    # The next start of the notebook, and another notebook beside it.
    monkeypatch.setattr(notebook, "_progress", notebook._Progress())
    assert exercises().solved == {"causal_mask"}


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"exercises": []}', '{"exercises": {"softmax": 3}}']
)
def test_a_file_that_cannot_be_read_stays_as_it_is(beside: Path, text: str) -> None:
    beside.write_text(text, "utf-8")
    assert exercise("causal_mask").check(right_mask).ok
    assert beside.read_text("utf-8") == text
    assert exercises().solved == {"causal_mask"}


def test_a_file_that_cannot_be_written_is_done_without(
    beside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    assert exercise("causal_mask").check(right_mask).ok
    assert not beside.exists()
    assert exercises().solved == {"causal_mask"}


def test_a_verdict_is_true_if_the_answer_is_right() -> None:
    one = exercise("causal_mask")
    assert not one.check(lambda T, S: None)
    assert "FAILED" in repr(one.check(lambda T, S: None))


def test_what_is_no_function_is_refused() -> None:
    verdict = exercise("causal_mask").check(torch.ones(2, 2))
    assert verdict.sentence == (
        "causal_mask must be a function or a class, not its result; got a "
        "tensor of shape (2, 2)."
    )


def endless(T: int, S: int) -> None:
    """Let the limit, if there is one, be over now, and not before this was called."""
    assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= PATIENCE
    signal.setitimer(signal.ITIMER_REAL, 0.001)
    while True:
        pass


@pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has no timer, and so no limit"
)
def test_an_answer_that_does_not_end_is_stopped() -> None:
    verdict = exercise("causal_mask").check(endless)
    assert "was stopped" in verdict.sentence


def test_in_another_thread_there_is_no_limit() -> None:
    told = []
    right = made(book()["causal_mask"], exercise("causal_mask").solution())
    thread = threading.Thread(
        target=lambda: told.append(exercise("causal_mask").check(right, seed=3).ok)
    )
    thread.start()
    thread.join()
    assert told == [True]


def test_the_worked_example_is_asked_too() -> None:
    def only_for_large(T: int, S: int) -> torch.Tensor:
        mask = torch.ones(T, S, dtype=torch.bool).tril(S - T)
        return mask if (T, S) != (2, 4) else ~mask

    verdict = exercise("causal_mask").check(only_for_large)
    assert verdict.sentence.startswith("The output of the worked example differs")
    wrong = exercise("causal_mask").check(lambda T, S: torch.ones(T, S))
    assert wrong.example.startswith("The output of the worked example differs")
    untouched = made(book()["causal_mask"], exercise("causal_mask").stub)
    assert exercise("causal_mask").check(untouched).state == "open"
