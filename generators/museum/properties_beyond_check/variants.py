"""Of variants: sinks, norms, gates, differences, and memories."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from headway.checks.core.book_sections import Section

from .ask import D, Property, Seen, T, draw, far

SINKS = Section(
    "A place for unused attention", "What breaks it", "variants/sinks/#what-breaks-it"
)
NORMS = Section(
    "Norms and gates", "What breaks it", "variants/norms_and_gates/#what-breaks-it"
)
DELTA = Section(
    "A memory that overwrites", "What breaks it", "variants/delta_rule/#what-breaks-it"
)


# ---- A sink: sunk(query, key, value, sink) ----


def _one_more_key(made: Mapping[str, Any]) -> Seen:
    query, key, value = draw(2, 5, D), draw(2, T, D, seed=2), draw(2, T, 3, seed=3)
    scores = query @ key.mT / D**0.5
    apart = {}
    for sink in (-2.0, 0.0, 2.0):
        more = torch.cat([scores, torch.full_like(scores[..., :1], sink)], -1)
        right = more.softmax(-1)[..., :-1] @ value
        apart[sink] = far(made["sunk"](query, key, value, sink), right)
    worst = max(apart, key=apart.__getitem__)
    return Seen(
        apart[worst],
        f"A sink with a score of {worst:.0f} gives another result than one more key "
        "with that score, whose value is zero.",
    )


# ---- Norms, gates, differences ----


def _heads_apart(made: Mapping[str, Any]) -> Seen:
    x = draw(2, T, 3, D)
    other = x.clone()
    other[:, :, 0] *= 5
    return Seen(
        far(made["normed"](x)[:, :, 1:], made["normed"](other)[:, :, 1:]),
        "The queries of one head become five times as long, and those of the other "
        "heads change.",
    )


def _distance_alone(made: Mapping[str, Any]) -> Seen:
    query, key = draw(T, D), draw(T, D, seed=2)
    at, score = torch.arange(T), made["score"]
    return Seen(
        far(score(query, key, at), score(query, key, at + 100)),
        "All tokens move on by a hundred places, and their scores change.",
    )


def _only_turns_down(made: Mapping[str, Any]) -> Seen:
    context, gate = draw(2, T, D), 5 * draw(2, T, D, seed=2)
    grown = made["gated"](context, gate).abs() - context.abs()
    return Seen(
        float(grown.clamp(min=0).max()),
        "A gate makes a number larger than it was.",
    )


def _pairs_are_shared(made: Mapping[str, Any]) -> Seen:
    query, key = draw(2, 12, T, D), draw(2, 4, T, D, seed=2)
    value = draw(2, 2, T, 2 * D, seed=3)
    pairs = key.unflatten(1, (2, 2)).repeat_interleave(3, 1).flatten(1, 2)
    alone = made["differential"](query, pairs, value.repeat_interleave(3, 1), 0.5)
    return Seen(
        far(made["differential"](query, key, value, 0.5), alone),
        "Two pairs of keys for six heads give another result than the same pairs, "
        "one for each head.",
    )


# ---- A memory: delta(query, key, value, beta, decay, state) ----


def _written() -> tuple[Tensor, ...]:
    """Draw queries, unit keys, values, shares and decays of a text."""
    key = torch.nn.functional.normalize(draw(T, D, seed=2), dim=-1)
    beta, decay = draw(2, T, 1, seed=4).sigmoid()
    return draw(T, D), key, draw(T, 3, seed=3), beta, decay


def _any_calls(made: Mapping[str, Any]) -> Seen:
    empty = torch.zeros(D, 3, dtype=torch.float64)
    right = made["delta"](*_written(), empty)[0]
    apart = {}
    for cut in ([1] * T, [4, 4, 5], [5, 8]):
        state, rows = empty, []
        for part in zip(*(x.split(cut) for x in _written()), strict=True):
            context, state = made["delta"](*part, state)
            rows.append(context)
        apart[len(cut)] = far(torch.cat(rows), right)
    worst = max(apart, key=apart.__getitem__)
    return Seen(
        apart[worst],
        f"A text of {T} tokens is read otherwise in {worst} calls than in one.",
    )


def _newest_is_read(made: Mapping[str, Any]) -> Seen:
    _, key, value, beta, decay = _written()
    empty = torch.zeros(D, 3, dtype=torch.float64)
    read = made["delta"](key, key, value, torch.ones_like(beta), decay, empty)[0]
    return Seen(
        far(read, value),
        "A token that writes all of its value, and asks for it, gets another one.",
    )


KINDS: dict[str, list[Property]] = {
    "sunk": [Property("one-more-key", "a sink is one more key", SINKS, _one_more_key)],
    "normed": [
        Property("heads-apart", "a head does not resize another", NORMS, _heads_apart)
    ],
    "score": [
        Property(
            "norm-distance", "a norm leaves the distance alone", NORMS, _distance_alone
        )
    ],
    "gated": [Property("gate", "a gate only turns down", NORMS, _only_turns_down)],
    "differential": [
        Property("key-pairs", "shared keys stay pairs", NORMS, _pairs_are_shared)
    ],
    "delta": [
        Property("any-calls", "any calls make one text", DELTA, _any_calls),
        Property(
            "newest-value", "the newest value is read back", DELTA, _newest_is_read
        ),
    ],
}
