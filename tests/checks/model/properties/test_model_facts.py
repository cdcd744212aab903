"""What is declared of a whole model goes before a guess, and fails if it is false."""

from typing import Any

import pytest
from torch import Tensor, nn

from headway.checks import Fact, check_model
from tests.checks.model import models
from tests.checks.model.asking import ask
from tests.checks.model.building import build
from tests.checks.support.asking import refused, row

DECLARED = "facts"
CACHED = "cache"


class TimeFirst(models.Plain):
    def forward(self, ids: Tensor) -> Tensor:
        return super().forward(ids.mT).transpose(0, 1)


class Named(models.Padded):
    """A mask that no common name tells of; it may be inverted."""

    inverted = False

    def forward(self, ids: Tensor, keep: Tensor | None = None) -> Tensor:
        if keep is not None and self.inverted:
            keep = ~keep.bool()
        return super().forward(ids, keep)


class Inverted(Named):
    inverted = True


@pytest.mark.parametrize(
    ("kind", "facts", "held"),
    [
        (models.Plain, {"layout": "batch first"}, "layout"),
        (TimeFirst, {"layout": "time first"}, "layout"),
        (Named, {"masks": {"keep": "True may look"}}, "masks"),
        (Inverted, {"masks": {"keep": "True is hidden"}}, "masks"),
        (Inverted, {"masks": {"keep": "True is hidden"}, "layout": "batch first"}, ""),
        (Named, {"masks": "none"}, "masks"),
    ],
)
def test_what_is_declared_rightly_holds(
    kind: type[nn.Module], facts: dict[str, Any], held: str
) -> None:
    outcome = ask(DECLARED, kind, **facts)
    assert outcome.verdict == "passed"
    held = held or "layout, masks"
    assert outcome.sentence == f"It behaves as declared for its {held}."


@pytest.mark.parametrize(
    ("kind", "facts", "sentence"),
    [
        (
            models.Plain,
            {"layout": "time first"},
            "layout='time first' is declared, but tokens see each other along the "
            "other axis.",
        ),
        (
            TimeFirst,
            {"layout": "batch first"},
            "layout='batch first' is declared, but tokens see each other along the "
            "other axis.",
        ),
        (
            Named,
            {"masks": {"keep": "True is hidden"}},
            "masks={'keep': 'True is hidden'} is declared, but it is 1 for tokens, 0 "
            "for padding.",
        ),
        (
            models.Padded,
            {"masks": "none"},
            "masks='none' is declared, but it takes one: 1 for tokens, 0 for padding.",
        ),
        (
            models.Plain,
            {"masks": {"keep": "True may look"}},
            "masks={'keep': 'True may look'} is declared, but no form of mask is "
            "obeyed: it raised TypeError: ",
        ),
    ],
)
def test_what_is_declared_falsely_fails(
    kind: type[nn.Module], facts: dict[str, Any], sentence: str
) -> None:
    outcome = ask(DECLARED, kind, **facts)
    assert outcome.verdict == "failed"
    assert outcome.sentence.startswith(sentence)


def test_nothing_is_asked_where_nothing_is_declared() -> None:
    assert ask(DECLARED, models.Plain).verdict == "not applicable"


def test_a_cache_is_there_or_not_as_declared() -> None:
    class Deaf(models.Plain):
        def forward(self, ids: Tensor, past: Any = None) -> Any:
            return super().forward(ids), ()

    assert ask(CACHED, models.Cached, caches=True).verdict == "passed"
    assert ask(CACHED, models.Cached, caches=False).sentence == (
        "With m(ids, past=...) a later call sees the past. Declared: caches=False."
    )
    assert ask(CACHED, Deaf, caches=False).verdict == "not applicable"
    outcome = ask(CACHED, models.Plain, caches=True)
    assert outcome.verdict == "failed"
    assert outcome.sentence.endswith(" Declared: caches=True.")


def test_no_mask_is_handed_over_where_none_is_declared() -> None:
    assert ask("padding-left", models.Padded).verdict == "passed"
    outcome = ask("padding-left", models.Padded, masks="none")
    assert outcome.verdict == "not applicable"


def test_the_future_names_what_is_declared() -> None:
    leak, past = "leak", "past"
    assert ask(leak, models.Encoder, causal=True).sentence.endswith(
        " Declared: causal=True."
    )
    assert ask(past, models.Plain, causal=False).sentence.endswith(
        " Declared: causal=False."
    )


def test_a_class_declares_and_a_report_says_so() -> None:
    class Declaring(Named):
        def attention_facts(self) -> dict[str, Any]:
            return {
                "causal": True,
                "layout": "batch first",
                "masks": {"keep": "True may look"},
                "positions": "absolute",  # which no check of a whole model asks
            }

    report = check_model(build(Declaring))
    assert report.ok
    assert report.facts["future"] == Fact("hidden", "declared")
    assert report.facts["layout"] == Fact("batch first", "declared")
    assert report.facts["mask"] == Fact("keep, 1 for tokens, 0 for padding", "declared")
    assert row(report, DECLARED).verdict == "passed"


@pytest.mark.refusal
def test_what_no_model_can_have_is_refused() -> None:
    model = build(models.Plain)
    with refused(
        "layout must be batch first or time first for a whole model; "
        "got layout='heads first'."
    ):
        check_model(model, facts={"layout": "heads first"})
    masks = {"keep": "True may look", "pad": "True is hidden"}
    with refused(
        f"masks must have one argument for a whole model; got masks={masks!r}."
    ):
        check_model(model, facts={"masks": masks})
