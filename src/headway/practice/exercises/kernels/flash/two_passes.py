"""Over the keys twice, without a running maximum

Write `two_passes(query, key, value, size)`: causal attention, tile by tile, without the
table of all scores, and its log-sum-exps.

query (T, D) and key (S, D) with S at least T: the last query belongs to the last key.
A tile is `size` keys; the last one may be smaller.

Go over the tiles once for the log-sum-exp of each row, and once more for the mixture:
then no mixture has to shrink. Give the rows (T, V), and the log-sum-exps (T), in the
type of the query. Scores may be large, and a row may see nothing of a tile.
"""

from headway.practice import Exercise, Forbidden, Wrong
from headway.practice.task.definition import DIFFERENT, EQUAL, LOUD

# --- your file ---
import torch
from torch import Tensor


def two_passes(
    query: Tensor, key: Tensor, value: Tensor, size: int
) -> tuple[Tensor, Tensor]:
    """Give rows (T, V) and log-sum-exps (T), `size` keys at a time."""
    T, S = len(query), len(key)
    # --- write ---
    tiles = torch.arange(S).split(size)
    place = torch.arange(S - T, S)[:, None]

    def scores_of(tile: Tensor) -> Tensor:
        scores = query @ key[tile].T / query.shape[-1] ** 0.5
        return scores.masked_fill(tile > place, -torch.inf)

    lse = torch.full((T,), -torch.inf, dtype=query.dtype)
    for tile in tiles:
        lse = torch.logaddexp(lse, scores_of(tile).logsumexp(dim=-1))
    rows = torch.zeros(T, value.shape[-1], dtype=value.dtype)
    for tile in tiles:
        rows += torch.exp(scores_of(tile) - lse[:, None]) @ value[tile]
    return rows, lse
    # --- written ---


if __name__ == "__main__":
    query = torch.ones(1, 1)
    key = torch.tensor([[1.0], [2.0], [3.0], [4.0]]).log()
    value = torch.tensor([[10.0], [20.0], [30.0], [40.0]])
    rows, lse = two_passes(query, key, value, size=2)
    print(rows, lse.exp())
    # tensor([[30.]]) tensor([10.])
# --- end of your file ---


def has_all_scores(args, result, given):  # type: ignore[no-untyped-def]
    """Whether there is a number for each query and each key: a mask is none."""
    table = (len(given[0]), len(given[1]))
    return (
        isinstance(result, Tensor)
        and result.is_floating_point()
        and tuple(result.shape) in (table, table[::-1])
    )


def draw(d):  # type: ignore[no-untyped-def]
    """Draw; where it is loud, all that the first query sees is far below zero."""
    T, S = d.T, max(d.S, d.T)
    query, key = d.normal(T, d.D), d.normal(S, d.D)
    if d.loud > 1:
        query[0] = -1e5 * torch.linalg.pinv(key[: S - T + 1]).sum(dim=1)
    return query, key, d.normal(S, d.V) / d.loud, max(1, d.W - 1)


