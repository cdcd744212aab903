"""The pictures of the fourth part."""

from collections.abc import Callable

from generators.pictures.parts.kernels import (
    flash_backward,
    flash_tiles,
    flex_blocks,
    online_softmax,
)

PICTURES: dict[str, Callable[[], str]] = {
    **online_softmax.PICTURES,
    **flash_tiles.PICTURES,
    **flash_backward.PICTURES,
    **flex_blocks.PICTURES,
}
