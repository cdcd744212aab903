"""The same by other code."""

import pytest
import torch
from torch import Tensor, nn

from tests.checks.model import models
from tests.checks.model.asking import ask
from tests.checks.model.building import build


class Switched(models.Plain):
    """Attention has several implementations, as models of transformers have."""

    way = "sdpa"

    def set_attn_implementation(self, way: str) -> None:
        if way not in self.ways:
            raise ValueError(way)
        self.way = way

    ways = ("eager", "sdpa")

    def embed(self, ids: Tensor) -> Tensor:
        return (
            self.change(super().embed(ids))
            if self.way == "eager"
            else super().embed(ids)
        )

    def change(self, x: Tensor) -> Tensor:
        return x


class SwitchedLeaks(Switched):
    """One of them sees the future."""

    def change(self, x: Tensor) -> Tensor:
        return x + x.mean(1, keepdim=True)


class SwitchedOther(Switched):
    """One of them computes something else."""

    def change(self, x: Tensor) -> Tensor:
        return 2 * x


class OneWay(SwitchedOther):
    """The wrong one is refused."""

    ways = ("sdpa",)


class Flag(models.Plain):
    """A flag takes another way, which raises here."""

    def __init__(self) -> None:
        super().__init__()
        self.flash = True

    def embed(self, ids: Tensor) -> Tensor:
        if not self.flash:
            raise RuntimeError("no bias")
        return super().embed(ids)


@pytest.mark.parametrize(
    ("kind", "verdict", "says"),
    [
        (Switched, "passed", "eager and sdpa: the same logits."),
        (OneWay, "passed", "sdpa: the same"),
        (SwitchedLeaks, "failed", "With eager the logits differ and see later"),
        (SwitchedOther, "failed", "With eager the logits differ."),
        (Flag, "not applicable", "flash switched raised RuntimeError: no bias."),
        (models.Plain, "not applicable", "No switch"),
    ],
)
def test_other_code(kind: type[nn.Module], verdict: str, says: str) -> None:
    outcome = ask("eager", kind)
    assert outcome.verdict == verdict, outcome.sentence
    assert says in outcome.sentence


def test_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = []

    def same(target: nn.Module, *, backend: str) -> nn.Module:
        chosen.append(backend)
        return target

    monkeypatch.setattr(torch, "compile", same)
    name = "compile"
    assert ask(name, models.Plain).verdict == "not applicable"
    assert ask(name, models.Plain, compile=True).verdict == "passed"
    assert ask(name, models.Plain, compile="eager").verdict == "passed"
    assert chosen == ["inductor", "eager"]
    wrong = build(models.Plain).double().eval()
    monkeypatch.setattr(torch, "compile", lambda target, backend: wrong)
    outcome = ask(name, models.Plain, compile=True)
    assert outcome.verdict == "failed"
    assert outcome.sentence == "Compiled, the logits differ."
    leaky = build(models.Encoder).double().eval()
    monkeypatch.setattr(torch, "compile", lambda target, backend: leaky)
    outcome = ask(name, models.Plain, compile=True)
    assert outcome.sentence == "Compiled, the logits differ and see later tokens."
