"""The pictures of the second part."""

from collections.abc import Callable

from generators.pictures.parts.positions import (
    clock_hands,
    relative_bias,
    rotary,
    rotary_scaling,
)

PICTURES: dict[str, Callable[[], str]] = {
    **clock_hands.PICTURES,
    **rotary.PICTURES,
    **rotary_scaling.PICTURES,
    **relative_bias.PICTURES,
}
