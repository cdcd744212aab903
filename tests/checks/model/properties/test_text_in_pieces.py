"""A text in pieces gets what it gets at once."""

from types import SimpleNamespace
from typing import Any

import pytest
from torch import Tensor, nn

from tests.checks.model import models
from tests.checks.model.appending import Appending, SeesItsPiece
from tests.checks.model.asking import ask, evidence
from tests.checks.model.building import build


class Handed(models.Cached):
    """What is kept comes as a part of an object, or of a mapping."""

    form: Any = SimpleNamespace

    def forward(self, ids: Tensor, past: Any = None) -> Any:
        logits, kept = super().forward(ids, past, True)
        return self.form(logits=logits, past=kept)


class Mapped(Handed):
    """The same in a mapping."""

    form = dict


class Keeping(models.Cached):
    """What came before is kept inside; a call tells how many these are."""

    kept: Any = None

    def forward(self, ids: Tensor, start_pos: int) -> Tensor:
        past = self.kept if start_pos else None
        logits, self.kept = super().forward(ids, past, True)
        return logits


class ReturnsNothing(models.Cached):
    """No cache is returned."""

    def forward(self, ids: Tensor, past: Any = None) -> Tensor:
        return super().forward(ids, past)


class ReturnsLogitsAlone(ReturnsNothing):
    """No cache is returned, in a tuple."""

    def forward(self, ids: Tensor, past: Any = None) -> Any:
        return (super().forward(ids, past), None)


class TakesNoCaches(Appending):
    """Caches of layers are refused, however they are handed over."""

    def forward(self, ids: Tensor, caches: Any = None) -> Tensor:
        if caches is not None:
            raise TypeError("it takes none")
        return super().forward(ids)


class OneByOne(models.Cached):
    """Behind a cache it takes single tokens only."""

    def forward(self, ids: Tensor, past: Any = None, use_cache: bool = False) -> Any:
        if past is not None and ids.shape[1] > 1:
            raise RuntimeError("one by one")
        return super().forward(ids, past, use_cache)


class OtherFirst(models.Cached):
    """With a cache, even an empty one, something else is computed."""

    def forward(self, ids: Tensor, past: Any = None, use_cache: bool = False) -> Any:
        result = super().forward(ids, past, use_cache)
        return (2 * result[0], result[1]) if use_cache else result


class OtherSingle(models.Cached):
    """Behind a cache, a single token takes another way."""

    def forward(self, ids: Tensor, past: Any = None, use_cache: bool = False) -> Any:
        result = super().forward(ids, past, use_cache)
        single = past is not None and ids.shape[1] == 1
        return (2 * result[0], result[1]) if single else result


@pytest.mark.parametrize(
    ("kind", "verdict", "says"),
    [
        (Handed, "passed", ""),
        (Mapped, "passed", ""),
        (Keeping, "passed", ""),
        (ReturnsNothing, "not applicable", "it returned no cache; cached= says how."),
        (TakesNoCaches, "not applicable", "m(ids, caches=...) raised TypeError"),
        (ReturnsLogitsAlone, "not applicable", "it returned no cache"),
        (OneByOne, "note", "raised RuntimeError: one by one"),
        (OtherFirst, "failed", "With an empty cache"),
        (OtherSingle, "failed", "Single tokens behind a cache get other logits"),
        (Appending, "passed", ""),
        (SeesItsPiece, "failed", "they see later tokens of their piece"),
    ],
)
def test_a_cache(kind: type[nn.Module], verdict: str, says: str) -> None:
    outcome = ask("cache", kind)
    assert outcome.verdict == verdict, outcome.sentence
    assert says in outcome.sentence


def test_layers_may_append_to_a_list_of_caches() -> None:
    protocol, reason = evidence(build(Appending)).protocol
    assert protocol is not None, reason
    assert protocol.text == "m(ids, caches=caches)"


def test_a_cache_that_is_told() -> None:
    def cached(m: nn.Module, ids: Tensor, past: Any, start: int) -> Any:
        return m(ids, past, True)

    told = "m(ids, past, True)"
    for option in (cached, told):
        outcome = ask("cache", models.Cached, cached=option)
        assert outcome.verdict == "passed", outcome.sentence
    wrong = "m(ids, None, True)"
    assert ask("cache", models.Cached, cached=wrong).verdict == "failed"
    outcome = ask("cache", models.Cached, cached="m(past)")
    assert outcome.verdict == "failed"
    assert outcome.sentence.startswith("m(past) raised")
