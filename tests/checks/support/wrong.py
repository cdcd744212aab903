"""Attention that is right, and every way to get it wrong: what checks are tried on.

Nothing here comes from the package. A module works in steps, and each step can be
exchanged: for a right one that is written in another way, or for a wrong one. The steps
stand in a dictionary, so that no name in them tells a check what is meant.
"""

import math
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, linear, normalize


class Sizes(NamedTuple):
    """Sizes of a module: different primes, so that no axis passes for another."""

    d_in: int
    width: int  # of a head
    heads: int
    context: int
    d_out: int


SIZES = {
    "five heads": Sizes(17, 3, 5, 19, 23),
    "three heads": Sizes(11, 5, 3, 13, 19),
    "two heads": Sizes(13, 7, 2, 17, 11),
}
GROUPED = {  # and how many heads the keys have
    "five heads": (Sizes(17, 3, 6, 19, 23), 2),
    "three heads": (Sizes(11, 5, 4, 13, 19), 2),
    "two heads": (Sizes(13, 7, 6, 17, 11), 3),
}

Step = Callable[..., Any]


def past(T: int) -> Tensor:
    return torch.ones(T, T, dtype=torch.bool).tril()


def project(m: Any, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return m.W_query(x), m.W_key(x), m.W_value(x)


def split(m: Any, part: Tensor) -> Tensor:
    return part.view(*part.shape[:2], -1, m.width).transpose(1, 2)


def repeat(m: Any, part: Tensor) -> Tensor:
    return part.repeat_interleave(m.heads // part.shape[1], dim=1)


def share(m: Any, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return q, k, v


def score(m: Any, q: Tensor, k: Tensor) -> Tensor:
    return q @ k.mT / math.sqrt(m.width)


def allowed(m: Any, scores: Tensor, mask: Tensor | None) -> Tensor:
    """Say who may see whom, of shape (T, T) or (B, 1, T, T)."""
    T = scores.shape[-1]
    keep = past(T) if m.causal else torch.ones(T, T, dtype=torch.bool)
    if mask is None:
        return keep
    return keep & (mask[:, None] if mask.ndim == 3 else mask)


def hide(m: Any, scores: Tensor, mask: Tensor | None) -> Tensor:
    return scores.masked_fill(~allowed(m, scores, mask), -torch.inf)


def softmax(m: Any, scores: Tensor) -> Tensor:
    return scores.softmax(dim=-1).nan_to_num(0.0) if m.masked else scores.softmax(-1)


def drop(m: Any, weights: Tensor) -> Tensor:
    return m.dropout(weights)


def merge(m: Any, context: Tensor) -> Tensor:
    return context.transpose(1, 2).flatten(2)


def out(m: Any, context: Tensor) -> Tensor:
    return context if m.out_proj is None else m.out_proj(context)


def call(m: Any, run: Callable[[Tensor], Tensor], x: Tensor) -> Any:
    return run(x)


RIGHT: dict[str, Step] = {
    step.__name__: step
    for step in (
        project,
        split,
        repeat,
        share,
        score,
        hide,
        softmax,
        drop,
        merge,
        out,
        call,
    )
}
OF_FUNCTIONS = {"share", "score", "hide", "softmax", "drop"}


def attend(
    m: Any, do: Mapping[str, Step], qkv: tuple[Tensor, ...], mask: Tensor | None
) -> Tensor:
    q, k, v = do["share"](m, *qkv)
    scores = do["hide"](m, do["score"](m, q, k), mask)
    return do["drop"](m, do["softmax"](m, scores)) @ v


class Attention(nn.Module):
    """Attention in steps; as it stands, right."""

    masked = False

    def __init__(
        self,
        sizes: Sizes,
        *,
        causal: bool = True,
        bias: bool = True,
        joined: bool = True,
        p: float | None = None,
        groups: int | None = None,
        **steps: Step,
    ):
        super().__init__()
        self.width, self.heads = sizes.width, sizes.heads
        self.d_in, self.context_length = sizes.d_in, sizes.context
        self.causal, self.steps = causal, RIGHT | steps
        wide = sizes.heads * sizes.width
        narrow = (groups or sizes.heads) * sizes.width
        self.W_query = nn.Linear(sizes.d_in, wide, bias=bias)
        self.W_key = nn.Linear(sizes.d_in, narrow, bias=bias)
        self.W_value = nn.Linear(sizes.d_in, narrow, bias=bias)
        self.out_proj = nn.Linear(wide, sizes.d_out) if joined else None
        self.dropout = nn.Identity() if p is None else nn.Dropout(p)

    def forward(self, x: Tensor) -> Any:
        return self.steps["call"](self, self.run, x)

    def run(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        do = self.steps
        q, k, v = (do["split"](self, part) for part in do["project"](self, x))
        k, v = do["repeat"](self, k), do["repeat"](self, v)
        return do["out"](self, do["merge"](self, attend(self, do, (q, k, v), mask)))


class PairMasked(Attention):
    """It takes a mask of shape (T, S) or (B, T, S); True: may look."""

    masked = True

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Any:
        return self.steps["call"](self, lambda y: self.run(y, mask), x)


class KeyMasked(Attention):
    """It takes a mask of shape (B, S); True: may be looked at."""

    masked = True

    def forward(self, x: Tensor, padding_mask: Tensor | None = None) -> Any:
        mask = padding_mask
        if mask is not None:
            mask = mask[:, None].expand(-1, x.shape[1], -1)
        return self.steps["call"](self, lambda y: self.run(y, mask), x)


def function(*, causal: bool, **steps: Step) -> Callable[..., Tensor]:
    """Make a function of queries, keys and values with heads."""
    do = RIGHT | {"drop": lambda m, weights: weights} | steps

    def attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        heads, width = query.shape[1], query.shape[3]
        m = SimpleNamespace(
            heads=heads, width=width, causal=causal, masked=False, d_in=None
        )
        return attend(m, do, (query, key, value), None)

    return attention


# What can go wrong.


class Mistake(NamedTuple):
    """One or more wrong steps, and what a check is to say.

    Attributes:
        fails: A property that does not hold.
        steps: The wrong steps.
        change: The change of the recipe that is exactly this mistake, if there is one.
        options: What else the module must have for the mistake to show.
        kind: The module.
        function: Whether a function can have it too.
    """

    fails: str
    steps: dict[str, Step]
    change: dict[str, Any] | None = None
    options: dict[str, Any] = {}  # noqa: RUF012  # nobody writes to it
    kind: type[Attention] = Attention
    function: bool = True


EQUATION = "equals the equation"
LEAK = "no leak from the future"
PAST = "every allowed token counts"
SUM = "equal tokens, equal rows"
ORDER = "the order seen does not matter"
TEXTS = "texts do not move each other"
ALONE = "the same alone as in a batch"
LONGER = "earlier rows stay"
SIZE = "any sizes"
CONTEXT = "longer than the context"
AGAIN = "a call leaves nothing behind"
EVAL = "eval is not random"
TRAINING = "training computes the same"
DROPOUT = "dropout keeps the mean"
OBEYED = "masks are obeyed"
PADDING = "padding is not seen"
FULLY_MASKED = "fully masked rows harm nobody"
GRADIENTS = "gradients arrive"
LARGE = "large scores"
HALF = "types and half precision"


def scaled(factor: Callable[[Any, int], float]) -> dict[str, Step]:
    return {"score": lambda m, q, k: q @ k.mT * factor(m, q.shape[2])}


SCALES: dict[str, Mistake] = {
    name: Mistake(EQUATION, scaled(factor), {"scale": change}, function=everywhere)
    for name, change, everywhere, factor in [
        ("no scale", "1", True, lambda m, T: 1),
        ("scaled twice", "1/D", True, lambda m, T: 1 / m.width),
        ("multiplied", "sqrt(D)", True, lambda m, T: m.width**0.5),
        (
            "all heads' root",
            "1/sqrt(E)",
            True,
            lambda m, T: (m.width * m.heads) ** -0.5,
        ),
        ("all heads' width", "1/E", True, lambda m, T: 1 / m.width / m.heads),
        ("the tokens' root", "1/sqrt(d_in)", False, lambda m, T: m.d_in**-0.5),
        ("the text's root", "1/sqrt(T)", True, lambda m, T: T**-0.5),
        ("the heads' root", "1/sqrt(H)", True, lambda m, T: m.heads**-0.5),
    ]
} | {
    "scaled after the softmax": Mistake(
        EQUATION,
        {
            **scaled(lambda m, T: 1),
            "softmax": lambda m, s: s.softmax(-1) * m.width**-0.5,
        },
        {"scale": "1", "after": "1/sqrt(D)"},
    ),
    "scaled before and after the softmax": Mistake(
        EQUATION,
        {"softmax": lambda m, s: s.softmax(-1) * m.width**-0.5},
        {"after": "1/sqrt(D)"},
    ),
}


def on_axis(*axes: int) -> dict[str, Step]:
    return {"softmax": lambda m, s: (s - s.logsumexp(axes, keepdim=True)).exp()}


SEEING = {"causal": False}
AXES: dict[str, Mistake] = {
    "softmax over the queries": Mistake(SUM, on_axis(2), {"axis": "queries"}),
    "softmax over the queries, unmasked": Mistake(
        EQUATION, on_axis(2), {"axis": "queries"}, SEEING
    ),
    "softmax over the heads": Mistake(EQUATION, on_axis(1), {"axis": "heads"}, SEEING),
    "softmax over the heads, masked": Mistake(EQUATION, on_axis(1)),
    "softmax over all heads": Mistake(
        EQUATION, on_axis(1, 3), {"axis": "heads and keys"}, SEEING
    ),
    "softmax over the texts": Mistake(TEXTS, on_axis(0), {"axis": "texts"}, SEEING),
    "softmax over the texts, masked": Mistake(EQUATION, on_axis(0)),
    "softmax over all queries of all texts": Mistake(
        TEXTS, on_axis(0, 2), {"axis": "texts and queries"}, SEEING
    ),
    "no softmax": Mistake(
        SUM,
        {"softmax": lambda m, s: s.masked_fill(s == -torch.inf, 0.0)},
        {"axis": "none"},
    ),
    "divided by the number of tokens": Mistake(
        LONGER, {"softmax": lambda m, s: s.softmax(-1) / s.shape[-1]}
    ),
    "the naive softmax": Mistake(
        LARGE,
        {"softmax": lambda m, s: s.exp() / s.exp().sum(-1, keepdim=True)},
    ),
}


def fill(keep: Callable[[Any, Tensor], Tensor], value: float = -torch.inf) -> Any:
    return {"hide": lambda m, s, mask: s.masked_fill(~keep(m, s), value)}


def square(s: Tensor) -> Tensor:
    return torch.ones(s.shape[-2:], dtype=torch.bool)


def after_the_softmax(m: Any, s: Tensor) -> Tensor:
    return s.softmax(-1) * past(s.shape[-1])


def lost(m: Any, scores: Tensor, mask: Tensor | None) -> Tensor:
    hide(m, scores, mask)  # a new tensor, and nobody has it
    return scores


def wrong_rows(m: Any, s: Tensor) -> Tensor:
    T, longest = s.shape[-1], m.context_length
    return past(longest + 1)[longest + 1 - T :, :T]


def shifted_rows(m: Any, s: Tensor) -> Tensor:
    T = s.shape[-1]
    return past(m.context_length + 1)[1 : T + 1, :T]


def no_key_beyond(m: Any, s: Tensor) -> Tensor:
    """Hide as far as the table reaches, and nothing beyond."""
    T, keep = s.shape[-1], square(s).clone()
    C = min(T, m.context_length)
    keep[:C, :C] = past(C)
    return keep


def of_the_first_call(m: Any, s: Tensor) -> Tensor:
    T = s.shape[-1]
    if not hasattr(m, "kept"):
        m.kept = past(T)
    return m.kept[:T, :T]


def float_mask(m: Any, s: Tensor, mask: Tensor | None) -> Tensor:
    return s + torch.zeros(s.shape[-2:]).masked_fill(~past(s.shape[-1]), -torch.inf)


MASKS: dict[str, Mistake] = {
    "no mask": Mistake(LEAK, fill(lambda m, s: square(s)), {"mask": "none"}),
    "the result of masked_fill is lost": Mistake(
        LEAK, {"hide": lost}, {"mask": "none"}
    ),
    "inverted": Mistake(
        LEAK, fill(lambda m, s: ~past(s.shape[-1])), {"mask": "inverted"}
    ),
    "flipped": Mistake(LEAK, fill(lambda m, s: square(s).triu()), {"mask": "flipped"}),
    "the next token is seen": Mistake(
        LEAK, fill(lambda m, s: square(s).tril(1)), {"mask": "next"}
    ),
    "its own place is hidden": Mistake(
        PAST, fill(lambda m, s: square(s).tril(-1)), {"mask": "not itself"}
    ),
    "added": Mistake(
        LEAK, {"hide": lambda m, s, mask: s + past(s.shape[-1])}, {"mask": "added"}
    ),
    "added upside down": Mistake(
        LEAK,
        {"hide": lambda m, s, mask: s + square(s).triu(1)},
        {"mask": "added, upside down"},
    ),
    "zeros": Mistake(LEAK, fill(lambda m, s: past(s.shape[-1]), 0.0), {"mask": "zero"}),
    "after the softmax": Mistake(
        SUM,
        {"hide": lambda m, s, mask: s, "softmax": after_the_softmax},
        {"mask": "after the softmax"},
    ),
    "not low enough": Mistake(LEAK, fill(lambda m, s: past(s.shape[-1]), -1e4)),
    "low only for small scores": Mistake(
        LEAK, fill(lambda m, s: past(s.shape[-1]), -100)
    ),
    "in training only": Mistake(
        TRAINING,
        {"hide": lambda m, s, mask: hide(m, s, mask) if m.training else s},
        {"mask": "none"},
        function=False,
    ),
    "in eval only": Mistake(
        TRAINING,
        {"hide": lambda m, s, mask: s if m.training else hide(m, s, mask)},
        function=False,
    ),
    "not with dropout": Mistake(
        LEAK,
        {
            "hide": lambda m, s, mask: (
                s if m.training and m.dropout.p else hide(m, s, mask)
            )
        },
        options={"p": 0.0},
        function=False,
    ),
    "cut from the lower corner": Mistake(
        LEAK, fill(wrong_rows), {"mask": "none"}, function=False
    ),
    "cut one row too low": Mistake(
        LEAK, fill(shifted_rows), {"mask": "next"}, function=False
    ),
    "shorter than the text": Mistake(CONTEXT, fill(no_key_beyond), function=False),
    "of the first call": Mistake(LONGER, fill(of_the_first_call), function=False),
    "in 32 bits": Mistake(HALF, {"hide": float_mask}),
    "too low for 16 bits": Mistake(HALF, fill(lambda m, s: past(s.shape[-1]), -1e9)),
    "forgets the past": Mistake(PAST, fill(lambda m, s: past(s.shape[-1]).triu(-2))),
}


def with_roles(roles: str) -> dict[str, Step]:
    layers = {"q": "W_query", "k": "W_key", "v": "W_value"}
    return {
        "project": lambda m, x: tuple(getattr(m, layers[role])(x) for role in roles)
    }


def first(part: Tensor) -> Tensor:
    return part[:, :1].expand_as(part)


def shared(letters: str) -> dict[str, Step]:
    return {
        "share": lambda m, *qkv: tuple(
            first(part) if letter in letters else part
            for letter, part in zip("qkv", qkv, strict=True)
        )
    }


def without_biases(m: Any, x: Tensor) -> tuple[Tensor, ...]:
    layers = m.W_query, m.W_key, m.W_value
    return tuple(linear(x, layer.weight) for layer in layers)


def tile(m: Any, part: Tensor) -> Tensor:
    return part.repeat(1, m.heads // part.shape[1], 1, 1)


ROLES = ("kqv", "qvk", "vkq", "kkv", "qqv", "qkk", "qkq", "kvq", "vqk")
HEADS: dict[str, Mistake] = {
    **{
        f"roles {roles}": Mistake(
            EQUATION, with_roles(roles), {"roles": roles}, function=False
        )
        for roles in ROLES
    },
    **{
        f"shared {letters}": Mistake(
            EQUATION,
            shared(letters),
            {"shared": letters},
        )
        for letters in ("qkv", "q", "k", "v", "kv")
    },
    "split by a view": Mistake(
        LEAK,
        {"split": lambda m, part: part.reshape(len(part), -1, part.shape[1], m.width)},
        {"split": "view"},
        function=False,
    ),
    "merged by a view": Mistake(
        LEAK,
        {"merge": lambda m, c: c.reshape(len(c), c.shape[2], -1)},
        {"merge": "view"},
        function=False,
    ),
    "heads meet, not tokens": Mistake(
        PAST,
        {
            "share": lambda m, *qkv: [part.transpose(1, 2) for part in qkv],
            "merge": lambda m, c: c.flatten(2),
        },
        {"attend": "heads"},
        function=False,
    ),
    "out_proj is never used": Mistake(
        GRADIENTS, {"out": lambda m, c: c}, {"out": False}, function=False
    ),
    "biases are lost": Mistake(
        EQUATION, {"project": without_biases}, {"bias": False}, function=False
    ),
    "groups are tiled": Mistake(
        EQUATION,
        {"repeat": tile},
        {"groups": "tile"},
        {"groups": True},
        function=False,
    ),
}


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


def called(wrong: Callable[..., Any]) -> dict[str, Step]:
    """Make a step of what a call does around the work."""
    return {"call": wrong}


def counting(m: Any, run: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    if "calls" not in dict(m.named_buffers()):
        m.register_buffer("calls", torch.zeros(()))
    m.calls += 1
    return run(x)


def keeping(m: Any, weights: Tensor) -> Tensor:
    m.last = weights
    return m.dropout(weights)


def keeping_all(m: Any, weights: Tensor) -> Tensor:
    m.history = [*getattr(m, "history", [])[-2:], weights]
    return m.dropout(weights)


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
    "weights are kept": Mistake(AGAIN, {"drop": keeping}),
    "weights are kept in a list": Mistake(AGAIN, {"drop": keeping_all}),
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
        ALONE, called(lambda m, run, x: run(x) / len(x))
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
        PAST, called(lambda m, run, x: run(x) / (torch.arange(x.shape[1]) > 0)[:, None])
    ),
    "all is nan": Mistake(EQUATION, called(lambda m, run, x: run(x) * torch.nan)),
    "all is one": Mistake(PAST, called(lambda m, run, x: run(x) * 0 + 1)),
}
CALLS = {name: one._replace(function=False) for name, one in CALLS.items()}


def naively(m: Any, scores: Tensor) -> Tensor:
    return scores.softmax(-1)


def hidden_rows(m: Any, scores: Tensor, mask: Tensor | None) -> Tensor:
    keep = None if mask is None else mask.mT
    return hide(m, scores, keep)


def either(m: Any, scores: Tensor, mask: Tensor | None) -> Tensor:
    keep = allowed(m, scores, None)
    if mask is not None:
        keep = keep | (mask[:, None] if mask.ndim == 3 else mask)
    return scores.masked_fill(~keep, -torch.inf)


def multiplied(m: Any, scores: Tensor, mask: Tensor | None) -> Tensor:
    factor = 1 if mask is None else (mask[:, None] if mask.ndim == 3 else mask)
    return hide(m, scores * factor, None)


def masked_values(m: Any, scores: Tensor, mask: Tensor | None) -> Tensor:
    """Hide after the softmax what the caller hides."""
    m.factor = allowed(m, scores, mask)
    return hide(m, scores, None)


def of_the_first_mask(m: Any, scores: Tensor, mask: Tensor | None) -> Tensor:
    if mask is not None:
        m.kept = getattr(m, "kept", mask)
        return hide(m, scores, m.kept)
    return hide(m, scores, None)


GIVEN: dict[str, Mistake] = {
    "the mask is ignored": Mistake(
        OBEYED, {"hide": lambda m, s, mask: hide(m, s, None)}
    ),
    "the mask hides rows": Mistake(OBEYED, {"hide": hidden_rows}),
    "the mask or the past": Mistake(OBEYED, {"hide": either}),
    "the mask is multiplied": Mistake(OBEYED, {"hide": multiplied}),
    "the mask is applied after the softmax": Mistake(
        OBEYED,
        {
            "hide": masked_values,
            "softmax": lambda m, s: s.softmax(-1) * m.factor,
        },
    ),
    "the first mask is kept": Mistake(PADDING, {"hide": of_the_first_mask}),
    "nan where nothing is seen": Mistake(FULLY_MASKED, {"softmax": naively}),
    "nan where nothing is seen, hidden later": Mistake(
        FULLY_MASKED,
        {"softmax": naively, "out": lambda m, c: m.out_proj(c.nan_to_num(0.0))},
    ),
    "only the first text's mask": Mistake(
        PADDING,
        {
            "hide": lambda m, s, mask: hide(
                m, s, mask if mask is None or mask.ndim < 3 else mask[:1]
            )
        },
    ),
}

TABLES = {
    "scale": SCALES,
    "axis": AXES,
    "mask": MASKS,
    "heads": HEADS,
    "dropout": DROPOUTS,
    "call": CALLS,
}
MISTAKES: dict[str, Mistake] = {
    f"{kind}: {name}": mistake
    for kind, table in TABLES.items()
    for name, mistake in table.items()
}


def build(size: str, *mistakes: Mistake) -> Attention:
    """Make a module with one or more mistakes."""
    steps: dict[str, Step] = {}
    options: dict[str, Any] = {}
    for mistake in mistakes:
        steps |= mistake.steps
        options |= mistake.options
    sizes = SIZES[size]
    if "groups" in options:
        sizes, options["groups"] = GROUPED[size]
    return mistakes[0].kind(sizes, **options, **steps)
