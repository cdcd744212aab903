"""How models are called, copied, masked and cached, and what is refused."""

from collections import OrderedDict
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from checks.model import models
from checks.model.test_check_model import build, sentence, verdicts
from headway.checks import check_model
from headway.checks.model.calls import logits_of, possible_calls, tensors_of
from headway.checks.model.discover import discover
from headway.checks.model.subject import Options, Subject, config_value
from headway.checks.model.weights import copy_as, make_visible


def found(model: Any, **options: Any) -> Subject:
    return discover(model, Options(**options))


# ---- Refusals ----


@pytest.mark.refusal
@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (3, {}, "model must be a function, or a module that is built; got model=3."),
        (models.Plain, {}, "model must be a function, or a module that is built; got"),
        (
            build(models.Plain),
            {"vocab_size": 1},
            "vocab_size must be a whole number of at least 2; got vocab_size=1.",
        ),
        (
            build(models.Plain),
            {"vocab_size": 50257},
            "vocab_size must be at most 160, the rows of the embedding of Plain; "
            "got vocab_size=50257.",
        ),
        (lambda ids: ids, {}, "vocab_size must be given for <lambda>; got"),
        (
            lambda ids: ids,
            {"vocab_size": 7},
            "call must say how <lambda> takes ids of shape (texts, tokens) and gives "
            "logits for each token; got call=None, and m(ids) raised TypeError: it "
            "returned a tensor of shape (3, 11), and no logits for each token.",
        ),
        (lambda ids: None, {"vocab_size": 7}, "returned NoneType, and no logits"),
        (
            lambda ids: torch.zeros(len(ids), 1, 7),
            {"vocab_size": 7},
            "it gave logits of the last token alone",
        ),
        (
            build(models.Plain),
            {"call": "m(ids"},
            "call must be an expression; got call='m(ids'.",
        ),
        (
            build(models.Cached),
            {"cached": "m(ids"},
            "cached must be an expression; got cached='m(ids'.",
        ),
    ],
)
def test_bad_input_gets_one_sentence(model, options, message) -> None:
    with pytest.raises(ValueError, match=r"[.]$") as raised:
        check_model(model, **options)
    assert message in str(raised.value)


def test_a_model_that_cannot_be_copied() -> None:
    class Stuck(models.Plain):
        def __deepcopy__(self, memo: Any) -> Any:
            raise RuntimeError("no copies")

    with pytest.raises(ValueError, match="copying it raised RuntimeError: no copies"):
        check_model(build(Stuck))


# ---- Calls ----


def test_logits_are_found_wherever_they_are() -> None:
    ids = torch.zeros(3, 11, dtype=torch.long)
    logits = torch.rand(3, 11, 31)
    hidden = torch.rand(3, 11, 12)
    for result in (
        logits,
        (hidden, logits),
        [ids, logits],
        {"hidden": hidden, "logits": logits},
        SimpleNamespace(logits=logits),
        logits.flatten(0, 1),
    ):
        assert torch.equal(logits_of(result, ids, 31), logits)
    assert torch.equal(logits_of((hidden, None), ids, 31), hidden)


def test_what_is_called_logits_comes_first() -> None:
    one, other = torch.rand(2), torch.rand(3)
    assert tensors_of(OrderedDict(a=one, logits=other))[0] is other
    assert tensors_of(7) == []


def test_arguments_that_are_needed_are_filled_in() -> None:
    def model(ids: Tensor, start_pos: int, lengths: Any, *more: Any) -> None:
        """Do nothing."""

    call = next(possible_calls(model, None, {}))
    assert call.text == "m(ids, start_pos=0, lengths=None)"
    assert call.names == {"start": "start_pos"}


def test_a_call_that_is_told() -> None:
    model = build(models.Padded)
    report = check_model(model, call="m(ids, mask, positions)")
    assert report.ok
    assert report.facts["called"] == "m(ids, mask, positions)"
    assert report.facts["mask"] == "mask, 1 for tokens, 0 for padding"

    def call(m: nn.Module, ids: Tensor, mask: Any = None) -> Tensor:
        return m(ids, mask)

    report = check_model(model, call=call)
    assert report.facts["called"] == "call"
    # Without positions those of the padding are counted.
    assert verdicts(report)["padding before a text"] == "note"
    assert report.ok


