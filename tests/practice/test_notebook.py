"""An exercise in a notebook shows its task, and judges what was defined."""

import pytest
import torch

from headway.practice import exercise


def test_it_judges_a_function() -> None:
    one = exercise("causal_mask")
    wrong = one.check(lambda T, S: torch.ones(T, S, dtype=torch.bool).tril(), seed=4)
    assert "upper left corner" in wrong.mistakes[0]
    assert wrong.seed == 4
    assert "<strong" in wrong._repr_html_()
    assert one.check(lambda T, S: torch.ones(T, S, dtype=torch.bool).tril(S - T)).ok


def test_it_shows_its_task() -> None:
    one = exercise("causal_mask")
    assert repr(one).startswith("Hide the future\n\nWrite `causal_mask(T, S)`")
    assert "<h4>Hide the future</h4><p>Write `causal_mask" in one._repr_html_()
    assert "raise NotImplementedError" in one.stub


def test_hints_and_solution() -> None:
    one = exercise("causal_mask")
    hints = [one.hint() for _ in range(4)]
    assert hints[2] == hints[3] != hints[1]
    assert "every.tril(S - T)" in one.solution()


def test_what_is_no_exercise_is_refused() -> None:
    with pytest.raises(ValueError, match=r"Did you mean causal_mask\?"):
        exercise("causal_mak")
