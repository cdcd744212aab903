"""Mistakes in what stands inside besides the equation: positions, caps, sinks, norms.

What is right is done here in another way than the oracle does it: pairs are rotated as
complex numbers, and sinks are keys of their own.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import layer_norm

from headway.checks.attention.evidence.design import Design, Rotation
from tests.support.attention_in_steps import Sizes, Step, past

WIDE = Sizes(17, 6, 5, 19, 23)  # an even width, so that all of it can be rotated
GROUPED = WIDE._replace(heads=4)
PAIRS, BASE, LONGEST = 3, 300.0, 40
CAP, WINDOW = 1.5, 3


class Designed(NamedTuple):
    """A mistake in what is inside on purpose.

    Attributes:
        change: The change of the recipe that is exactly this mistake.
        steps: The wrong steps.
        options: What else the module must have for the mistake to show.
    """

    change: dict[str, Any]
    steps: dict[str, Step]
    options: dict[str, Any] = {}  # noqa: RUF012  # nobody writes to it


class Kind(NamedTuple):
    """Something that is inside on purpose, and mistakes in it.

    Attributes:
        design: What is meant.
        steps: How it is done rightly.
        wrong: The mistakes.
        futures: Whether its steps hide the future, or let a module choose.
    """

    design: Design
    steps: dict[str, Step]
    wrong: list[Designed]
    futures: tuple[bool, ...] = (True, False)


# Rotations


def angles(T: int, pairs: int = PAIRS, *, first: int = 0, power: float = 1.0) -> Tensor:
    speeds = BASE ** (-torch.arange(pairs, dtype=torch.float64) / pairs * power)
    return torch.arange(first, first + T)[:, None] * speeds


def turned(x: Tensor, a: Tensor, pairing: str) -> Tensor:
    """Multiply pairs, as complex numbers, by numbers of size one."""
    pairs = a.shape[-1]
    part, rest = x[..., : 2 * pairs], x[..., 2 * pairs :]
    cut = (-1, 2) if pairing == "pairs" else (2, -1)
    parts = part.unflatten(-1, cut)
    one, other = parts.unbind(-1 if pairing == "pairs" else -2)
    z = torch.complex(one, other) * torch.polar(torch.ones_like(a), a)
    axis = -1 if pairing == "pairs" else -2
    return torch.cat([torch.stack([z.real, z.imag], axis).flatten(-2), rest], -1)


def number_by_number(
    x: Tensor, a: Tensor, pairing: str, angle_of: Callable[[int], int], sign: int = -1
) -> Tensor:
    """Rotate with an angle for each number; `sign` is that of the sine subtracted."""
    n = a.shape[-1] if angle_of(1) == -1 else 2 * a.shape[-1]
    y = x.clone()
    for i in range(n):
        if pairing == "pairs":
            partner, first = i ^ 1, i % 2 == 0
        else:
            partner, first = (i + n // 2) % n, i < n // 2
        here = a[:, i if angle_of(1) == -1 else angle_of(i)]
        factor = sign if first else 1
        y[..., i] = x[..., i] * here.cos() + factor * x[..., partner] * here.sin()
    return y


def share(turn_query: Any, turn_key: Any, turn_value: Any = None) -> dict[str, Step]:
    """Rotate queries, keys and values by functions of vectors."""

    def step(m: Any, q: Tensor, k: Tensor, v: Tensor) -> Any:
        return turn_query(q), turn_key(k), turn_value(v) if turn_value else v

    return {"share": step}


def of_tokens(pairing: str, **how: Any) -> Any:
    return lambda x: turned(x, angles(x.shape[2], **how), pairing)


def same(x: Tensor) -> Tensor:
    return x


def rotations(pairing: str, pairs: int) -> Kind:  # noqa: PLR0915  # small ones
    other = {"pairs": "halves", "halves": "pairs"}[pairing]
    n = 2 * pairs
    neighbours, halves = (lambda i: i // 2), (lambda i: i % pairs)
    laid_out = halves if pairing == "pairs" else neighbours
    right = neighbours if pairing == "pairs" else halves
    turn = of_tokens(pairing, pairs=pairs)

    def by_number(angle_of: Any, sign: int = -1) -> Any:
        return lambda x: number_by_number(
            x, angles(x.shape[2], pairs), pairing, angle_of, sign
        )

    def of_each(x: Tensor) -> Tensor:
        speeds = BASE ** (-torch.arange(n, dtype=torch.float64) / n)
        a = torch.arange(x.shape[2])[:, None] * speeds
        return number_by_number(x, a, pairing, lambda i: -1)

    def project(m: Any, x: Tensor) -> Any:
        query, key, value = m.W_query(x), m.W_key(x), m.W_value(x)
        cut = [part.unflatten(-1, (-1, m.width)) for part in (query, key)]
        parts = [turned(part, angles(part.shape[2], pairs), pairing) for part in cut]
        return *(part.flatten(2) for part in parts), value

    def whole(x: Tensor) -> Tensor:
        flat = x.transpose(1, 2).flatten(2)
        flat = turned(flat, angles(x.shape[2], flat.shape[2] // 2), pairing)
        return flat.unflatten(2, (x.shape[1], -1)).transpose(1, 2)

    def both(one: Any) -> dict[str, Step]:
        return share(one, one)

    def how(**changed: Any) -> Any:
        return of_tokens(pairing, pairs=pairs, **changed)

    def twice(x: Tensor) -> Tensor:
        return turn(turn(x))

    def back(x: Tensor) -> Tensor:
        return turned(x, -angles(x.shape[2], pairs), pairing)

    def second_number(
        x: Tensor, other: Callable[[Tensor, Tensor, Tensor], Tensor]
    ) -> Tensor:
        """Do something else with the second number of each pair."""
        right, a = turn(x), angles(x.shape[2], pairs)
        for i in range(n):
            if i % 2 == 1 if pairing == "pairs" else i >= pairs:
                j = i - 1 if pairing == "pairs" else i - pairs
                here = a[:, i // 2 if pairing == "pairs" else j]
                right[..., i] = other(x[..., j], x[..., i], here)
        return right

    def real(x: Tensor) -> Tensor:
        return second_number(x, lambda first, second, a: 0 * second)

    def half_turned(x: Tensor) -> Tensor:
        return second_number(x, lambda first, second, a: second * a.cos())

    def mixed_up(x: Tensor) -> Tensor:
        return second_number(
            x, lambda first, second, a: first * a.cos() + second * a.sin()
        )

    def quarter(x: Tensor) -> Tensor:
        """Turn by what is missing to a quarter: its cosine is the sine."""
        return turned(x, torch.pi / 2 - angles(x.shape[2], pairs), pairing)

    def rolled(x: Tensor) -> Tensor:
        return turned(x, angles(x.shape[2], pairs).roll(1, 0), pairing)

    wrong = [
        Designed({"rotated": ""}, both(same)),
        Designed({"rotated": "q"}, share(turn, same)),
        Designed({"rotated": "k"}, share(same, turn)),
        Designed({"rotated": "qkv"}, share(turn, turn, turn)),
        Designed({"rotated": "qv"}, share(turn, same, turn)),
        Designed({"rotated": "kv"}, share(same, turn, turn)),
        Designed({"pairing": "other"}, both(of_tokens(other, pairs=pairs))),
        Designed({"layout": "other"}, both(by_number(laid_out))),
        Designed({"minus": False}, both(by_number(right, 1))),
        Designed({"against": "q"}, share(back, turn)),
        Designed({"against": "k"}, share(turn, back)),
        Designed({"swapped": "qk"}, both(quarter)),
        Designed({"swapped": "q"}, share(quarter, turn)),
        Designed({"swapped": "k"}, share(turn, quarter)),
        Designed({"lost": ("imaginary part", "q")}, share(real, turn)),
        Designed({"lost": ("sine of the second", "qk")}, both(half_turned)),
        Designed({"lost": ("places of the second", "qk")}, both(mixed_up)),
        Designed({"positions": "keys rolled"}, share(turn, rolled)),
        Designed({"angles": "of the first"}, both(how(power=0.0))),
        Designed({"angles": "inverse"}, both(how(power=-1.0))),
        Designed({"positions": "queries +1"}, share(how(first=1), turn)),
        Designed({"positions": "keys +1"}, share(turn, how(first=1))),
        Designed(
            {"positions": "heads"}, both(same) | {"project": project}, {"groups": 2}
        ),
        Designed({"angles": "half the exponent"}, both(how(power=0.5))),
        Designed({"angles": "twice the exponent"}, both(how(power=2.0))),
        Designed({"angles": "turned twice"}, both(twice)),
        Designed({"angles": "of each number"}, both(of_each)),
        Designed({"turned": "all heads"}, both(whole)),
    ]
    rotation = Rotation(angles(LONGEST, pairs), pairing, "here")  # type: ignore[arg-type]
    return Kind(Design(rotation=rotation), both(turn), wrong)


# Biases of positions


def distance_bias(T: int) -> Tensor:
    """Take off more from far keys, and treat the two sides differently."""
    slopes = torch.tensor([0.5, 0.3, 0.2, 0.1, 0.05], dtype=torch.float64)
    places = torch.arange(T, dtype=torch.float64)
    apart = places[:, None] - places
    return -slopes[:, None, None] * torch.where(apart > 0, apart, -2 * apart)


def biased(wrong: Callable[[Tensor], Tensor]) -> dict[str, Step]:
    return {
        "score": lambda m, q, k: (
            q @ k.mT / m.width**0.5 + wrong(distance_bias(q.shape[2]))
        )
    }


def bias_before(m: Any, q: Tensor, k: Tensor) -> Tensor:
    return (q @ k.mT + distance_bias(q.shape[2])) / m.width**0.5


def bias_after(m: Any, s: Tensor) -> Tensor:
    T = s.shape[-1]
    return s.softmax(-1) + distance_bias(T) * past(T)


AFTER: dict[str, Step] = {"softmax": bias_after}


def as_a_view(b: Tensor) -> Tensor:
    """Count the numbers of each pair as they lie in memory, and call it heads."""
    pairs = b.permute(1, 2, 0).contiguous()
    return pairs.view(b.shape)


def bias_times(m: Any, q: Tensor, k: Tensor) -> Tensor:
    return q @ k.mT / m.width**0.5 * distance_bias(q.shape[2])


BIASES = Kind(
    Design(bias=distance_bias(LONGEST)),
    biased(same),
    [
        Designed({"bias": "left out"}, biased(lambda b: 0 * b)),
        Designed({"bias": "negated"}, biased(lambda b: -b)),
        Designed({"bias": "before the scale"}, {"score": bias_before}),
        Designed(
            {"bias": "after the softmax"},
            {"softmax": bias_after, **biased(lambda b: 0 * b)},
        ),
        Designed({"bias": "twice"}, biased(lambda b: b + b)),
        Designed({"bias": "transposed"}, biased(lambda b: b.mT), {"causal": False}),
        Designed({"bias": "heads reversed"}, biased(lambda b: b.flip(0))),
        Designed({"bias": "one for all heads"}, biased(lambda b: b[0])),
        Designed({"bias": "view"}, biased(as_a_view)),
        Designed({"bias": "multiplied"}, {"score": bias_times}),
        Designed({"bias": "once more after the softmax"}, biased(same) | AFTER),
    ],
)


# Windows


def seeing(low: int | None, high: int) -> dict[str, Step]:
    """Let each token see from so far before itself to so far behind."""

    def hide(m: Any, s: Tensor, mask: Tensor | None) -> Tensor:
        T = s.shape[-1]
        keep = torch.ones(T, T, dtype=torch.bool).tril(high)
        if low is not None:
            keep = keep.triu(-low)
        return s.masked_fill(~keep, -torch.inf)

    return {"hide": hide}


WINDOWS = Kind(
    Design(window=WINDOW),
    seeing(WINDOW - 1, 0),
    [
        Designed({"window": "wider"}, seeing(WINDOW, 0)),
        Designed({"window": "narrower"}, seeing(WINDOW - 2, 0)),
        Designed({"window": "none"}, seeing(None, 0)),
        Designed({"window": "both sides"}, seeing(WINDOW - 1, WINDOW - 1)),
        Designed({"window": "open"}, seeing(WINDOW - 1, LONGEST)),
        Designed({"mask": "next, and the window"}, seeing(WINDOW - 1, 1)),
    ],
    futures=(True,),
)


# Caps


def capped(how: Callable[[Any, Tensor], Tensor]) -> dict[str, Step]:
    return {"score": lambda m, q, k: how(m, q @ k.mT / m.width**0.5)}


def tanh(m: Any, s: Tensor) -> Tensor:
    return CAP * torch.tanh(s / CAP)


def cap_before(m: Any, s: Tensor) -> Tensor:
    root = m.width**0.5
    return tanh(m, s * root) / root


def cap_after_mask(m: Any, s: Tensor, mask: Tensor | None) -> Tensor:
    return tanh(m, s.masked_fill(~past(s.shape[-1]), -torch.inf))


PLAIN: dict[str, Step] = capped(lambda m, s: s)
CAPS = Kind(
    Design(softcap=CAP),
    capped(tanh),
    [
        Designed({"cap": "left out"}, PLAIN),
        Designed({"cap": "clamped"}, capped(lambda m, s: s.clamp(-CAP, CAP))),
        Designed({"cap": "not divided"}, capped(lambda m, s: CAP * torch.tanh(s))),
        Designed({"cap": "not multiplied"}, capped(lambda m, s: torch.tanh(s / CAP))),
        Designed({"cap": "before the scale"}, capped(cap_before)),
        Designed({"cap": "after the mask"}, {**PLAIN, "hide": cap_after_mask}),
        Designed(
            {"cap": "after the softmax"},
            {**PLAIN, "softmax": lambda m, s: tanh(m, s.softmax(-1))},
        ),
    ],
)


# Sinks

SCORES = torch.tensor([1.5, -0.5, 0.7, 2.0, 0.1], dtype=torch.float64)


def sink(scores: Tensor, *, first: bool = False, cut_first: bool = False) -> Step:
    def step(m: Any, s: Tensor) -> Tensor:
        one = scores[:, None, None].expand(len(s), -1, s.shape[2], 1)
        weights = torch.cat([one, s] if first else [s, one], -1).softmax(-1)
        return weights[..., 1:] if cut_first else weights[..., :-1]

    return step


def naked_sink(m: Any, s: Tensor) -> Tensor:
    return s.exp() / (s.exp().sum(-1, keepdim=True) + SCORES[:, None, None])


def two_sinks(s: Tensor) -> Tensor:
    return torch.cat([s, SCORES[:, None, None].expand(*s.shape[:3], 2)], -1)


def sink_to_the_first(m: Any, s: Tensor) -> Tensor:
    one = SCORES[:, None, None].expand(*s.shape[:3], 1)
    shares = torch.cat([s, one], -1).softmax(-1)
    first = torch.arange(s.shape[-1]) == 0
    return shares[..., :-1] + first * shares[..., -1:]


SINKS = Kind(
    Design(sinks=SCORES),
    {"softmax": sink(SCORES, first=True, cut_first=True)},
    [
        Designed({"sinks": "left out"}, {"softmax": lambda m, s: s.softmax(-1)}),
        Designed(
            {"sinks": "one for all heads"}, {"softmax": sink(SCORES[:1].expand(5))}
        ),
        Designed({"sinks": "heads reversed"}, {"softmax": sink(SCORES.flip(0))}),
        Designed(
            {"sinks": "twice"},
            {"softmax": lambda m, s: two_sinks(s).softmax(-1)[..., :-2]},
        ),
        Designed({"sinks": "negated"}, {"softmax": sink(-SCORES)}),
        Designed({"sinks": "to the first key"}, {"softmax": sink_to_the_first}),
        Designed({"sinks": "scaled"}, {"softmax": sink(SCORES / 6**0.5)}),
        Designed({"sinks": "not an exponent"}, {"softmax": naked_sink}),
        Designed(
            {"sinks": "last, and the first key cut"},
            {"softmax": sink(SCORES, cut_first=True)},
        ),
        Designed(
            {"sinks": "first, and the last key cut"},
            {"softmax": sink(SCORES, first=True)},
        ),
    ],
)


# With four heads in two groups.
FOUR = SCORES[:4]
SINKS_OF_GROUPS = Kind(
    Design(sinks=FOUR),
    {"softmax": sink(FOUR, first=True, cut_first=True)},
    [
        Designed(
            {"sinks": "by groups"}, {"softmax": sink(FOUR[[0, 2, 1, 3]])}, {"groups": 2}
        ),
    ],
    futures=(),
)


def one_more(m: Any, s: Tensor) -> Tensor:
    return s.exp() / (1 + s.exp().sum(-1, keepdim=True))


def one_more_shifted(m: Any, s: Tensor) -> Tensor:
    return one_more(m, s - s.amax(-1, keepdim=True))


ONE_MORE = Kind(
    Design(normalize="softmax plus one"),
    {"softmax": one_more},
    [
        Designed(
            {"normalize": "softmax alone"}, {"softmax": lambda m, s: s.softmax(-1)}
        ),
        Designed(
            {"normalize": "the one is not shifted"}, {"softmax": one_more_shifted}
        ),
    ],
)
SIGMOID = Kind(
    Design(normalize="sigmoid"),
    {"softmax": lambda m, s: s.sigmoid()},
    [Designed({"normalize": "softmax"}, {"softmax": lambda m, s: s.softmax(-1)})],
)
SCALE = Kind(
    Design(scale=0.6),
    {"score": lambda m, q, k: q @ k.mT * 0.6},
    [
        Designed(
            {"scale": "1/sqrt(D)"}, {"score": lambda m, q, k: q @ k.mT / m.width**0.5}
        ),
        Designed({"scale": "twice"}, {"score": lambda m, q, k: q @ k.mT * 0.36}),
    ],
)


# Norms of queries and keys


def norm_by(gain: Tensor, shift: float = 0.0) -> Callable[[Tensor], Tensor]:
    """Norm the last axis, however wide it is, and scale its numbers in turn."""

    def norm(x: Tensor) -> Tensor:
        times = x.shape[-1] // len(gain)
        return layer_norm(x, x.shape[-1:]) * gain.repeat(times) + shift

    return norm


QUERY_NORM = norm_by(torch.tensor([0.5, 1.5, 1.0, 2.0, 0.7, 1.2], dtype=torch.float64))
KEY_NORM = norm_by(torch.tensor([1.1, 0.6, 1.7, 0.8, 2.2, 0.9], dtype=torch.float64))


def side_by_side(norm: Any) -> Any:
    def run(x: Tensor) -> Tensor:
        whole = norm(x.transpose(1, 2).flatten(2))
        return whole.unflatten(2, (x.shape[1], -1)).transpose(1, 2)

    return run


def norms(over: str) -> Kind:
    def as_meant(norm: Any) -> Any:
        return norm if over == "head" else side_by_side(norm)

    def as_not_meant(norm: Any) -> Any:
        return side_by_side(norm) if over == "head" else norm

    query, key = as_meant(QUERY_NORM), as_meant(KEY_NORM)
    design = Design(query_norm=QUERY_NORM, key_norm=KEY_NORM, norm_of=over)  # type: ignore[arg-type]
    wrong = [
        Designed({"norms": ""}, share(same, same)),
        Designed({"norms": "k"}, share(same, key)),
        Designed({"norms": "q"}, share(query, same)),
        Designed({"norms": "qkv"}, share(query, key, key)),
        Designed({"norm_of": "qq"}, share(query, query)),
        Designed({"norm_of": "kk"}, share(key, key)),
        Designed(
            {"norm_over": "other"},
            share(as_not_meant(QUERY_NORM), as_not_meant(KEY_NORM)),
        ),
    ]
    return Kind(design, share(query, key), wrong)


def normed_and_rotated() -> Kind:
    turn = of_tokens("halves")
    rotation = Rotation(angles(LONGEST), "halves", "here")
    design = Design(rotation=rotation, query_norm=QUERY_NORM, key_norm=KEY_NORM)
    return Kind(
        design,
        share(lambda x: turn(QUERY_NORM(x)), lambda x: turn(KEY_NORM(x))),
        [
            Designed(
                {"norm_of": "kq"},
                share(lambda x: turn(KEY_NORM(x)), lambda x: turn(QUERY_NORM(x))),
            ),
            Designed(
                {"norm_place": "other"},
                share(lambda x: QUERY_NORM(turn(x)), lambda x: KEY_NORM(turn(x))),
            ),
        ],
    )


KINDS: dict[str, Kind] = {
    "pairs": rotations("pairs", PAIRS),
    "halves": rotations("halves", PAIRS),
    "halves of a part": rotations("halves", PAIRS - 1),
    "bias": BIASES,
    "window": WINDOWS,
    "cap": CAPS,
    "sinks": SINKS,
    "sinks of groups": SINKS_OF_GROUPS,
    "one more": ONE_MORE,
    "sigmoid": SIGMOID,
    "scale": SCALE,
    "norms of heads": norms("head"),
    "norms of all heads": norms("all heads"),
    "norms and rotation": normed_and_rotated(),
}
