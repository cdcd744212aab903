"""The pictures of the seventh part."""

from collections.abc import Callable

from generators.pictures.parts.models import (
    attention_maps,
    induction,
    loss_of_the_novel,
    residual_streams,
)

PICTURES: dict[str, Callable[[], str]] = {
    **residual_streams.PICTURES,
    **loss_of_the_novel.PICTURES,
    **induction.PICTURES,
    **attention_maps.PICTURES,
}
