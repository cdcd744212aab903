"""What attention does besides the equation is found, the likeliest first."""

import math
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from headway import (
    ALiBi,
    GroupedQueryAttention,
    LearnedSinks,
    QKNorm,
    Rotary,
    T5Bias,
    add_qk_norm,
)
from headway.checks.attention.evidence.design import Design
from headway.checks.attention.evidence.find_designs import norms_inside
from tests.checks.support import attention_designs
from tests.checks.support.asking import evidence_of, expect, rows_of, said
from tests.checks.support.attention_designs import (
    HEADS,
    STYLES,
    WIDTH,
    Base,
    Halves,
    Windowed,
    angles,
    merge,
    rotate_half,
    split,
)
from tests.checks.support.nearby import OnBothSides
from tests.checks.support.other_shapes import Windows
from tests.support.mistakes.mistake import EQUATION, ORDER, SUM


def designs(target: Any, **options: Any) -> tuple[Design, ...]:
    return evidence_of(target, **options).designs


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("style", STYLES)
def test_the_equation_is_asked_with_what_is_inside(style: str, causal: bool) -> None:
    rows = rows_of(STYLES[style](causal=causal), EQUATION, SUM, ORDER)
    noted = style == "normed afterwards"  # a reader should know, and no more
    assert rows[0].verdict == ("note" if noted else "passed")
    assert not [one.sentence for one in rows if one.verdict == "failed"]


def test_what_the_caller_hands_over_is_seen() -> None:
    verdict, sentence = said(
        attention_designs.Given(), EQUATION, call=attention_designs.given
    )
    assert (verdict, "rotary positions, pairs" in sentence) == ("passed", True)


def grouped(**options: Any) -> nn.Module:
    groups = {"num_heads": 6, "num_kv_heads": 2}
    return GroupedQueryAttention(17, 24, 19, 0.0, **groups, **options)


OWN = {
    "rotary, pairs": {"rotate": Rotary(4)},
    "rotary, halves": {"rotate": Rotary(4, halves=True)},
    "a window": {"window": 3},
    "a window and rotary": {"window": 3, "rotate": Rotary(4)},
    "ALiBi": {"bias": ALiBi(6)},
    "a relative bias": {"bias": T5Bias(6)},
    "sinks": {"attend": LearnedSinks(6, 2)},
    "sinks and rotary": {"attend": LearnedSinks(6, 2), "rotate": Rotary(4)},
    "norms": {"attend": QKNorm(4)},
    "norms after rotary": {"attend": QKNorm(4), "rotate": Rotary(4)},
}


@pytest.mark.parametrize("name", OWN)
def test_the_equation_is_asked_of_the_packages_own(name: str) -> None:
    verdict, sentence = said(grouped(**OWN[name]), EQUATION)
    if name == "norms after rotary":  # meant, and yet a reader should know
        assert verdict == "note"
        assert "norms of queries and keys come after the rotation" in sentence
    else:
        assert verdict == "passed"


def test_norms_in_the_layers_of_queries_and_keys_are_found() -> None:
    assert said(add_qk_norm(grouped(rotate=Rotary(4))), EQUATION)[0] == "passed"


def test_the_plain_equation_comes_last_and_is_all_there_is_without_more() -> None:
    assert designs(Base()) == (Design(),)
    for make in (Halves, attention_designs.Sunk, attention_designs.Capped):
        assert designs(make())[-1] == Design()
        assert designs(make())[0].source


def test_an_option_that_is_not_used_comes_after_the_plain_equation() -> None:
    found = designs(grouped())
    assert found[0] == Design()
    assert any(one.rotation for one in found)


def test_what_is_told_is_in_every_design_but_the_plain_one() -> None:
    found = designs(Base(), scale=0.5, normalize="sigmoid")
    assert [(one.scale, one.normalize) for one in found] == [
        (0.5, "sigmoid"),
        (None, "softmax"),
    ]
    assert designs(Halves(), scale=0.5)[0].scale == 0.5


# Rotations


def base_of(design: Design) -> float:
    """Give the base of a rotation, of the frequency of its second pair."""
    assert design.rotation is not None
    return float(design.rotation.angles[1, 1] ** -design.rotation.angles.shape[1])


def test_a_base_that_is_told_stands_above_the_one_in_use() -> None:
    assert base_of(designs(Halves(base=100.0))[0]) == pytest.approx(100)
    told = designs(Halves(base=100.0), rotary_base=500.0)
    assert base_of(told[0]) == pytest.approx(500)
    assert told[0].rotation is not None
    assert told[0].rotation.source == "rotary_base"


