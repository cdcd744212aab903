"""An exercise in a notebook shows its task, and judges what was defined."""

import signal
import sys
import threading

import pytest
import torch

from headway.practice import exercise, exercises
from headway.practice.judging.judge import made
from headway.practice.task.library import book
from tests.support.processes import PATIENCE


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what ends have time to end."""
    monkeypatch.setattr("headway.practice.notebook._LIMIT", PATIENCE)


def test_it_judges_a_function() -> None:
    one = exercise("causal_mask")
    wrong = one.check(lambda T, S: torch.ones(T, S, dtype=torch.bool).tril(), seed=4)
    assert "upper left corner" in wrong.mistakes[0]
    assert wrong.seed == 4
    assert "<strong" in wrong._repr_html_()
    assert one.check(lambda T, S: torch.ones(T, S, dtype=torch.bool).tril(S - T)).ok


def test_it_shows_its_task() -> None:
    one = exercise("causal_mask")
    assert (
        repr(one)
        .partition("\n")[2]
        .startswith("Hide the future\n\nWrite `causal_mask(T, S)`")
    )
    number = [*exercises()].index("causal_mask") + 1
    assert repr(one).startswith(f"{number} of {len(exercises())}  causal_mask\n")
    shown = one._repr_html_()
    assert "<h4>Hide the future</h4><p>Write <code>causal_mask(T, S)</code>" in shown
    assert "raise NotImplementedError" in one.stub


def test_hints_and_solution() -> None:
    one = exercise("causal_mask")
    first = one.hint()
    hints = [first, *(exercise("causal_mask").hint() for _ in range(3))]
    assert hints[2] == hints[3] != hints[1]
    assert hints[2].startswith("hint 3/3  ")
    assert "every.tril(S - T)" in one.solution()


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
    assert repr(exercise(1)) == repr(exercise("1")) == repr(exercise("lookup"))


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
