"""What is said of the equation, whatever the code does."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from headway.checks import check
from headway.checks.attention.evidence import Evidence
from headway.checks.attention.evidence.design import Design, Rotation
from headway.checks.attention.oracle.computing import compute
from headway.checks.attention.oracle.recipe import Recipe
from headway.checks.attention.properties.equation import equals
from tests.checks.support.asking import (
    calling,
    evidence_of,
    expect,
    rows_of,
    said,
    verdicts,
)
from tests.checks.support.attention_designs import (
    CONTEXT,
    HEADS,
    Complex,
    Halves,
    angles,
)
from tests.checks.support.nearby import (
    Around,
    OnBothSides,
    OverQueries,
    Pixels,
    Unscaled,
)
from tests.checks.support.other_shapes import Pool
from tests.support.attention_in_steps import SMALL, Attention, split
from tests.support.mistakes.mistake import EQUATION, GRADIENTS, HALF


class Small(nn.Module):
    """One small layer for all heads, or what is behind a layer for whole tokens."""

    def __init__(self, names: str, scale: float, *, behind: bool = False) -> None:
        super().__init__()
        self.num_heads, self.d_in = 3, 15
        self.names, self.scale, self.behind = names.split(), scale, behind
        for name in self.names:
            setattr(self, name, nn.Linear(5, 5))

    def forward(self, x: Tensor) -> Tensor:
        x = x.unflatten(-1, (3, 5)).transpose(1, 2)
        x = x.flip(-1) if self.behind else x
        q, k, v = (getattr(self, name)(x) for name in self.names)
        return ((q @ k.mT * self.scale).softmax(-1) @ v).transpose(1, 2).flatten(2)


NAMED = "W_query W_key W_value"
SHARED = "All heads share W_query.weight, and each sees only its own part of a token."
OF_ALL_HEADS = (
    "It is exactly what comes out when scores are divided by the root of all heads' "
    "width."
)


@pytest.mark.parametrize(
    ("module", "verdict", "sentence"),
    [
        (Small(NAMED, 5**-0.5), "failed", SHARED),
        (Small(NAMED, 15**-0.5), "failed", f"{SHARED} {OF_ALL_HEADS}"),
        # It is not concluded from the shape of layers.
        (Small("q k v", 1.0, behind=True), "not applicable", "*"),
    ],
)
def test_one_small_layer_for_all_heads_is_found(
    module: Small, verdict: str, sentence: str
) -> None:
    expect(module, EQUATION, verdict, sentence)


def test_weights_without_names_are_compared_by_their_shapes() -> None:
    module = Attention(SMALL)
    module.first, module.second, module.third = (
        module.W_query,
        module.W_key,
        module.W_value,
    )
    del module.W_query, module.W_key, module.W_value
    module.steps["project"] = lambda m, x: (m.first(x), m.second(x), m.third(x))
    assert said(module, EQUATION)[0] == "passed"
    module.steps["softmax"] = lambda m, scores: scores.exp()
    assert said(module, EQUATION)[0] == "not applicable"


def test_weights_that_the_equation_does_not_have_are_named() -> None:
    module = Attention(SMALL, call=lambda m, run, x: run(x) * m.gate(x).sigmoid())
    module.gate = nn.Linear(SMALL.d_in, 1)
    assert said(module, EQUATION) == (
        "passed",
        "It is what the equation gives in 64 bits, without gate.weight, gate.bias.",
    )
    module.steps["softmax"] = lambda m, scores: scores.exp()
    assert said(module, EQUATION) == (
        "not applicable",
        "It has weights that the equation does not have: gate.weight.",
    )


def test_what_nothing_explains_is_said_to_be_so() -> None:
    module = calling(lambda m, run, x: run(x) + 1)
    assert said(module, EQUATION) == (
        "failed",
        "It is not what the equation gives, and no mistake known here explains it.",
    )


def test_an_answer_of_another_shape_is_not_what_the_equation_gives() -> None:
    module = calling(lambda m, run, x: run(x)[..., :3])
    assert said(module, EQUATION)[0] != "passed"


def test_heads_are_split_where_they_are_said_to_be() -> None:
    assert split(Attention(SMALL), torch.randn(2, 7, 14)).shape == (2, 2, 7, 7)


def test_numbers_that_are_no_matrix_are_not_drawn_anew() -> None:
    module = calling(lambda m, run, x: run(x) * m.loudness)
    module.loudness = nn.Parameter(torch.tensor(1.0))
    module.counts = nn.Parameter(torch.ones(2, 2, dtype=torch.int64), False)
    # It is 1 still; the check only cannot know that.
    rows = rows_of(module, EQUATION, GRADIENTS, HALF)
    assert {row.verdict for row in rows} == {"passed"}


def test_a_module_may_have_no_weights() -> None:
    class Plain(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return (x @ x.mT).softmax(-1) @ x

    found = verdicts(Plain(), EQUATION, GRADIENTS, d_in=5)
    assert found == ["not applicable", "passed"]


PLAIN = Design()
SLANTED = Design(bias=torch.zeros(1, 7, 7), source="ALiBi")
SINKS = Design(sinks=torch.tensor([0.3, 0.7], dtype=torch.float64), source="sinks")


def test_what_is_inside_and_never_acts_is_a_mistake() -> None:
    evidence = evidence_of(Attention(SMALL))
    outcome = equals(replace(evidence, designs=(SINKS, PLAIN)))
    assert outcome[:2] == (
        "failed",
        "It is exactly what comes out when the sink is left out or hidden, or its "
        "share handed back.",
    )
    assert outcome.section is not None


def test_what_is_inside_is_said_when_it_is_right() -> None:
    grouped = evidence_of(Attention(SMALL._replace(heads=4), groups=2))
    told = Design(window=99, source="a window")
    assert equals(replace(grouped, designs=(told, PLAIN))).sentence == (
        "It is what the equation gives in 64 bits, with a window; 2 groups of keys."
    )
    one = evidence_of(Attention(SMALL, groups=1))
    assert equals(one).sentence.endswith(", with 1 group of keys.")


def odd(m: Any, run: Any, x: Tensor) -> Tensor:
    return run(x) + 1


@pytest.mark.parametrize(
    ("changes", "verdict", "words"),
    [
        ({"designs": (SINKS, PLAIN)}, "failed", "with sinks, and no mistake known"),
        ({"designs": (SLANTED, PLAIN)}, "note", "with ALiBi, and no mistake known"),
        ({"window": 3}, "not applicable", "A window is inside"),
        ({"positions": True}, "not applicable", "Positions are inside"),
    ],
)
def test_what_is_inside_excuses_what_nothing_explains(
    changes: Any, verdict: str, words: str
) -> None:
    outcome = equals(replace(evidence_of(calling(odd)), **changes))
    assert outcome.verdict == verdict
    assert words in outcome.sentence
    assert outcome.unexplained == (verdict == "note")


class Rectified(Attention):
    """Its rows go through a function that the equation does not have."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(super().forward(x))