EXERCISE = Exercise(
    answer="two_passes",
    forbids=[
        Forbidden(
            "The task says: tile by tile, without the table of all scores. Here one "
            "table has a number for each query and each key.",
            """
            from headway import attention_with_lse

            return attention_with_lse(query, key, value, causal=True)
            """,
            when=has_all_scores,
        )
    ],
    read=("kernels/flash/#in-tensors", "In tensors"),
    hints=(
        "Which number of a row must be known before a single weight of it can be "
        "final?",
        "With the log-sum-exp of the whole row, a weight is exp(score - log-sum-exp), "
        "in any tile. logaddexp joins the log-sum-exps of two tiles.",
        "Begin with minus infinity for each row, and with zeros for the mixture. Key s "
        "is hidden from query t if s is larger than t + S - T.",
    ),
    draw=draw,
    # Three keys a tile: two full ones in the last trial; and one for all keys.
    trials=(DIFFERENT, {**EQUAL, "W": 6}, LOUD, {"S": 6}),
    law="Any size of tiles gives the same. Every score is computed twice, and the "
    "backward pass does that, too.",
    right=[
        """
        # The tiles are kept: no score is computed twice, for more memory.
        place = torch.arange(S - T, S)[:, None]
        tables = []
        for start in range(0, S, size):
            tile = torch.arange(S)[start : start + size]
            scores = query @ key[tile].T / query.shape[-1] ** 0.5
            tables.append(torch.where(tile <= place, scores, -torch.inf))
        lse = torch.stack([one.logsumexp(1) for one in tables]).logsumexp(0)
        rows = [(a - lse[:, None]).exp() @ b for a, b in zip(tables, value.split(size))]
        return sum(rows), lse
        """,
        """
        # Query by query: a row of numbers at a time, and the future is cut off.
        rows, lses = [], []
        for t, asked in enumerate(query):
            seen = S - T + t + 1
            lse = asked.new_tensor(-torch.inf)
            for start in range(0, seen, size):
                scores = key[start : min(start + size, seen)] @ asked
                scores = scores / query.shape[-1] ** 0.5
                lse = torch.logaddexp(lse, scores.logsumexp(0))
            row = torch.zeros_like(value[0])
            for start in range(0, seen, size):
                own = slice(start, min(start + size, seen))
                scores = key[own] @ asked / query.shape[-1] ** 0.5
                row = row + (scores - lse).exp() @ value[own]
            rows.append(row)
            lses.append(lse)
        return torch.stack(rows), torch.stack(lses)
        """,
    ],
    wrong=[
        Wrong(
            "torch.arange(S - T, S)[:, None]",
            "torch.arange(T)[:, None]",
            "the first query is put at the first key, and not the last at the last",
            exhibit="pieces/#tiles-from-the-first-key",
        ),
        Wrong(
            "tile > place",
            "tile >= place",
            "a query does not see its own key",
            exhibit="triangles/#mask-hides-itself",
        ),
        Wrong(
            "scores.masked_fill(tile > place, -torch.inf)",
            "scores",
            "nothing is hidden",
        ),
        Wrong(
            "tile > place",
            "tile - tile[0] > place",
            "keys are counted anew in each tile, so that later tiles show the future",
            exhibit="pieces/#a-triangle-for-each-piece",
        ),
        Wrong(
            "torch.arange(S).split(size)",
            "torch.arange(S // size * size).split(size)",
            "the last tile is left out, because it is smaller",
            exhibit="pieces/#full-tiles-only",
        ),
        Wrong(
            "torch.logaddexp(lse, scores_of(tile).logsumexp(dim=-1))",
            "lse.exp().add(scores_of(tile).exp().sum(dim=-1)).log()",
            "exponentials are taken without their largest, and overflow",
            exhibit="pieces/#a-logarithm-without-its-maximum",
        ),
        Wrong(
            "torch.logaddexp(lse, scores_of(tile).logsumexp(dim=-1))",
            "torch.maximum(lse, scores_of(tile).logsumexp(dim=-1))",
            "the largest log-sum-exp of a tile is taken for that of the row",
        ),
        Wrong(
            "torch.logaddexp(lse, scores_of(tile).logsumexp(dim=-1))",
            "scores_of(tile).logsumexp(dim=-1)",
            "only the last tile's log-sum-exp is left",
            exhibit="pieces/#the-sum-of-the-last-tile",
        ),
        Wrong(
            "torch.full((T,), -torch.inf, dtype=query.dtype)",
            "torch.zeros(T, dtype=query.dtype)",
            "the log-sum-exp begins at zero, which counts a key with score zero",
        ),
        Wrong(
            "torch.exp(scores_of(tile) - lse[:, None])",
            "torch.softmax(scores_of(tile), dim=-1)",
            "each tile gets a softmax of its own, so that its weights sum to one",
        ),
        Wrong(
            "torch.exp(scores_of(tile) - lse[:, None])",
            "torch.exp(scores_of(tile))",
            "exponentials are not divided by their sum",
        ),
        Wrong(
            "return rows, lse",
            "return rows, scores_of(torch.arange(S)).amax(dim=-1)",
            "the largest score of each row is given, and not its log-sum-exp",
        ),
        Wrong(
            "torch.logaddexp(lse, scores_of(tile).logsumexp(dim=-1))",
            "lse + scores_of(tile).logsumexp(dim=-1)",
            "log-sum-exps are added as they are; logaddexp should join them",
        ),
        Wrong(
            " / query.shape[-1] ** 0.5",
            "",
            "scores are not scaled",
            exhibit="softmax/#no-scale",
        ),
        Wrong(
            " / query.shape[-1] ** 0.5",
            " / query.shape[-1]",
            "scores are divided by the width, and not by its root",
        ),
        Wrong(
            "torch.logaddexp(lse, scores_of(tile).logsumexp(dim=-1))",
            "torch.logaddexp(\n"
            "            lse,\n"
            "            (query @ key[tile].T / query.shape[-1] ** 0.5)\n"
            "            .logsumexp(dim=-1)\n"
            "        )",
            "the future is hidden in the second pass, and not in the first",
        ),
        Wrong(
            "torch.exp(scores_of(tile) - lse[:, None])",
            "torch.exp(\n"
            "            query @ key[tile].T / query.shape[-1] ** 0.5 - lse[:, None]\n"
            "        )",
            "the future is hidden in the first pass, and not in the second",
        ),
        Wrong(
            "torch.exp(scores_of(tile) - lse[:, None])",
            "torch.exp(scores_of(tile) * query.shape[-1] ** 0.5 - lse[:, None])",
            "scores are scaled in the first pass, and not in the second",
        ),
        Wrong(
            "rows += ",
            "rows = ",
            "only the last tile's mixture is left",
        ),
        Wrong(
            "tile > place, -torch.inf",
            "tile > place, 0.0",
            "hidden scores are set to zero, and get a share",
        ),
        Wrong(
            "torch.logaddexp(lse, scores_of(tile).logsumexp(dim=-1))",
            "torch.logaddexp(\n"
            "            lse,\n"
            "            scores_of(tile).amax(dim=-1)\n"
            "            + (scores_of(tile) - scores_of(tile).amax(dim=-1, "
            "keepdim=True))\n"
            "            .exp().sum(dim=-1).log()\n"
            "        )",
            "minus infinity is taken off minus infinity where a row sees "
            "nothing of a tile, which gives nan",
        ),
        Wrong(
            "    lse = torch.full((T,), -torch.inf, dtype=query.dtype)\n"
            "    for tile in tiles:\n"
            "        lse = torch.logaddexp(lse, "
            "scores_of(tile).logsumexp(dim=-1))\n",
            "    lse = torch.zeros(T, dtype=query.dtype)\n"
            "    for tile in tiles:\n"
            "        lse = lse + scores_of(tile).exp().sum(dim=-1)\n"
            "    lse = lse.log()\n",
            "bare exponentials are added up in the first pass, and overflow",
            same_as="exponentials are taken without their largest, and overflow",
        ),
        Wrong(
            "    lse = torch.full((T,), -torch.inf, dtype=query.dtype)\n"
            "    for tile in tiles:\n"
            "        lse = torch.logaddexp(lse, "
            "scores_of(tile).logsumexp(dim=-1))\n",
            "    total = torch.zeros(T, dtype=query.dtype)\n"
            "    for tile in tiles:\n"
            "        scores = query @ key[tile].T / query.shape[-1] ** 0.5\n"
            "        total += (scores.exp() * (tile <= place)).sum(dim=-1)\n"
            "    lse = total.log()\n",
            "exponentials are taken without their largest and multiplied by "
            "the mask: they overflow, and infinity times zero is nan",
        ),
        Wrong(
            "    rows = torch.zeros(T, value.shape[-1], dtype=value.dtype)\n"
            "    for tile in tiles:\n"
            "        rows += torch.exp(scores_of(tile) - lse[:, None]) @ "
            "value[tile]\n",
            "    rows = torch.zeros(T, value.shape[-1], dtype=value.dtype)\n"
            "    for tile in tiles:\n"
            "        rows += torch.exp(scores_of(tile)) @ value[tile]\n"
            "    rows = rows / lse.exp()[:, None]\n",
            "the mixture is made of bare exponentials, which overflow, and "
            "divided at the end",
        ),
        Wrong(
            "return rows, lse",
            "return rows / lse.exp()[:, None], lse",
            "rows are divided by their sum once more",
        ),
        Wrong(
            "query.shape[-1] ** 0.5\n",
            "value.shape[-1] ** 0.5\n",
            "the width of the values is taken for that of the keys",
        ),
        Wrong(
            " / query.shape[-1] ** 0.5",
            " * query.shape[-1] ** 0.5",
            "scores are multiplied by the root of the width; they should be "
            "divided by it",
        ),
        Wrong(
            "tile > place",
            "tile > place + 1",
            "each query sees one key of the future",
        ),
        Wrong(
            "tile > place",
            "tile < place",
            "the past is hidden, and the future is seen",
        ),
        Wrong(
            "torch.arange(S).split(size)",
            "torch.arange(S).split(size)[1:]",
            "the first tile is left out",
        ),
        Wrong(
            "    lse = torch.full((T,), -torch.inf, dtype=query.dtype)\n"
            "    for tile in tiles:\n"
            "        lse = torch.logaddexp(lse, "
            "scores_of(tile).logsumexp(dim=-1))\n"
            "    rows = torch.zeros(T, value.shape[-1], dtype=value.dtype)\n"
            "    for tile in tiles:\n"
            "        rows += torch.exp(scores_of(tile) - lse[:, None]) @ "
            "value[tile]\n",
            "    lse = torch.full((T,), -torch.inf, dtype=query.dtype)\n"
            "    rows = torch.zeros(T, value.shape[-1], dtype=value.dtype)\n"
            "    for tile in tiles:\n"
            "        lse = torch.logaddexp(lse, "
            "scores_of(tile).logsumexp(dim=-1))\n"
            "        finite = lse.masked_fill(lse == -torch.inf, 0.0)[:, None]\n"
            "        rows += torch.exp(scores_of(tile) - finite) @ value[tile]\n",
            "the mixture is begun before the log-sum-exp of the row is known, "
            "and never shrinks",
        ),
        Wrong(
            "@ value[tile]",
            "@ value[: len(tile)]",
            "each tile mixes the first values of the text; it should mix its own",
        ),
        Wrong(
            "return rows, lse",
            "return rows, lse.exp()",
            "the sums of exponentials are given; their logarithms are asked for",
        ),
        Wrong(
            "return rows, lse",
            "return rows, lse[:, None]",
            "the log-sum-exps keep an axis of length one",
        ),
        Wrong(
            "return rows, lse",
            "return lse, rows",
            "the two results are given in the opposite order",
        ),
        Wrong(
            "return rows, lse",
            "return rows",
            "the log-sum-exps are not given",
        ),
        Wrong(
            "torch.logaddexp(lse, scores_of(tile).logsumexp(dim=-1))",
            "torch.logaddexp(\n"
            "            lse, (scores_of(tile) * query.shape[-1] ** "
            "0.5).logsumexp(dim=-1)\n"
            "        )",
            "scores are scaled in the second pass, and not in the first",
        ),
        Wrong(
            "torch.logaddexp(lse, scores_of(tile).logsumexp(dim=-1))",
            "torch.logaddexp(lse, scores_of(tile).logsumexp(dim=0))",
            "the log-sum-exp runs over the queries",
        ),
        Wrong(
            "torch.logaddexp(lse, scores_of(tile).logsumexp(dim=-1))",
            "lse.logaddexp(scores_of(tile).logsumexp(dim=-1)) if tile[0] else lse",
            "the first tile is left out of the log-sum-exp",
        ),
        Wrong(
            "torch.logaddexp(lse, scores_of(tile).logsumexp(dim=-1))",
            "torch.logaddexp(lse, scores_of(tile).exp().sum(dim=-1))",
            "the sum of a tile is joined with a logarithm: its own logarithm "
            "is missing",
        ),
        Wrong(
            "torch.exp(scores_of(tile) - lse[:, None])",
            "torch.exp(scores_of(tile)) / lse[:, None]",
            "exponentials are divided by the log-sum-exp; they should be "
            "divided by its exponential",
        ),
        Wrong(
            "torch.exp(scores_of(tile) - lse[:, None])",
            "(scores_of(tile) - lse[:, None]).nan_to_num(neginf=0.0)",
            "the exponential is forgotten in the second pass",
        ),
        Wrong(
            "@ value[tile]",
            "@ value[tile] / len(tiles)",
            "the rows of the tiles are averaged; they should be added",
        ),
        Wrong(
            "torch.exp(scores_of(tile) - lse[:, None])",
            "torch.exp(scores_of(tile) - scores_of(torch.arange(S)).amax(1, True))",
            "the largest score is taken off in the second pass, and nothing "
            "divides by the sum",
        ),
        Wrong(
            "torch.arange(S).split(size)",
            "[torch.arange(n, n + size) for n in range(0, S, size)]",
            "a tile goes on beyond the last key, where the last one is smaller",
        ),
        Wrong(
            "torch.arange(S).split(size)",
            "torch.arange(T).split(size)",
            "tiles are cut from as many keys as there are queries",
        ),
        Wrong(
            "torch.arange(S - T, S)[:, None]",
            "torch.arange(S - T, S)",
            "the places of the queries get no axis of their own: [:, None] is missing",
        ),
        Wrong(
            "torch.arange(S - T, S)[:, None]",
            "torch.arange(S)[:, None]",
            "a place is made for each key, and not for each query",
        ),
        Wrong(
            "torch.arange(S - T, S)[:, None]",
            "torch.arange(S - T + 1, S + 1)[:, None]",
            "each query is put one key too far",
            same_as="each query sees one key of the future",
        ),
        Wrong(
            "torch.logaddexp(lse, scores_of(tile).logsumexp(dim=-1))",
            "torch.logaddexp(lse, scores_of(tile).amax(dim=-1))",
            "the largest score of each tile is joined; its log-sum-exp should be",
        ),
        Wrong(
            "torch.logaddexp(lse, scores_of(tile).logsumexp(dim=-1))",
            "torch.maximum(lse, scores_of(tile).amax(dim=-1))",
            "the largest score of a row is kept in place of the log-sum-exp",
        ),
        Wrong(
            "torch.logaddexp(lse, scores_of(tile).logsumexp(dim=-1))",
            "torch.logaddexp(lse, scores_of(tile).logsumexp(dim=-1).mean())",
            "the log-sum-exps of all rows are averaged",
        ),
        Wrong(
            "torch.logaddexp(lse, scores_of(tile).logsumexp(dim=-1))",
            "torch.logaddexp(lse, torch.softmax(scores_of(tile), "
            "dim=-1).logsumexp(dim=-1))",
            "a softmax is taken of the scores before the log-sum-exp",
        ),
        Wrong(
            "torch.exp(scores_of(tile) - lse[:, None])",
            "torch.exp(scores_of(tile) - lse)",
            "the log-sum-exps get no axis of their own: [:, None] is missing",
        ),
        Wrong(
            "torch.exp(scores_of(tile) - lse[:, None])",
            "torch.exp(lse[:, None] - scores_of(tile))",
            "the sign is turned in the exponent of a weight",
        ),
        Wrong(
            "torch.exp(scores_of(tile) - lse[:, None])",
            "torch.softmax(scores_of(tile) - lse[:, None], dim=-1)",
            "a softmax is taken in each tile in the second pass, so that its weights "
            "sum to one",
            same_as="each tile gets a softmax of its own, so that its weights sum to "
            "one",
        ),
        Wrong(
            "torch.exp(scores_of(tile) - lse[:, None])",
            "torch.exp(scores_of(tile) - scores_of(tile).logsumexp(dim=-1)[:, None])",
            "in the second pass the log-sum-exp of the tile alone is taken off",
            same_as="each tile gets a softmax of its own, so that its weights sum to "
            "one",
        ),
        Wrong(
            "return rows, lse",
            "return rows / len(tiles), lse",
            "the rows are divided by the number of tiles",
            same_as="the rows of the tiles are averaged; they should be added",
        ),
        Wrong(
            "return rows, lse",
            "return torch.softmax(rows, dim=-1), lse",
            "a softmax is taken of the mixed rows",
        ),
        Wrong(
            "query.shape[-1] ** 0.5\n",
            "T ** 0.5\n",
            "scores are divided by the root of the number of queries; it should be "
            "that of the width",
        ),
        Wrong(
            "query.shape[-1] ** 0.5\n",
            "S ** 0.5\n",
            "scores are divided by the root of the number of keys; it should be that "
            "of the width",
        ),
        Wrong(
            "query.shape[-1] ** 0.5\n",
            "size ** 0.5\n",
            "scores are divided by the root of the size of a tile; it should be that "
            "of the width",
        ),
        Wrong(
            "tile > place",
            "tile <= place",
            "the mask is turned round: what may be seen is hidden",
        ),
        Wrong(
            "    rows = torch.zeros(T, value.shape[-1], dtype=value.dtype)",
            "    rows = torch.zeros(T, value.shape[-1])",
            "the mixture has 32 bits",
        ),
        Wrong(
            "torch.arange(S - T, S)[:, None]",
            "torch.arange(T - S, 2 * T - S)[:, None]",
            "S - T is taken off the places of the queries; it should be added",
        ),
        Wrong(
            "torch.logaddexp(lse, scores_of(tile).logsumexp(dim=-1))",
            "torch.logaddexp2(lse, scores_of(tile).logsumexp(dim=-1))",
            "logarithms to base two are joined",
        ),
        Wrong(
            "return rows, lse",
            "return rows, lse / 0.6931471805599453",
            "the log-sum-exps are given to base two",
        ),
        Wrong(
            "return rows, lse",
            "return rows, lse - scores_of(torch.arange(S)).amax(dim=-1)",
            "the logarithm of the sum is given without the largest score, which was "
            "taken off before",
        ),
        Wrong(
            "torch.exp(scores_of(tile) - lse[:, None])",
            "torch.softmax(scores_of(tile), dim=-1).nan_to_num()",
            "each tile gets a softmax of its own, and rows that see nothing of it are "
            "set to zero",
        ),
        Wrong(
            "    for tile in tiles:\n"
            "        lse = torch.logaddexp(lse, scores_of(tile).logsumexp(dim=-1))\n",
            "    for tile in [*tiles, tiles[0][:0]]:\n"
            "        largest = scores_of(tile).amax(dim=-1)\n"
            "        lse = torch.logaddexp(lse, scores_of(tile).logsumexp(dim=-1))\n",
            "there is a tile without a key at the end, and it has no largest score",
        ),
        Wrong(
            "scores.masked_fill(tile > place, -torch.inf)",
            "scores.masked_fill(tile > place, -1e4)",
            "hidden scores are set to -10,000, which large scores fall below",
        ),
        Wrong(
            "return rows, lse",
            "return rows.T, lse",
            "the rows are transposed",
        ),
        Wrong(
            "query.shape[-1] ** 0.5\n",
            "query.shape[-1] * 0.5\n",
            "scores are divided by half the width; it should be by its root",
        ),
        Wrong(
            "torch.exp(scores_of(tile) - lse[:, None])",
            "torch.exp(scores_of(tile) + lse[:, None])",
            "the log-sum-exp is added in the exponent; it should be taken off",
        ),
        Wrong(
            "torch.exp(scores_of(tile) - lse[:, None]) @",
            "torch.exp(scores_of(tile) - lse[:, None]) * 0.0 @",
            "the rows stay zero",
        ),
    ],
    survivors={"-1 -> 1": "tables of two axes: the last is axis 1"},
    stars=2,
    minutes=20,
)
