"""Texts in several calls, with a cache."""

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from headway import MultiHeadAttention
from headway.checks.attention.properties.cache_causes import cause
from tests.checks.support.asking import said
from tests.checks.support.callers import WIDTH, Attend, OfTokens
from tests.support.attention_in_steps import SMALL, Attention
from tests.support.mistakes import OTHER_CALLS, build
from tests.support.mistakes.mistake import CACHED
from tests.support.mistakes.other_calls import REMEMBERS, Remembering


class Growing(Attend):
    """One head that hides the future, and joins what it is given."""

    def mix(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        T, S = query.shape[1], key.shape[1]
        keep = torch.ones(T, S, dtype=torch.bool).tril(S - T)
        return scaled_dot_product_attention(query, key, value, attn_mask=keep)

    def three(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return self.q(x), self.k(x), self.v(x)


class InAList(Growing):
    shared = False

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[Any] = []

    def forward(self, x: Tensor, cache: list[Any] | None = None) -> Tensor:
        q, k, v = self.three(x)
        if cache is not None:
            parts = self.kept if self.shared else cache
            parts.append((k, v))
            k, v = (torch.cat(one, dim=1) for one in zip(*parts, strict=True))
        return self.mix(q, k, v)


class InADictionary(Growing):
    def forward(self, x: Tensor, cache: dict[str, Tensor] | None = None) -> Any:
        q, k, v = self.three(x)
        if cache is not None:
            for name, new in (("k", k), ("v", v)):
                cache[name] = torch.cat([cache[name], new], 1) if name in cache else new
            k, v = cache["k"], cache["v"]
        return self.mix(q, k, v)


class OfLayers(Growing):
    def forward(self, x: Tensor, past_key_values: Any = None) -> Any:
        q, k, v = self.three(x)
        if past_key_values is not None:
            assert past_key_values.get_seq_length(0) >= 0
            k, v = past_key_values.update(k, v, 0, {"cache_position": None})
        return {"rows": self.mix(q, k, v), "weights": None}


class Inside(Growing):
    def forward(self, x: Tensor, use_cache: bool = False) -> Tensor:
        q, k, v = self.three(x)
        if use_cache:
            if hasattr(self, "kept"):
                k, v = (
                    torch.cat(two, 1) for two in zip(self.kept, (k, v), strict=True)
                )
            self.kept = k, v
        return self.mix(q, k, v)


class AtAPlace(Growing):
    """Kept inside, and positions are told as a number and as a tensor."""

    def forward(
        self, x: Tensor, start_pos: int = 0, cache_position: Tensor | None = None
    ) -> Tensor:
        q, k, v = self.three(x)
        if cache_position is not None:
            assert cache_position[0] == start_pos
        if not hasattr(self, "room"):
            self.room = k.new_zeros(2, len(x), 700, k.shape[-1])
        end = start_pos + x.shape[1]
        self.room = self.room.clone()
        if len(x) != self.room.shape[1]:
            self.room = k.new_zeros(2, len(x), 700, k.shape[-1])
        self.room[0, :, start_pos:end], self.room[1, :, start_pos:end] = k, v
        return self.mix(q, self.room[0, :, :end], self.room[1, :, :end])


class Returning(Growing):
    """A dictionary holds rows and the cache; tokens come first."""

    batch_first = False

    def forward(self, x: Tensor, past: Any = None) -> dict[str, Any]:
        q, k, v = self.three(x.transpose(0, 1))
        if past is not None:
            k, v = (torch.cat(two, 1) for two in zip(past, (k, v), strict=True))
        return {"rows": self.mix(q, k, v).transpose(0, 1), "past": (k, v)}


@pytest.mark.parametrize(
    ("target", "shown"),
    [
        (MultiHeadAttention(WIDTH, 20, 64, 0.1, 4), "cache=KeyValueCache()"),
        (Remembering(SMALL, **REMEMBERS), "past_key_value=past"),
        (InAList(), "cache=[]"),
        (InADictionary(), "cache={}"),
        (OfLayers(), "past_key_values=a cache of layers"),
        (Inside(), "use_cache=..."),
        (AtAPlace(), "start_pos=..."),
        (Returning(), "past=past"),
    ],
)
def test_every_way_to_cut_a_text_gives_the_same(target: Any, shown: str) -> None:
    width = None if isinstance(target, Attention) else WIDTH
    assert said(target, CACHED, d_in=width) == (
        "passed",
        f"With {shown}, 5 ways to cut a text give the same.",
    )


def test_what_hides_no_future_is_compared_with_what_was_there() -> None:
    full = REMEMBERS | {"keep": lambda m, T, S: torch.ones(T, S, dtype=torch.bool)}
    verdict, sentence = said(Remembering(SMALL, causal=False, **full), CACHED)
    assert (verdict, sentence[:24]) == ("passed", "With past_key_value=past")


def step(m: Any, x: Tensor, past: Any, start: int) -> tuple[Tensor, Any]:
    past = past or []
    return m(x, past), past


@pytest.mark.parametrize(
    "cached", ["(m(x, past := past or []), past)", step], ids=["words", "function"]
)
def test_how_a_cache_is_taken_can_be_told(cached: Any) -> None:
    assert said(InAList(), CACHED, d_in=WIDTH, cached=cached)[0] == "passed"


@pytest.mark.parametrize(
    ("cached", "sentence"),
    [
        ("m(x)", "With m(x) it raised TypeError: cached must give the rows and the"),
        (
            "(m(x)[:, 0], past)",
            "With (m(x)[:, 0], past) it raised TypeError: it",
        ),
        ("(m(x), past)", "With (m(x), past) a later call does not see the past: "),
    ],
)
def test_what_was_told_must_work(cached: str, sentence: str) -> None:
    verdict, seen = said(InAList(), CACHED, d_in=WIDTH, cached=cached)
    assert verdict == "failed"
    assert seen.startswith(sentence)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("the past is not looked at", "gets them does not see the past."),
        (
            "values beside other keys",
            "keys and values no longer stand beside each other.",
        ),
        (
            "aligned to the first key",
            "begins at the first key instead of ending at the last.",
        ),
    ],
)
def test_what_goes_wrong_is_named(name: str, sentence: str) -> None:
    verdict, seen = said(build("two heads", OTHER_CALLS[name]), CACHED)
    assert verdict == "failed"
    assert seen.endswith(sentence)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {"last": 5},
            "does not see key 1 of the past, which is lost or overwritten.",
        ),
        (
            {"first": 2.0},
            "in calls of 7 tokens, row 1 is not what one call without a "
            "cache gives: the first call with a cache computes something else.",
        ),
        ({"short": 2.0}, "already the first call computes something else."),
    ],
)
def test_where_rows_differ_is_told(change: dict[str, Any], sentence: str) -> None:
    class Odd(Growing):
        def forward(self, x: Tensor, past: Any = None, use_cache: bool = False) -> Any:
            q, k, v = self.three(x)
            if past is not None:
                k, v = (torch.cat(two, 1) for two in zip(past, (k, v), strict=True))
            rows = self.mix(q, k, v)
            if past is None and use_cache and x.shape[1] == 7:
                rows = rows * change.get("first", 1.0)
            if past is None and use_cache and x.shape[1] == 5:
                rows = rows * change.get("short", 1.0)
            keep = change.get("last", 10**6)
            return (rows, (k[:, -keep:], v[:, -keep:])) if use_cache else rows

    verdict, seen = said(Odd(), CACHED, d_in=WIDTH)
    assert verdict == "failed"
    assert seen.endswith(sentence)


