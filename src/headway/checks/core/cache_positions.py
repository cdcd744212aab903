"""Where new tokens stand that count their positions wrongly behind a cache."""

from headway.checks.core.outcome import Cause

SHIFTS = (1, -1, 2, -2)  # what is tried, the likeliest first


def shifted(shift: int) -> Cause:
    """Say how far new tokens stand from where they should.

    Args:
        shift: How many positions further on, or before.
    """
    many = f"{abs(shift)} position{'s' * (abs(shift) > 1)}"
    where = "further on than" if shift > 0 else "before"
    sentence = f"stand {many} {where} where the cache ends"
    return Cause(sentence, "cache-positions-shifted")
