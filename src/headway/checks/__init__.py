"""Checks for anybody's attention code: `from headway.checks import check`."""

import time
from collections.abc import Callable, Mapping
from typing import Any

import torch

from headway.checks import hides, modes, numbers, sees, sizes
from headway.checks.calling import Calling
from headway.checks.diagnosis import equation
from headway.checks.examined import Ask, Examined, examine, failed
from headway.checks.projections import find as find_weights
from headway.checks.report import Report, Row
from headway.checks.subject import Subject, Told, explain
from headway.checks.subject import find as find_subject

__all__ = ["Report", "Row", "check"]

# Each property: its name, its question, and the chapter that explains it.
PROPERTIES: list[tuple[str, Ask, str]] = [
    ("no leak from the future", sees.leak, "masks"),
    ("every allowed token counts", sees.past, "masks"),
    ("texts do not move each other", sees.texts, "causal_attention"),
    ("the same alone as in a batch", sizes.alone, "causal_attention"),
    ("earlier rows stay", sizes.longer, "causal_attention"),
    ("longer than the context", sizes.context, "causal_attention"),
    ("the order seen does not matter", sees.order, "simple_attention"),
    ("weights sum to one", sees.shares, "simple_attention"),
    ("eval is not random", modes.in_eval, "dropout"),
    ("training computes the same", modes.in_training, "dropout"),
    ("dropout keeps the mean", modes.dropout, "dropout"),
    ("a call leaves nothing behind", sizes.again, "causal_attention"),
    ("masks are obeyed", hides.obeyed, "masks"),
    ("padding is not seen", hides.padding, "masks"),
    ("empty rows harm nobody", hides.empty, "masks"),
    ("gradients arrive", numbers.gradients, "self_attention"),
    ("large scores", numbers.large, "simple_attention"),
    ("types and half precision", numbers.half, "scaled_dot_product"),
]


def check(
    module_or_function: Callable[..., Any],
    *,
    d_in: int | None = None,
    context_length: int | None = None,
    num_heads: int | None = None,
    causal: bool | None = None,
    positions: bool | None = None,
    call: Calling | None = None,
    weights: Mapping[str, str] | None = None,
) -> Report:
    told = Told(d_in, context_length, num_heads, causal, positions, call)
    devices = range(torch.cuda.device_count()) if torch.cuda.is_available() else ()
    with torch.random.fork_rng(devices=devices):
        subject = find_subject(module_or_function, told)
        outcome = sizes.sizes(subject)
        rows = [Row("any sizes", outcome.verdict, outcome.sentence, "causal_attention", outcome.figure)]
        it = examine(subject)
        for name, ask, chapter in PROPERTIES:
            rows.append(_row(it, name, ask, chapter))
        outcome, chapter = equation(it, weights)
        rows.append(Row("equals the equation", outcome.verdict, outcome.sentence, chapter, outcome.figure))
    return Report(subject.name, _facts(it), rows)


def _row(it: Examined, name: str, ask: Ask, chapter: str) -> Row:
    try:
        outcome = ask(it)
    except Exception as raised:
        outcome = failed(f"It raised {explain(raised)}.")
    return Row(name, outcome.verdict, outcome.sentence, chapter, outcome.figure)


def _facts(it: Examined) -> dict[str, str]:
    subject = it.subject
    facts = {
        "called": subject.call.words,
        "future": f"{'hidden' if it.causal else 'seen'} ({it.intent})",
        "tokens": f"{subject.B} x {subject.T} x {subject.d_in}",
    }
    return facts
