"""Mistakes of dropout."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, normalize

from tests.support.attention_in_steps import Step
from tests.support.mistakes.mistake import DROPOUT, EVAL, TRAINING, Mistake


def dropping(wrong: Callable[[Tensor, float], Tensor]) -> dict[str, Step]:
    """Make a step that drops in training only."""

    def step(m: Any, weights: Tensor) -> Tensor:
        p = m.dropout.p if m.training else 0.0
        return wrong(weights, p) if p else weights

    return {"drop": step}


def on_scores(m: Any, scores: Tensor) -> Tensor:
    return m.dropout(scores).softmax(-1)


def without_growth(weights: Tensor, p: float) -> Tensor:
    return weights * (torch.rand_like(weights) > p)


DROPOUTS: dict[str, Mistake] = {
    "dropout in eval": Mistake(
        EVAL, {"drop": lambda m, w: dropout(w, m.dropout.p)}, options={"p": 0.3}
    ),
    "dropout in eval, built with none": Mistake(
        EVAL, {"drop": lambda m, w: dropout(w, m.dropout.p)}
    ),
    "dropout built in forward": Mistake(
        EVAL, {"drop": lambda m, w: nn.Dropout(m.dropout.p)(w)}, options={"p": 0.3}
    ),
    "dropout of a fixed rate": Mistake(
        TRAINING, {"drop": lambda m, w: dropout(w, 0.1, m.training)}
    ),
    "dropout of scores": Mistake(
        DROPOUT, {"drop": lambda m, w: w, "softmax": on_scores}
    ),
    "dropout without growth": Mistake(DROPOUT, dropping(without_growth)),
    "no dropout at all": Mistake(DROPOUT, {"drop": lambda m, w: w}),
    "dropout, then renormalised": Mistake(
        DROPOUT, dropping(lambda w, p: normalize(dropout(w, p), p=1, dim=-1))
    ),
    "dropout grows too much": Mistake(
        DROPOUT, dropping(lambda w, p: dropout(w, p) / (1 - p))
    ),
    "dropout by the rate kept": Mistake(
        DROPOUT, dropping(lambda w, p: without_growth(w, 1 - p) / (1 - p))
    ),
}
DROPOUTS = {
    name: one._replace(function=False, options={"p": 0.0} | one.options)
    for name, one in DROPOUTS.items()
}
