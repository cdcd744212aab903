"""The pictures of the first part."""

from collections.abc import Callable

from generators.pictures.parts.basics import (
    heads,
    masks_and_dropout,
    scaled_dot_product,
    shapes_of_modules,
    training,
    two_texts,
    who_reaches_whom,
    word_vectors,
)

PICTURES: dict[str, Callable[[], str]] = {
    **word_vectors.PICTURES,
    **scaled_dot_product.PICTURES,
    **shapes_of_modules.PICTURES,
    **training.PICTURES,
    **masks_and_dropout.PICTURES,
    **heads.PICTURES,
    **two_texts.PICTURES,
    **who_reaches_whom.PICTURES,
}
