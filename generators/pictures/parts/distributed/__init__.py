"""The pictures of the sixth part."""

from collections.abc import Callable

from generators.pictures.parts.distributed import (
    ring,
    tensor_parallel,
)

PICTURES: dict[str, Callable[[], str]] = {
    **tensor_parallel.PICTURES,
    **ring.PICTURES,
}
