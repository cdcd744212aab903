"""The numbers of the live figures, all computed here and now.

Weights are drawn in float32, as the chapters do it, so that they are theirs. All else
is computed in float64, and so is the same on every processor.
"""

import json
import math
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import torch
from torch import Tensor, nn

from generators import GENERATED
from generators.live.tables import Table, exact, precise, result, rough, square
from headway import (
    MultiHeadAttention,
    Rotary,
    SelfAttentionV2,
    attention,
    attention_scores,
    attention_weights,
    causal_mask,
    delta_rule,
    he_finds_boy,
    linear_attention,
    six_by_rows,
    six_tokens,
    split_heads,
    words_guessing_loss,
)

Module = TypeVar("Module", bound=nn.Module)


class Figure(NamedTuple):
    """A live figure: its tables, and words below them."""

    tables: Callable[[], list[Table]]
    caption: str


def as_typed(inputs: Tensor) -> Tensor:
    """Give inputs that have two decimals as they are typed, not as float32 has them."""
    return inputs.double().round(decimals=2)


def six() -> tuple[tuple[str, ...], Tensor]:
    """Give the six words and their vectors in float64."""
    words, inputs = six_tokens()
    return words, as_typed(inputs)


def drawn(seed: int, make: Callable[[], Module]) -> Module:
    """Make a module with a seed, its weights scaled in float64.

    `nn.Linear` draws 24 random bits for each weight, which `torch.rand` gives as they
    are, and scales them in float32. How that rounds depends on the processor.
    """
    torch.manual_seed(seed)
    module = make().double()
    torch.manual_seed(seed)
    for layer in module.modules():
        if isinstance(layer, nn.Linear):
            for own in layer.parameters():
                bound = layer.in_features**-0.5
                scaled = (2 * torch.rand(own.shape).double() - 1) * bound
                torch.testing.assert_close(scaled, own.detach(), rtol=0, atol=2e-7)
                own.data = scaled
    return module


def words() -> list[Table]:
    """Let nine words look back, by similarity and with a query made by hand."""
    (words, vectors), *matrices = he_finds_boy()
    x, W_query, W_key = (tensor.double() for tensor in (vectors, *matrices))
    query, key = x @ W_query, x @ W_key
    pairs: list[str | tuple[str, int]] = [
        ("noun, pronoun, living", 3),
        ("query", 2),
        ("key", 2),
    ]
    rows = torch.cat([x, query, key], dim=-1)
    roles = Table("vectors", "What each word is, asks and offers", ["", *pairs])
    for word, row in zip(words, rows, strict=True):
        roles.row(word, *(exact(number, 0) for number in row.tolist()))
    ways = {
        "by similarity": attention_weights(x, x, causal=True),
        "by query and key": attention_weights(query, key, causal=True),
    }
    he = words.index("he")
    shares = Table("shares", "The shares that “he” takes from each word", ["", *ways])
    for s, word in enumerate(words):
        shares.row(word, *(result(way[he, s].item(), 2) for way in ways.values()))
    columns = ["", "noun", "pronoun", "living"]
    collected = Table("collected", "What “he” collects", columns)
    for name, way in ways.items():
        collected.row(name, *(result(part, 2) for part in (way @ x)[he].tolist()))
    return [roles, shares, collected]


def query() -> list[Table]:
    """Let each of the six words ask, with the matrices of chapter 3."""
    words, inputs = six()
    torch.manual_seed(42)
    Q, K, V = (inputs @ torch.rand(3, 2).double() for _ in range(3))
    pairs = [("query", 2), ("key", 2), ("value", 2)]
    vectors = Table("vectors", "What each word asks, offers and gives", ["", *pairs])
    for word, row in zip(words, torch.cat([Q, K, V], dim=-1).tolist(), strict=True):
        vectors.row(word, *map(precise, row))
    contexts = Table("contexts", "What each query collects", ["", ("context", 2)])
    for word, row in zip(words, attention(Q, K, V).tolist(), strict=True):
        contexts.row(word, *map(result, row))
    scores, weights = attention_scores(Q, K), attention_weights(Q, K)
    return [
        vectors,
        square("scores", "Scores: a row for each query", words, scores),
        square("weights", "Weights: a row for each query", words, weights),
        contexts,
    ]


