"""A copy that is ready to be called."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from headway.checks.model.discover_model import discover_model
from headway.checks.model.model_subject import ModelOptions, ModelSubject, config_value
from tests.checks.model import models
from tests.checks.model.building import build


def found(model: Any, **options: Any) -> ModelSubject:
    return discover_model(model, ModelOptions(**options))


def test_ids_that_mean_something_are_left_out() -> None:
    model = build(models.Plain)
    model.config = {"pad_token_id": 3, "eos_token_id": 0, "vocab_size": 31}
    subject = found(model)
    assert (subject.vocab_size, subject.pad) == (31, 3)
    ids = subject.ids(50, 50)
    assert {*ids.unique().tolist()} == {*range(31)} - {0, 3}
    other = subject.other(ids)
    assert not (other == ids).any()
    assert not torch.isin(other, torch.tensor([0, 3])).any()


def test_two_tokens_are_enough() -> None:
    subject = replace(found(build(models.Plain)), vocab_size=2)
    ids = subject.ids()
    assert torch.equal(subject.other(ids), 1 - ids)
    subject.target.config = {"pad_token_id": 1}
    assert {*subject.ids().flatten().tolist()} == {0, 1}


def test_values_of_configurations() -> None:
    model = SimpleNamespace(config=None, cfg={"a": 1}, args=SimpleNamespace(b=2))
    assert [config_value(model, name) for name in "abc"] == [1, 2, None]


def test_a_function_changes_nothing() -> None:
    subject = found(lambda ids: nn.functional.one_hot(ids, 7).double(), vocab_size=7)
    assert subject.module is None
    assert subject.with_dropout(0.5).target is subject.target


def test_all_generators_are_seeded(monkeypatch: pytest.MonkeyPatch) -> None:
    subject = found(build(models.Plain))
    ids = subject.ids()
    seeds: list[int] = []
    monkeypatch.setattr(torch.cuda, "manual_seed_all", seeds.append)
    subject(ids, seed=3)
    assert seeds == []
    replace(subject, device=torch.device("cuda"))(ids, seed=3)
    assert seeds == [3]
