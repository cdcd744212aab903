"""A window, after a cache

Write `window_of_a_chunk(queries, keys, W)`: who sees whom, by positions.

`queries` (T) and `keys` (S) hold positions, whole numbers in any order; an empty slot
of a cache has position -1, and no query may see it. A query sees the keys of the latest
W positions up to its own, itself included. The mask is (T, S), boolean.
"""

from headway.practice import Exercise, Wrong

# --- your file ---
import torch
from torch import Tensor


def window_of_a_chunk(queries: Tensor, keys: Tensor, W: int) -> Tensor:
    """Give a mask (T, S) for positions of queries (T) and of keys (S)."""
    # --- write ---
    distance = queries[:, None] - keys
    return (distance >= 0) & (distance < W) & (keys >= 0)
    # --- written ---


if __name__ == "__main__":
    queries, keys = torch.tensor([4, 5]), torch.tensor([3, 4, 5, -1])
    print(window_of_a_chunk(queries, keys, 2).int())
    # tensor([[1, 1, 0, 0],
    #         [0, 1, 1, 0]], dtype=torch.int32)
# --- end of your file ---


def draw(d):  # type: ignore[no-untyped-def]
    if d.B == 1:  # some positions are missing, and two slots are empty
        kept = torch.cat([d.order(d.S + 4)[: d.S], torch.tensor([-1, -1])])
        return d.integers(d.S, d.T), kept[d.order(d.S + 2)], d.W
    return d.integers(8, d.T), d.order(9) - 1, d.W


