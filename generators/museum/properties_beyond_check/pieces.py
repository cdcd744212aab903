"""Of a softmax in pieces: tiles, merged pieces, and the backward pass by hand."""

import itertools
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from headway.checks.core.book_sections import Section

from .ask import D, Property, Seen, T, draw, far

SOFTMAX = Section(
    "One softmax in pieces", "What breaks it", "kernels/online_softmax/#what-breaks-it"
)
FLASH = Section("Attention in tiles", "What breaks it", "kernels/flash/#what-breaks-it")
BACKWARD = Section(
    "The backward pass by hand",
    "What breaks it",
    "kernels/flash_backward/#what-breaks-it",
)
QUERIES = 5  # fewer than the keys, of which there are 13
TILES = (1, 3, 4, 13, 64)


def three(queries: int = QUERIES) -> tuple[Tensor, Tensor, Tensor]:
    """Draw queries, keys and values of two texts; values are narrower."""
    return draw(2, queries, D), draw(2, T, D, seed=2), draw(2, T, 3, seed=3)


def past(queries: int) -> Tensor:
    """Say what each query may see, with the last query at the last key."""
    return torch.ones(queries, T, dtype=torch.bool).tril(T - queries)


def whole(
    query: Tensor, key: Tensor, value: Tensor, seen: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Attend at once, and give each row's log-sum-exp; nothing seen gives zeros."""
    scores = query @ key.mT / query.shape[-1] ** 0.5
    if seen is not None:
        scores = scores.masked_fill(~seen, -torch.inf)
    weights = scores.softmax(-1).nan_to_num(0.0)
    return weights @ value, scores.logsumexp(-1)


def lost(own: Tensor) -> int:
    """Count what is not a number."""
    return int((~own.isfinite()).sum())


# ---- Tiles: tiled(query, key, value, seen, tile), causal(query, key, value, tile) ----


def _large(made: Mapping[str, Any]) -> Seen:
    query, key, value = three(T)
    seen = past(T)
    seen[1:, 0] = False
    apart = 0.0
    for sign in (1, -1):
        # Scores near 3,000 or -3,000, larger from token to token or smaller.
        size = torch.linspace(1.0, 2.0, T, dtype=torch.float64)[:, None]
        keys = sign * 100 * size.flip(0) * (key.abs() + 1)
        own = made["tiled"](query.abs() + 5, keys, value, seen, 1)
        if lost(own):
            return Seen(lost(own), "Where scores are large, numbers become nan or inf.")
        right = whole(query.abs() + 5, keys, value, seen)[0]
        apart = max(apart, far(own, right))
    return Seen(apart, "Where all scores are far from zero, the result is another one.")


def _every_key(made: Mapping[str, Any]) -> Seen:
    counted = {}
    for queries, tile in itertools.product((QUERIES, T), TILES):
        query, key, value = three(queries)
        own, blind = made["causal"](query, key, value, tile), 0
        for s in range(T):
            other = value.clone()
            other[:, s] += 1
            moves = (made["causal"](query, key, other, tile) - own).abs().amax((0, 2))
            blind += int(((moves > 0) != past(queries)[:, s]).sum())
        counted[queries, tile] = blind
    (queries, tile), worst = max(counted.items(), key=lambda one: one[1])
    return Seen(
        worst,
        f"With {queries} queries, {T} keys and tiles of {tile}, a query sees what it "
        f"may not, or does not see what it may, in {worst} places.",
    )


# ---- Pieces: piece(query, key, value), merge(first, second) ----


def _parts(made: Mapping[str, Any], cut: list[int]) -> list[Any]:
    query, key, value = three()
    both = zip(key.split(cut, -2), value.split(cut, -2), strict=True)
    return [made["piece"](query, *part) for part in both]


def _empty_piece(made: Mapping[str, Any]) -> Seen:
    (full,) = _parts(made, [T])
    nothing = torch.zeros_like(full[0]), torch.full_like(full[1], -torch.inf)
    twice = made["merge"](nothing, nothing)[0]
    if lost(twice):
        return Seen(
            lost(twice), "Two pieces with nothing to see make nan, and not zeros."
        )
    either = made["merge"](full, nothing), made["merge"](nothing, full)
    return Seen(
        max(far(one[0], full[0]) for one in either),
        "A piece with nothing to see changes the result.",
    )


# ---- Backward: forward and backward, or train and backprop ----


def autograd(
    query: Tensor, key: Tensor, value: Tensor, grad: Tensor
) -> tuple[Tensor, ...]:
    """Give the gradients of attention as PyTorch finds them."""
    inputs = [x.detach().requires_grad_() for x in (query, key, value)]
    with torch.enable_grad():
        context = whole(*inputs)[0]
    return torch.autograd.grad(context, inputs, grad)


def _by_hand(made: Mapping[str, Any], grad: Tensor) -> tuple[Tensor, ...]:
    context, lse = made["forward"](*three())
    gradients: tuple[Tensor, ...] = made["backward"](*three(), context, lse, grad)
    return gradients


def _gradients_are_autograds(made: Mapping[str, Any]) -> Seen:
    grad = draw(2, QUERIES, 3, seed=4)
    own, right = _by_hand(made, grad), autograd(*three(), grad)
    names = ("queries", "keys", "values")
    wrong = [n for n, a, b in zip(names, own, right, strict=True) if far(a, b) > 1e-9]
    return Seen(
        max(far(a, b) for a, b in zip(own, right, strict=True)),
        f"The gradients of the {' and '.join(wrong)} are not those of autograd.",
    )


def _dropped_again(made: Mapping[str, Any]) -> Seen:
    grad = draw(2, QUERIES, 3, seed=4)
    torch.manual_seed(1)
    context, saved = made["train"](*three())
    gradient = made["backprop"](saved, grad)[2]
    return Seen(
        float(((context * grad).sum() - (three()[2] * gradient).sum()).abs()),
        "For fixed weights the result is a sum of values, so results times their "
        "gradients are values times theirs. Here backward has other weights than "
        "forward had.",
    )


def _gradients_under_dropout(made: Mapping[str, Any]) -> Seen:
    grad = draw(2, QUERIES, 3, seed=4)
    torch.manual_seed(1)
    own = made["backprop"](made["train"](*three())[1], grad)
    torch.manual_seed(1)
    inputs = [x.requires_grad_() for x in three()]
    with torch.enable_grad():
        context = made["train"](*inputs)[0]
    right = torch.autograd.grad(context, inputs, grad)
    return Seen(
        max(far(a, b) for a, b in zip(own, right, strict=True)),
        "With the same weights dropped, the gradients are not those of autograd.",
    )


KINDS: dict[str, list[Property]] = {
    "tiled": [
        Property("large-tiles", "large scores in tiles", FLASH, _large),
    ],
    "causal": [
        Property("past-in-tiles", "all of the past, in any tiles", FLASH, _every_key)
    ],
    "merge": [
        Property(
            "empty-piece", "an empty piece changes nothing", SOFTMAX, _empty_piece
        ),
    ],
    "backward": [
        Property(
            "autograd",
            "gradients are those of autograd",
            BACKWARD,
            _gradients_are_autograds,
        ),
    ],
    "backprop": [
        Property("drops-same", "backward drops the same", BACKWARD, _dropped_again),
        Property(
            "dropped-grads",
            "gradients under dropout",
            BACKWARD,
            _gradients_under_dropout,
        ),
    ],
}
