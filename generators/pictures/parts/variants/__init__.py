"""The pictures of the fifth part."""

from collections.abc import Callable

from generators.pictures.parts.variants import (
    delta_rule,
    differential_attention,
    linear_attention,
    sinks,
    sparse_attention,
)

PICTURES: dict[str, Callable[[], str]] = {
    **sinks.PICTURES,
    **differential_attention.PICTURES,
    **sparse_attention.PICTURES,
    **linear_attention.PICTURES,
    **delta_rule.PICTURES,
}