@pytest.mark.parametrize(
    ("kept", "base"),
    [
        ({"rope_theta": 300.0}, 300),
        ({"config": SimpleNamespace(rope_theta=300)}, 300),
        ({"theta": "many"}, 10_000),
        ({"base": 0.5}, 10_000),
        ({}, 10_000),
    ],
)
def test_without_a_table_an_attribute_tells_the_base(kept: Any, base: float) -> None:
    class Unused(Base):
        def forward(self, x: Tensor) -> Tensor:
            return super().forward(x) if self.rotary_emb else x

    module = Unused()
    module.rotary_emb = nn.Linear(2, 3)
    for name, value in kept.items():
        setattr(module, name, value)
    first = designs(module)[0]
    assert base_of(first) == pytest.approx(base)


def test_pairings_are_ordered_by_the_table() -> None:
    def first(make: Any) -> str:
        [*found] = designs(make())
        assert found[0].rotation is not None
        return found[0].rotation.pairing

    assert first(Halves) == "halves"
    assert first(attention_designs.Complex) == first(attention_designs.Pairs) == "pairs"


def test_sines_that_are_added_to_tokens_are_no_rotation_for_sure() -> None:
    class Added(Base):
        def forward(self, x: Tensor) -> Tensor:
            table = angles(x.shape[1], 12).to(x)
            return super().forward(x + torch.cat([table.cos(), table.sin()], -1))

    first, *others = designs(Added())
    assert first == Design()
    assert any(one.rotation for one in others)