WIDTHS = (1, 4, 16, 64, 256, 1024)
KEYS = ("key A", "key B", "key C", "key D", "key E", "key F")


def wide_scores() -> Tensor:
    """Score one random query with six random keys, of which more and more is used."""
    # A draw in which the largest weight grows at every step, as it does on average.
    torch.manual_seed(51)
    query = torch.randn(1, WIDTHS[-1], dtype=torch.float64)
    keys = torch.randn(len(KEYS), WIDTHS[-1], dtype=torch.float64)
    return torch.cat([attention_scores(query[:, :d], keys[:, :d]) for d in WIDTHS])


def softness(scores: Tensor) -> list[float]:
    """Give the largest weight and its slope: that weight times all the others."""
    largest = scores.softmax(dim=-1).max()
    return [largest.item(), (largest * (1 - largest)).item()]


def saturation() -> list[Table]:
    """Show what the width does to a softmax, with and without a scale."""
    scores = wide_scores()
    raw = Table("scores", "Scores of one query, not yet divided", ["width", *KEYS])
    parts = ["largest", "its slope"]
    plain = Table("plain", "Softmax of these scores", ["width", *parts])
    scaled = Table("scaled", "The same, divided by the root", ["width", *parts])
    for width, row in zip(WIDTHS, scores, strict=True):
        raw.row(str(width), *map(rough, row.tolist()))
        plain.row(str(width), *map(result, softness(row)))
        scaled.row(str(width), *map(result, softness(row / width**0.5)))
    return [raw, plain, scaled]


def _moved(x: Tensor, context: Callable[[Tensor], Tensor]) -> Tensor:
    """Replace each token in turn, and measure how far each row moves."""
    columns = []
    for token in range(len(x)):
        changed = x.clone()
        changed[token] = 9.0
        columns.append((context(changed) - context(x)).abs().amax(dim=-1))
    return torch.stack(columns, dim=-1)


@torch.no_grad()
def leak() -> list[Table]:
    """Show which rows feel that a token is another one."""
    words, inputs = six()
    module = drawn(789, lambda: SelfAttentionV2(3, 2))
    layers = module.W_query, module.W_key, module.W_value
    tokens = Table("tokens", "The tokens", ["", ("three numbers", 3)])
    for word, row in zip(words, inputs.tolist(), strict=True):
        tokens.row(word, *map(exact, row))
    heads = ["", *((f"W_{name}", 2) for name in ("query", "key", "value"))]
    matrices = Table("matrices", "The matrices", heads)
    joined = torch.cat([layer.weight.T for layer in layers], dim=-1)
    for name, row in zip(("first", "second", "third"), joined.tolist(), strict=True):
        matrices.row(name, *map(precise, row))

    def context(mask: Tensor | None) -> Callable[[Tensor], Tensor]:
        return lambda x: attention(*(layer(x) for layer in layers), mask=mask)

    said = "How far each row moves if the token of a column becomes three nines, "
    free, causal = (_moved(inputs, context(mask)) for mask in (None, causal_mask(6)))
    return [
        tokens,
        matrices,
        square("free", said + "without a mask", words, free),
        square("causal", said + "with the causal mask", words, causal),
    ]


