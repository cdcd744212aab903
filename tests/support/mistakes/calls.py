"""Mistakes around the work: what a call keeps, changes or takes for granted."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from tests.support.attention_in_steps import Step
from tests.support.mistakes.mistake import (
    AGAIN,
    ALONE,
    EQUATION,
    GRADIENTS,
    HALF,
    LEAK,
    NUMBERS,
    ORDER,
    PAST,
    SIZE,
    TEXTS,
    Mistake,
)


def called(wrong: Callable[..., Any]) -> dict[str, Step]:
    """Make a step of what a call does around the work."""
    return {"call": wrong}


def counting(m: Any, run: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    if "calls" not in dict(m.named_buffers()):
        m.register_buffer("calls", torch.zeros(()))
    m.calls += 1
    return run(x)


# What is kept with its history takes memory and changes nothing, so it is only noted.


def keeping(m: Any, weights: Tensor) -> Tensor:
    m.last = weights
    return m.dropout(weights)


def keeping_all(m: Any, weights: Tensor) -> Tensor:
    m.history = [*getattr(m, "history", [])[-2:], weights]
    return m.dropout(weights)


KEPT: dict[str, dict[str, Step]] = {
    "weights": {"drop": keeping},
    "weights in a list": {"drop": keeping_all},
}


def mean_of_all_calls(m: Any, run: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    m.mean = 0.9 * getattr(m, "mean", 0.0) + 0.1 * x.detach().mean()
    return run(x - m.mean)


def keys_of_the_last_call(m: Any, q: Tensor, k: Tensor, v: Tensor) -> Any:
    old = getattr(m, "cache", None)
    m.cache = k.detach(), v.detach()
    if old is None or len(old[0]) != len(k):
        return q, k, v
    return q, old[0][..., : k.shape[2], :], v


CALLS: dict[str, Mistake] = {
    "the input is changed": Mistake(AGAIN, called(lambda m, run, x: run(x.mul_(0.5)))),
    "calls are counted": Mistake(AGAIN, called(counting)),
    "a mean is kept": Mistake(AGAIN, called(mean_of_all_calls)),
    "keys are kept": Mistake(AGAIN, {"share": keys_of_the_last_call}),
    "the mean of the batch": Mistake(
        TEXTS, called(lambda m, run, x: run(x - x.mean(0)))
    ),
    "the mean of the text": Mistake(
        LEAK, called(lambda m, run, x: run(x - x.mean(1, True)))
    ),
    "texts for tokens": Mistake(
        TEXTS,
        called(lambda m, run, x: run(x.transpose(0, 1)).transpose(0, 1)),
        {"first_axis": "tokens"},
    ),
    "one text": Mistake(
        ALONE, called(lambda m, run, x: run(x[:1]).expand(len(x), -1, -1))
    ),
    "depends on the size of the batch": Mistake(
        ALONE,
        called(lambda m, run, x: run(x) / len(x)),
        says="times what the equation gives.",
    ),
    "fixed sizes": Mistake(
        SIZE, called(lambda m, run, x: run(x.view(-1, m.context_length, m.d_in)))
    ),
    "positions that nobody names": Mistake(
        ORDER,
        called(lambda m, run, x: run(x + torch.arange(x.shape[1]).to(x)[:, None] / 8)),
    ),
    "detached": Mistake(GRADIENTS, called(lambda m, run, x: run(x).detach())),
    "the input is detached": Mistake(
        GRADIENTS, called(lambda m, run, x: run(x.detach()))
    ),
    "the type is fixed": Mistake(HALF, called(lambda m, run, x: run(x).float())),
    "a row is nan": Mistake(
        NUMBERS,
        called(lambda m, run, x: run(x) / (torch.arange(x.shape[1]) > 0)[:, None]),
    ),
    "all is nan": Mistake(EQUATION, called(lambda m, run, x: run(x) * torch.nan)),
    "all is one": Mistake(PAST, called(lambda m, run, x: run(x) * 0 + 1)),
}
CALLS = {name: one._replace(function=False) for name, one in CALLS.items()}