def test_rotations_of_functions_are_found() -> None:
    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        rope = angles(q.shape[2], q.shape[3] // 2).to(q)
        cos, sin = rope.cos(), rope.sin()
        n = 2 * rope.shape[1]

        def turn(x: Tensor) -> Tensor:
            turned = attention_designs.turn_pairs(x[..., :n], cos, sin)
            return torch.cat([turned, x[..., n:]], dim=-1)

        return scaled_dot_product_attention(turn(q), turn(k), v)

    assert said(attend, EQUATION, causal=False)[0] == "passed"


# Norms, biases, caps, sinks and windows


@pytest.mark.parametrize(
    ("names", "count"),
    [
        ("q_norm k_norm", 2),
        ("query_norm key_norm", 2),
        ("norm_q norm_k", 2),
        ("ln_q ln_k", 2),
        ("q_layernorm k_layernorm", 2),
        ("qk_norm", 2),
        ("q_norm kv_norm", 0),
        ("norm_1 norm_2", 0),
        ("query key", 0),
    ],
)
def test_norms_are_told_by_their_names(names: str, count: int) -> None:
    module = nn.ModuleDict({name: nn.RMSNorm(3) for name in names.split()})
    assert len(norms_inside(module)) == count


def test_a_norm_without_weights_is_of_each_head() -> None:
    class Size(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x / x.norm(dim=-1, keepdim=True)

    class Scaled(Size):
        def __init__(self) -> None:
            super().__init__()
            self.gain = nn.Parameter(torch.ones(1, 8))

    for kind in (Size, Scaled):

        class Normed(Base):
            def __init__(self, norm: Any = kind) -> None:
                super().__init__()
                self.q_norm, self.k_norm = norm(), norm()

            def inside(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, ...]:
                return self.q_norm(q), self.k_norm(k), v

        assert designs(Normed())[0].norm_of == "head"
        assert said(Normed(), EQUATION)[0] == "passed"


def test_slopes_without_a_buffer_are_the_usual_ones() -> None:
    kept, made = (
        designs(attention_designs.Biased(kept=one))[0] for one in (True, False)
    )
    for found in (kept, made):
        assert found.bias is not None
        assert found.bias.shape[0] == HEADS
        assert [float(one) for one in found.bias[:, 1, 0]] == [
            -(2**-4),
            -(2**-8),
            -0.25,
        ]


def test_slopes_are_one_for_each_head() -> None:
    module = attention_designs.Biased()
    module.slopes_of_others = torch.ones(HEADS + 1)
    assert len([one for one in designs(module) if one.bias is not None]) == 1


@pytest.mark.parametrize("value", [None, 0.0, float("inf"), True])
def test_a_cap_is_a_number(value: Any) -> None:
    module = Base()
    module.softcap = value
    assert designs(module)[0].softcap is None


def test_keys_of_zero_are_sinks() -> None:
    for options, score in (
        ({"add_zero_attn": True}, 0.0),
        ({"add_bias_kv": True}, 0.0),
        ({"add_zero_attn": True, "add_bias_kv": True}, 0.693147),
    ):
        module = nn.MultiheadAttention(24, 3, batch_first=True, **options)
        sinks = designs(module)[0].sinks
        assert sinks is not None
        assert sinks.tolist() == pytest.approx([score] * 3, abs=1e-5)
        rows = rows_of(module, EQUATION, SUM)
        assert [one.verdict for one in rows] == ["passed", "not applicable"]


def test_a_bias_of_keys_that_nothing_joins_is_no_sink() -> None:
    class Biased(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.q, self.k, self.v = (nn.Linear(12, 12, bias=False) for _ in range(3))
            self.bias_k, self.bias_v = (
                nn.Parameter(torch.arange(12.0).view(1, 1, 12) / n) for n in (5, 7)
            )

        def parts(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return self.k(x) + self.bias_k, self.v(x) + self.bias_v

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            k, v = self.parts(x)
            return (self.q(x) @ k.mT / 12**0.5).softmax(-1) @ v

    class Joined(Biased):
        def parts(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            more = (one.expand(len(x), 1, -1) for one in (self.bias_k, self.bias_v))
            two = zip((self.k(x), self.v(x)), more, strict=True)
            return tuple(torch.cat(one, dim=1) for one in two)

    assert all(one.sinks is None for one in designs(Biased(), d_in=12))
    assert any(one.sinks is not None for one in designs(Joined(), d_in=12))
    for kind in (Biased, Joined):
        [row] = rows_of(kind(), EQUATION, d_in=12)
        assert row.verdict == "passed"


def test_a_window_is_told_or_named_or_measured() -> None:
    def first(module: nn.Module, **options: Any) -> int | None:
        return designs(module, **options)[0].window

    assert first(Windowed()) == 4
    assert first(Windowed(), window=3) == 3
    assert first(Windowed("sliding_size")) == 4
    module = Windowed()
    module.sliding_window = 5
    assert first(module) == 5
    module.sliding_window = None
    assert first(module) == 4
    full = Base()
    full.sliding_window = 4
    assert [one.window for one in designs(full)] == [4, None]
    full.sliding_window = 64  # longer than the texts
    assert first(full) is None


def test_one_position_tells_nothing_of_a_rotation() -> None:
    class OfOne(Base):
        def forward(self, x: Tensor) -> Tensor:
            if x.shape[1] != 1:
                raise ValueError("one token alone")
            return super().forward(x) + self.rotary_dim

    module = OfOne()
    module.rotary_dim = 1
    assert said(module, EQUATION)[0] == "not applicable"


class Concentrated(Halves):
    """The factor is in the table, and the names say so."""

    def turn(self, x: Tensor) -> Tensor:
        concentration = 0.1 * math.log(32) + 1
        places = torch.arange(x.shape[2], dtype=x.dtype)
        half = torch.outer(places, self.rotary_emb.inv_freq.to(x.dtype))
        both = torch.cat([half, half], dim=-1)
        cos, sin = concentration * both.cos(), concentration * both.sin()
        return x * cos + rotate_half(x) * sin


class Unnamed(Halves):
    """The same without a name for it."""

    def turn(self, x: Tensor) -> Tensor:
        c = 0.1 * math.log(32) + 1
        places = torch.arange(x.shape[2], dtype=x.dtype)
        half = torch.outer(places, self.rotary_emb.inv_freq.to(x.dtype))
        both = torch.cat([half, half], dim=-1)
        return x * (c * both.cos()) + rotate_half(x) * (c * both.sin())


def test_a_rotation_may_lengthen_vectors_if_a_name_says_so() -> None:
    words = "It is what the equation gives in 64 bits, with rotary positions, halves, "
    expect(Concentrated(), EQUATION, "passed", words + "1.347 times as long.")
    scaled = "*scores are multiplied by 0.641, and not by 0.354*"
    expect(Unnamed(), EQUATION, "failed", scaled)


def test_mistakes_beside_a_longer_rotation_are_named() -> None:
    class Wrong(Concentrated):
        def inside(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, ...]:
            return self.turn(q), self.turn(k), self.turn(v)

    expect(Wrong(), EQUATION, "failed", "*values are rotated too*")


def test_the_bias_of_a_key_projection_is_no_key() -> None:
    class OfParameters(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.num_heads = HEADS
            for letter in "qkv":
                weight = nn.Parameter(torch.randn(WIDTH, WIDTH) / WIDTH**0.5)
                setattr(self, f"W_{letter}", weight)
                setattr(self, f"bias_{letter}", nn.Parameter(torch.randn(WIDTH)))

        def forward(self, x: Tensor) -> Tensor:
            q, k, v = (
                split(x @ getattr(self, f"W_{one}").T + getattr(self, f"bias_{one}"))
                for one in "qkv"
            )
            return merge(scaled_dot_product_attention(q, k, v))

    words = "It is what the equation gives in 64 bits*"
    expect(OfParameters(), EQUATION, "passed", words)


def test_in_a_group_a_window_is_no_design() -> None:
    module = Windows()
    module.window_size = 2
    designs = evidence_of(module, d_in=15).designs
    assert [one.window for one in designs] == [None]


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_a_window_on_both_sides_may_count_one_side_or_both(size: int) -> None:
    module = OnBothSides("window_size")
    module.window_size = size
    assert designs(module)[0].window == 3
    assert designs(module)[0].source == f"a window of {size} (window_size)"
    expect(module, EQUATION, "passed", "*with a window of *")