def test_a_strict_check_fails_where_nothing_explains_a_difference() -> None:
    module, only = Rectified(SMALL), [EQUATION]
    report = check(module, only=[EQUATION, "batch"])
    [found] = report.notes
    assert found.unexplained
    assert report.ok
    assert report.count() == (
        "1 passed, 0 failed, 1 note (1 unexplained), 0 not applicable"
    )
    [found] = check(module, only=only, strict=True).failed
    assert found.sentence.startswith("It is not what the equation gives. It uses relu")
    excused = check(
        module, only=only, strict=True, expected={EQUATION: "relu is meant"}
    )
    assert excused.failed == []
    [found] = check(Attention(SMALL), only=only, strict=True).rows
    assert (found.verdict, found.unexplained) == ("passed", False)


def test_several_layers_and_roles_by_shape_are_never_unexplained() -> None:
    evidence = evidence_of(calling(odd))
    layered = replace(evidence.weights, layer="first")
    assert "several layers" in equals(replace(evidence, weights=layered)).sentence
    unsure = [replace(one, certain=False) for one in evidence.weights.candidates]
    by_shape = replace(evidence.weights, candidates=tuple(unsure))
    assert equals(replace(evidence, weights=by_shape))[:2] == (
        "not applicable",
        "No names tell which of its weights make queries, keys and values.",
    )


def test_numbers_that_are_none_are_told_first_and_shapes_are_no_alarm() -> None:
    evidence = evidence_of(Attention(SMALL))
    lost = replace(evidence, output=evidence.output * torch.nan)
    assert equals(lost)[:2] == ("failed", "Most of its numbers are nan or infinite.")
    wide = replace(evidence, output=evidence.output.repeat(1, 1, 2))
    assert equals(wide)[:2] == (
        "not applicable",
        "The shapes of its weights do not fit the equation.",
    )


def test_a_window_that_hides_nothing_is_told() -> None:
    module = Attention(SMALL)
    module.sliding_window = 3
    words = "A window of 3 is kept, and it hides nothing*"
    expect(module, EQUATION, "note", words)


