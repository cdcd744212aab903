"""The pictures of the third part."""

from collections.abc import Callable

from generators.pictures.parts.decoding import (
    grouped_query,
    kv_cache,
    latent_attention,
    paged_cache,
    sliding_window,
)

PICTURES: dict[str, Callable[[], str]] = {
    **kv_cache.PICTURES,
    **grouped_query.PICTURES,
    **sliding_window.PICTURES,
    **paged_cache.PICTURES,
    **latent_attention.PICTURES,
}