EXERCISE = Exercise(
    answer="window_of_a_chunk",
    read=("decoding/sliding_window/#in-tensors", "In tensors"),
    hints=(
        "How far back is the oldest key that a window of one token allows?",
        "Make a table of distances, query minus key, and ask three questions of it.",
        "Not the future, not too far, and not an empty slot: join three comparisons "
        "with &.",
    ),
    draw=draw,
    trials=(
        {},
        {"W": 1},
        {"T": 1},
        {"W": 3, "T": 9},
        {"W": 20},
        {"S": 9, "B": 1},
        {"S": 12, "T": 9, "B": 1},
    ),
    law="With a window of W a query sees at most W keys, itself included.",
    right=[
        """
        # Two loops: each pair is asked by itself.
        rows = []
        for q in queries.tolist():
            rows.append([k >= 0 and q - W < k <= q for k in keys.tolist()])
        return torch.tensor(rows)
        """,
        """
        # Two bounds for the keys of each query, which make no table of distances.
        last = queries.unsqueeze(1)
        return (keys <= last) & (keys > last - W) & (keys != -1)
        """,
    ],
    wrong=[
        Wrong(
            "distance < W",
            "distance <= W",
            "one key too many is seen: the token itself is not counted",
            exhibit="caches/#window-too-wide",
        ),
        Wrong("distance < W", "distance < W - 1", "one key too few is seen"),
        Wrong(
            "distance >= 0",
            "distance > -W",
            "the window reaches into the future as well",
        ),
        Wrong(
            " & (keys >= 0)",
            "",
            "empty slots are seen",
            exhibit="caches/#hidden-but-read",
        ),
        Wrong(" & (distance < W)", "", "nothing is forgotten"),
        Wrong("distance >= 0", "distance > 0", "no token sees itself"),
        Wrong(
            "queries[:, None] - keys",
            "torch.arange(len(queries))[:, None] - torch.arange(len(keys)) + "
            "len(keys) - len(queries)",
            "places in the row are taken for positions",
        ),
        Wrong(
            "(distance >= 0) & ",
            "",
            "the future is seen",
        ),
        Wrong(
            "return (distance >= 0) & (distance < W) & (keys >= 0)",
            "return ~((distance >= 0) & (distance < W) & (keys >= 0))",
            "the mask is turned round: True where a key is hidden",
        ),
        Wrong(
            "(keys >= 0)",
            "(keys > 0)",
            "the key at position 0 is taken for an empty slot",
        ),
        Wrong(
            "queries[:, None] - keys",
            "keys - queries[:, None]",
            "the distance is taken the other way round: a query sees what comes "
            "after it",
        ),
        Wrong(
            "    return (distance >= 0) & (distance < W) & (keys >= 0)",
            "    past = (distance >= 0) & (keys >= 0)\n"
            "    nearer = past[:, None] & (distance[:, None] < distance[:, :, "
            "None])\n"
            "    return past & (nearer.sum(dim=-1) < W)",
            "the latest W keys that are there are seen, however old; it should "
            "be those of the latest W positions",
        ),
        Wrong(
            "    return (distance >= 0) & (distance < W) & (keys >= 0)",
            "    return (distance.abs() <= W) & (keys >= 0)",
            "the distance is taken without its sign, so that the future is "
            "seen, and one key too many",
        ),
        Wrong(
            "    return (distance >= 0) & (distance < W) & (keys >= 0)",
            "    return (distance >= 0) | (distance < W) | (keys >= 0)",
            "the conditions are joined by `|`, so that one of them is enough; "
            "all must hold, by `&`",
        ),
        Wrong(
            "return (distance >= 0) & (distance < W) & (keys >= 0)",
            "return distance >= 0 and distance < W and keys >= 0",
            "one answer is asked of a whole table, by `and`, by a chain of "
            "comparisons, or since brackets are missing around a comparison",
        ),
        Wrong(
            "queries[:, None] - keys",
            "queries - keys",
            "the queries get no axis of their own: [:, None] is missing",
        ),
        Wrong(
            "    return (distance >= 0) & (distance < W) & (keys >= 0)",
            "    return (distance >= 0) & (distance < W) & (keys >= 0).mT",
            "the mask is transposed: its rows should be queries, and its columns keys",
        ),
        Wrong(
            "    return (distance >= 0) & (distance < W) & (keys >= 0)",
            "    return (distance >= 0) & (keys > queries.max() - W) & (keys >= 0)",
            "the window is that of the latest query, for all of them",
        ),
        Wrong(
            "    return (distance >= 0) & (distance < W) & (keys >= 0)",
            "    return (distance >= 0) & (keys > keys.max() - W) & (keys >= 0)",
            "the window is counted back from the latest key, and not from each query",
        ),
        Wrong(
            "    return (distance >= 0) & (distance < W) & (keys >= 0)",
            "    return (distance >= 0) & (distance >= W) & (keys >= 0)",
            "the comparison with W is turned round: only what has left the "
            "window is seen",
        ),
        Wrong(
            "    return (distance >= 0) & (distance < W) & (keys >= 0)",
            "    return (distance >= 0) & (distance < W) & (keys < 0)",
            "the question for empty slots is turned round: only they are seen",
        ),
        Wrong(
            "    return (distance >= 0) & (distance < W) & (keys >= 0)",
            "    return (distance >= 0) & (distance <= W) & (keys > 0)",
            "one key too many is seen, and the key at position 0 is taken for "
            "an empty slot",
        ),
        Wrong(
            "queries[:, None] - keys",
            "queries[:, None] - keys.sort().values",
            "the keys are sorted first, so that the columns belong to other keys",
        ),
        Wrong(
            "(distance < W) & (keys >= 0)",
            "(distance <= W)",
            "one key too many is seen, and empty slots are seen as well",
        ),
        Wrong(
            "distance >= 0) & (distance < W)",
            "distance > 0) & (distance <= W)",
            "the W positions before a query's own are seen; its own should be one of "
            "the W",
        ),
        Wrong(
            "    return (distance >= 0) & (distance < W) & (keys >= 0)",
            "    return (distance >= 0) & (distance < W - 1) & (keys > 0)",
            "one key too few is seen, and the key at position 0 is taken for an empty "
            "slot",
        ),
        Wrong(
            "    return (distance >= 0) & (distance < W) & (keys >= 0)",
            "    return (distance > 0) & (distance < W) & (keys > 0)",
            "no token sees itself, and the key at position 0 is taken for an empty "
            "slot",
        ),
        Wrong(
            "    return (distance >= 0) & (distance < W) & (keys >= 0)",
            "    return (distance >= 0) & (distance < W - 1)",
            "one key too few is seen, and empty slots are seen as well",
        ),
        Wrong(
            "    return (distance >= 0) & (distance < W) & (keys >= 0)",
            "    return distance < W",
            "the future is seen, and so are empty slots",
        ),
        Wrong(
            "    return (distance >= 0) & (distance < W) & (keys >= 0)",
            "    return distance >= 0",
            "nothing is forgotten, and empty slots are seen as well",
        ),
        Wrong(
            "    return (distance >= 0) & (distance < W) & (keys >= 0)",
            "    distance = queries[:, None] - keys.clamp(min=0)\n"
            "    return (distance >= 0) & (distance < W)",
            "an empty slot is taken for position 0; it should be seen by nobody",
        ),
        Wrong(
            "    return (distance >= 0) & (distance < W) & (keys >= 0)",
            "    last = torch.arange(len(keys)) >= len(keys) - W\n"
            "    return (distance >= 0) & last & (keys >= 0)",
            "the window is the last W slots; it should be the latest W positions",
        ),
        Wrong(
            "    return (distance >= 0) & (distance < W) & (keys >= 0)",
            "    later = (keys > queries[:, None]).cumsum(dim=1) > 0\n"
            "    return (distance >= 0) & (distance < W) & (keys >= 0) & ~later",
            "a loop is left at the first key of the future, as if keys were sorted; "
            "they may stand in any order",
        ),
        Wrong(
            "    return (distance >= 0) & (distance < W) & (keys >= 0)",
            "    return (distance >= 0) & (distance < W) & (keys >= 0) & ((keys < "
            "0).cumsum(dim=0) == 0)",
            "a loop is left at the first empty slot; keys may stand behind it, too",
        ),
        Wrong(
            "    return (distance >= 0) & (distance < W) & (keys >= 0)",
            "    return (queries[:, None] // W == keys // W) & (distance >= 0)",
            "the text is cut into blocks of W; the window should go along with each "
            "query",
        ),
        Wrong(
            "(distance >= 0) & (distance",
            "torch.ones_like(distance).tril(len(keys) - len(queries)).bool() & "
            "(distance",
            "the future is hidden by places in the row; it should be by positions",
        ),
        Wrong(
            "    return (distance >= 0) & (distance < W) & (keys >= 0)",
            "    return ((distance >= 0) & (distance < W) & (keys >= 0)).mT",
            "the mask has rows for keys and columns for queries; it should be (T, S)",
        ),
        Wrong(
            "    return (distance >= 0) & (distance < W) & (keys >= 0)",
            "    return ((distance >= 0) & (distance < W) & (keys >= 0))[:, keys >= 0]",
            "empty slots are taken out, so that the mask is too narrow; they should "
            "be columns of False",
        ),
        Wrong(
            "    return (distance >= 0) & (distance < W) & (keys >= 0)",
            "    seen = (distance >= 0) & (distance < W) & (keys >= 0)\n"
            "    return torch.where(seen, 0.0, -torch.inf)",
            "the mask holds zeros and minus infinity; it should hold True and False",
        ),
        Wrong(
            "queries[:, None] - keys",
            "queries - keys[:, None]",
            "the keys get the new axis; it should be the queries, so that rows are "
            "theirs",
        ),
        Wrong(
            "    return (distance >= 0) & (distance < W) & (keys >= 0)",
            "    return (distance >= 0) & (distance < W) | (keys >= 0)",
            "the last condition is joined by `|`, so that all keys that are there are "
            "seen",
        ),
        Wrong(
            "    return (distance >= 0) & (distance < W) & (keys >= 0)",
            "    return (distance > 0) & (distance <= W)",
            "the W positions before a query's own are seen, and empty slots as well",
        ),
        Wrong(
            "    return (distance >= 0) & (distance < W) & (keys >= 0)",
            "    return (distance <= 0) & (distance < W) & (keys >= 0)",
            "the future is seen, and the past is hidden",
        ),
    ],
    stars=1,
    minutes=5,
)