def test_heads_that_are_merged_in_another_order_are_told() -> None:
    steps = {"merge": lambda m, c: c.permute(0, 2, 3, 1).flatten(2)}
    module = Attention(SMALL, **steps)
    module.num_heads = SMALL.heads
    words = "*merged in a different order than they are split*"
    expect(module, EQUATION, "note", words)


def giving(found: Design, *meant: Design) -> Evidence:
    """Let the output be that of a design, which is the last that may be meant."""
    evidence = evidence_of(Attention(SMALL))
    [weights] = evidence.weights.candidates
    with torch.no_grad():
        output = compute(evidence.x, weights, evidence.causal, Recipe(), found)
    return replace(evidence, output=output, designs=(*meant, found))


def turning(*speeds: float) -> Design:
    places = torch.arange(evidence_of(Attention(SMALL)).x.shape[1])
    table = places[:, None] * torch.tensor(speeds, dtype=torch.float64)
    return Design(rotation=Rotation(table, "pairs", "here"))


def test_speeds_are_held_against_those_that_are_meant() -> None:
    outcome = equals(giving(turning(1.0, 0.3), turning(1.0, 0.09)))
    assert outcome[:2] == (
        "failed",
        "It is exactly what comes out when the base has the exponent i/D, where 2i/D "
        "is meant.",
    )
    assert equals(giving(turning(1.0, 0.3), turning(1.0, 0.2))).verdict == "passed"


def test_positions_that_fall_are_told() -> None:
    assert equals(giving(turning(1.0, 0.1))).verdict == "passed"
    rotation = turning(1.0, 0.1).rotation
    assert rotation is not None
    falling = replace(rotation, angles=rotation.angles.flip(0))
    outcome = equals(giving(Design(rotation=falling)))
    assert outcome.verdict == "note"
    assert "rotary positions counted from the end" in outcome.sentence


def test_norms_with_weights_after_a_rotation_are_told() -> None:
    norm = nn.LayerNorm(7, dtype=torch.float64)
    design = replace(
        turning(1.0, 0.1), query_norm=norm, key_norm=norm, norms_after="rotation"
    )
    outcome = equals(giving(design))
    assert outcome.verdict == "note"
    assert "the norms of queries and keys come after the rotation" in outcome.sentence


class RMSNorm(nn.Module):
    """It adds nothing before it divides, so that a token of zeros gives nan."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(7))

    def forward(self, x: Tensor) -> Tensor:
        return x * x.square().mean(-1, keepdim=True).rsqrt() * self.weight


def test_a_norm_that_is_wrong_is_named() -> None:
    module = Attention(SMALL)
    module.norm = RMSNorm()
    outcome = equals(replace(evidence_of(module), designs=(PLAIN,)))
    assert outcome[:2] == (
        "failed",
        "Its norm norm gives nan for a token of zeros: no eps is added.",
    )


def sloped(*slopes: float) -> Design:
    places = torch.arange(evidence_of(Attention(SMALL)).x.shape[1]).double()
    away = (places - places[:, None]).tril()
    return Design(bias=torch.tensor(slopes)[:, None, None] * away, source="ALiBi")


def test_slopes_that_are_kept_and_unusual_are_told() -> None:
    usual = (1 / 2**4, 1 / 2**8)
    assert equals(giving(sloped(*usual))).verdict == "passed"
    outcome = equals(giving(sloped(0.3, 0.1)))
    assert outcome.verdict == "note"
    assert "with the slopes that are kept, 0.3, 0.1; the usual" in outcome.sentence
    assert "0.0625, 0.00391" in outcome.sentence


class Activated(nn.Module):
    """It lets queries through an activation, and what it gives through another."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(5, 6) for _ in "qkv")
        self.gelu = nn.GELU()

    def forward(self, x: Tensor) -> Tensor:
        scores = self.gelu(self.query(x)) @ self.key(x).mT / 6**0.5
        return self.gelu(scores.softmax(-1) @ self.value(x)) + x.mean()


def test_an_activation_of_ones_own_is_no_fault() -> None:
    assert said(Activated(), EQUATION) == (
        "note",
        "It is not what the equation gives. It uses gelu, which the equation does not "
        "have.",
    )


