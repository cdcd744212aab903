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

from headway.practice import Exercise, Wrong

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
    wrong=[
        Wrong(
            "query, key, value = torch.randn(3, 2, 7, 4, dtype=torch.float64)",
            "query = key = value = torch.randn(2, 7, 4, dtype=torch.float64)",
            "queries, keys and values are the same, so that to swap them changes "
            "nothing",
        ),
        Wrong(
            "query, key, value = torch.randn(3, 2, 7, 4, dtype=torch.float64)",
            "query, key, value = torch.ones(3, 2, 7, 4, dtype=torch.float64)",
            "all numbers are one, and all ten give what the right one does",
        ),
        Wrong(
            "torch.allclose(weights @ value, rows)",
            "torch.allclose((weights @ value)[:, -1], rows[:, -1])",
            "only the last row is compared, which has no future",
        ),
        Wrong(
            "torch.allclose(weights @ value, rows)",
            "torch.allclose((weights @ value)[:, 0], rows[:, 0])",
            "only the first row is compared",
        ),
        Wrong(
            "torch.allclose(weights @ value, rows)",
            "torch.allclose(weights @ value, rows, atol=10.0)",
            "a tolerance is so wide that all ten are alike",
            same_as="it always says right",
        ),
        Wrong(
            "torch.allclose(weights @ value, rows)",
            "torch.equal(weights @ value, rows)",
            "numbers are compared to the last digit, which rounding decides",
        ),
        Wrong(
            "weigh(scores.mT, past)",
            "weigh(scores, past.mT)",
            "the mask is transposed for swapped queries and keys; it should be the "
            "scores",
        ),
        Wrong(
            "torch.allclose(weights @ value, rows)",
            "(weights @ value).shape == rows.shape",
            "shapes are compared, and no numbers",
            same_as="it always says right",
        ),
        Wrong(
            "all_keys.tril(1)",
            "past.tril(1)",
            '"next token seen" is not recognised: its triangle must have one '
            "diagonal more than that of the past, as all_keys.tril(1) has",
        ),
        Wrong(
            "weigh(scores, all_keys) * past",
            "weigh(scores, past) * past",
            '"hidden after the softmax" is not recognised: the softmax must run '
            "over all keys, and the triangle be cut afterwards",
        ),
        Wrong(
            "weigh(scores * past, all_keys)",
            "weigh(scores * past, past)",
            '"hidden scores are zero" is not recognised: the triangle of scores '
            "must go into a softmax over all keys",
        ),
        Wrong(
            "weigh(scores * 2, past)",
            "weigh(scores / 2, past)",
            '"no scale" divides once more; it should not be divided at all',
        ),
        Wrong(
            "weigh(scores / 2, past)",
            "weigh(scores * 2, past)",
            '"scaled twice" is not recognised: the products must be divided by D, '
            "which is its root twice",
        ),
        Wrong(
            "weigh(scores, past, dim=-2)",
            "weigh(scores, all_keys, dim=-2)",
            '"softmax over the queries" is not recognised: columns must sum to '
            "one, with the future hidden before",
        ),
        Wrong(
            "weigh(scores, all_keys.triu())",
            "weigh(scores, all_keys.triu(1))",
            '"triangle flipped" is not recognised: a token must see itself and all '
            "behind it, as in all_keys.triu()",
        ),
        Wrong(
            "    rows = attend(query, key, value)\n",
            "    return 'right'\n    rows = attend(query, key, value)\n",
            "it always says right",
        ),
        Wrong(
            "torch.allclose(weights @ value, rows)",
            "torch.allclose(weights, rows)",
            "weights are compared with rows: the values are missing",
        ),
        Wrong(
            "weigh(scores.mT, past)",
            "weigh(scores, past).mT",
            '"queries and keys swapped" is not recognised: the scores must be '
            "transposed, and then the past be kept",
        ),
        Wrong(
            "query, key, value = torch.randn(3, 2, 7, 4, dtype=torch.float64)\n"
            "    all_keys = torch.ones(7, 7, dtype=torch.bool)",
            "query, key, value = torch.randn(3, 2, 2, 4, dtype=torch.float64)\n"
            "    all_keys = torch.ones(2, 2, dtype=torch.bool)",
            "the probe has two tokens, at which the next token is all of the future",
        ),
        Wrong(
            "query, key, value = torch.randn(3, 2, 7, 4, dtype=torch.float64)",
            "query, key, value = torch.randn(3, 2, 7, 4, dtype=torch.float64)\n"
            "    query = key",
            "queries and keys are the same, so that to swap them changes nothing",
            same_as="queries, keys and values are the same, so that to swap them "
            "changes nothing",
        ),
        Wrong(
            "query, key, value = torch.randn(3, 2, 7, 4, dtype=torch.float64)",
            "query, key, value = torch.randn(3, 2, 7, 4, dtype=torch.float64)\n"
            "    value = torch.ones_like(value)",
            "all values are one, so that only the sums of weights are seen",
            same_as="all numbers are one, and all ten give what the right one does",
        ),
        Wrong(
            "query, key, value = torch.randn(3, 2, 7, 4, dtype=torch.float64)",
            "query, key, value = torch.randn(3, 2, 7, 4, dtype=torch.float64)\n"
            "    query = torch.zeros_like(query)",
            "all scores are zero, so that neither their scale nor their order is seen",
        ),
        Wrong(
            '        "no scale": weigh(scores * 2, past),\n'
            '        "scaled twice": weigh(scores / 2, past),',
            '        "no scale": weigh(scores / 2, past),\n'
            '        "scaled twice": weigh(scores * 2, past),',
            '"no scale" and "scaled twice" are exchanged',
        ),
        Wrong(
            "    for name, weights in ways.items():\n"
            "        if torch.allclose(weights @ value, rows):\n"
            "            return name\n"
            '    return "none of them"',
            "    for name, weights in ways.items():\n"
            "        if torch.allclose(weights @ value, rows):\n"
            '            return "right" if name in ("no scale", "scaled '
            'twice") else name\n'
            '    return "none of them"',
            "the vectors have one number, at which D and its root are one, so that "
            "scales are not told apart",
        ),
        Wrong(
            '"softmax over the queries": weigh(scores, past, dim=-2)',
            '"softmax over the queries": weigh(scores, past, dim=0)',
            "the softmax over the queries runs over axis 0, which are the texts",
            same_as='"softmax over the queries" is not recognised: columns must '
            "sum to one, with the future hidden before",
        ),
        Wrong(
            '"no scale": weigh(scores * 2, past)',
            '"no scale": weigh(scores * 4, past)',
            '"no scale" is not recognised: its scores must be the bare products of '
            "queries and keys",
        ),
        Wrong(
            '"nothing hidden": weigh(scores, all_keys)',
            '"nothing hidden": weigh(scores, past)',
            '"nothing hidden" is not recognised: all keys must be kept',
        ),
        Wrong(
            "query, key, value = torch.randn(3, 2, 7, 4, dtype=torch.float64)\n"
            "    all_keys = torch.ones(7, 7, dtype=torch.bool)",
            "query, key, value = torch.randn(3, 2, 1, 4, dtype=torch.float64)\n"
            "    all_keys = torch.ones(1, 1, dtype=torch.bool)",
            "the probe has one token, which has no other to look at",
            same_as="it always says right",
        ),
        Wrong(
            "            return name\n",
            "            return name.title()\n",
            "the names are written otherwise than in NAMES",
        ),
        Wrong(
            "            return name\n",
            "            return list(ways).index(name)\n",
            "the number of a name is given; it should be the name",
            same_as="the names are written otherwise than in NAMES",
        ),
        Wrong(
            "        if torch.allclose(weights @ value, rows):\n"
            "            return name\n"
            '    return "none of them"',
            "        if torch.allclose(weights @ value, rows):\n"
            '            return "right" if name == "no scale" else name\n'
            '    return "none of them"',
            '"no scale" is taken for right: its weights are not recognised, or '
            "those of right come out for it",
        ),
        Wrong(
            "        if torch.allclose(weights @ value, rows):\n"
            "            return name\n"
            '    return "none of them"',
            "        if torch.allclose(weights @ value, rows):\n"
            '            return "right" if name == "scaled twice" else name\n'
            '    return "none of them"',
            '"scaled twice" is taken for right: its weights are not recognised, or '
            "those of right come out for it",
        ),
        Wrong(
            "        if torch.allclose(weights @ value, rows):\n"
            "            return name\n"
            '    return "none of them"',
            "        if torch.allclose(weights @ value, rows):\n"
            '            return "right" if name == "softmax over the '
            'queries" else name\n'
            '    return "none of them"',
            '"softmax over the queries" is taken for right: its weights are not '
            "recognised, or those of right come out for it",
        ),
        Wrong(
            "        if torch.allclose(weights @ value, rows):\n"
            "            return name\n"
            '    return "none of them"',
            "        if torch.allclose(weights @ value, rows):\n"
            '            return "right" if name == "queries and keys '
            'swapped" else name\n'
            '    return "none of them"',
            '"queries and keys swapped" is taken for right: its weights are not '
            "recognised, or those of right come out for it",
            same_as="queries, keys and values are the same, so that to swap them "
            "changes nothing",
        ),
        Wrong(
            "        if torch.allclose(weights @ value, rows):\n"
            "            return name\n"
            '    return "none of them"',
            "        if torch.allclose(weights @ value, rows):\n"
            '            return "right" if name == "nothing hidden" else name\n'
            '    return "none of them"',
            '"nothing hidden" is taken for right: its weights are not recognised, '
            "or those of right come out for it",
        ),
        Wrong(
            "        if torch.allclose(weights @ value, rows):\n"
            "            return name\n"
            '    return "none of them"',
            "        if torch.allclose(weights @ value, rows):\n"
            '            return "right" if name == "next token seen" else name\n'
            '    return "none of them"',
            '"next token seen" is taken for right: its weights are not recognised, '
            "or those of right come out for it",
        ),
        Wrong(
            "        if torch.allclose(weights @ value, rows):\n"
            "            return name\n"
            '    return "none of them"',
            "        if torch.allclose(weights @ value, rows):\n"
            '            return "right" if name == "triangle flipped" else name\n'
            '    return "none of them"',
            '"triangle flipped" is taken for right: its weights are not '
            "recognised, or those of right come out for it",
        ),
        Wrong(
            "        if torch.allclose(weights @ value, rows):\n"
            "            return name\n"
            '    return "none of them"',
            "        if torch.allclose(weights @ value, rows):\n"
            '            return "right" if name == "hidden after the '
            'softmax" else name\n'
            '    return "none of them"',
            '"hidden after the softmax" is taken for right: its weights are not '
            "recognised, or those of right come out for it",
        ),
        Wrong(
            "        if torch.allclose(weights @ value, rows):\n"
            "            return name\n"
            '    return "none of them"',
            "        if torch.allclose(weights @ value, rows):\n"
            '            return "right" if name == "hidden scores are '
            'zero" else name\n'
            '    return "none of them"',
            '"hidden scores are zero" is taken for right: its weights are not '
            "recognised, or those of right come out for it",
        ),
        Wrong(
            "query @ key.mT / 2",
            "query @ key.mT",
            "all scores are taken without their division by the root of D, which is 2 "
            "here",
        ),
        Wrong(
            "torch.randn(3, 2, 7, 4,",
            "torch.randn(3, 7, 4,",
            "the probe has no axis for texts; attend takes (B, T, D)",
        ),
        Wrong(
            "past, scores = all_keys.tril(),",
            "past, scores = all_keys.triu(1),",
            "the mask is turned round: True should be what is seen",
        ),
        Wrong(
            "weigh(scores, all_keys) * past",
            "(weigh(scores, all_keys) * past)\n"
            "        / (weigh(scores, all_keys) * past).sum(dim=-1, keepdim=True)",
            '"hidden after the softmax" is taken for right: what is left is made to '
            "sum to one again; it should stay as it is",
            same_as='"hidden after the softmax" is not recognised: the softmax must '
            "run over all keys, and the triangle be cut afterwards",
        ),
        Wrong(
            "weigh(scores / 2, past)",
            "weigh(scores / 4, past)",
            '"scaled twice" is divided by D once more; scores that are divided by the '
            "root of D already lack only the root",
            same_as='"scaled twice" is not recognised: the products must be divided '
            "by D, which is its root twice",
        ),
        Wrong(
            "        if torch.allclose(weights @ value, rows):\n"
            "            return name\n"
            '    return "none of them"',
            "        if torch.allclose(weights @ value, rows):\n"
            '            missed = ("softmax over the queries", "triangle flipped")\n'
            '            return "none of them" if name in missed else name\n'
            '    return "none of them"',
            'of "softmax over the queries" and "triangle flipped" neither is '
            "recognised: their weights differ from what the task says",
        ),
        Wrong(
            "        if torch.allclose(weights @ value, rows):\n"
            "            return name\n"
            '    return "none of them"',
            "        if torch.allclose(weights @ value, rows):\n"
            '            missed = ("softmax over the queries", "triangle flipped")\n'
            '            return "right" if name in missed else name\n'
            '    return "none of them"',
            'of "softmax over the queries" and "triangle flipped" both are taken for '
            "right",
        ),
        Wrong(
            "        if torch.allclose(weights @ value, rows):\n"
            "            return name\n"
            '    return "none of them"',
            "        if torch.allclose(weights @ value, rows):\n"
            '            missed = ("softmax over the queries", "queries and keys '
            'swapped")\n'
            '            return "none of them" if name in missed else name\n'
            '    return "none of them"',
            'of "softmax over the queries" and "queries and keys swapped" neither is '
            "recognised: their weights differ from what the task says",
        ),
        Wrong(
            "        if torch.allclose(weights @ value, rows):\n"
            "            return name\n"
            '    return "none of them"',
            "        if torch.allclose(weights @ value, rows):\n"
            '            missed = ("softmax over the queries", "queries and keys '
            'swapped")\n'
            '            return "right" if name in missed else name\n'
            '    return "none of them"',
            'of "softmax over the queries" and "queries and keys swapped" both are '
            "taken for right",
        ),
        Wrong(
            "        if torch.allclose(weights @ value, rows):\n"
            "            return name\n"
            '    return "none of them"',
            "        if torch.allclose(weights @ value, rows):\n"
            '            missed = ("next token seen", "triangle flipped")\n'
            '            return "none of them" if name in missed else name\n'
            '    return "none of them"',
            'of "next token seen" and "triangle flipped" neither is recognised: their '
            "weights differ from what the task says",
        ),
        Wrong(
            "        if torch.allclose(weights @ value, rows):\n"
            "            return name\n"
            '    return "none of them"',
            "        if torch.allclose(weights @ value, rows):\n"
            '            missed = ("next token seen", "triangle flipped")\n'
            '            return "right" if name in missed else name\n'
            '    return "none of them"',
            'of "next token seen" and "triangle flipped" both are taken for right',
        ),
        Wrong(
            "        if torch.allclose(weights @ value, rows):\n"
            "            return name\n"
            '    return "none of them"',
            "        if torch.allclose(weights @ value, rows):\n"
            '            missed = ("hidden after the softmax", "hidden scores are '
            'zero")\n'
            '            return "none of them" if name in missed else name\n'
            '    return "none of them"',
            'of "hidden after the softmax" and "hidden scores are zero" neither is '
            "recognised: their weights differ from what the task says",
        ),
        Wrong(
            "        if torch.allclose(weights @ value, rows):\n"
            "            return name\n"
            '    return "none of them"',
            "        if torch.allclose(weights @ value, rows):\n"
            '            missed = ("hidden after the softmax", "hidden scores are '
            'zero")\n'
            '            return "right" if name in missed else name\n'
            '    return "none of them"',
            'of "hidden after the softmax" and "hidden scores are zero" both are '
            "taken for right",
        ),
        Wrong(
            "        if torch.allclose(weights @ value, rows):\n"
            "            return name\n"
            '    return "none of them"',
            "        if torch.allclose(weights @ value, rows):\n"
            '            missed = ("softmax over the queries", "scaled twice")\n'
            '            return "none of them" if name in missed else name\n'
            '    return "none of them"',
            'of "softmax over the queries" and "scaled twice" neither is recognised: '
            "their weights differ from what the task says",
        ),
        Wrong(
            "        if torch.allclose(weights @ value, rows):\n"
            "            return name\n"
            '    return "none of them"',
            "        if torch.allclose(weights @ value, rows):\n"
            '            missed = ("softmax over the queries", "scaled twice")\n'
            '            return "right" if name in missed else name\n'
            '    return "none of them"',
            'of "softmax over the queries" and "scaled twice" both are taken for right',
        ),
        Wrong(
            "    past, scores = all_keys.tril(), query @ key.mT / 2\n",
            "    past, scores = all_keys.triu(), query @ key.mT / 2\n",
            "the future is kept, and the past is hidden: all_keys.tril() is the past",
        ),
        Wrong(
            '"hidden after the softmax": weigh(scores, all_keys) * past,\n'
            '        "hidden scores are zero": weigh(scores * past, all_keys),',
            '"hidden scores are zero": weigh(scores, all_keys) * past,\n'
            '        "hidden after the softmax": weigh(scores * past, all_keys),',
            '"hidden after the softmax" and "hidden scores are zero" are exchanged',
        ),
    ],
    stars=3,
    minutes=25,
)
