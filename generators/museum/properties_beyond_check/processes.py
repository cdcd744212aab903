"""Of many processes: heads over processes, and tokens in a ring.

An exhibit runs in one process, over a list of shards: a sum over the list stands for
the all-reduce.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from headway.checks.core.book_sections import Section

from .ask import Property, Seen, draw, far

HEADS = Section(
    "Heads over processes",
    "What breaks it",
    "distributed/tensor_parallel/#what-breaks-it",
)
RING = Section("Tokens in a ring", "What breaks it", "distributed/ring/#what-breaks-it")
TOKENS = 12
# Which rows each of three processes has.
EVEN = {
    "in a row": [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]],
    "striped": [[0, 3, 6, 9], [1, 4, 7, 10], [2, 5, 8, 11]],
    "from both ends": [[0, 1, 10, 11], [2, 3, 8, 9], [4, 5, 6, 7]],
}
UNEVEN = [[0, 1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11]]


def _many_are_one(made: Mapping[str, Any]) -> Seen:
    x = draw(2, TOKENS, made["width"])
    right = made["alone"](x)
    apart = {n: far(made["together"](x, n), right) for n in made.get("over", (1, 2, 3))}
    worst = max(apart, key=apart.__getitem__)
    return Seen(
        apart[worst], f"{worst} processes give another result than one has alone."
    )


def _refuses(made: Mapping[str, Any]) -> Seen:
    x = draw(2, TOKENS, made["width"])
    try:
        made["together"](x, 5)
    except ValueError:
        return Seen(0, "")
    except RuntimeError:
        return Seen(1, "Five processes for twelve heads end in an error about shapes.")
    return Seen(
        5,
        "Twelve heads do not divide among five processes, and nothing is said. It must "
        "be refused in a sentence.",
    )


def _gradients_of_many(made: Mapping[str, Any]) -> Seen:
    x = draw(2, TOKENS, made["width"])
    apart = {}
    with torch.enable_grad():
        result = made["alone"](x.requires_grad_())
        grad = draw(*result.shape, seed=2)
        (right,) = torch.autograd.grad(result, x, grad)
        for n in (1, 2, 3):
            apart[n] = far(made["grad_together"](x.detach(), grad, n), right)
    worst = max(apart, key=apart.__getitem__)
    return Seen(
        apart[worst],
        f"With {worst} processes, the gradient of the input is another one than with "
        "one process.",
    )


def _apart(made: Mapping[str, Any], rows: list[list[int]]) -> float:
    x = draw(2, TOKENS, made["width"])
    at = [torch.tensor(own) for own in rows]
    own: list[Tensor] = made["ring"]([x[:, here] for here in at], at)
    right = made["alone"](x)
    both = zip(own, at, strict=True)
    return max(far(result, right[:, here]) for result, here in both)


def _any_rows(made: Mapping[str, Any]) -> Seen:
    apart = {name: _apart(made, rows) for name, rows in EVEN.items()}
    worst = max(apart, key=apart.__getitem__)
    return Seen(
        apart[worst],
        f"Three processes with four tokens each, {worst}, give another result than one "
        "process with all of them.",
    )


def _uneven_rows(made: Mapping[str, Any]) -> Seen:
    return Seen(
        _apart(made, UNEVEN),
        "Three processes with five, four and three tokens give another result than one "
        "process with all of them.",
    )


KINDS: dict[str, list[Property]] = {
    "together": [
        Property("processes", "many processes equal one", HEADS, _many_are_one),
        Property("refusal", "what does not divide is refused", HEADS, _refuses),
    ],
    "grad_together": [
        Property(
            "many-grads", "gradients of many equal one's", HEADS, _gradients_of_many
        )
    ],
    "ring": [
        Property("any-rows", "any rows on any process", RING, _any_rows),
        Property("uneven-rows", "rows need not be even", RING, _uneven_rows),
    ],
}
