"""A call that leaves something, or draws at random, does not hide other mistakes."""

from typing import Any

import pytest
import torch
from torch import Tensor

from checks.support.asking import evidence_of
from headway.checks.evidence.repeats import repeat
from headway.checks.subject import Options, discover
from headway.checks.subject.dropout import rate_attributes
from mistakes import MISTAKES, build
from stepwise import SIZES, Attention


def test_what_is_right_is_called_as_it_is() -> None:
    before = discover(Attention(SIZES["two heads"], p=0.2), Options())
    subject, repeats = repeat(before)
    assert subject is before
    assert repeats.state.verdict == repeats.randomness.verdict == "passed"
    assert not repeats.random


@pytest.mark.parametrize("name", ["calls are counted", "keys are kept"])
def test_what_keeps_something_is_called_in_fresh_copies(name: str) -> None:
    before = discover(build("two heads", MISTAKES[f"call: {name}"]), Options())
    subject, repeats = repeat(before)
    assert not before.copy_each_call
    assert subject.copy_each_call
    assert repeats.state.verdict == "failed"


def test_what_drops_in_eval_is_called_without_dropout() -> None:
    module = build("two heads", MISTAKES["dropout: dropout in eval"])
    before = discover(module, Options())
    subject, repeats = repeat(before)
    assert repeats.randomness.verdict == "failed"
    assert not repeats.random
    assert {getattr(*rate) for rate in rate_attributes(before.target)} == {0.3}
    assert {getattr(*rate) for rate in rate_attributes(subject.target)} == {0.0}


def test_what_is_random_for_other_reasons_is_said_to_be() -> None:
    module = Attention(
        SIZES["two heads"], call=lambda m, run, x: run(x) + torch.rand(()).to(x)
    )
    assert evidence_of(module).repeats.random


def test_what_draws_in_eval_and_uses_nothing_of_it_is_found() -> None:
    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        torch.rand(())
        return run(x)

    repeats = evidence_of(Attention(SIZES["two heads"], call=call)).repeats
    assert repeats.randomness.verdict == "failed"
    assert repeats.randomness.sentence.startswith("In eval it draws random numbers.")
    assert not repeats.random
