"""How a row mixes what it sees."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.checks.support.asking import calling, expect, said, verdicts
from tests.checks.support.attention_designs import Base, angles, turn_pairs
from tests.checks.support.callers import WIDTH, OfTokens
from tests.checks.support.nearby import Around, Latest, OnBothSides
from tests.checks.support.right import NAMED
from tests.support.attention_in_steps import SMALL, Attention
from tests.support.mistakes.mistake import ORDER, SUM


def test_positions_without_a_name_are_found() -> None:
    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        return run(x * torch.linspace(1, 2, x.shape[1]).to(x)[:, None])

    for causal in (True, False):
        assert said(calling(call, causal=causal), ORDER)[0] == "failed"


def test_sums_that_are_not_divided_are_found() -> None:
    def summed(m: Any, scores: Tensor) -> Tensor:
        return scores.exp()

    for causal in (True, False):
        assert said(Attention(SMALL, causal=causal, softmax=summed), SUM)[0] == "failed"


def test_positions_that_are_kept_and_not_used_are_a_finding() -> None:
    module = Attention(SMALL)
    module.rotary_emb = nn.Linear(2, 3)
    assert said(module, ORDER)[0] == "failed"
    module.use_rotary = False
    assert said(module, ORDER)[0] == "passed"


def test_several_layers_and_windows_may_tell_the_order() -> None:
    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        return run(x * torch.linspace(1, 2, x.shape[1]).to(x)[:, None])

    several = calling(call)
    several.blocks = nn.ModuleList(
        nn.ModuleDict({"qkv": nn.Linear(2, 6), "proj": nn.Linear(2, 2)})
        for _ in range(2)
    )
    verdict, sentence = said(several, ORDER)
    assert verdict == "not applicable"
    assert "several layers" in sentence
    windowed = said(NAMED["window"](SMALL), ORDER)
    assert windowed == ("not applicable", "Positions are inside, so the order matters.")


class OneAngle(Base):
    """All tokens are turned by the angle of the first."""

    def inside(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, ...]:
        def apply_rotary_pos_emb(x: Tensor) -> Tensor:
            half = angles(1).to(x)
            return turn_pairs(x, half.cos(), half.sin())

        return apply_rotary_pos_emb(q), apply_rotary_pos_emb(k), v


def test_one_angle_for_all_tokens_is_no_position() -> None:
    verdict, sentence = said(OneAngle(), ORDER)
    assert verdict == "failed"
    assert sentence.startswith("It computes cosines and sines, as for positions, but")
    assert said(Base(), ORDER)[0] == "passed"


def test_weights_that_decay_need_not_sum_to_one() -> None:
    class Retains(OfTokens):
        def forward(self, x: Tensor) -> Tensor:
            places = torch.arange(x.shape[1])
            retention = 0.9 ** (places[:, None] - places).clamp(min=0).to(x).tril()
            return (self.q(x) @ self.k(x).mT * retention) @ self.v(x)

    verdict, sentence = said(Retains(), SUM, d_in=WIDTH)
    assert verdict == "not applicable"
    assert sentence == "It has retention, so weights need not sum to one."


def test_keys_beside_the_text_count_as_well() -> None:
    class Remembers(OfTokens):
        def __init__(self) -> None:
            super().__init__()
            self.mem_kv = nn.Parameter(torch.randn(1, 4, WIDTH))

        def forward(self, x: Tensor) -> Tensor:
            keys = torch.cat([self.mem_kv.expand(len(x), -1, -1), x], dim=1)
            return self.mix(x, keys, keys)

    assert said(Remembers(), SUM, d_in=WIDTH) == (
        "not applicable",
        "It has keys of its own beside the text: mem_kv.",
    )


class Fades(OfTokens):
    """Tokens count less the farther they are."""

    def forward(self, x: Tensor) -> Tensor:
        places = torch.arange(x.shape[1])
        forget = 0.5 ** (places[:, None] - places).abs().to(x)
        return ((self.q(x) @ self.k(x).mT).softmax(-1) * forget) @ self.v(x)


class Recurs(OfTokens):
    """A recurrence goes over the tokens first."""

    def __init__(self) -> None:
        super().__init__()
        self.before = nn.GRU(WIDTH, WIDTH, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(self.before(x)[0])


class Correlates(OfTokens):
    """What is as far away as it was found to fit best counts most."""

    def forward(self, x: Tensor) -> Tensor:
        T = x.shape[1]
        query, key = (torch.fft.rfft(one(x), dim=1) for one in (self.q, self.k))
        fits = torch.fft.irfft(query * key.conj(), n=T, dim=1).mean(-1).softmax(-1)
        away = (torch.arange(T)[:, None] + torch.arange(T)) % T
        return torch.einsum("bs,btsd->btd", fits, self.v(x)[:, away])


@pytest.mark.parametrize(
    ("kind", "named"), [(Fades, "forget"), (Recurs, "GRU"), (Correlates, "fft")]
)
def test_what_fades_recurs_or_correlates_may_tell_the_order(
    kind: type[nn.Module], named: str
) -> None:
    words = f"It has {named}, so the order matters."
    expect(kind(), ORDER, "not applicable", words, d_in=WIDTH)


@pytest.mark.parametrize("kind", [Fades, Recurs])
def test_what_fades_or_recurs_need_not_sum_to_one(kind: type[nn.Module]) -> None:
    words = "It has *, so weights need not sum to one."
    expect(kind(), SUM, "not applicable", words, d_in=WIDTH)


def test_what_sees_as_many_tokens_on_both_sides_may_tell_the_order() -> None:
    words = "Positions are inside, so the order matters."
    expect(OnBothSides(), ORDER, "not applicable", words)


def test_pixels_that_see_some_places_may_tell_the_order() -> None:
    words = "Its tokens are pixels, of which each sees some places."
    expect(Around(1, 3), ORDER, "not applicable", words)


def test_a_padded_border_counts_less_in_longer_texts() -> None:
    words = "It has a border beside the text, which counts less in longer texts."
    expect(Latest(), SUM, "not applicable", words)
    # Of a window that is declared, the border is no surprise, and is told.
    assert verdicts(Latest(), SUM, window=3) == ["failed"]


class Learns(OfTokens):
    """It has keys of its own beside the text, and no name says what they are."""

    def __init__(self) -> None:
        super().__init__()
        self.out_proj = nn.Linear(WIDTH, WIDTH)
        self.learned = nn.Parameter(torch.randn(1, 4, WIDTH))

    def forward(self, x: Tensor) -> Tensor:
        keys = torch.cat([self.learned.expand(len(x), -1, -1), x], dim=1)
        return self.out_proj(self.mix(x, keys, keys))


class LearnsWithoutRoles(nn.Module):
    """The same, with no queries, keys and values that are made of tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.learned = nn.Parameter(torch.randn(1, 4, WIDTH))

    def forward(self, x: Tensor) -> Tensor:
        keys = torch.cat([self.learned.expand(len(x), -1, -1), x], dim=1)
        return (x @ keys.mT / WIDTH**0.5).softmax(-1) @ keys


