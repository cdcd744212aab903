"""Mistakes between the scores and the shares: scale, softmax, mask."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from tests.support.attention_in_steps import Step, hide, past
from tests.support.mistakes.mistake import (
    CONTEXT,
    EQUATION,
    HALF,
    LARGE,
    LEAK,
    LONGER,
    PAST,
    SUM,
    TEXTS,
    TRAINING,
    Mistake,
)


def scaled(factor: Callable[[Any, int], float]) -> dict[str, Step]:
    return {"score": lambda m, q, k: q @ k.mT * factor(m, q.shape[2])}


SCALES: dict[str, Mistake] = {
    name: Mistake(EQUATION, scaled(factor), {"scale": change}, function=everywhere)
    for name, change, everywhere, factor in [
        ("no scale", "1", True, lambda m, T: 1),
        ("scaled twice", "1/D", True, lambda m, T: 1 / m.width),
        ("multiplied", "sqrt(D)", True, lambda m, T: m.width**0.5),
        (
            "all heads' root",
            "1/sqrt(E)",
            True,
            lambda m, T: (m.width * m.heads) ** -0.5,
        ),
        ("all heads' width", "1/E", True, lambda m, T: 1 / m.width / m.heads),
        ("the tokens' root", "1/sqrt(d_in)", False, lambda m, T: m.d_in**-0.5),
        ("the text's root", "1/sqrt(T)", True, lambda m, T: T**-0.5),
        ("the heads' root", "1/sqrt(H)", True, lambda m, T: m.heads**-0.5),
    ]
} | {
    "scaled after the softmax": Mistake(
        EQUATION,
        {
            **scaled(lambda m, T: 1),
            "softmax": lambda m, s: s.softmax(-1) * m.width**-0.5,
        },
        {"scale": "1", "scale_after_softmax": "1/sqrt(D)"},
    ),
    "all heads' root after the softmax": Mistake(
        EQUATION,
        {"softmax": lambda m, s: s.softmax(-1) / (m.width * m.heads) ** 0.5},
        {"scale_after_softmax": "1/sqrt(E)"},
    ),
    "a group's root": Mistake(
        EQUATION,
        scaled(
            lambda m, T: (m.W_key.out_features // m.width / m.width / m.heads) ** 0.5
        ),
        {"scale": "1/sqrt(E/G)"},
        {"groups": True},
        function=False,
    ),
    "scaled before and after the softmax": Mistake(
        EQUATION,
        {"softmax": lambda m, s: s.softmax(-1) * m.width**-0.5},
        {"scale_after_softmax": "1/sqrt(D)"},
    ),
}


def on_axis(*axes: int) -> dict[str, Step]:
    return {"softmax": lambda m, s: (s - s.logsumexp(axes, keepdim=True)).exp()}


SEEING = {"causal": False}
AXES: dict[str, Mistake] = {
    "softmax over the queries": Mistake(SUM, on_axis(2), {"axis": "queries"}),
    "softmax over the queries, unmasked": Mistake(
        EQUATION, on_axis(2), {"axis": "queries"}, SEEING
    ),
    "softmax over the heads": Mistake(EQUATION, on_axis(1), {"axis": "heads"}, SEEING),
    "softmax over the heads, masked": Mistake(EQUATION, on_axis(1)),
    "softmax over all heads": Mistake(
        EQUATION, on_axis(1, 3), {"axis": "heads and keys"}, SEEING
    ),
    "softmax over the texts": Mistake(TEXTS, on_axis(0), {"axis": "texts"}, SEEING),
    "softmax over the texts, masked": Mistake(EQUATION, on_axis(0)),
    "softmax over all queries of all texts": Mistake(
        TEXTS, on_axis(0, 2), {"axis": "texts and queries"}, SEEING
    ),
    "no softmax": Mistake(
        SUM,
        {"softmax": lambda m, s: s.masked_fill(s == -torch.inf, 0.0)},
        {"axis": "none"},
    ),
    "divided by the number of tokens": Mistake(
        LONGER,
        {"softmax": lambda m, s: s.softmax(-1) / s.shape[-1]},
        {"scale_after_softmax": "1/T"},
    ),
    "the naive softmax": Mistake(
        LARGE,
        {"softmax": lambda m, s: s.exp() / s.exp().sum(-1, keepdim=True)},
    ),
}


def fill(keep: Callable[[Any, Tensor], Tensor], value: float = -torch.inf) -> Any:
    return {"hide": lambda m, s, mask: s.masked_fill(~keep(m, s), value)}


def square(s: Tensor) -> Tensor:
    return torch.ones(s.shape[-2:], dtype=torch.bool)


def after_the_softmax(m: Any, s: Tensor) -> Tensor:
    return s.softmax(-1) * past(s.shape[-1])


def lost(m: Any, scores: Tensor, mask: Tensor | None) -> Tensor:
    hide(m, scores, mask)  # a new tensor, and nobody has it
    return scores


def wrong_rows(m: Any, s: Tensor) -> Tensor:
    T, longest = s.shape[-1], m.context_length
    return past(longest + 1)[longest + 1 - T :, :T]


def shifted_rows(m: Any, s: Tensor) -> Tensor:
    T = s.shape[-1]
    return past(m.context_length + 1)[1 : T + 1, :T]


def no_key_beyond(m: Any, s: Tensor) -> Tensor:
    """Hide as far as the table reaches, and nothing beyond."""
    T, keep = s.shape[-1], square(s).clone()
    C = min(T, m.context_length)
    keep[:C, :C] = past(C)
    return keep


def of_the_first_call(m: Any, s: Tensor) -> Tensor:
    T = s.shape[-1]
    if not hasattr(m, "kept"):
        m.kept = past(T)
    return m.kept[:T, :T]


def float_mask(m: Any, s: Tensor, mask: Tensor | None) -> Tensor:
    return s + torch.zeros(s.shape[-2:]).masked_fill(~past(s.shape[-1]), -torch.inf)


MASKS: dict[str, Mistake] = {
    "no mask": Mistake(LEAK, fill(lambda m, s: square(s)), {"mask": "none"}),
    "the result of masked_fill is lost": Mistake(
        LEAK, {"hide": lost}, {"mask": "none"}
    ),
    "inverted": Mistake(
        LEAK, fill(lambda m, s: ~past(s.shape[-1])), {"mask": "inverted"}
    ),
    "flipped": Mistake(LEAK, fill(lambda m, s: square(s).triu()), {"mask": "flipped"}),
    "the next token is seen": Mistake(
        LEAK, fill(lambda m, s: square(s).tril(1)), {"mask": "next"}
    ),
    "its own place is hidden": Mistake(
        PAST, fill(lambda m, s: square(s).tril(-1)), {"mask": "not itself"}
    ),
    "added": Mistake(
        LEAK, {"hide": lambda m, s, mask: s + past(s.shape[-1])}, {"mask": "added"}
    ),
    "added upside down": Mistake(
        LEAK,
        {"hide": lambda m, s, mask: s + square(s).triu(1)},
        {"mask": "added, upside down"},
    ),
    "zeros": Mistake(LEAK, fill(lambda m, s: past(s.shape[-1]), 0.0), {"mask": "zero"}),
    "after the softmax": Mistake(
        SUM,
        {"hide": lambda m, s, mask: s, "softmax": after_the_softmax},
        {"mask": "after the softmax"},
    ),
    "not low enough": Mistake(LEAK, fill(lambda m, s: past(s.shape[-1]), -1e4)),
    "low only for small scores": Mistake(
        LEAK, fill(lambda m, s: past(s.shape[-1]), -100)
    ),
    "in training only": Mistake(
        TRAINING,
        {"hide": lambda m, s, mask: hide(m, s, mask) if m.training else s},
        {"mask": "none"},
        function=False,
    ),
    "in eval only": Mistake(
        TRAINING,
        {"hide": lambda m, s, mask: s if m.training else hide(m, s, mask)},
        function=False,
    ),
    "not with dropout": Mistake(
        LEAK,
        {
            "hide": lambda m, s, mask: (
                s if m.training and m.dropout.p else hide(m, s, mask)
            )
        },
        options={"p": 0.0},
        function=False,
    ),
    "cut from the lower corner": Mistake(
        LEAK, fill(wrong_rows), {"mask": "none"}, function=False
    ),
    "cut one row too low": Mistake(
        LEAK, fill(shifted_rows), {"mask": "next"}, function=False
    ),
    "shorter than the text": Mistake(CONTEXT, fill(no_key_beyond), function=False),
    "of the first call": Mistake(LONGER, fill(of_the_first_call), function=False),
    "in 32 bits": Mistake(
        HALF, {"hide": float_mask}, declared={"half_precision": True}
    ),
    "too low for 16 bits": Mistake(
        HALF,
        fill(lambda m, s: past(s.shape[-1]), -1e9),
        declared={"half_precision": True},
    ),
    "forgets the past": Mistake(PAST, fill(lambda m, s: past(s.shape[-1]).triu(-2))),
}
