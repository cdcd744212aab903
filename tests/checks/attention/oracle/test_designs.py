"""What is inside on purpose is computed rightly, and each mistake in it is named."""

import functools
from dataclasses import replace
from typing import Any

import pytest
import torch

from headway.checks.attention.evidence import Evidence
from headway.checks.attention.evidence.design import Design
from headway.checks.attention.oracle import explain, match
from headway.checks.attention.oracle.mistakes import KNOWN_MISTAKES
from tests.checks.support.asking import evidence_of
from tests.support.attention_in_steps import Attention
from tests.support.mistakes.designs import GROUPED, KINDS, WIDE, Designed

CASES = [
    pytest.param(kind, one, id=f"{kind}: {one.change}")
    for kind, known in KINDS.items()
    for one in known.wrong
]


@functools.cache
def found_out(causal: bool, groups: int | None) -> Evidence:
    sizes = GROUPED if groups else WIDE
    return evidence_of(Attention(sizes, causal=causal, groups=groups), causal=causal)


def asked(
    kind: str, steps: Any, *, causal: bool = True, groups: int | None = None
) -> Evidence:
    """Let a module with the weights of another one do some steps otherwise."""
    known, evidence = KINDS[kind], found_out(causal, groups)
    sizes = GROUPED if groups else WIDE
    module = Attention(sizes, causal=causal, groups=groups, **known.steps | steps)
    stored = evidence.subject.target.state_dict()
    module.double().load_state_dict(stored)
    with torch.no_grad():
        output = module(evidence.x)
    return replace(evidence, output=output, designs=(known.design, Design()))


@pytest.mark.parametrize(
    ("kind", "causal"),
    [(kind, causal) for kind in KINDS for causal in KINDS[kind].futures],
)
def test_what_is_right_is_computed(kind: str, causal: bool) -> None:
    evidence = asked(kind, {}, causal=causal)
    found = match(evidence)
    assert found.difference <= evidence.tolerance
    assert found.design is KINDS[kind].design


@pytest.mark.parametrize(("kind", "one"), CASES)
def test_what_is_wrong_is_named(kind: str, one: Designed) -> None:
    evidence = asked(kind, one.steps, **one.options)
    likeliest = replace(evidence, designs=evidence.designs[:1])
    assert match(likeliest).difference > evidence.tolerance
    found = explain(evidence)
    assert found is not None
    assert [dict(mistake.change) for mistake in found.mistakes] == [one.change]
    [known] = [known for known in KNOWN_MISTAKES if known.change == one.change]
    assert found.sentence == f"It is exactly what comes out when {known.sentence}."