@torch.no_grad()
def heads() -> list[Table]:
    """Project three tokens, and split the result into two heads."""
    words, rows = six_by_rows()
    inputs = as_typed(rows)
    module = drawn(123, lambda: MultiHeadAttention(6, 6, 3, 0.0, num_heads=2))
    layer = module.W_query
    tokens = Table("tokens", "The tokens", ["", ("six numbers", 6)])
    matrix = Table("matrix", "W_query", ["", ("one column a number", 6)])
    projected = Table("projected", "The projection", ["", ("six numbers", 6)])
    for word, x, q in zip(words, inputs, layer(inputs), strict=True):
        tokens.row(word, *map(exact, x.tolist()))
        projected.row(word, *map(result, q.tolist()))
    ordinals = ("first", "second", "third", "fourth", "fifth", "sixth")
    for name, row in zip(ordinals, layer.weight.T.tolist(), strict=True):
        matrix.row(name, *map(precise, row))
    split = Table("split", "Split into two heads", ["", ("three numbers", 3)])
    for name, head in zip(ordinals[:2], split_heads(layer(inputs), 2), strict=True):
        for word, row in zip(words, head.tolist(), strict=True):
            split.row(f"{name} head, {word}", *map(result, row))
    return [tokens, matrix, projected, split]


@torch.no_grad()
def dropout() -> list[Table]:
    """Give the causal weights of chapter 5, and what dropout may do to their sums."""
    words, inputs = six()
    module = drawn(789, lambda: SelfAttentionV2(3, 2))
    query, key = module.W_query(inputs), module.W_key(inputs)
    weights = attention_weights(query, key, mask=causal_mask(6))
    said = "What dropout does to the sum of a row at a probability of one half"
    sums = Table("sums", said, ["", "mean", "spread", "chance of an empty row"])
    for place, (word, row) in enumerate(zip(words, weights, strict=True), 1):
        # Not four decimals: the last row lies between two roundings, 0.40955.
        spread = result((row**2).sum().sqrt().item(), 3)
        # A power of one half has as many decimals as the power.
        empty = exact(0.5**place, place)
        sums.row(word, result(row.sum().item()), spread, empty)
    kept = square("weights", "The weights, all kept", words, weights, precise)
    return [kept, sums]


def clock() -> list[Table]:
    """Turn a query and a key of two pairs by their positions."""
    vectors = torch.tensor([[0.8, 0.6, 0.6, 0.8], [0.6, 0.8, 1.0, 0.0]]).double()
    vectors = as_typed(vectors)
    turn = Rotary(4, base=100.0)
    pairs = [("fast pair", 2), ("slow pair", 2)]
    given = Table("vectors", "Before they are turned", ["", *pairs])
    for name, row in zip(("query", "key"), vectors.tolist(), strict=True):
        given.row(name, *map(exact, row))
    speeds = Table("speeds", "How far each pair turns in a step", ["", "radians"])
    for name, speed in zip(("fast", "slow"), turn.frequencies.tolist(), strict=True):
        speeds.row(name, exact(speed))
    parts = ["fast pair", "slow pair", "score"]
    scores = Table("scores", "The score by the distance", ["apart", *parts])
    for apart in range(-6, 7):
        at = torch.tensor([6 + apart, 6])
        query, key = turn(vectors, at)
        fast, slow = (query * key).unflatten(-1, (2, 2)).sum(-1).tolist()
        scores.row(str(apart), *map(precise, (fast, slow, fast + slow)))
    return [given, speeds, scores]


def writing() -> list[Table]:
    """Give queries and keys of nine words, and count what each costs."""
    (words, vectors), *matrices = he_finds_boy()
    x, W_query, W_key = (tensor.double() for tensor in (vectors, *matrices))
    pairs: list[str | tuple[str, int]] = [("query", 2), ("key", 2)]
    vectors = Table("vectors", "What each word asks and offers", ["", *pairs])
    rows = torch.cat([x @ W_query, x @ W_key], dim=-1)
    for word, row in zip(words, rows, strict=True):
        vectors.row(word, *(exact(number, 0) for number in row.tolist()))
    ways = ["computed with a cache", "without", "seen", "seen by a window of 3"]
    counts = Table("counts", "Keys, if words are written one by one", ["", *ways])
    for t, word in enumerate(words, 1):
        seen = int(causal_mask(t)[-1].sum())
        counts.row(word, *(exact(n, 0) for n in (1, seen, seen, min(seen, 3))))
    return [vectors, counts]


