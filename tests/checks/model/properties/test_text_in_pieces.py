"""A text in pieces gets what it gets at once."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.checks.model import behind_padding, models
from tests.checks.model.appending import Appending, SeesItsPiece
from tests.checks.model.asking import ask, evidence
from tests.checks.model.building import build
from tests.checks.model.translators import Remembers


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


class Breaks(models.Cached):
    """A call with a cache raises."""

    def forward(self, ids: Tensor, past: Any = None, use_cache: bool = False) -> Any:
        if past is not None:
            raise RuntimeError("no such key")
        return super().forward(ids, past, use_cache)


class BreaksInPairs(Breaks):
    """So does one whose cache has keys and values of all layers."""

    def forward(self, ids: Tensor, past: Any = None, use_cache: bool = False) -> Any:
        logits, kept = super().forward(ids, past, True)
        return logits, tuple(torch.stack([pair[n] for pair in kept]) for n in (0, 1))


class GivesWeights(models.Cached):
    """What a call gives is no cache, but the weights of two layers."""

    def forward(self, ids: Tensor, past: Any = None) -> Any:
        if past is not None:
            raise RuntimeError("no such key")
        B, T = ids.shape
        return super().forward(ids), (torch.zeros(B, 2, T, T),) * 2


class GivesThree(GivesWeights):
    """Nor are three tensors one."""

    def forward(self, ids: Tensor, past: Any = None) -> Any:
        logits, (first, _) = super().forward(ids, past)
        return logits, (first, first, first)


class GivesNumbers(GivesWeights):
    """Nor is a list of numbers."""

    def forward(self, ids: Tensor, past: Any = None) -> Any:
        return super().forward(ids, past)[0], [1, 2]


class GivesNoPairs(GivesWeights):
    """Nor is an empty list."""

    def forward(self, ids: Tensor, past: Any = None) -> Any:
        return super().forward(ids, past)[0], []


class GivesItself(GivesWeights):
    """Nor is a tensor."""

    def forward(self, ids: Tensor, past: Any = None) -> Any:
        logits, _ = super().forward(ids, past)
        return logits, logits


class GivesAndRaises(GivesWeights):
    """Nothing is given where a call raises at once."""

    def forward(self, ids: Tensor, past: Any = None, use_cache: bool = False) -> Any:
        if use_cache:
            raise RuntimeError("no such key")
        return super().forward(ids, past)


@pytest.mark.parametrize(
    ("kind", "verdict", "says"),
    [
        (Handed, "passed", ""),
        (Mapped, "passed", ""),
        (Keeping, "passed", ""),
        (ReturnsNothing, "not applicable", "it returned no cache; cached= says how."),
        (TakesNoCaches, "not applicable", "m(ids, caches=...) raised TypeError"),
        (ReturnsLogitsAlone, "not applicable", "it returned no cache"),
        *(
            (kind, "failed", "m(ids, past=...) gives a cache, and a call that gets it")
            for kind in (Breaks, BreaksInPairs)
        ),
        *(
            (
                kind,
                "not applicable",
                "m(ids, past=...) raised RuntimeError: no such key",
            )
            for kind in (
                GivesWeights,
                GivesThree,
                GivesNumbers,
                GivesNoPairs,
                GivesItself,
                GivesAndRaises,
            )
        ),
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
    protocol, reason, _ = evidence(build(Appending)).protocol
    assert protocol is not None, reason
    assert protocol.text == "m(ids, caches=caches)"


def test_a_cache_that_cannot_be_read_is_none_where_none_is_declared() -> None:
    assert ask("cache", Breaks).mistakes == ("cache-not-taken-back",)
    assert ask("cache", Breaks, caches=False).verdict == "not applicable"


class Positioned(models.Cached):
    """Positions may be told; if they are not, it counts them in a way of its own."""

    def forward(
        self,
        ids: Tensor,
        past: Any = None,
        position_ids: Tensor | None = None,
        use_cache: bool = False,
    ) -> Any:
        self.told = position_ids
        return super().forward(ids, past, use_cache)

    def positions(self, ids: Tensor, past: Any) -> Tensor:
        return super().positions(ids, past) if self.told is None else self.told

    def start(self, past: Any) -> int:
        return 0 if past is None else self.count(super().start(past))

    def count(self, kept: int) -> int:
        return kept


class OneFurther(Positioned):
    def count(self, kept: int) -> int:
        return kept + 1


class FromZero(Positioned):
    def count(self, kept: int) -> int:
        return 0


class Doubled(Positioned):
    def count(self, kept: int) -> int:
        return 2 * kept


@pytest.mark.parametrize(
    ("kind", "words", "mistakes"),
    [
        (
            OneFurther,
            "they stand 1 position further on than where the cache ends.",
            ("cache-positions-shifted",),
        ),
        (
            FromZero,
            "they begin again from position zero, whatever the cache holds.",
            ("cache-positions-from-zero",),
        ),
        (
            Doubled,
            "they see the same tokens, so positions may begin anew with each piece.",
            (),
        ),
    ],
)
def test_a_model_that_counts_positions_itself_is_asked_where_pieces_begin(
    kind: type[nn.Module], words: str, mistakes: tuple[str, ...]
) -> None:
    outcome = ask("cache", kind)
    assert (outcome.verdict, outcome.mistakes) == ("failed", mistakes)
    assert outcome.sentence.endswith(f": {words}")


def test_the_positions_of_a_model_that_takes_none_are_measured() -> None:
    class FiveFurther(models.Cached):
        def start(self, past: Any) -> int:
            return 5 * (past is not None) + super().start(past)

    outcome = ask("cache", FiveFurther)
    words = "they stand 5 positions further on than where the cache ends."
    assert outcome.sentence.endswith(f": {words}")
    assert outcome.mistakes == ("cache-positions-shifted",)


def test_positions_that_the_pieces_of_a_measure_leave_behind_explain_nothing() -> None:
    class Short(FromZero):
        def positions(self, ids: Tensor, past: Any) -> Tensor:
            if past is not None and past[0][0].shape[-2] == 4:
                raise IndexError("no such position")
            return super().positions(ids, past)

    outcome = ask("cache", Short)
    assert outcome.verdict == "failed"
    assert outcome.mistakes == ()


def test_positions_that_are_told_and_counted_alike_are_right() -> None:
    assert ask("cache", Positioned).verdict == "passed"


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


def test_pieces_begin_behind_the_position_of_padding() -> None:
    outcome = ask("cache", behind_padding.Cached)
    assert outcome.mistakes == ("cache-positions-from-zero",), outcome.sentence


class SeesBothSides(models.Cached):
    """A cache is kept by an encoder, where it cannot work."""

    class attention(models.Cached.attention):  # noqa: D106, N801
        def mask(self, T: int, S: int) -> Tensor:
            return torch.ones(T, S, dtype=torch.bool)


def test_of_both_sides_a_cache_is_asked_only_if_it_is_declared() -> None:
    outcome = ask("cache", SeesBothSides, causal=False)
    assert outcome.verdict == "not applicable"
    assert outcome.sentence.startswith("It sees both sides, so each piece changes")
    told: list[dict[str, Any]] = [{"caches": True}, {"cached": "m(ids, past, True)"}]
    for options in told:
        assert ask("cache", SeesBothSides, causal=False, **options).verdict == "failed"
    assert ask("cache", SeesBothSides, causal=False, caches=False) == outcome


def test_a_cache_beside_a_source() -> None:
    class SeesAhead(Remembers):
        shift = 1

    class SeesLess(Remembers):
        shift = -1

    found = evidence(build(Remembers))
    assert found.protocol.protocol is not None
    assert ask("cache", Remembers).verdict == "passed"
    assert ask("cache", SeesAhead).mistakes == ("cache-piece-unmasked",)
    assert ask("cache", SeesLess).verdict == "failed"
