"""Properties that `check` does not ask for yet: of positions, caches and shared heads.

What an exhibit makes says which of them it must have: `rotate`, `bias`, `encode`,
`frequencies`, `share`, `expanded` and `absorbed`, `read`, or `attend` with `new_cache`.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from headway.checks import Report
from headway.checks.book import Section
from headway.checks.report import Row

# Primes and a shift that half precision cannot follow.
T, D, SHIFT = 13, 8, 1_000_000
NEAR = 1e-9  # what 64 bits may differ by, also after a shift by a million
ROTARY = Section(
    "Rotary positions", "What breaks it", "positions/rotary/#what-breaks-it"
)
SINUSOIDAL = Section(
    "A wave for each position", "What breaks it", "positions/sinusoidal/#what-breaks-it"
)
SCALING = Section(
    "Longer than trained", "What breaks it", "positions/rotary_scaling/#what-breaks-it"
)
BIAS = Section(
    "A bias for distance", "What breaks it", "positions/relative_bias/#what-breaks-it"
)
GROUPS = Section(
    "Heads that share keys and values",
    "What breaks it",
    "decoding/grouped_query/#what-breaks-it",
)
CACHE = Section(
    "The key-value cache", "What breaks it", "decoding/kv_cache/#what-breaks-it"
)
WINDOW = Section(
    "A window on the past", "What breaks it", "decoding/sliding_window/#what-breaks-it"
)
PAGES = Section(
    "A cache in pages", "What breaks it", "decoding/paged_cache/#what-breaks-it"
)
LATENT = Section(
    "Keys and values from one small vector",
    "What breaks it",
    "decoding/latent_attention/#what-breaks-it",
)


class Seen(NamedTuple):
    """How far something is from what it must be, and what that means."""

    figure: float | int
    sentence: str


class Property(NamedTuple):
    """One thing that must hold, and where the book explains it."""

    name: str
    section: Section
    measure: Callable[[Mapping[str, Any]], Seen]


def draw(*shape: int, seed: int = 1) -> Tensor:
    """Draw numbers in 64 bits."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def far(a: Tensor, b: Tensor) -> float:
    """Say how far two results are from each other; infinitely, if one is nan."""
    return float((a.double() - b.double()).abs().nan_to_num(torch.inf).max())


# ---- Positions that turn: rotate(x, positions) ----


def _keeps_scores(made: Mapping[str, Any]) -> Seen:
    rotate, at = made["rotate"], torch.arange(T)
    query, key = draw(T, D), draw(T, D, seed=2)
    near = rotate(query, at) @ rotate(key, at).mT
    moved = rotate(query, at + SHIFT) @ rotate(key, at + SHIFT).mT
    return Seen(
        far(near, moved),
        "Query and key are both moved on by a million positions, and their score "
        "changes: it must depend on the distance only.",
    )


def _keeps_lengths(made: Mapping[str, Any]) -> Seen:
    x = draw(T, D)
    turned = made["rotate"](x, torch.arange(T))
    return Seen(
        far(turned.norm(dim=-1), x.norm(dim=-1)),
        "A vector becomes longer or shorter by its position: a rotation keeps lengths.",
    )


def _tells_apart(made: Mapping[str, Any]) -> Seen:
    rows = made["rotate"](torch.ones(2048, D, dtype=torch.float64), torch.arange(2048))
    lost = 2048 - len(rows.unique(dim=0))
    return Seen(lost, f"Of 2,048 positions, {lost} look the same as another one.")


def _takes_positions(made: Mapping[str, Any]) -> Seen:
    rotate, x, at = made["rotate"], draw(T, D), torch.arange(T)
    return Seen(
        far(rotate(x, at)[5:], rotate(x[5:], at[5:])),
        "The last tokens of a text, given alone with their positions, are turned in "
        "another way than in the whole text, as a cache would have it.",
    )


def _starts_at_zero(made: Mapping[str, Any]) -> Seen:
    x = draw(T, D)
    return Seen(
        far(made["rotate"](x, torch.zeros(T, dtype=torch.long)), x),
        "Position zero is turned too.",
    )


# ---- A number for each distance: bias(query_positions, key_positions) ----


def _falls(made: Mapping[str, Any]) -> Seen:
    at = torch.arange(T)
    grows = made["bias"](at, at).tril().diff(dim=-1).tril(-1).clamp(max=0)
    return Seen(
        float(-grows.min()),
        "A token far back gets a larger bias than a near one.",
    )


def _of_distance(made: Mapping[str, Any]) -> Seen:
    at = torch.arange(T)
    near, moved = (made["bias"](x, x).double() for x in (at, at + 2048))
    past = torch.ones(T, T, dtype=torch.bool).tril()
    weights = [b.masked_fill(~past, -torch.inf).softmax(-1) for b in (near, moved)]
    return Seen(
        far(*weights),
        "All positions are moved on by 2,048, and the weights of equal scores change: "
        "they must depend on distances only.",
    )


