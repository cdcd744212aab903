"""Texts in several calls, with a cache."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from headway import MultiHeadAttention
from headway.checks.attention.properties.cache_causes import cause
from tests.checks.support.asking import expect, rows_of, said
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


def joined(past: Any, *new: Tensor) -> tuple[Tensor, ...]:
    """Put new keys and values behind those of the past."""
    if past is None:
        return new
    return tuple(torch.cat(two, 1) for two in zip(past, new, strict=True))


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


class OfAnotherText(Attend):
    """It keeps what the first call made of its keys, and reads that ever after."""

    def __init__(self, times: float = 1.0) -> None:
        super().__init__()
        self.times = times

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        cache: dict[str, Tensor] | None = None,
    ) -> Tensor:
        if cache is None:
            k, v = self.k(key), self.v(value)
        elif "encoder_keys" in cache:
            k, v = cache["encoder_keys"], self.times * cache["encoder_values"]
        else:
            k, v = cache["encoder_keys"], cache["encoder_values"] = (
                self.k(key),
                self.v(value),
            )
        return scaled_dot_product_attention(self.q(query), k, v)


class OfTheFirstCall(Attend):
    """The same for the past of a text, where what is new is forgotten."""

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        cache: dict[str, Tensor] | None = None,
    ) -> Tensor:
        if cache is None:
            k, v = self.k(key), self.v(value)
        else:
            k, v = (
                cache.setdefault("k", self.k(key)),
                cache.setdefault("v", self.v(value)),
            )
        return scaled_dot_product_attention(self.q(query), k, v)


class OfLayers(Growing):
    def forward(self, x: Tensor, past_key_values: Any = None) -> Any:
        q, k, v = self.three(x)
        if past_key_values is not None:
            assert past_key_values.get_seq_length(0) >= 0
            k, v = past_key_values.update(k, v, 0, {"cache_position": None})
        return {"rows": self.mix(q, k, v), "weights": None}


class OfNumberedLayers(Growing):
    """Numbers come before keys, and positions with an axis beside them."""

    def forward(self, x: Tensor, start_pos: int = 0, kv_cache: Any = None) -> Tensor:
        q, k, v = self.three(x)
        if kv_cache is not None:
            here = torch.arange(start_pos, start_pos + x.shape[1])
            k, v = kv_cache.update(3, start_pos, here, k_new=k, v_new=v)
        return self.mix(q, k, v)


class SideBySide(Growing):
    """Keys and values come back beside the rows, not in a pair."""

    def forward(self, x: Tensor, past: Any = None) -> tuple[Tensor, None, Any, Any]:
        q, k, v = self.three(x)
        k, v = self.join(past, k, v)
        return self.mix(q, k, v), None, k, v

    def join(self, past: Any, k: Tensor, v: Tensor) -> tuple[Tensor, ...]:
        return joined(past, k, v)


class JoinsKeysInFront(SideBySide):
    def join(self, past: Any, k: Tensor, v: Tensor) -> tuple[Tensor, ...]:
        keys, values = (k[:, :0], v[:, :0]) if past is None else past
        return torch.cat([k, keys], 1), torch.cat([values, v], 1)


class Inside(Growing):
    def forward(self, x: Tensor, use_cache: bool = False) -> Tensor:
        q, k, v = self.three(x)
        if use_cache:
            self.kept = k, v = joined(getattr(self, "kept", None), k, v)
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
        k, v = joined(past, k, v)
        return {"rows": self.mix(q, k, v).transpose(0, 1), "past": (k, v)}


class HandsBack(Growing):
    """Rows come back with the cache; a subclass does a step in its own way."""

    def forward(self, x: Tensor, past: Any = None, use_cache: bool = False) -> Any:
        start = 0 if past is None else past[0].shape[1]
        q, k, v = self.turn(*self.three(x), start, use_cache)
        k, v = joined(past, k, v)
        rows = self.mix(q, k, v)
        return self.answer(rows, k, v, past) if use_cache else rows

    def turn(self, q: Tensor, k: Tensor, v: Tensor, start: int, cached: bool) -> Any:
        return q, k, v

    def answer(self, rows: Tensor, k: Tensor, v: Tensor, past: Any) -> Any:
        return rows, (k, v)


def rotate(x: Tensor, start: int = 0) -> Tensor:
    """Turn queries or keys by their positions."""
    speeds = 0.5 / torch.arange(1, 8).to(x)
    angles = torch.arange(start, start + x.shape[1]).to(x)[:, None] * speeds
    a, b = x[..., :7], x[..., 7:14]
    turned = [a * angles.cos() - b * angles.sin()]
    turned += [a * angles.sin() + b * angles.cos(), x[..., 14:]]
    return torch.cat(turned, dim=-1)


@pytest.mark.parametrize(
    ("target", "shown"),
    [
        (MultiHeadAttention(WIDTH, 20, 64, 0.1, 4), "cache=KeyValueCache()"),
        (Remembering(SMALL, **REMEMBERS), "past_key_value=past"),
        (InAList(), "cache=[]"),
        (InADictionary(), "cache={}"),
        (OfLayers(), "past_key_values=a cache of layers"),
        (OfNumberedLayers(), "kv_cache=a cache of layers"),
        (SideBySide(), "past=(key, value)"),
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
    ("cached", "words"),
    [
        ("m(x)", "With m(x) it raised TypeError: cached must give the rows and the*"),
        ("(m(x)[:, 0], past)", "With (m(x)[:, 0], past) it raised TypeError: it*"),
        ("(m(x), past)", "With (m(x), past) a later call does not see the past: *"),
    ],
)
def test_what_was_told_must_work(cached: str, words: str) -> None:
    expect(InAList(), CACHED, "failed", words, d_in=WIDTH, cached=cached)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("the past is not looked at", "*gets them does not see the past."),
        (
            "values beside other keys",
            "*keys and values no longer stand beside each other.",
        ),
        (
            "aligned to the first key",
            "*begins at the first key instead of ending at the last.",
        ),
    ],
)
def test_what_goes_wrong_is_named(name: str, words: str) -> None:
    expect(build("two heads", OTHER_CALLS[name]), CACHED, "failed", words)


class ForgetsTheFirst(HandsBack):
    def answer(self, rows: Tensor, k: Tensor, v: Tensor, past: Any) -> Any:
        return rows, (k[:, -5:], v[:, -5:])


class DoublesFirst(HandsBack):
    """Rows of a first call are twice as large if it has so many tokens."""

    def __init__(self, tokens: int) -> None:
        super().__init__()
        self.tokens = tokens

    def answer(self, rows: Tensor, k: Tensor, v: Tensor, past: Any) -> Any:
        doubled = past is None and rows.shape[1] == self.tokens
        return rows * (2.0 if doubled else 1.0), (k, v)


class KeepsTheFirst(HandsBack):
    def answer(self, rows: Tensor, k: Tensor, v: Tensor, past: Any) -> Any:
        return rows, (k, v) if past is None else past


class ScalesKeys(HandsBack):
    def answer(self, rows: Tensor, k: Tensor, v: Tensor, past: Any) -> Any:
        return rows, (2 * k, v)


class OfTheFirstText(HandsBack):
    def answer(self, rows: Tensor, k: Tensor, v: Tensor, past: Any) -> Any:
        return rows, (k[:1].expand_as(k), v[:1].expand_as(v))


class BeginsAnew(HandsBack):
    def turn(self, q: Tensor, k: Tensor, v: Tensor, start: int, cached: bool) -> Any:
        return rotate(q), rotate(k), v


class TurnsTwice(HandsBack):
    def turn(self, q: Tensor, k: Tensor, v: Tensor, start: int, cached: bool) -> Any:
        k = rotate(k, start)
        return rotate(q, start), rotate(k, start) if cached else k, v


class BeginsAnewInShortTexts(BeginsAnew):
    """Texts that are long enough to measure positions are refused."""

    def forward(self, x: Tensor, past: Any = None, use_cache: bool = False) -> Any:
        assert x.shape[1] < 12, "too long"
        return super().forward(x, past, use_cache)


class TurnsThePastAgain(HandsBack):
    def turn(self, q: Tensor, k: Tensor, v: Tensor, start: int, cached: bool) -> Any:
        return rotate(q, start), rotate(k, start), v

    def answer(self, rows: Tensor, k: Tensor, v: Tensor, past: Any) -> Any:
        return rows, (rotate(k), v)


class Shared(InAList):
    shared = True


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (
            ForgetsTheFirst(),
            "*does not see key 1 of the past, which is lost or overwritten.",
        ),
        (
            DoublesFirst(7),
            "*in calls of 7 tokens, row 1 is not what one call without a "
            "cache gives: the first call with a cache computes something else.",
        ),
        (DoublesFirst(5), "*already the first call computes something else."),
        (
            KeepsTheFirst(),
            "*row 7 is not what one call without a cache gives: the first step*",
        ),
        (
            ScalesKeys(),
            "*row 6 is not what one call without a cache gives: keys of the past*",
        ),
        (
            OfTheFirstText(),
            "*a text gets the past of another text: the first one's is kept*",
        ),
        (JoinsKeysInFront(), "With past=(key, value), in calls of 5, 1 and 1 tokens*"),
        (
            BeginsAnew(),
            "*: new tokens begin again from position zero, whatever the cache holds.",
        ),
        (
            BeginsAnewInShortTexts(),
            "*counted from zero again or keys that are turned twice*",
        ),
        (
            TurnsThePastAgain(),
            "*counted from zero again or keys that are turned twice*",
        ),
        (
            TurnsTwice(),
            "*row 2 is not what one call without a cache gives: the first call with a "
            "cache computes something else, with no past yet: the first row is right, "
            "so look at the positions of keys, such as keys that are turned twice.",
        ),
        (Shared(), "A text with a new cache gets different rows*"),
    ],
    ids=lambda one: type(one).__name__ if isinstance(one, Growing) else "",
)
def test_what_happens_to_the_past_is_told(target: Growing, words: str) -> None:
    expect(target, CACHED, "failed", words, d_in=WIDTH)


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


DECLARED_AWAY = "With cache=[] a later call sees the past. Declared: caches=False."
NONE = "It takes no cache. Declared: caches=True; say by cached= how it is used."


@pytest.mark.parametrize(
    ("kind", "caches", "verdict", "words"),
    [
        (InAList, False, "failed", DECLARED_AWAY),
        (OfTokens, False, "not applicable", "It takes no cache."),
        (InAList, True, "passed", "*"),
        (OfTokens, True, "failed", NONE),
        (OfTokens, None, "not applicable", "It takes no cache."),
    ],
)
def test_a_cache_is_there_or_not_as_declared(
    kind: type[Attend], caches: bool | None, verdict: str, words: str
) -> None:
    expect(kind(), CACHED, verdict, words, d_in=WIDTH, caches=caches)


class OfTwoWidths(SideBySide):
    """Keys and values are made of tokens of another width, which are laid out."""

    def __init__(self) -> None:
        super().__init__()
        self.k, self.v = nn.Linear(6, WIDTH), nn.Linear(6, WIDTH)

    def forward(self, x: Tensor, kv: Tensor, past: Any = None) -> Any:
        k, v = joined(past, self.k(kv), self.v(kv))
        return self.mix(self.q(x), k, v), None, k, v


def test_tokens_that_are_laid_out_are_so_behind_a_cache() -> None:
    expect(
        OfTwoWidths(), CACHED, "passed", "With past=(key, value), 5 ways*", d_in=WIDTH
    )


class Unknown(OfTokens):
    def forward(self, x: Tensor, kv_cache: Any = None) -> Tensor:
        if kv_cache is not None:
            raise TypeError("a cache is a word here")
        return super().forward(x)


def test_what_takes_no_known_cache_is_not_judged() -> None:
    words = "*Say by cached= how it takes its cache."
    expect(Unknown(), CACHED, "not applicable", words, d_in=WIDTH)
    short = Attention(SMALL)
    short.context_length = 2
    assert said(short, CACHED)[1] == "Its texts are too short to be cut."


class Counting(Growing):
    """Positions may be told; if they are not, it counts them in a way of its own."""

    def __init__(self, count: Callable[[int], int]) -> None:
        super().__init__()
        self.count = count

    def forward(self, x: Tensor, past: Any = None, cache_position: Any = None) -> Any:
        start = 0 if past is None else self.count(past[0].shape[1])
        if cache_position is not None:
            start = int(cache_position.flatten()[0])
        q, k, v = self.three(x)
        k, v = joined(past, rotate(k, start), v)
        return self.mix(rotate(q, start), k, v), (k, v)


UNTOLD = "With past=past, and with no positions passed, new tokens "


@pytest.mark.parametrize(
    ("count", "verdict", "words", "mistakes"),
    [
        (lambda n: n, "passed", None, ()),
        (
            lambda n: 0,
            "note",
            "begin again from position zero, whatever the cache holds.",
            (),
        ),
        (
            lambda n: n + 1,
            "failed",
            "stand 1 position further on than where the cache ends.",
            ("cache-positions-shifted",),
        ),
        (
            lambda n: n - 2,
            "failed",
            "stand 2 positions before where the cache ends.",
            ("cache-positions-shifted",),
        ),
        (
            lambda n: 3 * n,
            "note",
            "get different rows than with positions that go on from the cache, and no "
            "other position explains it.",
            (),
        ),
    ],
)
def test_code_that_counts_positions_itself_is_asked_where_it_begins(
    count: Callable[[int], int], verdict: str, words: str | None, mistakes: tuple
) -> None:
    [row] = rows_of(Counting(count), CACHED, d_in=WIDTH)
    assert (row.verdict, row.mistakes) == (verdict, mistakes)
    assert words is None or row.sentence == UNTOLD + words
    assert row.unexplained == (words is not None and "no other" in words)


class Masked(Growing):
    """Takes a mask of keys, or of pairs, besides the cache."""

    def __init__(self, behind: str = "obeyed", pairs: bool = False) -> None:
        super().__init__()
        self.behind, self.pairs = behind, pairs

    def forward(self, x: Tensor, past: Any = None, mask: Tensor | None = None) -> Any:
        q, k, v = self.three(x)
        k, v = joined(past, k, v)
        T, S = q.shape[1], k.shape[1]
        keep = torch.ones(T, S, dtype=torch.bool).tril(S - T)
        if mask is not None and self.behind == "other" and past is not None:
            mask = mask.roll(1, -1)
        if mask is not None and (past is None or self.behind != "ignored"):
            if mask.shape[-1] != S or mask.ndim != 2 + self.pairs:
                raise ValueError("no such mask")
            keep = keep & (mask if self.pairs else mask[:, None])
        rows = scaled_dot_product_attention(q, k, v, attn_mask=keep)
        return rows.nan_to_num(), (k, v)


@pytest.mark.parametrize("pairs", [False, True])
def test_a_mask_acts_behind_a_cache_too(pairs: bool) -> None:
    def ask(behind: str) -> tuple[str, tuple[str, ...]]:
        [row] = rows_of(Masked(behind, pairs), CACHED, d_in=WIDTH)
        return row.verdict, row.mistakes

    assert ask("obeyed") == ("passed", ())
    assert ask("ignored") == ("failed", ("mask-ignored-behind-cache",))
    assert ask("other") == ("passed", ())  # it may be meant for what is new


def test_a_way_that_is_told_is_given_no_mask() -> None:
    told = "m(x, past)"
    row = said(Masked("ignored"), CACHED, d_in=WIDTH, cached=told)
    assert row[0] == "passed"


def test_a_mask_that_stands_in_for_the_future_hides_it_behind_a_cache_too() -> None:
    class Instead(Growing):
        obeys = True

        def forward(
            self, x: Tensor, past: Any = None, attn_mask: Tensor | None = None
        ) -> Any:
            q, k, v = self.three(x)
            k, v = joined(past, k, v)
            T, S = q.shape[1], k.shape[1]
            keep = torch.ones(T, S, dtype=torch.bool).tril(S - T)
            if attn_mask is not None and (past is None or self.obeys):
                if attn_mask.shape != keep.shape:
                    raise ValueError("no such mask")
                keep = attn_mask
            rows = scaled_dot_product_attention(q, k, v, attn_mask=keep)
            return rows.nan_to_num(), (k, v)

    target = Instead()
    assert said(target, CACHED, d_in=WIDTH)[0] == "passed"
    target.obeys = False
    words = (
        "With past=past, attn_mask hides nothing behind a cache, and is obeyed without "
        "one."
    )
    assert said(target, CACHED, d_in=WIDTH) == ("failed", words)


class TakesNothingBack(HandsBack):
    """What a call gives cannot be handed to the next."""

    def forward(self, x: Tensor, past: Any = None, use_cache: bool = False) -> Any:
        if past is not None:
            past = past[0].cat(past[1])
        return super().forward(x, past, use_cache)


def test_a_cache_that_is_given_must_be_taken_back() -> None:
    target = TakesNothingBack()
    [row] = rows_of(target, CACHED, d_in=WIDTH)
    assert row.verdict == "failed"
    assert row.mistakes == ("cache-not-taken-back",)
    assert row.sentence.startswith(
        "With past=past a call returns its keys and values, and a later call that gets "
        "them raised AttributeError: "
    )
    assert said(target, CACHED, d_in=WIDTH, caches=False)[0] == "not applicable"


def test_what_is_kept_of_another_text_need_not_grow() -> None:
    assert said(OfAnotherText(), CACHED, d_in=WIDTH) == (
        "note",
        "With cache={}, later calls see the tokens of the first call and no others: "
        "'encoder_keys' says that they are those of another text.",
    )
    assert said(OfAnotherText(times=2.0), CACHED, d_in=WIDTH)[0] == "failed"
    assert said(OfTheFirstCall(), CACHED, d_in=WIDTH)[0] == "failed"


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

    def first_key_only(x: Tensor, cut: tuple[int, ...]) -> Tensor:
        before, new = x.split(cut, dim=1)
        return torch.cat((plain(before), before[:, :1] + new), dim=1)

    hidden = cause(first_key_only, plain, two)
    assert hidden is not None
    assert hidden.mistake == "cache-mask-at-first-key"
