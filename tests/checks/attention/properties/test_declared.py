"""A declaration that is measurably false fails, and one that holds does not."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from headway.checks.attention.properties import PROPERTIES, declared
from headway.checks.core.report import name_causes
from tests.checks.support import attention_designs as designs
from tests.checks.support.asking import evidence_of, rows_of, said
from tests.checks.support.right import (
    HidesPadding,
    HidesTrue,
    LearnsPositions,
    TimeFirst,
)
from tests.support.attention_in_steps import SMALL, Attention, PairMasked, function
from tests.support.mistakes.mistake import EQUATION

DECLARED = "facts"
LEFT_OUT = "the equation fits without that, and not with it"


class Split(designs.Base):
    """Three heads share one of keys and values, in one matrix."""

    def __init__(self, groups: int = 1) -> None:
        super().__init__()
        del self.q_proj, self.k_proj, self.v_proj
        rows = designs.WIDTH + 2 * groups * designs.D
        self.qkv, self.few = nn.Linear(designs.WIDTH, rows), groups * designs.D

    def forward(self, x: Tensor) -> Tensor:
        sizes = [designs.WIDTH, self.few, self.few]
        q, k, v = map(designs.split, self.qkv(x).split(sizes, dim=-1))
        rows = scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.o_proj(designs.merge(rows))


class Windowed(designs.ByHand):
    """A window that no name tells of."""

    def allowed(self, T: int) -> Tensor:
        return super().allowed(T).triu(-2)


def unscaled(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return (q @ k.mT).softmax(-1) @ v


def tokens_first(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    three = (one.transpose(1, 2) for one in (q, k, v))
    return scaled_dot_product_attention(*three).transpose(1, 2)


def with_keep(q: Tensor, k: Tensor, v: Tensor, keep: Tensor | None = None) -> Tensor:
    return scaled_dot_product_attention(q, k, v, attn_mask=keep)


def of_lengths(q: Tensor, k: Tensor, v: Tensor, real: Tensor | None = None) -> Tensor:
    if real is None:
        return scaled_dot_product_attention(q, k, v)
    seen = torch.arange(k.shape[2]) < real[:, None]
    return scaled_dot_product_attention(q, k, v, attn_mask=seen[:, None, None])


HELD: dict[str, tuple[Any, dict[str, Any]]] = {
    "a scale": (unscaled, {"scale": 1.0}),
    "a softmax": (function(causal=False), {"normalize": "softmax"}),
    "a base": (designs.Halves(base=500.0), {"rotary_base": 500.0}),
    "a window": (Windowed(), {"window": 3}),
    "a wide window": (designs.Windowed("reach", 13), {"window": 13}),
    "no window": (designs.ByHand(), {"window": "none"}),
    "a rotation": (designs.Pairs(), {"positions": "rotary"}),
    "a bias": (designs.Biased(), {"positions": "bias"}),
    "no positions": (designs.Base(), {"positions": "none"}),
    "positions of tokens": (LearnsPositions(SMALL), {"positions": "absolute"}),
    "a cap": (designs.Capped(), {"softcap": 1.5}),
    "no cap": (designs.Base(), {"softcap": "none"}),
    "sinks": (designs.Sunk("empty"), {"sinks": "empty"}),
    "no sinks": (designs.Base(), {"sinks": "none"}),
    "norms": (designs.Normed(), {"norms": "after projection"}),
    "later norms": (designs.NormedAfterwards(), {"norms": "after rotation"}),
    "no norms": (designs.Halves(), {"norms": "none"}),
    "one group": (Split(), {"groups": 1}),
    "three groups": (designs.Base(), {"groups": 3}),
    "texts first": (Attention(SMALL), {"layout": "batch first"}),
    "tokens first": (TimeFirst(SMALL), {"layout": "time first"}),
    "heads first": (function(causal=False), {"layout": "heads first"}),
    "heads last": (tokens_first, {"layout": "tokens first"}),
    "no heads": (unscaled, {"layout": "batch first"}),
    "one text": (unscaled, {"layout": "one text"}),
    "a mask": (with_keep, {"masks": {"keep": "True may look"}}),
    "an added mask": (with_keep, {"masks": {"keep": "added to the scores"}}),
    "a mask that hides": (
        HidesTrue(SMALL),
        {"masks": {"attn_mask": "True is hidden"}},
    ),
    "lengths": (of_lengths, {"masks": {"real": "tokens of each text"}}),
    "no mask": (Attention(SMALL), {"masks": "none"}),
}


@pytest.mark.parametrize(("target", "facts"), HELD.values(), ids=HELD)
def test_what_is_declared_rightly_holds(target: Any, facts: dict[str, Any]) -> None:
    [name] = facts
    assert said(target, DECLARED, **facts) == (
        "passed",
        f"It behaves as declared for its {name}.",
    )


FALSE: dict[str, tuple[Any, dict[str, Any], str]] = {
    "a scale": (function(causal=False), {"scale": 0.7}, LEFT_OUT),
    "a sigmoid": (function(causal=False), {"normalize": "sigmoid"}, LEFT_OUT),
    "a base": (designs.Halves(base=500.0), {"rotary_base": 700.0}, LEFT_OUT),
    "a narrow window": (
        Windowed(),
        {"window": 2},
        "the key 2 back from a query counts",
    ),
    "a wide window": (
        Windowed(),
        {"window": 5},
        "the key 4 back from a query does not count",
    ),
    "no window": (Windowed(), {"window": "none"}, "a row sees the latest 3 keys"),
    "a rotation": (designs.Biased(), {"positions": "rotary"}, LEFT_OUT),
    "a bias": (designs.Halves(), {"positions": "bias"}, LEFT_OUT),
    "positions of tokens": (
        designs.Halves(),
        {"positions": "absolute"},
        "equal tokens get equal rows, so they act on scores alone",
    ),
    "a cap": (designs.Base(), {"softcap": 2.0}, LEFT_OUT),
    "no cap": (designs.Capped(), {"softcap": "none"}, LEFT_OUT),
    "no sinks": (designs.Sunk(), {"sinks": "none"}, LEFT_OUT),
    "later norms": (designs.Normed(), {"norms": "after rotation"}, LEFT_OUT),
    "no norms": (designs.Normed(), {"norms": "none"}, LEFT_OUT),
    "few groups": (designs.Base(), {"groups": 1}, "its weights have 3 heads of keys"),
    "heads last": (
        function(causal=False),
        {"layout": "tokens first"},
        "tokens of a text do not meet; with two axes swapped they do",
    ),
    "tokens first": (
        Attention(SMALL),
        {"layout": "time first"},
        "tokens of a text do not meet; with two axes swapped they do",
    ),
    "a mask that hides": (
        with_keep,
        {"masks": {"keep": "True is hidden"}},
        "in keep it is otherwise: True may look",
    ),
    "an added mask": (
        HidesTrue(SMALL),
        {"masks": {"attn_mask": "added to the scores"}},
        "in attn_mask it is otherwise: True is hidden",
    ),
    "an argument": (
        function(causal=False),
        {"masks": {"keep": "True may look"}},
        "no form of keep is taken: the first raised TypeError: ",
    ),
    "no mask": (
        PairMasked(SMALL),
        {"masks": "none"},
        "mask is one: True may look",
    ),
}


@pytest.mark.parametrize(("target", "facts", "seen"), FALSE.values(), ids=FALSE)
def test_what_is_declared_falsely_fails(
    target: Any, facts: dict[str, Any], seen: str
) -> None:
    [(name, value)] = facts.items()
    verdict, sentence = said(target, DECLARED, **facts)
    assert verdict == "failed"
    assert sentence.startswith(f"{name}={value!r} is declared, but {seen}")
    assert sentence.endswith(".")


def test_a_layout_that_cannot_be_called_is_told() -> None:
    def of_tokens(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        B, T, _ = q.shape
        return scaled_dot_product_attention(q, k, v).view(B, T, -1)

    assert said(of_tokens, DECLARED, layout="heads first") == (
        "failed",
        "layout='heads first' is declared, but no such call works; "
        "f(query, key, value) does.",
    )


def test_a_layout_may_be_that_of_a_call_of_ones_own() -> None:
    told = {"call": "f(q, k, v)", "layout": "tokens first"}
    assert said(tokens_first, DECLARED, **told)[0] == "passed"
    assert said(function(causal=False), DECLARED, **told)[0] == "failed"
    told = {"call": "m(x)", "layout": "time first"}
    assert said(TimeFirst(SMALL), DECLARED, **told)[0] == "passed"
    assert said(Attention(SMALL), DECLARED, **told)[0] == "failed"


def test_code_that_no_call_fits_is_refused_whatever_is_declared() -> None:
    def nothing() -> None:
        return None

    with pytest.raises(ValueError, match="call must say how nothing takes"):
        evidence_of(nothing, layout="heads first", d_in=11)


@pytest.mark.parametrize(
    ("target", "facts"),
    [
        (Attention(SMALL), {}),
        (Attention(SMALL), {"causal": True, "caches": False}),
        # A text of 81 tokens would take long.
        (Attention(SMALL), {"window": 80}),
        # No such cap is known, and it is not what the equation gives without one.
        (unscaled, {"softcap": 2.0}),
        # Where tokens do not meet either way, nothing is known of the layout.
        (nn.Linear(11, 11), {"layout": "batch first"}),
        # No names tell of norms.
        (designs.Base(), {"norms": "after rotation"}),
    ],
)
def test_what_cannot_be_measured_is_not_asked(
    target: Any, facts: dict[str, Any]
) -> None:
    assert said(target, DECLARED, **facts) == (
        "not applicable",
        "Nothing is declared that this could check.",
    )


def test_a_mask_that_is_not_obeyed_is_told_by_another_property() -> None:
    def deaf(q: Tensor, k: Tensor, v: Tensor, keep: Any = None) -> Tensor:
        return scaled_dot_product_attention(q, k, v)

    masks = {"keep": "True may look"}
    rows = rows_of(deaf, DECLARED, "masks", masks=masks)
    assert [row.verdict for row in rows] == ["not applicable", "failed"]


def test_all_that_is_false_is_told_at_once_and_explains_the_rest() -> None:
    names = [one.id for one in PROPERTIES]
    options = {"window": "none", "masks": {"keep": "True may look"}, "causal": True}
    rows = name_causes(rows_of(Windowed(), *names, **options))
    found = {row.id: row for row in rows}
    assert found[DECLARED].sentence.startswith(
        "window='none' is declared, but a row sees the latest 3 keys. "
        "masks={'keep': 'True may look'} is declared, but no form of keep is taken: "
    )
    assert found[EQUATION].explained_by == DECLARED
    assert found[EQUATION].sentence.endswith("Declared: window='none'.")


def test_a_mistake_that_the_equation_names_explains_a_false_declaration() -> None:
    def explained(**facts: Any) -> dict[str, str | None]:
        rows = name_causes(rows_of(unscaled, EQUATION, DECLARED, **facts))
        return {row.id: row.explained_by for row in rows if row.verdict == "failed"}

    assert explained(scale=5**-0.5) == {EQUATION: None}
    target = function(causal=False)
    rows = name_causes(rows_of(target, EQUATION, DECLARED, scale=0.7))
    assert [row.explained_by for row in rows] == [None, EQUATION]
    assert rows[0].mistakes
    layout = {"layout": "tokens first", "scale": 5**-0.5}
    rows = name_causes(rows_of(target, EQUATION, DECLARED, **layout))
    assert [row.explained_by for row in rows] == [DECLARED, None]


def test_what_a_false_declaration_explains_are_properties() -> None:
    explained = {one for _, names in declared._ASKED.values() for one in names}
    assert explained < {one.id for one in PROPERTIES} - {DECLARED}


def test_a_mask_may_mean_what_its_name_does_not_promise() -> None:
    def attend(
        q: Tensor, k: Tensor, v: Tensor, key_padding_mask: Tensor | None = None
    ) -> Tensor:
        mask = None if key_padding_mask is None else key_padding_mask[:, None, None]
        return scaled_dot_product_attention(q, k, v, attn_mask=mask)

    assert said(attend, "masks")[0] == "failed"
    masks = {"key_padding_mask": "True may look"}
    assert said(attend, "masks", masks=masks)[0] == "passed"
    assert said(HidesPadding(SMALL), "masks", masks="none") == (
        "not applicable",
        "It takes no mask. Declared: masks='none'.",
    )


@pytest.mark.parametrize("groups", [1, 3])
def test_sinks_need_a_number_for_each_head(groups: int) -> None:
    with pytest.raises(ValueError, match=r"^sinks must be the name of a parameter"):
        evidence_of(Split(groups), sinks="qkv.bias")
    with pytest.raises(ValueError, match=r"got sinks='sink'\.$"):
        evidence_of(Split(groups), sinks="sink")


def test_the_future_names_what_is_declared() -> None:
    leak, seen = "leak", "past"
    assert said(unscaled, leak, causal=True)[1].endswith(" Declared: causal=True.")
    verdict, sentence = said(function(causal=True), seen, causal=False)
    assert verdict == "failed"
    assert sentence.endswith(" Declared: causal=False.")
    assert not said(Attention(SMALL, hide=lambda m, s, mask: s), leak)[1].endswith(
        "Declared: causal=True."
    )


def test_the_order_names_what_is_declared() -> None:
    order = "order"
    assert said(designs.Base(), order, positions="rotary")[1].endswith(
        " Declared: positions='rotary'."
    )
    assert said(designs.Base(), order, positions="none")[0] == "passed"
    verdict, sentence = said(designs.Halves(), order, positions="none")
    assert verdict == "failed"
    assert sentence.endswith(" Declared: positions='none'.")
