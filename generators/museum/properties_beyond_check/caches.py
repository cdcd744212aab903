"""Of texts that are written with a cache."""

from collections.abc import Mapping
from typing import Any

from headway.checks.core.book_sections import Section

from .ask import Property, Seen, T, draw

CACHE = Section(
    "The key-value cache", "What breaks it", "decoding/kv_cache/#what-breaks-it"
)
CUTS = ([1] * T, [5, 8], [4, 4, 5], [12, 1])


# ---- Texts that are written: attend(x, cache), new_cache() ----


def _any_cut(made: Mapping[str, Any]) -> Seen:
    x = draw(2, T, made["width"])
    for cut in CUTS:
        cache = made["new_cache"]()
        try:
            for part in x.split(cut, 1):
                made["attend"](part, cache)
        except RuntimeError as error:
            return Seen(len(cut), f"In {len(cut)} pieces it ends in an error: {error}.")
    return Seen(0, "")


KINDS: dict[str, list[Property]] = {
    "new_cache": [Property("any-cut", "any cut is taken", CACHE, _any_cut)],
}
