"""A copy that is ready to be called."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from headway.checks.model.discover_model import discover_model
from headway.checks.model.model_subject import (
    ModelOptions,
    ModelSubject,
    config_value,
    positions_behind_padding,
    table_with_padding,
)
from tests.checks.model import behind_padding, models
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


class Counts(nn.Module):
    """Positions are counted from that of padding on."""

    def forward(self, table: nn.Embedding, ids: Tensor) -> Tensor:
        return ids.cumsum(-1) + (table.padding_idx or 0)


def table(
    name: str, padding: int | None, kind: type[nn.Module] = Counts
) -> nn.Sequential:
    module = kind()
    module.add_module(name, nn.Embedding(17, 3, padding))
    return nn.Sequential(nn.Embedding(19, 3, padding_idx=0), module)


def test_positions_begin_behind_that_of_padding() -> None:
    assert found(build(behind_padding.Padded)).first_position == behind_padding.FIRST
    assert found(build(models.Padded)).first_position == 0


@pytest.mark.parametrize(
    ("model", "behind"),
    [
        (table("position_embeddings", 1), 15),
        (table("embed_positions", 0), 16),
        (table("position", 16), 0),
        (table("position_embeddings", None), None),
        (table("word_embeddings", 1), None),
        # Who reads no place of padding counts from zero.
        (table("position_embeddings", 1, nn.Module), None),
        (behind_padding.Cached.positions, None),
    ],
)
def test_a_table_of_positions_with_padding(model: Any, behind: int | None) -> None:
    one = table_with_padding(model)
    assert (one and positions_behind_padding(one)) == behind


def test_padding_may_be_the_first_position() -> None:
    subject = replace(found(build(models.Plain)), target=table("position", 0))
    assert subject.first_position == 1


def test_ids_of_padding_are_not_drawn_nor_given_to_others() -> None:
    subject = replace(found(build(models.Plain)), padding=(4, 0))
    drawn = subject.ids(20, 11)
    for ids in (drawn, subject.other(drawn)):
        assert {*ids.unique().tolist()} <= {*range(31)} - {0, 4}