def groups() -> list[Table]:
    """Say which group each of eight query heads reads, and what a token keeps."""
    heads, width = 8, 128
    counts = (8, 4, 2, 1)
    shared = Table("groups", "The group that a head reads", ["", *map(str, counts)])
    owners = [torch.arange(g).repeat_interleave(heads // g) for g in counts]
    for h in range(heads):
        shared.row(f"head {h}", *(exact(int(one[h]), 0) for one in owners))
    said = "Bytes a token and layer, keys and values of 128 numbers in 16 bits"
    kept = Table("kept", said, ["", "groups", "bytes"])
    for g in counts:
        kept.row(f"{g} of {heads}", exact(g, 0), exact(2 * g * width * 2, 0))
    return [shared, kept]


SCORES = (0.5, 1.5, 1.0, 3.0, 2.0, -0.5, 2.5, 4.0)
VALUES = ((1, 0), (0, 1), (2, 1), (0, 3), (3, 2), (1, 3), (3, 0), (2, 2))
SIZES = (1, 2, 3)


def tiles() -> list[Table]:
    """Go through eight keys in tiles, and keep a maximum, a mass and a mixture."""
    scores, values = (torch.tensor(given).double() for given in (SCORES, VALUES))
    keys = Table("keys", "One query, eight keys", ["key", "score", ("value", 2)])
    for place, (score, value) in enumerate(zip(SCORES, VALUES, strict=True), 1):
        keys.row(str(place), exact(score, 1), *(exact(part, 0) for part in value))
    weights = scores.softmax(dim=-1)
    whole = Table("whole", "All keys at once", ["", "mass", ("context", 2)])
    total = (scores - scores.max()).exp().sum().item()
    whole.row("softmax", precise(total), *map(precise, (weights @ values).tolist()))
    columns = ["keys", "largest", "factor", "mass"]
    pairs = [("mixture", 2), ("context", 2)]
    steps = []
    for size in SIZES:
        table = Table(f"of-{size}", f"In tiles of {size}", [*columns, *pairs])
        steps.append(table)
        largest, sum_, gathered = -torch.inf, 0.0, torch.zeros(2).double()
        for first in range(0, len(scores), size):
            tile = slice(first, first + size)
            before, largest = largest, max(largest, scores[tile].max().item())
            factor = math.exp(before - largest)
            shares = (scores[tile] - largest).exp()
            sum_ = factor * sum_ + shares.sum().item()
            gathered = factor * gathered + shares @ values[tile]
            last = min(first + size, len(scores))
            state = [factor, sum_, *gathered.tolist(), *(gathered / sum_).tolist()]
            name = f"{first + 1}–{last}" if first + 1 < last else str(last)
            table.row(name, exact(largest, 1), *(result(x, 3) for x in state))
        torch.testing.assert_close(gathered / sum_, weights @ values)
    return [keys, whole, *steps]


MEMORY_KEYS = {"e₁": (1.0, 0.0), "e₂": (0.0, 1.0), "between": (0.6, 0.8)}
WRITES = (("e₁", 5, 1), ("e₂", 7, 1), ("e₁", 9, 1), ("between", 9, 1), ("e₁", 5, 0.5))


def memory() -> list[Table]:
    """Write to a memory that corrects what a key holds, and to one that adds."""
    known = Table("keys", "Three keys", ["", ("key", 2)])
    for name, row in MEMORY_KEYS.items():
        known.row(name, *map(exact, row))
    keys = torch.tensor([*MEMORY_KEYS.values()]).double().round(decimals=1)
    key = keys[[[*MEMORY_KEYS].index(name) for name, _, _ in WRITES]]
    value, beta = torch.tensor([write[1:] for write in WRITES]).double().T
    written = Table("writes", "What is written", ["", ("key", 2), "value", "β"])
    columns = ["after", "row 1", "row 2", *(f"{name} reads" for name in MEMORY_KEYS)]
    delta = Table("delta", "The memory of the delta rule", columns)
    summed = Table("sum", "The memory of the sum", columns)
    plain = {"features": None, "normalise": False}
    for n, (row, number, share) in enumerate(zip(key, value, beta, strict=True), 1):
        name, k, v, b = f"write {n}", key[:n], value[:n, None], beta[:n]
        given = exact(number.item(), 0), exact(share.item())
        written.row(name, *map(exact, row.tolist()), *given)
        _, corrected = delta_rule(k, k, v, b)
        _, added = linear_attention(k, k, b[:, None] * v, **plain)
        for table, state in ((delta, corrected), (summed, added)):
            both = torch.cat([state, keys @ state])
            table.row(name, *map(exact, both.flatten().tolist()))
    return [known, written, delta, summed]


TRAINED = GENERATED / "trained"


def learning() -> list[Table]:
    """Show the maps of two heads at some steps of their training, as recorded."""
    # Not trained here: no two processors would come to the same numbers.
    path = TRAINED / "induction_heads.json"
    recording = json.loads(path.read_text("utf-8"))
    text = recording["text"]
    columns = ["steps", "loss", "one back", "what followed", f"“{recording['next']}”"]
    said = f"200 texts, and the share of the letter that continues “{text}”"
    steps = Table("steps", said, columns)
    for step, *facts in zip(
        *(recording[name] for name in ("steps", "loss", "back", "follows", "right")),
        strict=True,
    ):
        steps.row(str(step), *map(exact, facts))
    floor = Table("floor", "The floor of guessing", ["", "loss"])
    floor.row("all texts", precise(words_guessing_loss(), 2))
    maps = []
    for order in ("first", "second"):
        said = f"{order.title()} layer: hundredths, a line for each letter that asks"
        maps.append(Table(order, said, ["steps", " ".join(text)]))
        for step, rows in zip(recording["steps"], recording[order], strict=True):
            # Not a cell for each number: they would be thousands.
            lines = (" ".join(f"{share:<3}" for share in row).rstrip() for row in rows)
            maps[-1].row(str(step), "<td>{}</td>".format("\n".join(lines)))
    return [steps, floor, *maps]


FIGURES = {
    "words": Figure(
        words,
        "Pick a word, and how it compares. The arcs are the shares that it takes from "
        "itself and from the words before it.",
    ),
    "query": Figure(
        query,
        "Every word asks once: its scores, its weights, and the context it collects.",
    ),
    "saturation": Figure(
        saturation,
        "One query and six keys with random numbers. The wider they are, the farther "
        "their scores lie apart.",
    ),
    "leak": Figure(
        leak,
        "A token is changed. Rows above it that move have seen the future.",
    ),
    "heads": Figure(
        heads,
        "Three tokens of six numbers, projected and split into heads.",
    ),
    "dropout": Figure(
        dropout,
        "One draw changes the sum of a row; over many draws the mean stays.",
    ),
    "clock": Figure(
        clock,
        "Two pairs of numbers, turned by where their tokens stand. Move both tokens: "
        "the hands move, and the score does not.",
    ),
    "writing": Figure(
        writing,
        "A row for each token of this call, and the weights with which it reads. "
        "Framed: keys that this call computes. All others come from the cache.",
    ),
    "groups": Figure(
        groups,
        "Fewer heads of keys and values are kept, and each serves several query heads.",
    ),
    "tiles": Figure(
        tiles,
        "Under each bar stand a key’s score and its value. The bar is what the key "
        "weighs against the largest score so far: when that grows, all before shrinks.",
    ),
    "memory": Figure(
        memory,
        "The same writes to two memories of two numbers, row 1 and row 2. The delta "
        "rule adds the share β of what is missing, the sum the share β of the value.",
    ),
    "learning": Figure(
        learning,
        "Weights of both layers, a row for each letter that asks. Framed: the letter "
        "right before, and what followed an earlier copy. The steps that are shown "
        "lie closer where more happens.",
    ),
}
