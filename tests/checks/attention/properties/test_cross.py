"""Queries that ask other tokens than their own."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import pad, scaled_dot_product_attention

from headway import CrossAttention
from tests.checks.support.asking import evidence_of, expect, said
from tests.checks.support.callers import WIDTH, Attend, OfThree, OfTokens, OfTwo
from tests.checks.support.other_shapes import DecoderLayer
from tests.support.attention_in_steps import SMALL, Attention
from tests.support.mistakes import OTHER_CALLS, build
from tests.support.mistakes.mistake import OTHERS
from tests.support.mistakes.other_calls import Asking, asking

SEES = ("passed", "7 queries see all of 11 other tokens, and nothing else.")


@pytest.mark.parametrize(
    ("target", "options"),
    [
        (nn.MultiheadAttention(15, 3, batch_first=True), {}),
        (nn.MultiheadAttention(15, 3), {}),
        (nn.MultiheadAttention(15, 3, batch_first=True), {"call": "m(x, x, x)[0]"}),
        (nn.MultiheadAttention(15, 3, batch_first=True), {"call": "m(x, y, y)[0]"}),
        (nn.MultiheadAttention(15, 3), {"call": "m(query=x, key=x, value=x)[0]"}),
        (scaled_dot_product_attention, {"d_in": None}),
        (CrossAttention(WIDTH, WIDTH, 20, 0.0, 4), {}),
        (OfTwo(), {}),
        (OfThree(), {}),
    ],
)
def test_what_takes_other_tokens_sees_them(
    target: Any, options: dict[str, Any]
) -> None:
    assert said(target, OTHERS, **({"d_in": WIDTH} | options)) == SEES


class OfContext(OfTwo):
    """Without a context, tokens attend to each other."""

    def forward(self, x: Tensor, context: Tensor | None = None) -> Tensor:
        return super().forward(x, x if context is None else context)


def test_a_context_may_be_an_option() -> None:
    assert said(OfContext(), OTHERS, d_in=WIDTH) == SEES


class WithMaskOfPairs(Attend):
    """A mask is needed, which has a place for each query and each key."""

    def forward(self, x: Tensor, mask: Tensor, context: Tensor | None = None) -> Tensor:
        y = x if context is None else context
        scores = self.q(x) @ self.k(y).mT / WIDTH**0.5
        seen = mask.reshape(len(x), x.shape[1], self.keys(x, y).shape[1])
        return scores.masked_fill(seen == 0, -torch.inf).softmax(-1) @ self.v(y)

    def keys(self, x: Tensor, y: Tensor) -> Tensor:
        return y


def test_a_mask_that_is_needed_is_made_for_other_tokens() -> None:
    class Wrong(WithMaskOfPairs):
        def keys(self, x: Tensor, y: Tensor) -> Tensor:
            return x

    assert said(WithMaskOfPairs(), OTHERS, d_in=WIDTH) == SEES
    words = "With 11 keys for 7 queries it raised *: the number of queries is taken *"
    expect(Wrong(), OTHERS, "failed", words, d_in=WIDTH)


def attend_texts(m: Any, x: Tensor) -> Tensor:
    return m(x, x)


@pytest.mark.parametrize(
    ("target", "options"),
    [
        (OfTokens(), {}),
        (OfTwo(), {"call": "m(x, 2 * x)"}),
        (OfTwo(), {"call": attend_texts}),
        (Attention(SMALL), {"d_in": 13}),
    ],
)
def test_what_takes_none_is_not_asked(target: Any, options: dict[str, Any]) -> None:
    assert said(target, OTHERS, **({"d_in": WIDTH} | options)) == (
        "not applicable",
        "It takes no other tokens for keys and values.",
    )


def test_what_hides_the_future_is_not_asked() -> None:
    assert said(OfThree(), OTHERS, d_in=WIDTH, causal=True) == (
        "not applicable",
        "It hides the future, so queries and keys are of the same text.",
    )


class OfOneText(OfTwo):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        if len(x) != 1:
            raise ValueError("one text at a time")
        return super().forward(x, y)


def test_one_text_at_a_time_is_asked_too() -> None:
    assert said(OfOneText(), OTHERS, d_in=WIDTH) == SEES


class Wrong(Attend):
    """It goes wrong in some way."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how

    def forward(self, x: Tensor, context: Tensor) -> Tensor:
        q, k, v = self.q(x), self.k(context), self.v(context)
        B, T, S = len(x), x.shape[1], context.shape[1]
        if self.how == "view":
            k = k.view(B, T, -1)
        if self.how == "heads":
            v = v.reshape(B, 3, S, -1).transpose(1, 2).flatten(2)
        if self.how == "few":
            k, v = k[:, :T], v[:, :T]
        if self.how == "first text":
            k, v = k[:1].expand_as(k), v[:1].expand_as(v)
        if self.how == "scale":
            q = q * T / S
        if self.how == "refuses" and T != S:
            raise ValueError("as many keys as queries")
        if self.how == "fails" and x is not context and not torch.equal(x, context):
            raise RuntimeError("no")
        return scaled_dot_product_attention(q, k, v)


