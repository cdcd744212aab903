"""Of texts that are written with a cache, a window or pages."""

import itertools
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from headway.checks.book import Section

from .ask import D, Property, Seen, T, draw, far

CACHE = Section(
    "The key-value cache", "What breaks it", "decoding/kv_cache/#what-breaks-it"
)
WINDOW = Section(
    "A window on the past", "What breaks it", "decoding/sliding_window/#what-breaks-it"
)
PAGES = Section(
    "A cache in pages", "What breaks it", "decoding/paged_cache/#what-breaks-it"
)


# ---- Texts that are written: attend(x, cache), new_cache() ----

CUTS = ([1] * T, [5, 8], [4, 4, 5], [12, 1])


def _whole(made: Mapping[str, Any], x: Tensor) -> Tensor:
    result: Tensor = made["attend"](x, made["new_cache"]())
    return result


def _by_pieces(made: Mapping[str, Any], x: Tensor, cut: list[int]) -> Tensor:
    cache = made["new_cache"]()
    return torch.cat([made["attend"](part, cache) for part in x.split(cut, 1)], 1)


def _cached_is_uncached(made: Mapping[str, Any]) -> Seen:
    x = draw(2, T, made["width"])
    apart = {}
    for cut in CUTS:
        try:
            apart[len(cut)] = far(_by_pieces(made, x, cut), _whole(made, x))
        except RuntimeError as error:
            return Seen(len(cut), f"In {len(cut)} pieces it ends in an error: {error}.")
    pieces = max(apart, key=apart.__getitem__)
    return Seen(
        apart[pieces],
        f"A text of {T} tokens gets another result in {pieces} pieces than whole.",
    )


def _whole_is_right(made: Mapping[str, Any]) -> Seen:
    x = draw(2, T, made["width"])
    own = _whole(made, x)
    window, seen = made.get("window", T), 0
    for s, t in itertools.product(range(T), repeat=2):
        other = x.clone()
        other[:, s] += 1
        moves = far(_whole(made, other)[:, t], own[:, t]) > 0
        seen += moves != (t - window < s <= t)
    return Seen(
        seen,
        f"In {seen} of {T * T} places a token sees what it may not, or does not see "
        f"what it may: itself and what came before, {window} tokens at most.",
    )


def _texts_stay_apart(made: Mapping[str, Any]) -> Seen:
    x, other = draw(2, T, made["width"]), draw(2, T, made["width"], seed=2)
    apart = 0.0
    try:
        first = _whole(made, x)
        for text in (other, torch.cat([other[:1], x[1:]])):
            again = _whole(made, text)
        apart = max(far(again[1], first[1]), far(_whole(made, x), first))
    except RuntimeError as error:
        return Seen(1, f"After another text it ends in an error: {error}.")
    return Seen(
        apart,
        "A text gets another result after, or beside, another text than alone.",
    )


# ---- Pages: read(pages, table, length) ----


def _placed(order: list[int], rest: float) -> tuple[Tensor, list[int]]:
    """Lay five tokens on three of six pages of two tokens, and fill the rest."""
    pages = torch.full((6, 2, D), rest, dtype=torch.float64)
    for token, row in enumerate(draw(5, D)):
        pages[order[token // 2], token % 2] = row
    return pages, order


def _anywhere(made: Mapping[str, Any]) -> Seen:
    orders = ([0, 1, 2], [3, 0, 2], [5, 4, 1])
    rows = [made["read"](*_placed(order, 0.0), 5) for order in orders]
    return Seen(
        max(far(rows[0], other) for other in rows[1:]),
        "The same tokens on other pages give another result.",
    )


def _freed(made: Mapping[str, Any]) -> Seen:
    read = made["read"](*_placed([3, 0, 2], torch.nan), 5)
    lost = int(read.isnan().sum())
    return Seen(lost, "Numbers that nobody wrote are read: with nan there, nan comes.")


KINDS: dict[str, list[Property]] = {
    "new_cache": [
        Property("cached equals uncached", CACHE, _cached_is_uncached),
        Property("itself and the past, no more", WINDOW, _whole_is_right),
        Property("texts stay apart", CACHE, _texts_stay_apart),
    ],
    "read": [
        Property("where pages lie is no matter", PAGES, _anywhere),
        Property("freed pages are not read", PAGES, _freed),
    ],
}
