"""Two tables, and their difference

Differential attention: each head has two queries and two keys, which stand side by
side, and takes one table of weights off the other, with a factor.

Write `difference(query, key, value, lam)`: `query` (2 H, T, D) has the first and the
second query of head 1, then those of head 2, and so on. Heads share keys and values in
groups of neighbours: `key` is (2 G, S, D), in the same order, and `value` (G, S, V).
Scores are divided by the root of D. Give the rows (H, T, V), before any norm.
"""

from headway.practice import Exercise, Wrong

# --- your file ---
import torch
from torch import Tensor


def difference(query: Tensor, key: Tensor, value: Tensor, lam: float) -> Tensor:
    """Attend with pairs of queries (2 H, T, D) to pairs of keys: (H, T, V)."""
    # --- write ---
    times = len(query) // len(key)
    queries = query.unflatten(0, (-1, 2))
    keys = key.unflatten(0, (-1, 2)).repeat_interleave(times, dim=0)
    scores = queries @ keys.mT / query.shape[-1] ** 0.5
    first, second = torch.softmax(scores, dim=-1).unbind(1)
    return (first - lam * second) @ value.repeat_interleave(times, dim=0)
    # --- written ---


if __name__ == "__main__":
    query = torch.ones(2, 1, 1)
    key = torch.tensor([[[0.8], [0.2]], [[0.5], [0.5]]]).log()
    value = torch.tensor([[[10.0], [30.0]]])
    print(difference(query, key, value, 0.5).flatten())
    # tensor([4.])
# --- end of your file ---