@pytest.mark.parametrize(
    ("how", "verdict", "sentence"),
    [
        ("view", "failed", "the number of queries is taken for that of keys."),
        ("heads", "failed", "look at how the heads of keys and values are split."),
        ("few", "failed", "Query 1 does not see key 8 of 11; so in 28 of 77 places."),
        ("first text", "failed", "Keys of one text are seen from another."),
        ("scale", "failed", "for queries of one text and keys and values of another."),
        ("refuses", "note", "it raised ValueError: as many keys as queries."),
        ("fails", "not applicable", "values it raised RuntimeError: no."),
    ],
)
def test_what_goes_wrong_is_named(how: str, verdict: str, sentence: str) -> None:
    found = said(Wrong(how), OTHERS, d_in=WIDTH)
    assert found[0] == verdict
    assert found[1].endswith(sentence)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("keys of the queries", "keys are made of the tokens of the queries."),
        ("values of the queries", "values are made of the tokens of the queries."),
        ("nothing of the others", "they are made of the tokens of the queries."),
    ],
)
def test_what_is_made_of_the_queries_is_named(name: str, sentence: str) -> None:
    assert said(build("two heads", OTHER_CALLS[name]), OTHERS)[1].endswith(sentence)
    right = Asking(SMALL, causal=False, **asking())
    assert said(right, OTHERS)[0] == "passed"


class ValuesOfKeys(OfThree):
    def __init__(self, times: float) -> None:
        super().__init__()
        self.times = times

    def forward(self, first: Tensor, second: Tensor, third: Tensor) -> Tensor:
        return super().forward(first, second, second + self.times * third)


@pytest.mark.parametrize(
    ("times", "sentence"),
    [
        (
            0.0,
            "Other values change nothing: values are made of the tokens of the keys.",
        ),
        (
            0.5,
            "values are made of the tokens of the keys, or weights do not sum to one.",
        ),
    ],
)
def test_values_that_are_made_of_keys_are_found(times: float, sentence: str) -> None:
    expect(ValuesOfKeys(times), OTHERS, "failed", f"*{sentence}", d_in=WIDTH)


def test_evidence_keeps_what_was_given_and_what_came_out() -> None:
    evidence = evidence_of(OfTwo(), d_in=WIDTH)
    assert evidence.cross_queries is not None
    assert evidence.cross_queries.y.shape == (evidence.subject.B, 11, WIDTH)
    assert evidence.cross_queries.output.shape == evidence.output.shape
    assert evidence_of(OfTokens(), d_in=WIDTH).cross_queries is None


