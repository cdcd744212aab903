"""Tell whether two numbers can be one, rounded here and there."""

from decimal import Context, Decimal

from pytest_proofread.output.tokens import Number, Token

# Of its own, because a program under test may change the one of its thread.
_EXACTLY = Context(prec=64)
_MILLIONTH = Decimal("1e-6")
_QUOTES = {"'", '"'}


def equal(one: Token, other: Token) -> bool:
    """Tell whether two tokens are the same, but for rounding and the name of a grad_fn.

    `pytest_proofread.output.compare.same` says what that means for a number.
    """
    if one.text == other.text:
        return True
    if isinstance(one, Number) and isinstance(other, Number):
        return _near(one, other)
    return shape(one) == shape(other)


def shape(token: Token) -> str:
    """Return what two tokens share if only a number or a grad_fn sets them apart."""
    if isinstance(token, Number):
        return " "  # which is no word
    return "grad_fn=<>" if token.text.startswith("grad_fn=<") else token.text


def _near(one: Number, other: Number) -> bool:
    wrappers = {one.wrapper, other.wrapper} - {""}
    if len(wrappers) > 1 or not wrappers.isdisjoint(_QUOTES):
        return False
    if one.digits == other.digits:
        return True
    if not (one.is_float and other.is_float):
        return False
    both_noise = _is_noise(one) and _is_noise(other)
    return both_noise or _error(one, other) <= _tolerance(one, other)


def _error(one: Number, other: Number) -> Decimal:
    return _EXACTLY.subtract(one.value, other.value).copy_abs()


def _unit(place: int) -> Decimal:
    return Decimal((0, (1,), place))


def _tolerance(one: Number, other: Number) -> Decimal:
    places = [number.place for number in (one, other) if number.decimals]
    if not places:
        return Decimal(0)
    if one.decimals == other.decimals:
        # The places differ if one is in scientific notation.
        return _unit(max(places))
    # The shorter print left out zeros, so that it says no less than the longer one.
    larger = max(one.value.copy_abs(), other.value.copy_abs())
    return max(_unit(min(places)), _EXACTLY.multiply(larger, _MILLIONTH))


def _is_noise(number: Number) -> bool:
    """Tell whether a number is what rounding leaves of zero."""
    value = number.value.copy_abs()
    scientific = "e" in number.digits.lower() and number.decimals > 0
    return value == 0 or (scientific and value < _MILLIONTH)


def distance(one: Number, other: Number) -> str:
    """Return the end of a sentence about two numbers that differ."""
    if not (one.value.is_finite() and other.value.is_finite()):
        return ""
    if not _QUOTES.isdisjoint({one.wrapper, other.wrapper}):
        return ", in quotes"
    error = _error(one, other)
    if not error:
        return ", the same number printed otherwise"
    if not one.decimals or one.place != other.place:
        return f", off by {error:g}"
    units = _EXACTLY.divide(error, _unit(one.place))
    plural = "" if units == 1 else "s"
    return f", off by {error:g} ({units:g} unit{plural} of the last place)"