EXERCISE = Exercise(
    answer="difference",
    read=(
        "variants/norms_and_gates/#two-tables-and-their-difference",
        "Two tables, and their difference",
    ),
    hints=(
        "Which two rows of `query` belong to one head, and which two of `key` does it "
        "use?",
        "Tell the two of a pair apart first, by an axis of their own; repeat keys and "
        "values for the heads that share them afterwards.",
        "unflatten the first axis into (-1, 2), then repeat_interleave along axis 0. "
        "Each of the two tables has a softmax of its own; subtract after it.",
    ),
    draw=lambda d: (
        d.normal(2 * d.H, d.T, d.D),
        d.normal(2 * d.G, d.S, d.D),
        d.normal(d.G, d.S, d.V),
        0.3,
    ),
    trials=(
        {},
        {**dict.fromkeys("BTSDV", 4), "H": 4, "G": 4},
        {"H": 12, "G": 4},
        {"H": 4, "G": 1, "T": 1, "loud": 30.0},
    ),
    law="A row of weights sums to one less the factor, and with a factor of zero it is "
    "plain attention.",
    right=[
        """
        # A head at a time: which two queries and keys it has can be read off.
        H, G = len(query) // 2, len(key) // 2
        rows = []
        for h in range(H):
            g = h // (H // G)
            tables = [
                (query[2 * h + n] @ key[2 * g + n].T / query.shape[-1] ** 0.5)
                for n in (0, 1)
            ]
            one, two = (table.softmax(dim=-1) for table in tables)
            rows.append(one @ value[g] - lam * (two @ value[g]))
        return torch.stack(rows)
        """,
        """
        # Two calls of plain attention, for all first and for all second ones.
        from headway import attention

        times = len(query) // len(key)
        keys = [key[n::2].repeat_interleave(times, dim=0) for n in (0, 1)]
        values = value.repeat_interleave(times, dim=0)
        one = attention(query[0::2], keys[0], values)
        return one - lam * attention(query[1::2], keys[1], values)
        """,
    ],
    wrong=[
        Wrong(
            "keys = key.unflatten(0, (-1, 2)).repeat_interleave(times, dim=0)",
            "keys = key.repeat_interleave(times, dim=0).unflatten(0, (-1, 2))",
            "keys are repeated before the pairs are told apart, so that a head takes "
            "one key off itself",
            exhibit="variants/#repeated-then-told-apart",
        ),
        Wrong(
            "queries = query.unflatten(0, (-1, 2))",
            "queries = query.unflatten(0, (2, -1)).transpose(0, 1)",
            "the first half of the queries is paired with the second, and not "
            "neighbours",
        ),
        Wrong(
            "keys = key.unflatten(0, (-1, 2))",
            "keys = key.unflatten(0, (2, -1)).transpose(0, 1)",
            "the first half of the keys is paired with the second, and not neighbours",
        ),
        Wrong(
            "    first, second = torch.softmax(scores, dim=-1).unbind(1)\n"
            "    return (first - lam * second) @",
            "    first, second = scores.unbind(1)\n"
            "    return torch.softmax(first - lam * second, dim=-1) @",
            "the scores are subtracted before one softmax, so that no weight is "
            "negative",
        ),
        Wrong("lam * second", "second", "the factor is left out"),
        Wrong(
            "(first - lam * second) @",
            "((first - lam * second) / (1 - lam)) @",
            "rows are made to sum to one again",
        ),
        Wrong(
            "(first - lam * second) @",
            "(first - lam * second).clamp(min=0) @",
            "negative weights are cut off at zero",
        ),
        Wrong(
            "first, second = torch",
            "second, first = torch",
            "the first table is taken off the second",
        ),
        Wrong(
            "/ query.shape[-1] ** 0.5",
            "/ (2 * query.shape[-1]) ** 0.5",
            "it is divided by the root of the width of both queries together",
        ),
        Wrong(
            "(-1, 2)).repeat_interleave(times, dim=0)",
            "(-1, 2)).repeat(times, 1, 1, 1)",
            "the groups of keys are dealt out in turn, and neighbours do not share",
            exhibit="groups/#tiled-heads",
        ),
        Wrong(
            "first - lam * second",
            "first + lam * second",
            "the second table is added",
        ),
        Wrong(
            "value.repeat_interleave(times, dim=0)",
            "value.repeat(times, 1, 1)",
            "the groups of values are dealt out in turn, and neighbours do not share",
            exhibit="groups/#tiled-heads",
        ),
        Wrong(" / query.shape[-1] ** 0.5", "", "the scores are not divided"),
        Wrong(
            "return (first - lam * second)",
            "return (1 - lam) * (first - lam * second)",
            "the rows are multiplied by one less the factor, which has its place after "
            "the norm",
        ),
        Wrong(
            "torch.softmax(scores, dim=-1)",
            "torch.softmax(scores, dim=-2)",
            "the softmax runs over the queries",
        ),
        Wrong(
            "(first - lam * second)",
            "(lam * (first - second))",
            "the factor goes to both tables, and not to the second alone",
        ),
        Wrong(
            "(first - lam * second)",
            "(lam * first - second)",
            "the factor goes to the first table, and not to the second",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "query.shape[-1]",
            "it is divided by the width, and not by its root",
        ),
        Wrong(
            "keys.mT",
            "keys.reshape(*keys.shape[:2], keys.shape[3], keys.shape[2])",
            "keys are reshaped, where they must be transposed",
        ),
        Wrong(
            "    queries = query.unflatten(0, (-1, 2))\n"
            "    keys = key.unflatten(0, (-1, 2)).repeat_interleave(times, "
            "dim=0)\n"
            "    scores = queries @ keys.mT / query.shape[-1] ** 0.5\n"
            "    first, second = torch.softmax(scores, dim=-1).unbind(1)\n"
            "    return (first - lam * second) @ "
            "value.repeat_interleave(times, dim=0)",
            "    queries = query.unflatten(0, (2, -1)).transpose(0, 1)\n"
            "    keys = key.unflatten(0, (2, -1)).transpose(0, "
            "1).repeat_interleave(times, dim=0)\n"
            "    scores = queries @ keys.mT / query.shape[-1] ** 0.5\n"
            "    first, second = torch.softmax(scores, dim=-1).unbind(1)\n"
            "    return (first - lam * second) @ "
            "value.repeat_interleave(times, dim=0)",
            "queries and keys are both paired by halves; the two of a pair are "
            "neighbours",
        ),
        Wrong(
            "    queries = query.unflatten(0, (-1, 2))\n"
            "    keys = key.unflatten(0, (-1, 2)).repeat_interleave(times, "
            "dim=0)\n"
            "    scores = queries @ keys.mT / query.shape[-1] ** 0.5\n"
            "    first, second = torch.softmax(scores, dim=-1).unbind(1)\n"
            "    return (first - lam * second) @ "
            "value.repeat_interleave(times, dim=0)",
            "    queries = query.unflatten(0, (-1, 2))\n"
            "    keys = key.unflatten(0, (-1, 2)).repeat(times, 1, 1, 1)\n"
            "    scores = queries @ keys.mT / query.shape[-1] ** 0.5\n"
            "    first, second = torch.softmax(scores, dim=-1).unbind(1)\n"
            "    return (first - lam * second) @ value.repeat(times, 1, 1)",
            "the groups of keys and values are dealt out in turn, and "
            "neighbours do not share",
        ),
        Wrong(
            "    queries = query.unflatten(0, (-1, 2))\n"
            "    keys = key.unflatten(0, (-1, 2)).repeat_interleave(times, "
            "dim=0)\n"
            "    scores = queries @ keys.mT / query.shape[-1] ** 0.5\n"
            "    first, second = torch.softmax(scores, dim=-1).unbind(1)\n"
            "    return (first - lam * second) @ "
            "value.repeat_interleave(times, dim=0)",
            "    queries = query.unflatten(0, (2, -1)).transpose(0, 1)\n"
            "    keys = key.unflatten(0, (2, -1)).transpose(0, "
            "1).repeat(times, 1, 1, 1)\n"
            "    scores = queries @ keys.mT / query.shape[-1] ** 0.5\n"
            "    first, second = torch.softmax(scores, dim=-1).unbind(1)\n"
            "    return (first - lam * second) @ value.repeat(times, 1, 1)",
            "first and second are taken for two halves, and the groups are "
            "dealt out in turn",
        ),
        Wrong(
            "    queries = query.unflatten(0, (-1, 2))\n"
            "    keys = key.unflatten(0, (-1, 2)).repeat_interleave(times, "
            "dim=0)\n"
            "    scores = queries @ keys.mT / query.shape[-1] ** 0.5\n"
            "    first, second = torch.softmax(scores, dim=-1).unbind(1)\n"
            "    return (first - lam * second) @ "
            "value.repeat_interleave(times, dim=0)",
            "    queries = query.unflatten(0, (2, -1)).transpose(0, 1)\n"
            "    keys = key.unflatten(0, (-1, 2)).repeat(times, 1, 1, 1)\n"
            "    scores = queries @ keys.mT / query.shape[-1] ** 0.5\n"
            "    first, second = torch.softmax(scores, dim=-1).unbind(1)\n"
            "    return (first - lam * second) @ value.repeat(times, 1, 1)",
            "the queries are paired by halves, and the groups are dealt out in turn",
        ),
        Wrong(
            "value.repeat_interleave(times, dim=0)",
            "value",
            "the values are not repeated for the heads that share them",
        ),
        Wrong(
            "(-1, 2)).repeat_interleave(times, dim=0)",
            "(-1, 2))",
            "the keys are not repeated for the heads that share them",
            same_as="the values are not repeated for the heads that share them",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "value.shape[-1] ** 0.5",
            "the width of the values is taken for that of the keys",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "(query.shape[-1] / 2) ** 0.5",
            "it is divided by the root of half the width",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "query.shape[1] ** 0.5",
            "the tokens are counted for the scale; the numbers of a query should be",
        ),
        Wrong(
            "torch.softmax(scores, dim=-1)",
            "torch.softmax(scores, dim=1)",
            "the softmax runs over the two of a pair; it should run over the keys",
        ),
        Wrong(
            "torch.softmax(scores, dim=-1)",
            "torch.softmax(scores, dim=0)",
            "the softmax runs over the heads; it should run over the keys",
        ),
        Wrong(
            "queries @ keys.mT",
            "queries @ keys.flip(1).mT",
            "the first query asks the second key, and the second the first",
        ),
        Wrong(
            "queries @ keys.mT",
            "queries @ keys[:, :1].mT",
            "both queries ask the first key; the second has a key of its own",
        ),
        Wrong(
            "queries @ keys.mT",
            "queries[:, :1] @ keys.mT",
            "the first query asks both keys; the second key has a query of its own",
        ),
        Wrong(
            "(first - lam * second)",
            "(first * lam * second)",
            "the two tables are multiplied; the second should be taken off",
        ),
        Wrong(
            "(first - lam * second)",
            "((first - lam * second) / (first - lam * second).sum(dim=-1, "
            "keepdim=True))",
            "rows are divided by their sum, so that they sum to one again",
            same_as="rows are made to sum to one again",
        ),
        Wrong(
            "(first - lam * second)",
            "(first - lam * second).abs()",
            "negative weights lose their sign",
        ),
        Wrong(
            "(first - lam * second)",
            "torch.softmax(first - lam * second, dim=-1)",
            "a softmax is taken of the difference as well",
        ),
        Wrong(
            "(first - lam * second)",
            "first",
            "only the first table is used",
        ),
        Wrong(
            "(first - lam * second)",
            "((1 - lam) * first - lam * second)",
            "one less the factor goes to the first table; it should stay as it is",
        ),
        Wrong(
            "torch.softmax(scores, dim=-1).unbind(1)",
            "scores.unbind(1)",
            "no softmax is taken of the scores",
        ),
        Wrong(
            "query.unflatten(0, (-1, 2))",
            "query.reshape(-1, 2, *query.shape[1:]).flip(1)",
            "the second query of a pair is taken for the first",
        ),
        Wrong(
            "return (first - lam * second) @ value.repeat_interleave(times, dim=0)",
            "rows = (first - lam * second) @ value.repeat_interleave(times, "
            "dim=0)\n"
            "    return rows / rows.square().mean(dim=-1, keepdim=True).sqrt()",
            "the rows are normalised; they are asked for as they are before any norm",
        ),
        Wrong(
            "    queries = query.unflatten(0, (-1, 2))\n"
            "    keys = key.unflatten(0, (-1, 2)).repeat_interleave(times, dim=0)\n"
            "    scores = queries @ keys.mT / query.shape[-1] ** 0.5\n",
            "    queries = query.unflatten(0, (2, -1)).transpose(0, 1)\n"
            "    keys = key.unflatten(0, (2, -1)).transpose(0, 1)\n"
            "    keys = keys.repeat_interleave(times, dim=0)\n"
            "    scores = queries @ keys.mT / (2 * query.shape[-1]) ** 0.5\n",
            "queries and keys are both paired by halves, and it is divided by the "
            "root of the width of both together",
        ),
        Wrong(
            "    queries = query.unflatten(0, (-1, 2))\n"
            "    keys = key.unflatten(0, (-1, 2)).repeat_interleave(times, dim=0)\n"
            "    scores = queries @ keys.mT / query.shape[-1] ** 0.5\n",
            "    queries = query.unflatten(0, (2, -1)).transpose(0, 1)\n"
            "    keys = key.unflatten(0, (2, -1)).transpose(0, 1)\n"
            "    keys = keys.repeat_interleave(times, dim=0)\n"
            "    scores = queries @ keys.mT\n",
            "queries and keys are both paired by halves, and the scores are not "
            "divided",
        ),
        Wrong(
            "    times = len(query) // len(key)",
            "    times = len(query) // len(key)\n"
            "    key = key[:2].repeat(len(key) // 2, 1, 1)\n"
            "    value = value[:1].expand(len(value), -1, -1)",
            "all heads use the first group of keys and values",
        ),
        Wrong(
            "    first, second = torch.softmax(scores, dim=-1).unbind(1)",
            "    both = torch.cat(scores.unbind(1), dim=-1).softmax(dim=-1)\n"
            "    first, second = both.chunk(2, dim=-1)",
            "one softmax runs over the keys of both tables; each table should have "
            "its own",
        ),
        Wrong(
            "    first, second",
            "    scores = "
            "scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), "
            "-torch.inf)\n"
            "    first, second",
            "the future is hidden; all keys should be seen",
        ),
        Wrong(
            "    return (first - lam * second) @ value.repeat_interleave(times, dim=0)",
            "    values = value.repeat_interleave(times, dim=0)\n"
            "    return first @ values - lam * (second @ values).flip(0)",
            "the second tables meet the values of other heads",
        ),
        Wrong(
            "    return (first - lam * second) @ value.repeat_interleave(times, dim=0)",
            "    values = value.repeat_interleave(times, dim=0)\n"
            "    return torch.stack([first @ values, lam * second @ values], dim=1)",
            "the rows of both tables are given side by side, and not their difference",
        ),
        Wrong(
            "(first - lam * second)",
            "(first - (lam - second))",
            "the factor is subtracted from the second table; it should be multiplied",
        ),
        Wrong(
            "    return (first - lam * second) @ value.repeat_interleave(times, dim=0)",
            "    return first - lam * second",
            "the difference of the tables is given; it should mix the values",
        ),
        Wrong(
            "value.repeat_interleave(times, dim=0)",
            "value.repeat_interleave(2 * times, dim=0)[: len(first)]",
            "the values are repeated for two heads more than share them",
        ),
        Wrong(
            "(first - lam * second)",
            "(first - (1 - lam) * second)",
            "the second table is multiplied by one less the factor",
        ),
        Wrong(
            "    first, second = torch.softmax(scores, dim=-1).unbind(1)",
            "    first, second = scores.unbind(1)\n"
            "    first = torch.softmax(first, dim=-1)\n"
            "    second = torch.softmax(second * query.shape[-1] ** 0.5, dim=-1)",
            "only the scores of the first table are divided by the root of D",
        ),
        Wrong(
            "/ query.shape[-1] ** 0.5",
            "* query.shape[-1] ** 0.5",
            "scores are multiplied by the root of D, and not divided",
        ),
        Wrong(
            "    first, second = torch.softmax(scores, dim=-1).unbind(1)\n"
            "    return (first - lam * second) @",
            "    first, second = scores.unbind(1)\n"
            "    return (first.softmax(dim=-1) - (lam * second).softmax(dim=-1)) @",
            "the factor goes to the second scores, before their softmax; it should "
            "come after",
        ),
        Wrong(
            "    times = len(query) // len(key)",
            "    times = len(query) // len(value)",
            "len(query) is taken for the number of heads; it is twice that",
        ),
        Wrong(
            "    times = len(query) // len(key)",
            "    times = len(key) // len(query)",
            "the numbers of queries and keys are divided the wrong way round",
        ),
        Wrong(
            "    return (first - lam * second) @ value.repeat_interleave(times, dim=0)",
            "    rows = (first - lam * second) @ value.repeat_interleave(times, "
            "dim=0)\n"
            "    return rows.transpose(0, 1).flatten(1)",
            "the heads are joined at the end; they should stay apart: (H, T, V)",
        ),
        Wrong(
            "torch.softmax(scores, dim=-1).unbind(1)",
            "(scores.exp() / scores.exp().sum(dim=-1, keepdim=True)).unbind(1)",
            "exponentials are taken of scores without their largest, and overflow",
        ),
        Wrong(
            "queries @ keys.mT",
            "queries @ keys.roll(1, 0).mT",
            "each head asks the keys of another one",
        ),
        Wrong(
            "(first - lam * second)",
            "(first - second**lam)",
            "the second table is raised to the power of the factor; it should be "
            "multiplied",
        ),
        Wrong(
            "query.unflatten(0, (-1, 2))",
            "query.unflatten(0, (2, -1))",
            "queries are cut as (2, H), and not as (H, 2)",
        ),
        Wrong(
            "/ query.shape[-1] ** 0.5",
            "/ key.shape[1] ** 0.5",
            "it is divided by the root of the number of keys",
        ),
        Wrong(
            "return (first - lam * second) @ value.repeat_interleave(times, dim=0)",
            "rows = (first - lam * second) @ value.repeat_interleave(times, dim=0)\n"
            "    return rows.squeeze()",
            "axes of length one are squeezed away",
        ),
    ],
    stars=2,
    minutes=15,
)
