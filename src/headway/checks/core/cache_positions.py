"""Where new tokens stand behind a cache, read off the rows of tables they are given."""

from collections.abc import Callable, Iterator

from torch import Tensor

from headway.checks.core.outcome import Cause
from headway.checks.core.table_watch import EXACT, TableWatch

_PASTS = (4, 6)  # so many tokens are cached before a new one comes
_FURTHER = 8  # positions beyond these are known too


def cause_of_positions(
    at_once: Callable[[int], object],
    in_pieces: Callable[[int], object],
    context_length: int | None,
) -> Cause | None:
    """Measure where new tokens stand behind a cache, if not where it ends.

    Embeddings of positions, and cosines and sines, have a row for each position. Those
    that a single new token gets are looked for among those of a text in one call.

    Args:
        at_once: Calls with a text of so many tokens.
        in_pieces: Calls with so many tokens, and with one more behind their cache.
        context_length: How long a text may be, if it is known.

    Returns:
        What is wrong; `None` if positions are right, or cannot be seen.
    """
    length = min(_PASTS[-1] + _FURTHER, context_length or _PASTS[-1] + _FURTHER)
    with TableWatch(length) as watch:
        at_once(length)
    found = []
    for past in _PASTS:
        with TableWatch(1) as piece:
            in_pieces(past)
        places = {*_places(piece.kept, watch.kept)}
        if len(places) != 1:  # nothing is seen, or some parts are right
            return None
        found.append(places.pop())
    if not any(found):
        return Cause(
            "begin again from position zero, whatever the cache holds",
            "cache-positions-from-zero",
        )
    shifts = {place - past for place, past in zip(found, _PASTS, strict=True)}
    shift = shifts.pop()
    return None if shifts or not shift else _shifted(shift)


def _places(rows: list[Tensor], tables: list[Tensor]) -> Iterator[int]:
    """Find each row in the tables: at which position it stands in the one that has it.

    Args:
        rows: Tables of one row, (1, columns).
        tables: Those of a whole text, (positions, columns).
    """
    # One number alone is easily another's: 2 is a position, and half of another.
    for row in (one for one in rows if one.shape[1] > 1):
        for table in tables:
            if table.shape[1] != row.shape[1] or table.dtype != row.dtype:
                continue
            alike = ((table - row).abs() <= EXACT).all(dim=1)
            if int(alike.sum()) == 1:
                yield int(alike.nonzero())


def _shifted(shift: int) -> Cause:
    many = f"{abs(shift)} position{'s' * (abs(shift) > 1)}"
    where = "further on than" if shift > 0 else "before"
    sentence = f"stand {many} {where} where the cache ends"
    return Cause(sentence, "cache-positions-shifted")