def test_names_of_arguments_that_are_told() -> None:
    class Odd(models.Padded):
        def forward(self, ids: Tensor, m: Any = None, p: Any = None) -> Tensor:
            return super().forward(ids, m, p)

    report = check_model(build(Odd), mask="m", positions="p")
    assert verdicts(report)["padding before a text"] == "passed"


def test_a_function_is_checked() -> None:
    model = copy_as(build(models.Plain).eval(), torch.float64)
    report = check_model(lambda ids: model(ids), vocab_size=31)
    assert report.ok
    assert sentence(report, "no leak in training").startswith("A function has no")
    assert sentence(report, "half precision").startswith("A function has no weights")


def test_time_may_come_first() -> None:
    class TimeFirst(models.Plain):
        def forward(self, ids: Tensor) -> Tensor:
            return super().forward(ids.mT).transpose(0, 1)

    report = check_model(build(TimeFirst))
    assert report.ok
    assert report.facts["called"] == "m(ids.mT)"


def test_a_model_of_32_bits() -> None:
    class Narrow(models.Plain):
        def forward(self, ids: Tensor) -> Tensor:
            if self.head.weight.dtype == torch.float64:
                raise RuntimeError("expected float")
            return super().forward(ids)

    report = check_model(build(Narrow))
    assert report.ok
    assert report.facts["type"] == "float32 on cpu"


# ---- Subjects ----


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


def test_a_context_that_is_short() -> None:
    model = build(models.Plain)
    model.context_length = 7
    assert found(model).T == 7
    assert found(model, context_length=3).T == 3
    report = check_model(model)
    assert (
        sentence(report, "no leak in a long text")
        == "Its context of 7 tokens is short."
    )


def test_values_of_configurations() -> None:
    model = SimpleNamespace(config=None, cfg={"a": 1}, args=SimpleNamespace(b=2))
    assert [config_value(model, name) for name in "abc"] == [1, 2, None]


def test_a_function_changes_nothing() -> None:
    subject = found(lambda ids: nn.functional.one_hot(ids, 7).double(), vocab_size=7)
    assert subject.module is None
    assert subject.with_dropout(0.5).target is subject.target


# ---- Copies ----


def test_angles_stay_complex() -> None:
    model = nn.Module()
    model.part = nn.Module()
    model.part.register_buffer("freqs", torch.polar(torch.ones(3), torch.arange(3.0)))
    wide = copy_as(model, torch.float64)
    assert wide.part.freqs.dtype == torch.complex128
    assert torch.equal(wide.part.freqs.imag.float(), model.part.freqs.imag)
    assert copy_as(model, torch.bfloat16).part.freqs.dtype == torch.complex64


def test_what_cannot_be_seen_is_drawn() -> None:
    model = nn.Module()
    model.table = nn.Embedding(31, 12)
    model.small, model.right = nn.Linear(12, 12), nn.Linear(12, 12)
    model.none = nn.Linear(12, 12, bias=False)
    model.gate = nn.Parameter(torch.zeros(()))
    model.whole = nn.Parameter(torch.ones(3, dtype=torch.long), requires_grad=False)
    with torch.no_grad():
        model.table.weight.mul_(0.02)
        model.small.weight.mul_(1e-3)
        model.none.weight.zero_()
    before = {name: one.clone() for name, one in model.named_parameters()}
    make_visible(model)
    assert model.gate != 0
    assert model.table.weight.std() > 0.9
    ratio = model.small.weight / before["small.weight"]
    assert ratio.std() < 1e-3 * ratio.mean()
    assert 0.2 < model.small.weight.std() < 0.4
    assert 0.2 < model.none.weight.std() < 0.4
    assert torch.equal(model.right.weight, before["right.weight"])
    assert torch.equal(model.right.bias, before["right.bias"])
    assert torch.equal(model.whole, before["whole"])