def test_positions_that_begin_anew_are_named() -> None:
    class Rotary(Growing):
        def forward(self, x: Tensor, past: Any = None, use_cache: bool = False) -> Any:
            q, k, v = self.three(x)
            q, k = self.rotate(q), self.rotate(k)
            if past is not None:
                k, v = (torch.cat(two, 1) for two in zip(past, (k, v), strict=True))
            rows = self.mix(q, k, v)
            return (rows, (k, v)) if use_cache else rows

        def rotate(self, x: Tensor) -> Tensor:
            angles = torch.arange(x.shape[1]).to(x)[:, None] * 0.5
            a, b = x[..., :7], x[..., 7:14]
            turned = [a * angles.cos() - b * angles.sin()]
            turned += [a * angles.sin() + b * angles.cos(), x[..., 14:]]
            return torch.cat(turned, dim=-1)

    verdict, seen = said(Rotary(), CACHED, d_in=WIDTH)
    assert verdict == "failed"
    assert "counted from zero again or keys that are turned twice" in seen


def test_what_takes_one_token_at_a_time_may_refuse_more() -> None:
    def one(m: Any, T: int, S: int) -> Tensor:
        if 1 < T < S:
            raise ValueError("one token at a time")
        return torch.ones(T, S, dtype=torch.bool).tril(S - T)

    module = Remembering(SMALL, **REMEMBERS | {"keep": one})
    assert said(module, CACHED) == (
        "passed",
        "With past_key_value=past, 3 ways to cut a text give the same, but refuses 2 "
        "and 3.",
    )


def test_a_cache_that_is_declared_away_must_not_be_there() -> None:
    assert said(InAList(), CACHED, d_in=WIDTH, caches=False) == (
        "failed",
        "With cache=[] a later call sees the past. Declared: caches=False.",
    )
    assert said(OfTokens(), CACHED, d_in=WIDTH, caches=False) == (
        "not applicable",
        "It takes no cache.",
    )


def test_a_cache_that_is_declared_must_be_there() -> None:
    assert said(InAList(), CACHED, d_in=WIDTH, caches=True)[0] == "passed"
    assert said(OfTokens(), CACHED, d_in=WIDTH, caches=True) == (
        "failed",
        "It takes no cache. Declared: caches=True; say by cached= how it is used.",
    )


