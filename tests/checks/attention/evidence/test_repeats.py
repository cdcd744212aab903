"""A call that leaves something, or draws at random, does not hide other mistakes."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, scaled_dot_product_attention

from headway.checks import check
from headway.checks.attention.evidence.repeats import Repeats, _graphs, repeat
from headway.checks.attention.subject import Options, Subject, discover
from headway.checks.core.dropout import rate_attributes
from headway.checks.core.outcome import Outcome, note
from tests.checks.support import attention_designs
from tests.checks.support.asking import evidence_of, rows_of, said
from tests.support.attention_in_steps import SIZES, SMALL, Attention
from tests.support.mistakes import MISTAKES, build
from tests.support.mistakes.calls import KEPT
from tests.support.mistakes.mistake import AGAIN, CACHED, EQUATION, EVAL, TRAINING


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


def kept(kind: str) -> tuple[Subject, Repeats]:
    return repeat(discover(Attention(SIZES["two heads"], **KEPT[kind]), Options()))


@pytest.mark.parametrize(
    ("kind", "name"), [("weights", "last"), ("weights in a list", "history")]
)
def test_what_is_kept_for_pictures_is_noted(kind: str, name: str) -> None:
    subject, repeats = kept(kind)
    assert subject.copy_each_call
    assert repeats.state.verdict == "note"
    assert repeats.state.sentence == (
        f"A call keeps {name} with its history, so the memory of a whole graph stays "
        f"in use. For pictures, {name}.detach() is enough."
    )


def test_a_report_with_a_note_is_a_good_one() -> None:
    report = check(Attention(SIZES["two heads"], **KEPT["weights"]))
    assert report.ok
    assert [one.id for one in report.notes] == [AGAIN]
    assert "  [state]\n        A call keeps" in str(report)


class Buffers(Attention):
    """It writes each call's tokens into buffers, with the history or without."""

    def __init__(self, name: str, *, saved: bool, history: bool, used: bool = False):
        super().__init__(SIZES["two heads"])
        self.name, self.history, self.used = name, history, used
        self.register_buffer(name, torch.zeros(3, 5, 13), persistent=saved)

    def forward(self, x: Tensor, past: object = None) -> Tensor:
        before = getattr(self, self.name)
        now = self.W_query(x) if self.history else x
        if self.used and before.shape == x.shape:
            x = x + 0.1 * before
        setattr(self, self.name, now if self.history else now.detach().clone())
        return super().forward(x)


def state_of(module: Buffers, **options: Any) -> Outcome:
    return repeat(discover(module, Options(**options)))[1].state


@pytest.mark.parametrize("name", ["cache_k", "k_cache", "past_keys"])
def test_a_cache_by_its_name_may_be_written_into(name: str) -> None:
    module = Buffers(name, saved=True, history=False)
    assert state_of(module) == note(
        f"A call writes into {name}, a cache by its name, and no later call is changed "
        "by it."
    )


def test_other_buffers_may_not() -> None:
    found = state_of(Buffers("mean", saved=True, history=False))
    assert (found.verdict, found.sentence) == ("failed", "A call changes mean.")


def test_what_a_buffer_keeps_with_its_history_has_its_name() -> None:
    found = state_of(Buffers("keys", saved=False, history=True))
    assert found.verdict == "note"
    assert found.sentence.startswith("A call keeps keys with its history")


@pytest.mark.parametrize("name", ["cache_k", "mean"])
@pytest.mark.parametrize("saved", [True, False])
def test_a_cache_that_was_asked_for_is_noted(name: str, saved: bool) -> None:
    module = Buffers(name, saved=saved, history=False, used=True)
    asked = note("A later call goes on from the cache of an earlier, as was asked.")
    assert state_of(module, call="m(x, past=None)") == asked
    assert state_of(module, cached="m(x, past), None") == asked
    for silent in (state_of(module), state_of(module, call="m(x)")):
        assert silent.verdict == "failed"


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


def test_what_is_random_without_dropout_is_not_blamed_on_it() -> None:
    class Hashed(Attention):
        def forward(self, x: Tensor) -> Any:
            return super().forward(x) * torch.rand(1)

    [row] = rows_of(Hashed(SMALL), EVAL)
    assert row.verdict == "failed"
    assert row.sentence.startswith(
        "In eval the same input gets different answers, with"
    )
    assert row.mistakes == ()


def test_what_draws_in_eval_and_uses_nothing_of_it_is_found() -> None:
    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        torch.rand(())
        return run(x)

    repeats = evidence_of(Attention(SIZES["two heads"], call=call)).repeats
    assert repeats.randomness.verdict == "failed"
    assert repeats.randomness.sentence.startswith("In eval it draws random numbers.")
    assert not repeats.random


def test_weights_that_are_made_anew_are_no_history_that_is_kept() -> None:
    layer = nn.utils.spectral_norm(nn.Linear(5, 5))
    layer(torch.ones(2, 5))
    assert layer.weight.grad_fn is not None
    assert [*_graphs(layer)] == []


def always(weights: Tensor) -> Tensor:
    return dropout(weights, 0.3)


def by_name(weights: Tensor) -> Tensor:
    return torch.dropout(input=weights, p=0.3, train=True)


@pytest.mark.parametrize("drops", [always, by_name])
def test_dropout_that_does_not_know_of_eval_hides_no_other_mistake(drops: Any) -> None:
    module = Attention(SMALL, drop=lambda m, weights: drops(weights))
    evidence = evidence_of(module)
    assert evidence.repeats.randomness.verdict == "failed"
    assert "dropout is still on" in evidence.repeats.randomness.sentence
    assert not evidence.repeats.random
    rows = rows_of(module, EQUATION, TRAINING)
    assert [one.verdict for one in rows] == ["passed", "not applicable"]


def test_what_was_dropped_is_no_fault_of_a_cache() -> None:
    class Cached(attention_designs.Base):
        def forward(self, x: Tensor, past: Any = None) -> Any:
            q, k, v = (layer(x) for layer in (self.q_proj, self.k_proj, self.v_proj))
            if past is not None:
                k, v = (torch.cat(two, 1) for two in zip(past, (k, v), strict=True))
            q, *both = (attention_designs.split(one) for one in (q, k, v))
            T, S = q.shape[2], k.shape[1]
            seen = torch.ones(T, S).tril(S - T).bool()
            rows = scaled_dot_product_attention(q, *both, attn_mask=seen)
            return dropout(self.o_proj(attention_designs.merge(rows)), 0.3), (k, v)

    [row] = rows_of(Cached(), CACHED)
    assert row.verdict == "passed"


def test_a_layer_that_every_call_makes_is_named() -> None:
    class Anew(Attention):
        def forward(self, x: Tensor) -> Tensor:
            rows = self.run(x)
            return nn.Linear(rows.shape[-1], 5).to(x)(rows)

    assert said(Anew(SMALL), EVAL) == (
        "failed",
        "In eval the same input gets different answers: Linear is made anew in every "
        "call, so its weights are random and never learn. Make it once, before any "
        "call.",
    )
