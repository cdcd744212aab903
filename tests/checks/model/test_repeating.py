"""A model that does not repeat itself is brought to, so that all else can be asked."""

import torch
from torch import nn

from headway.checks.model.discover_model import discover_model
from headway.checks.model.model_subject import ModelOptions, ModelSubject
from headway.checks.model.repeating import is_random, steady
from tests.checks.model import models
from tests.checks.model.asking import embeds
from tests.checks.model.building import build


def found(model: nn.Module) -> ModelSubject:
    return discover_model(model, ModelOptions())


def test_a_model_that_repeats_itself_stays_as_it_is() -> None:
    subject = found(build(models.Plain))
    assert steady(subject) is subject


def test_a_function_stays_as_it_is() -> None:
    model = build(models.KeepsTheText).double().eval()
    subject = discover_model(lambda ids: model(ids), ModelOptions(vocab_size=31))
    assert steady(subject) is subject


def test_what_keeps_something_is_copied_for_each_call() -> None:
    for kind in (models.KeepsTheText, models.KeepsTheLength):
        subject = found(build(kind))
        assert not subject.fresh
        subject = steady(subject)
        assert subject.fresh
        ids = subject.ids()
        first = subject(ids)
        subject(ids[:1, :3])
        assert torch.equal(subject(ids), first)


def test_what_drops_in_eval_gets_a_rate_of_nought() -> None:
    subject = found(build(models.AlwaysDrops))
    assert is_random(subject)
    assert not is_random(steady(subject))
    assert not steady(subject).fresh


def test_what_draws_at_a_rate_of_its_own_stays_random() -> None:
    subject = found(build(models.AlwaysDropsATenth))
    assert steady(subject) is subject
    assert is_random(subject)


def test_what_is_not_finite_repeats_itself() -> None:
    subject = found(embeds(lambda m, x: x * torch.nan))
    assert steady(subject) is subject