def test_a_cache_that_all_texts_share_is_found() -> None:
    class Shared(InAList):
        shared = True

    verdict, sentence = said(Shared(), CACHED, d_in=WIDTH)
    assert verdict == "failed"
    assert sentence.startswith("A text with a new cache gets different rows")


class Unknown(OfTokens):
    def forward(self, x: Tensor, kv_cache: Any = None) -> Tensor:
        if kv_cache is not None:
            raise TypeError("a cache is a word here")
        return super().forward(x)


def test_what_takes_no_known_cache_is_not_judged() -> None:
    assert said(OfTokens(), CACHED, d_in=WIDTH) == (
        "not applicable",
        "It takes no cache.",
    )
    verdict, sentence = said(Unknown(), CACHED, d_in=WIDTH)
    assert verdict == "not applicable"
    assert sentence.endswith("Say by cached= how it takes its cache.")
    short = Attention(SMALL)
    short.context_length = 2
    assert said(short, CACHED)[1] == "Its texts are too short to be cut."


class Rotated(Growing):
    """Queries and keys are turned by their positions, rightly or not."""

    def rotate(self, x: Tensor, start: int = 0) -> Tensor:
        angles = torch.arange(start, start + x.shape[1]).to(x)[:, None] * 0.5
        a, b = x[..., :7], x[..., 7:14]
        turned = [a * angles.cos() - b * angles.sin()]
        turned += [a * angles.sin() + b * angles.cos(), x[..., 14:]]
        return torch.cat(turned, dim=-1)


def test_positions_that_are_not_handed_over_may_begin_anew() -> None:
    class Told(Rotated):
        def forward(
            self, x: Tensor, past: Any = None, cache_position: Any = None
        ) -> Any:
            start = 0 if cache_position is None else int(cache_position.flatten()[0])
            q, k, v = self.three(x)
            q, k = self.rotate(q, start), self.rotate(k, start)
            if past is not None:
                k, v = (torch.cat(two, 1) for two in zip(past, (k, v), strict=True))
            return self.mix(q, k, v), (k, v)

    assert said(Told(), CACHED, d_in=WIDTH) == (
        "note",
        "With past=past, and with no positions passed, new tokens start "
        "again from position zero, whatever the cache holds.",
    )


def test_keys_that_are_turned_twice_in_the_first_call_are_named() -> None:
    class Twice(Rotated):
        def forward(self, x: Tensor, past: Any = None, use_cache: bool = False) -> Any:
            q, k, v = self.three(x)
            start = 0 if past is None else past[0].shape[1]
            q, k = self.rotate(q, start), self.rotate(k, start)
            if use_cache:
                k = self.rotate(k, start)
            if past is not None:
                k, v = (torch.cat(two, 1) for two in zip(past, (k, v), strict=True))
            rows = self.mix(q, k, v)
            return (rows, (k, v)) if use_cache else rows

    verdict, sentence = said(Twice(), CACHED, d_in=WIDTH)
    assert verdict == "failed"
    assert sentence.endswith(
        "row 2 is not what one call without a cache gives: the first call with a cache "
        "computes something else, with no past yet: the first row is right, so look at "
        "the positions of keys, such as keys that are turned twice."
    )


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ("stays", "row 7 is not what one call without a cache gives: the first step"),
        (
            "scaled",
            "row 6 is not what one call without a cache gives: keys of the past",
        ),
        ("text", "a text gets the past of another text: the first one's is kept"),
    ],
)
def test_what_happens_to_the_past_is_told(wrong: str, sentence: str) -> None:
    class Odd(Growing):
        def forward(self, x: Tensor, past: Any = None, use_cache: bool = False) -> Any:
            q, k, v = self.three(x)
            kept = k, v
            if past is not None:
                k, v = (torch.cat(two, 1) for two in zip(past, (k, v), strict=True))
                kept = past if wrong == "stays" else (k, v)
            rows = self.mix(q, k, v)
            if wrong == "scaled":
                kept = 2 * kept[0], kept[1]
            if wrong == "text":
                kept = kept[0][:1].expand_as(k), kept[1][:1].expand_as(v)
            return (rows, kept) if use_cache else rows

    verdict, seen = said(Odd(), CACHED, d_in=WIDTH)
    assert verdict == "failed"
    assert sentence in seen


def test_one_text_has_no_other_to_take_the_past_of() -> None:
    def plain(x: Tensor) -> Tensor:
        return x.cumsum(dim=1)

    x = torch.randn(1, 5, 4, dtype=torch.float64)
    assert cause(lambda x, cut: plain(x), plain, x) is None
    lost = cause(lambda x, cut: x, plain, x)
    assert lost is not None
    assert lost.sentence.startswith("where all tokens are equal")
    assert lost.mistake == "cache-changes-values"
    two = torch.randn(2, 5, 4, dtype=torch.float64)
    shared = cause(lambda x, cut: plain(x[:1]).expand_as(x) + x, plain, two)
    assert shared is not None
    assert shared.sentence.startswith("a text gets the past of another text")
    assert shared.mistake == "cache-of-first-text-for-all"
