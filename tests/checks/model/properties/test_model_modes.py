"""Training and eval, and one call after another."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.checks.model import models
from tests.checks.model.asking import Change, ask, embeds
from tests.checks.model.building import build


def counts(m: Any, x: Tensor) -> Tensor:
    m.calls = getattr(m, "calls", 0) + 1
    return x * m.calls


def overwrites(m: Any, x: Tensor) -> Tensor:
    m.ids.fill_(1)
    return x


def moves_weights(m: Any, x: Tensor) -> Tensor:
    m.places.weight.add_(1e-9)
    return x


def keeps_length(m: Any, x: Tensor) -> Tensor:
    m.length = max(getattr(m, "length", 0), x.shape[1])
    if x.shape[1] < m.length:
        raise RuntimeError("shorter")
    return x


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (counts, "something is kept"),
        (overwrites, "It changes the ids that it is given."),
        (moves_weights, "A call changes places.weight."),
        (keeps_length, "After other calls it raised RuntimeError: shorter."),
    ],
)
def test_a_call_leaves_nothing_behind(change: Change, says: str) -> None:
    outcome = ask("state", embeds(change))
    assert outcome.verdict == "failed"
    assert says in outcome.sentence


class Keeps(models.Plain):
    """What is kept replaces what was kept before, by one name or by two."""

    names: tuple[str, ...] = ("mean",)

    def __init__(self) -> None:
        super().__init__()
        self.head.register_buffer("mean", None, persistent=False)
        self.head.other = None

    def embed(self, ids: Tensor) -> Tensor:
        x, before = super().embed(ids), self.head.mean
        for name in self.names:
            setattr(self.head, name, x.mean())
        return x if before is None else x * before


def test_what_is_kept_is_named_if_it_is_one_thing() -> None:
    name = "state"
    assert "of the first call; look at head.mean." in ask(name, Keeps).sentence
    model = build(Keeps)
    model.names = ("mean", "other")
    outcome = ask(name, model)
    assert outcome.verdict == "failed"
    assert "look at" not in outcome.sentence


def noise(m: nn.Module, x: Tensor) -> Tensor:
    return x + torch.rand_like(x)


def test_eval_is_not_random() -> None:
    assert ask("eval", embeds(noise)).verdict == "failed"
    outcome = ask("eval", embeds(lambda m, x: (torch.rand(1), x)[1]))
    assert outcome.verdict == "note"


def test_training_computes_the_same() -> None:
    name = "training"
    double = embeds(lambda m, x: 2 * x if m.training else x)
    assert ask(name, double).verdict == "failed"
    drawing = embeds(lambda m, x: noise(m, x) if m.training else x)
    assert ask(name, drawing).verdict == "not applicable"
    model = build(models.Plain)
    assert ask(name, lambda ids: model(ids), vocab_size=31).verdict == "not applicable"