@pytest.mark.parametrize("kind", [Learns, LearnsWithoutRoles])
def test_keys_that_no_name_tells_of_count_less_in_longer_texts(
    kind: type[nn.Module],
) -> None:
    words = "It has learned beside the text, which counts less in longer texts."
    expect(kind(), SUM, "not applicable", words, d_in=WIDTH)


class NotDivided(Learns):
    """Its rows grow with the text."""

    def mix(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        scores = self.q(query) @ self.k(key).mT / WIDTH**0.5
        return scores.exp() @ self.v(value)


class DividedTwice(Learns):
    """Its rows shrink to nothing."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) / x.shape[1]


class Refuses(Learns):
    """It takes no texts that are long enough to tell."""

    def forward(self, x: Tensor) -> Tensor:
        if x.shape[1] > 100:
            raise ValueError("too long")
        return super().forward(x)


class Plain(OfTokens):
    """All weights that it has besides are those of a usual layer."""

    def __init__(self) -> None:
        super().__init__()
        self.out_proj, self.gate = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 1)

    def mix(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        scores = self.q(query) @ self.k(key).mT / WIDTH**0.5
        whole = scores.exp().sum(-1, keepdim=True) + 1
        rows = self.out_proj((scores.exp() / whole) @ self.v(value))
        return self.gate(query).sigmoid() * rows


@pytest.mark.parametrize("kind", [NotDivided, DividedTwice, Refuses, Plain])
def test_sums_that_are_not_divided_are_found_beside_keys_of_its_own(
    kind: type[nn.Module],
) -> None:
    words = "*the weights of a row do not sum to one.*"
    expect(kind(), SUM, "failed", words, d_in=WIDTH)


def test_sums_that_are_not_divided_are_found_in_a_function() -> None:
    def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        return (query @ key.mT / query.shape[-1] ** 0.5).exp() @ value

    expect(attend, SUM, "failed", "*the weights of a row do not sum to one.*")


class Shifted(OfTokens):
    """Half of the numbers of a token are those of the token before it."""

    def __init__(self) -> None:
        super().__init__()
        self.time_shift = nn.ZeroPad2d((0, 0, 1, -1))

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(torch.cat([self.time_shift(x[..., :7]), x[..., 7:]], -1))


def associative_scan(x: Tensor) -> Tensor:
    return 0.5 * x + 0.3 * x.roll(1, 1).tril()


def recurrence(x: Tensor) -> Tensor:
    return associative_scan(x)


class Scanned(OfTokens):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(recurrence(x))


@pytest.mark.parametrize(
    ("kind", "name"), [(Shifted, "time_shift"), (Scanned, "associative_scan")]
)
def test_what_shifts_or_scans_tokens_tells_equal_ones_apart(
    kind: type[nn.Module], name: str
) -> None:
    words = f"It has {name}, so weights need not sum to one."
    expect(kind(), SUM, "not applicable", words, d_in=WIDTH)
