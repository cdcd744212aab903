"""Right models pass, and wrong ones are told by name."""

import json
from typing import Any

import pytest
import torch
from torch import nn

from headway import small_gpt
from headway.checks import Fact, Report, check_model
from headway.checks.model import memory
from headway.checks.model.properties import PROPERTIES, model_facts, model_modes, texts
from tests.checks.model import behind_padding, models, translators
from tests.checks.model.building import build, sentence, verdicts

FOLLOWS = "Logits see later tokens; fix this first."


@pytest.mark.parametrize("kind", models.RIGHT)
def test_right_models_pass(kind: type[nn.Module]) -> None:
    report = check_model(build(kind))
    assert report.ok, str(report)
    assert not any(row.verdict == "note" for row in report.rows)
    assert sum(row.verdict == "passed" for row in report.rows) >= 14


def test_the_model_of_the_book_passes() -> None:
    report = check_model(small_gpt())
    assert report.ok, str(report)
    found = verdicts(report)
    assert found["cache"] == "passed"
    assert found["greedy"] == "passed"
    assert found["packing"] == "passed"
    assert report.facts["cache"] == Fact("m(ids, caches=caches)", "guessed")


@pytest.mark.parametrize("one", models.EXHIBITS, ids=lambda one: one.model.__name__)
def test_wrong_models_are_told_by_name(one: models.Exhibit) -> None:
    report = check_model(build(one.model))
    assert tuple(row.id for row in report.failed) == one.failed, str(report)
    assert one.says in report.failed[0].sentence


def causes(report: Report) -> dict[str, str | None]:
    return {row.id: row.explained_by for row in report.failed}


def test_one_cause_is_told_first() -> None:
    assert causes(check_model(build(models.Centred))) == {
        "batch": None,
        "alone": "batch",
        "padding-right": "batch",
    }
    assert causes(check_model(build(models.OverBatchAndText))) == {
        "leak-training": None,
        "training": "leak-training",
    }
    report = check_model(build(models.AlwaysDropsATenth))
    found = causes(report)
    assert found.pop("eval") is None
    assert {*found.values()} == {"eval"}
    assert "a rate of its own" in sentence(report, "eval")


def test_what_explains_others_names_properties() -> None:
    names = {one.id for one in PROPERTIES}
    for explained in (
        model_modes._OF_TWO_CALLS,
        texts._OF_MIXED_TEXTS,
        texts._PADDED,
        model_facts._OF_LAYOUTS,
    ):
        assert {*explained} <= names


def test_what_follows_from_a_leak_is_not_told_again() -> None:
    report = check_model(build(models.Encoder))
    silent = [row.id for row in report.rows if row.sentence == FOLLOWS]
    assert silent == [
        "leak-training",
        "leak-long",
        "earlier-rows",
        "padding-right",
        "padding-left",
        "packing",
        "cache",
        "greedy",
    ]


def test_a_model_that_sees_both_sides() -> None:
    report = check_model(build(models.Encoder), causal=False)
    assert report.ok, str(report)
    assert report.facts["future"] == Fact("seen", "declared")
    both = "It is meant to see both sides."
    assert sentence(report, "leak") == both
    assert sentence(report, "padding-right").startswith("It takes no mask")
    assert verdicts(report)["earlier-rows"] == "passed"
    report = check_model(build(models.Plain), causal=False)
    assert [row.id for row in report.failed] == ["past"]


def test_the_model_and_the_random_numbers_stay_as_they_are() -> None:
    model = build(models.Nano)
    before = {name: one.clone() for name, one in model.state_dict().items()}
    state = torch.get_rng_state()
    check_model(model)
    assert model.training
    assert torch.equal(torch.get_rng_state(), state)
    for name, one in model.state_dict().items():
        assert torch.equal(one, before[name])


def test_a_report_is_the_same_twice() -> None:
    reports = [check_model(build(models.Nano)).to_json() for _ in range(2)]
    assert reports[0] == reports[1]
    assert json.loads(reports[0])["ok"]


def test_nan_is_told_first() -> None:
    class Nan(models.Plain):
        def forward(self, ids: torch.Tensor) -> torch.Tensor:
            logits = super().forward(ids)
            logits[:, 2:3] = torch.nan
            return logits

    report = check_model(build(Nan))
    assert report.failed[0].id == "finite"
    assert "at token 3 are nan" in report.failed[0].sentence
    assert len(report.failed) == 1
    assert "finite" in sentence(report, "padding-right")


def test_infinite_logits_are_told() -> None:
    class Infinite(models.Plain):
        def forward(self, ids: torch.Tensor) -> torch.Tensor:
            return super().forward(ids) + torch.inf

    report = check_model(build(Infinite))
    assert "are infinite" in report.failed[0].sentence


def test_a_property_that_raises_fails() -> None:
    class Once(models.Plain):
        def forward(self, ids: torch.Tensor) -> torch.Tensor:
            if ids.shape[1] == 4:
                raise RuntimeError("never four")
            return super().forward(ids)

    report = check_model(build(Once), causal=False)
    assert "It raised RuntimeError: never four." in str(report).replace("\n       ", "")


def test_an_infinite_figure_is_left_out() -> None:
    class Far(models.Plain):
        def forward(self, ids: torch.Tensor) -> torch.Tensor:
            logits = super().forward(ids)
            return logits if len(ids) == 3 else logits * torch.inf

    found: Any = check_model(build(Far)).failed
    assert {row.figure for row in found if row.id == "alone"} == {None}


def test_a_decoder_beside_an_encoder() -> None:
    report = check_model(build(translators.Beside))
    assert report.ok, str(report)
    found = verdicts(report)
    for name in ("leak", "padding-left", "padding-right", "cache"):
        assert found[name] == "passed"
    report = check_model(build(translators.BesideLeaks))
    assert report.failed[0].id == "leak"


def test_positions_that_begin_behind_padding() -> None:
    report = check_model(build(behind_padding.Padded))
    assert report.ok, str(report)
    assert verdicts(report)["padding-left"] == "passed"


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("kind", [models.Plain, models.Encoder])
def test_in_16_bits_where_no_other_type_fits(
    kind: type[nn.Module], dtype: torch.dtype
) -> None:
    model = build(kind).to(dtype)
    numbers = sum(one.numel() for one in model.parameters())
    report = check_model(model, memory=5 * 3 * numbers / 1e9)
    assert report.facts["type"].value == f"{dtype} on cpu".removeprefix("torch.")
    leaks = ["leak"] if kind is models.Encoder else []
    assert [row.id for row in report.failed] == leaks, str(report)
    assert verdicts(report)["half-precision"] == "not applicable"


def test_what_a_large_model_takes_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "memory" not in check_model(build(models.Plain), only=["leak"]).facts
    monkeypatch.setattr(memory, "_ENOUGH", 1)
    report = check_model(build(models.Plain), only=["leak"])
    assert report.facts["memory"] == Fact(
        "0.0 gigabytes at the most: 5 copies of 0 million numbers in float64"
    )
