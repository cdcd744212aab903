"""Name the mistake

A causal attention `attend` is right, or it makes one of nine mistakes. Write
`name_it(attend)`, which gives its name, one of `NAMES`.

`attend(query, key, value)` takes three tensors of shape (B, T, D), of any sizes, and
gives rows (B, T, D). You cannot read it, but you can call it: hand it numbers, and see
with which mistake the same comes out. (In 64 bits rounding leaves no doubt.) `weigh` is
there to help.

"hidden after the softmax" sets weights of the future to zero and leaves the others as
they are; "hidden scores are zero" sets scores of the future to zero, before the
softmax. The "softmax over the queries" makes columns sum to one, with the future
hidden. "scaled twice" divides by D, and "next token seen" hides what is later.
"""

from headway.practice import Exercise

# --- your file ---
from collections.abc import Callable

import torch
from torch import Tensor

NAMES = """
right, no scale, scaled twice, softmax over the queries, queries and keys swapped,
nothing hidden, next token seen, triangle flipped, hidden after the softmax,
hidden scores are zero
"""


def weigh(scores: Tensor, keep: Tensor, dim: int = -1) -> Tensor:
    """Make weights of scores (B, T, T), where `keep` (T, T) is True."""
    return scores.masked_fill(~keep, -torch.inf).softmax(dim)


def name_it(attend: Callable[[Tensor, Tensor, Tensor], Tensor]) -> str:
    """Say which of NAMES an attention is."""
    # --- write ---
    query, key, value = torch.randn(3, 2, 7, 4, dtype=torch.float64)
    all_keys = torch.ones(7, 7, dtype=torch.bool)
    past, scores = all_keys.tril(), query @ key.mT / 2
    ways = {
        "right": weigh(scores, past),
        "no scale": weigh(scores * 2, past),
        "scaled twice": weigh(scores / 2, past),
        "softmax over the queries": weigh(scores, past, dim=-2),
        "queries and keys swapped": weigh(scores.mT, past),
        "nothing hidden": weigh(scores, all_keys),
        "next token seen": weigh(scores, all_keys.tril(1)),
        "triangle flipped": weigh(scores, all_keys.triu()),
        "hidden after the softmax": weigh(scores, all_keys) * past,
        "hidden scores are zero": weigh(scores * past, all_keys),
    }
    rows = attend(query, key, value)
    for name, weights in ways.items():
        if torch.allclose(weights @ value, rows):
            return name
    return "none of them"
    # --- written ---


if __name__ == "__main__":
    from headway import attention

    print(name_it(attention))
    # nothing hidden
# --- end of your file ---


def _shares(q: Tensor, k: Tensor, power: float = 0.5, more: int = 0) -> Tensor:
    """Give causal weights, in which `more` tokens of the future are seen."""
    T = q.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(1 + more)
    scores = torch.einsum("btd,bsd->bts", q, k) / q.shape[-1] ** power
    return torch.where(future, -torch.inf, scores).softmax(dim=2)


def right(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """right"""
    return _shares(q, k) @ v


def by_pytorch(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """right, of PyTorch"""
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)


def no_scale(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """no scale"""
    return _shares(q, k, 0.0) @ v


def scaled_twice(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """scaled twice"""
    return _shares(q, k, 1.0) @ v


def over_queries(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """softmax over the queries"""
    T, c = q.shape[1], q.shape[-1] ** -0.5
    past = torch.ones(T, T, dtype=torch.bool).tril()
    scores = torch.where(past, c * q @ k.transpose(1, 2), -torch.inf)
    return scores.softmax(dim=1) @ v


def swapped(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """queries and keys swapped"""
    return _shares(k, q) @ v


def nothing_hidden(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """nothing hidden"""
    return _shares(q, k, more=q.shape[1]) @ v


def next_seen(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """next token seen"""
    return _shares(q, k, more=1) @ v


def flipped(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """triangle flipped"""
    return right(q.flip(1), k.flip(1), v.flip(1)).flip(1)


def after(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """hidden after the softmax"""
    return _shares(q, k, more=q.shape[1]).tril() @ v


def zeros(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """hidden scores are zero"""
    return torch.tril(q @ k.transpose(1, 2) * q.shape[-1] ** -0.5).softmax(dim=2) @ v


def run(name_it, attend):  # type: ignore[no-untyped-def]
    name = name_it(attend)
    return name if isinstance(name, str) and name in KNOWN else "none of the names"


CASES = [
    right,
    by_pytorch,
    no_scale,
    scaled_twice,
    over_queries,
    swapped,
    nothing_hidden,
    next_seen,
    flipped,
    after,
    zeros,
]

KNOWN = {name.strip() for name in NAMES.replace("\n", " ").split(",")}

EXERCISE = Exercise(
    answer="name_it",
    read=(
        "basics/checks/#how-a-difference-is-explained",
        "How a difference is explained",
    ),
    hints=(
        "What would each of the ten give for the same numbers?",
        "Draw queries, keys and values that differ from each other. Compute the rows "
        "in all ten ways, and return the name of those that `attend` gives.",
        "A dictionary from names to weights is handy: weigh makes most of them, with "
        "other scores, a different `keep` or axis. Compare all rows, closely.",
    ),
    draw=lambda d: (CASES[d.case],),
    ask=run,
    trials=[{"case": n} for n in range(len(CASES))],
    survivors={"2 -> 3": "any number of texts does"},
    law="A difference has a name if a wrong equation gives the very same numbers. This "
    "is how your own answers are judged.",
    right=[
        """
        # The nearest of ten: no tolerance is needed, and something is always named.
        q, k, v = torch.randn(3, 1, 5, 9, dtype=torch.float64)
        names = [name.strip() for name in NAMES.replace("\\n", " ").split(",")]
        full = torch.ones(5, 5, dtype=torch.bool)
        low, s = full.tril(), q @ k.mT
        tables = [weigh(s / n, low) for n in (3, 1, 9)]
        tables += [weigh(s / 3, low, 1), weigh(k @ q.mT / 3, low)]
        tables += [weigh(s / 3, keep) for keep in (full, full.tril(1), full.triu())]
        tables += [weigh(s / 3, full).tril(), weigh((s / 3).tril(), full)]
        far = [(attend(q, k, v) - table @ v).norm() for table in tables]
        return names[far.index(min(far))]
        """,
        """
        # The identity as values: the weights themselves come out, and can be looked at.
        q, k = torch.randn(2, 1, 6, 6, dtype=torch.float64)
        found = attend(q, k, torch.eye(6, dtype=torch.float64)[None])
        full = torch.ones(6, 6, dtype=torch.bool)
        raw = q @ k.mT
        s = raw / 6**0.5
        low = full.tril()
        tables = [weigh(s, low), weigh(raw, low), weigh(raw / 6, low)]
        tables += [weigh(s, low, 1), weigh(s.mT, low), weigh(s, full)]
        tables += [weigh(s, full.tril(1)), weigh(s, full.triu())]
        tables += [weigh(s, full).tril(), weigh(s.tril(), full)]
        names = [name.strip() for name in NAMES.replace("\\n", " ").split(",")]
        same = [torch.allclose(found, table) for table in tables]
        return names[same.index(True)]
        """,
    ],
    stars=3,
    minutes=25,
)