class WithNorm(nn.Module):
    """It lets what attention gives through a norm that has no weights."""

    def __init__(self, norm: str) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(5, 6) for _ in "qkv")
        self.norm = norm

    def forward(self, x: Tensor) -> Tensor:
        scores = self.query(x) @ self.key(x).mT / 6**0.5
        context = scores.softmax(-1) @ self.value(x)
        if self.norm == "rms_norm":
            return nn.functional.rms_norm(context, (6,))
        return nn.functional.normalize(context, dim=-1)


@pytest.mark.parametrize("norm", ["rms_norm", "normalize"])
def test_a_norm_without_weights_is_told_and_is_no_fault(norm: str) -> None:
    words = "*which the equation does not have*"
    expect(WithNorm(norm), EQUATION, "note", words)


def test_code_of_which_nothing_is_known_is_judged_by_what_it_gives() -> None:
    evidence = evidence_of(calling(odd))
    unread = replace(evidence.subject, target=len)
    assert equals(replace(evidence, subject=unread, bare=())).verdict == "failed"


def test_a_rotation_at_one_speed_is_found() -> None:
    outcome = equals(giving(turning(0.3, 0.3)))
    assert outcome.verdict == "failed"
    assert outcome.sentence == "All pairs of numbers are rotated at one speed."


def test_vectors_that_grow_as_they_are_rotated_are_noted() -> None:
    class Grows(Complex):
        def __init__(self) -> None:
            super().__init__()
            self.freqs_cis = self.freqs_cis * (1 + angles(CONTEXT))

    words = "It is not what the equation gives: the complex numbers*"
    expect(Grows(), EQUATION, "note", words)


class OneValue(nn.Module):
    """Heads have queries and keys of their own, and the same values."""

    def __init__(
        self, join: Any = torch.mean, factor: float = 5**-0.5, *, out: bool = True
    ) -> None:
        super().__init__()
        self.merge, self.factor, self.num_heads = join, factor, 3
        self.query, self.key = nn.Linear(17, 3 * 5), nn.Linear(17, 3 * 5)
        self.value = nn.Linear(17, 5)
        self.out = nn.Linear(5, 17) if out else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        split = (one(x).unflatten(-1, (3, 5)) for one in (self.query, self.key))
        query, key = (one.transpose(1, 2) for one in split)
        weights = (query @ key.mT * self.factor).softmax(-1)
        rows: Tensor = self.out(self.merge(weights @ self.value(x)[:, None], dim=1))
        return rows


@pytest.mark.parametrize("out", [True, False])
def test_heads_with_the_same_values_may_give_their_mean(out: bool) -> None:
    words = "*, with the same values for all heads, and their mean."
    expect(OneValue(out=out), EQUATION, "passed", words)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"join": torch.sum}, "*heads found is multiplied by 3*"),
        ({"factor": 1.0}, "*scores are not scaled*"),
    ],
)
def test_mistakes_are_named_where_heads_give_their_mean(
    options: dict[str, Any], words: str
) -> None:
    expect(OneValue(**options), EQUATION, "failed", words)


@pytest.mark.parametrize(("base", "meant"), [(1e4, "10000"), (5e5, "500000")])
def test_speeds_of_all_heads_are_named(base: float, meant: str) -> None:
    expect(
        Halves(base=base ** (1 / HEADS)),
        EQUATION,
        "failed",
        "The speeds of its rotation are those of 24 numbers, as wide as all heads are, "
        f"and not of the 8 of a head: as if the base were *, and not {meant}.",
    )


@pytest.mark.parametrize("base", [20.0, 100.0, 1e4])
def test_speeds_of_other_bases_are_their_own(base: float) -> None:
    assert said(Halves(base=base), EQUATION)[0] == "passed"


class Rolled(Halves):
    """Numbers of queries are moved by one place behind the rotation."""

    def inside(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, ...]:
        q, k, v = super().inside(q, k, v)
        return q.roll(1, -1), k, v


def test_what_nothing_explains_beside_a_rotation_that_is_seen_is_a_failure() -> None:
    words = (
        "It is not what the equation gives, with rotary positions, *, and no mistake "
        "known here explains it."
    )
    expect(Rolled(), EQUATION, "failed", words)
    more = Rolled()
    more.loudness = nn.Parameter(torch.ones(3))
    expect(more, EQUATION, "note", words)
    by_base = {"rotary_base": 1e4}
    expect(Rolled(), EQUATION, "note", f"{words}*", **by_base)


