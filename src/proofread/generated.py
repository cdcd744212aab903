"""What a generator needs whose files must be the same wherever they are made."""

from decimal import Decimal

# How near to a tie between two roundings a number may come, as a share of the number.
# One with a few decimals is what a reader computes in float32, which rounds by so much.
# One with many digits is off by what float64 loses in a long sum, which is far less.
FLOAT32, FLOAT64 = Decimal(2) ** -24, Decimal("1e-12")


def fixed(value: float, decimals: int) -> str:
    """Write a number with a fixed number of decimals.

    Raises:
        ValueError: If the number lies so near a tie that another processor could round
            it the other way.
    """
    _refuse_tie(value, decimals, FLOAT32)
    return f"{value:.{decimals}f}"


def significant(value: float, digits: int) -> str:
    """Write a number with a number of significant digits.

    Raises:
        ValueError: If the number lies so near a tie that another processor could round
            it the other way.
    """
    if value:
        decimals = digits - 1 - Decimal(value).adjusted()
        _refuse_tie(value, decimals, FLOAT64)
    return f"{value:.{digits}g}"


def _refuse_tie(value: float, decimals: int, near: Decimal) -> None:
    units = abs(Decimal(value)).scaleb(decimals)
    if abs(units % 1 - Decimal("0.5")) <= near * units:
        raise ValueError(
            "a number must not lie between two roundings; "
            f"got value={value!r}, decimals={decimals}."
        )
