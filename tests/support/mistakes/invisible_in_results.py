"""Mistakes that a check does not see, for it knows a module by its results alone.

One who reads the weights off does.
"""

import torch

from tests.support.attention_in_steps import Step, merge
from tests.support.mistakes.mistake import DROPOUT, Mistake


def of_one_pattern(axis: int) -> dict[str, Step]:
    """Drop the same for all places along an axis."""
    return {"drop": lambda m, w: w * m.dropout(torch.ones_like(w.narrow(axis, 0, 1)))}


INVISIBLE_IN_RESULTS: dict[str, Mistake] = {
    "dropout of the context": Mistake(
        DROPOUT,
        {"drop": lambda m, w: w, "merge": lambda m, c: merge(m, m.dropout(c))},
    ),
    "dropout of the values": Mistake(
        DROPOUT,
        {"drop": lambda m, w: w, "share": lambda m, q, k, v: (q, k, m.dropout(v))},
    ),
    "one dropout for all texts": Mistake(DROPOUT, of_one_pattern(0)),
    "one dropout for all heads": Mistake(DROPOUT, of_one_pattern(1)),
    "one dropout for all queries": Mistake(DROPOUT, of_one_pattern(2)),
    "one dropout for all keys": Mistake(DROPOUT, of_one_pattern(3)),
}