class Tripled(nn.Module):
    """Rows are three times too large; it may take one token only."""

    def __init__(self, *, alone: bool) -> None:
        super().__init__()
        self.alone = alone
        self.q, self.k, self.v = (nn.Linear(15, 15) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        if self.alone and x.shape[:2] != (1, 1):
            raise ValueError("one token at a time")
        q, k, v = self.q(x), self.k(x), self.v(x)
        return 3 * (q @ k.mT / 15**0.5).softmax(-1) @ v


def test_of_one_token_alone_the_equation_is_not_asked() -> None:
    assert said(Tripled(alone=True), EQUATION, d_in=15) == (
        "not applicable",
        "It takes one token only, which attends to itself.",
    )
    assert said(Tripled(alone=False), EQUATION, d_in=15)[0] == "failed"


def test_of_one_row_for_each_text_the_equation_is_not_asked() -> None:
    assert said(Pool(), EQUATION) == (
        "not applicable",
        "It gives one row for each text, and the equation one for each token.",
    )


class OneWideValue(nn.Module):
    """Weights of heads are averaged, and weigh a value that is as wide as they all."""

    def __init__(self) -> None:
        super().__init__()
        self.num_heads = 3
        layers = (nn.Linear(17, 15) for _ in range(3))
        self.query, self.key, self.value = layers
        self.out = nn.Linear(15, 17)

    def forward(self, x: Tensor) -> Tensor:
        split = (one(x).unflatten(-1, (3, 5)) for one in (self.query, self.key))
        query, key = (one.transpose(1, 2) for one in split)
        weights = (query @ key.mT * 5**-0.5).softmax(-1)
        return self.out(weights.mean(1) @ self.value(x))


def test_heads_may_share_a_value_that_is_as_wide_as_they_all() -> None:
    words = "*, with the same values for all heads, and their mean."
    expect(OneWideValue(), EQUATION, "passed", words)


def test_what_sees_as_many_tokens_on_both_sides_is_not_compared() -> None:
    words = "A row sees 2 tokens on both sides, and the equation all of them."
    expect(OnBothSides(), EQUATION, "not applicable", words)


class Sums(Attention):
    """It adds what stands before a token."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) + x.cumsum(1).mean(-1, keepdim=True)


class Transforms(Attention):
    """It adds the frequencies of a text."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) + torch.fft.fft(x, dim=1).real.mean(-1, keepdim=True)


@pytest.mark.parametrize(("kind", "name"), [(Sums, "cumsum"), (Transforms, "fft")])
def test_sums_and_frequencies_of_ones_own_are_no_fault(
    kind: type[Attention], name: str
) -> None:
    words = f"It is not what the equation gives. It uses {name}, which the equation *"
    expect(kind(SMALL, causal=False), EQUATION, "note", words)


class Switched(Attention):
    """It sees the token before, and `relu` stands in a branch that may be taken."""

    taken = False

    def forward(self, x: Tensor) -> Tensor:
        if self.taken:
            x = torch.relu(x)
        return super().forward(x.roll(1, dims=-1) * x)


class Acts(Attention):
    """What `act` does is known to nobody."""

    def act(self, x: Tensor) -> Tensor:
        return x * x.abs()

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(self.act(x))


def test_a_function_excuses_nothing_in_a_branch_that_is_not_taken() -> None:
    switched = Switched(SMALL, causal=False)
    words = "It is not what the equation gives, and no mistake known here explains it."
    expect(switched, EQUATION, "failed", words)
    switched.taken = True
    words = "It is not what the equation gives. It uses relu, which the equation *"
    expect(switched, EQUATION, "note", words)


def test_a_name_that_is_none_of_pytorch_excuses_wherever_it_stands() -> None:
    words = "It is not what the equation gives. It uses act, which the equation *"
    expect(Acts(SMALL, causal=False), EQUATION, "note", words)


def test_kernels_of_one_pixel_are_linear_layers() -> None:
    expect(Pixels(), EQUATION, "passed", "It is what the equation gives in 64 bits.")
    words = "It is exactly what comes out when the softmax runs over the queries."
    expect(OverQueries(), EQUATION, "failed", words)
    words = "No weights of queries, keys and values were found."
    expect(Pixels(size=3), EQUATION, "not applicable", words)


def test_scores_of_images_may_have_no_scale() -> None:
    words = (
        "It is exactly what comes out when scores are not scaled. Networks of images "
        "often do so; declare scale=1 if it is meant."
    )
    expect(Unscaled(), EQUATION, "note", words)
    expect(Unscaled(), EQUATION, "passed", "*", scale=1)


def test_pixels_that_see_some_places_are_not_compared() -> None:
    words = "A pixel sees some places alone, and the equation has all."
    expect(Around(1), EQUATION, "not applicable", words)