def over_queries(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return (query @ key.mT / query.shape[-1] ** 0.5).softmax(dim=-2) @ value


def test_a_softmax_over_queries_is_named() -> None:
    words = "*weights depend on other queries, as with a softmax over queries."
    expect(over_queries, OTHERS, "failed", words, causal=False)


class Sigmoid(OfThree):
    def mix(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        scores = self.q(query) @ self.k(key).mT / WIDTH**0.5
        return scores.sigmoid() @ self.v(value)


def test_weights_that_are_not_meant_to_sum_to_one_need_not() -> None:
    assert said(Sigmoid(), OTHERS, d_in=WIDTH, normalize="sigmoid") == SEES


class WithoutWeights(OfTwo):
    """Tokens are their own queries, keys and values."""

    def __init__(self) -> None:
        nn.Module.__init__(self)

    def mix(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        return scaled_dot_product_attention(query, key, value)


def test_what_has_no_weights_is_compared_with_no_equation() -> None:
    assert said(WithoutWeights(), OTHERS, d_in=WIDTH) == SEES


class Triangle(Attend):
    """Tokens see the past, of a context as well."""

    def forward(self, x: Tensor, context: Tensor | None = None) -> Tensor:
        y = x if context is None else context
        scores = self.q(x) @ self.k(y).mT
        future = torch.ones(x.shape[1], y.shape[1]).triu(1).bool()
        return scores.masked_fill(future, -torch.inf).softmax(-1) @ self.v(y)


def test_a_triangle_between_two_texts_is_remarked_on() -> None:
    words = (
        "Query 7 sees 7 of 11 other tokens, and the first query one: the mask of the "
        "future acts between two texts as well. Where the others are a text of their "
        "own, no query should miss any."
    )
    expect(Triangle(), OTHERS, "note", words, d_in=WIDTH)


class WithoutMemory(DecoderLayer):
    """Its memory is the text itself."""

    def forward(self, tgt: Tensor, memory: Tensor, *masks: Any, **named: Any) -> Any:
        return super().forward(tgt, tgt, *masks, **named)


def test_a_decoder_asks_its_memory_beside_its_own_text() -> None:
    assert said(DecoderLayer(), OTHERS)[0] == "passed"
    assert said(DecoderLayer(), OTHERS, causal=True)[0] == "passed"
    assert said(WithoutMemory(), OTHERS) == (
        "failed",
        "Other tokens for keys and values change nothing: they are made of the tokens "
        "of the queries.",
    )


class Joint(nn.Module):
    """Two texts attend to both of them, and each gets its rows."""

    def __init__(self, *, gives_both: bool = True) -> None:
        super().__init__()
        self.ours, self.theirs = nn.Linear(12, 36), nn.Linear(12, 36)
        self.gives_both = gives_both

    def forward(self, x: Tensor, context: Tensor) -> Any:
        ours, theirs = self.ours(x).chunk(3, -1), self.theirs(context).chunk(3, -1)
        three = (torch.cat(two, dim=1) for two in zip(ours, theirs, strict=True))
        rows = scaled_dot_product_attention(*three)
        both = rows[:, : x.shape[1]], rows[:, x.shape[1] :]
        return both if self.gives_both else both[0]


def test_texts_that_attend_to_both_of_them_see_their_own_as_well() -> None:
    assert said(Joint(), OTHERS) == SEES
    words = "*a row still moves with the tokens of other queries: *"
    expect(Joint(gives_both=False), OTHERS, "failed", words)


class OfPoints(nn.Module):
    """Each token has a place, which is added to its query and its key."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(12, 12) for _ in range(3))
        self.place = nn.Linear(3, 12)

    def forward(self, x: Tensor, places: Tensor) -> Tensor:
        away = self.place(places)
        scores = (self.query(x) + away) @ (self.key(x) + away).mT / 12**0.5
        return scores.softmax(-1) @ self.value(x)


@pytest.mark.parametrize("call", [None, "m(x, x[..., :3])"])
def test_features_of_tokens_may_have_to_be_as_many(call: str | None) -> None:
    words = "With other tokens for keys and values it raised RuntimeError: *"
    expect(OfPoints(), OTHERS, "not applicable", words, call=call)


class Correlates(OfThree):
    """Two texts are held against each other, cut or filled up to one length."""

    def mix(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        T = query.shape[1]
        rest = (0, 0, 0, max(T - key.shape[1], 0))
        key, value = (pad(one, rest)[:, :T] for one in (key, value))
        query, key = (torch.fft.rfft(one, dim=1) for one in (query, key))
        fits = torch.fft.irfft(query * key.conj(), n=T, dim=1).mean(-1).softmax(-1)
        away = (torch.arange(T)[:, None] + torch.arange(T)) % T
        return torch.einsum("bs,btsd->btd", fits, self.v(value)[:, away])


def test_texts_that_are_compared_along_their_length_are_not_asked() -> None:
    words = "It compares two texts along their length, by an FFT."
    expect(Correlates(), OTHERS, "not applicable", words, d_in=WIDTH)


def test_a_feature_of_the_same_tokens_is_no_other_text() -> None:
    class OfGaussians(Attend):
        def forward(self, mean: Tensor, cov: Tensor) -> Tensor:
            scores = self.q(mean) @ self.k(mean).mT + cov @ cov.mT
            return scores.softmax(-1) @ self.v(mean)

    class OfTwoTexts(Attend):
        def forward(self, mean: Tensor, other: Tensor) -> Tensor:
            scores = self.q(mean) @ self.k(mean).mT + other @ other.mT
            return scores.softmax(-1) @ self.v(mean)

    assert said(OfGaussians(), OTHERS, d_in=WIDTH)[0] == "not applicable"
    assert said(OfTwoTexts(), OTHERS, d_in=WIDTH)[0] == "failed"
