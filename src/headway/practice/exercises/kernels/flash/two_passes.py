"""Over the keys twice, without a running maximum

Write `two_passes(query, key, value, size)`: causal attention, tile by tile, without the
table of all scores, and its log-sum-exps.

query (T, D) and key (S, D) with S at least T: the last query belongs to the last key.
A tile is `size` keys; the last one may be smaller.

Go over the tiles once for the log-sum-exp of each row, and once more for the mixture:
then no mixture has to shrink. Give the rows (T, V), and the log-sum-exps (T), in the
type of the query. Scores may be large, and a row may see nothing of a tile.
"""

from headway.practice import Exercise, Forbidden
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
    survivors={"-1 -> 1": "tables of two axes: the last is axis 1"},
    stars=2,
    minutes=20,
)