def _of_the_newest(made: Mapping[str, Any]) -> Seen:
    at = torch.arange(T)
    whole, newest = made["bias"](at, at)[:, -1:], made["bias"](at[-1:], at)
    return Seen(
        far(whole.softmax(-1), newest.softmax(-1)),
        "The newest token, given alone as with a cache, gets other biases than at the "
        "end of the whole text.",
    )


def _of_models(made: Mapping[str, Any]) -> Seen:
    heads = 12
    slopes = [2.0 ** -(h + 1) for h in range(8)]
    slopes += [2.0 ** -(h + 0.5) for h in range(4)]
    at = torch.arange(2)
    bias = made["bias"](at, at)
    if len(bias) != heads:
        return Seen(0.0, "")
    own = bias[:, 1, 1] - bias[:, 1, 0]
    return Seen(
        far(own, torch.tensor(slopes)),
        "The slopes of twelve heads are not those with which models were trained: a "
        "half, a quarter, and so on to one in 256, then four of those of sixteen.",
    )


# ---- A vector for each position: encode(positions, width) ----


def _rotates(made: Mapping[str, Any]) -> Seen:
    rows = made["encode"](torch.arange(32), 16).double()
    products = rows @ rows.mT
    steps = [products.diagonal(k) for k in range(32)]
    spread = max(float(s.max() - s.min()) for s in steps)
    return Seen(
        spread,
        "The product of two positions must depend on their distance only.",
    )


def _has_one_length(made: Mapping[str, Any]) -> Seen:
    rows = made["encode"](torch.arange(32), 16).double()
    return Seen(
        far(rows.square().sum(-1), torch.full((32,), 8.0)),
        "A sine and a cosine of the same speed have squares that add up to one, so "
        "each of 8 pairs adds one. Here they do not.",
    )


# ---- Speeds: frequencies(width, base, factor, original_length) ----


def _plain(width: int, base: float) -> Tensor:
    return base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)


def _fastest_stays(made: Mapping[str, Any]) -> Seen:
    own = made["frequencies"](64, 10_000.0, 10.0, 4096).double()
    ratio = float(own[0] / _plain(64, 10_000.0)[0])
    return Seen(
        abs(ratio - 1),
        f"The fastest pair keeps {ratio:.3g} of its speed. It has turned many times "
        "within the trained length, and must keep all of it.",
    )


def _slowest_is_divided(made: Mapping[str, Any]) -> Seen:
    own = made["frequencies"](64, 10_000.0, 10.0, 4096).double()
    ratio = float(own[-1] / _plain(64, 10_000.0)[-1])
    return Seen(
        abs(ratio * 10 - 1),
        f"The slowest pair keeps {ratio:.3g} of its speed. It has never completed a "
        "turn, and must be divided by the factor, 10.",
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
    "rotate": [
        Property("only the distance counts", ROTARY, _keeps_scores),
        Property("lengths are kept", ROTARY, _keeps_lengths),
        Property("positions are told apart", ROTARY, _tells_apart),
        Property("positions are those given", ROTARY, _takes_positions),
        Property("position zero turns nothing", ROTARY, _starts_at_zero),
    ],
    "bias": [
        Property("what is near counts more", BIAS, _falls),
        Property("only the distance biases", BIAS, _of_distance),
        Property("the newest stands last", BIAS, _of_the_newest),
        Property("the slopes are those of models", BIAS, _of_models),
    ],
    "encode": [
        Property("a step is a rotation", SINUSOIDAL, _rotates),
        Property("all positions have one length", SINUSOIDAL, _has_one_length),
    ],
    "frequencies": [
        Property("the fastest pair keeps its speed", SCALING, _fastest_stays),
        Property("the slowest pair is divided", SCALING, _slowest_is_divided),
    ],
    "share": [Property("neighbours share", GROUPS, _neighbours_share)],
    "absorbed": [Property("both forms are equal", LATENT, _forms_agree)],
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
EVERY = [one for kind in KINDS.values() for one in kind]


def knows(made: Mapping[str, Any]) -> bool:
    """Say whether a program makes something that these properties are about."""
    return any(kind in made for kind in KINDS)


def report(made: Mapping[str, Any]) -> Report:
    """Ask what a program has made for all properties of its kind."""
    return Report("an exhibit", rows=[*_rows(made)])


def _rows(made: Mapping[str, Any]) -> Iterator[Row]:
    for kind, asked in KINDS.items():
        for one in asked if kind in made else []:
            with torch.no_grad():
                seen = one.measure(made)
            holds = seen.figure <= (0 if isinstance(seen.figure, int) else NEAR)
            yield Row(
                one.name,
                "passed" if holds else "failed",
                "" if holds else seen.sentence,
                one.section,
                None if holds else seen.figure,
            )
