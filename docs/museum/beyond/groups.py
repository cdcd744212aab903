"""Of heads that share keys and values, and of latent attention."""

from collections.abc import Mapping
from typing import Any

import torch

from headway.checks.book import Section

from .ask import D, Property, Seen, T, draw, far

GROUPS = Section(
    "Heads that share keys and values",
    "What breaks it",
    "decoding/grouped_query/#what-breaks-it",
)
LATENT = Section(
    "Keys and values from one small vector",
    "What breaks it",
    "decoding/latent_attention/#what-breaks-it",
)


# ---- Heads that share: share(query, key, value) ----


def _neighbours_share(made: Mapping[str, Any]) -> Seen:
    query = draw(2, 12, T, D)
    key, value = draw(2, 3, T, D, seed=2), draw(2, 3, T, 5, seed=3)
    own = made["share"](query, key, value)
    each = []
    for h in range(12):
        scores = query[:, h] @ key[:, h // 4].mT / D**0.5
        each.append(scores.softmax(-1) @ value[:, h // 4])
    return Seen(
        far(own, torch.stack(each, 1)),
        "Of twelve query heads and three groups, heads 0 to 3 must share the first "
        "group, 4 to 7 the second, 8 to 11 the third.",
    )


# ---- Two forms of one thing: expanded(x), absorbed(x) ----


def _forms_agree(made: Mapping[str, Any]) -> Seen:
    x = draw(2, T, made["width"])
    return Seen(
        far(made["expanded"](x), made["absorbed"](x)),
        "The short form gives another result than the long one.",
    )


KINDS: dict[str, list[Property]] = {
    "share": [Property("neighbours share", GROUPS, _neighbours_share)],
    "absorbed": [Property("both forms are equal", LATENT, _forms_agree)],
}
