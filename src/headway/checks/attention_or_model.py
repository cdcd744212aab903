"""Attention, or a whole model: which of the two is to be checked."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from headway.checks.attention.properties import PROPERTIES
from headway.checks.attention.run import check
from headway.checks.core.cannot_check import CannotCheckError
from headway.checks.core.choosing import Named
from headway.checks.core.declared_facts import facts_of
from headway.checks.core.report import Report
from headway.checks.model import check_model
from headway.checks.model.properties import PROPERTIES as OF_MODELS

# What attention alone is told. A constructor may take the first, of a model too.
_OF_CONSTRUCTORS = ("d_in", "num_heads", "scale", "normalize", "rotary_base", "window")
_OF_ATTENTION = ("weights",)
_OF_THE_EQUATION = ("strict",)  # which a model is not compared with
_OF_A_MODEL = ("mask", "positions", "compile", "memory")


def is_model(code: Callable[..., Any], options: Mapping[str, Any]) -> bool:
    """Ask whether a whole model is meant: it has a vocabulary, as is said or declared.

    Raises:
        ValueError: If what the code declares is no table of facts.
    """
    declared = (facts_of(code), options.get("facts") or {}, options)
    return any(facts.get("vocab_size") is not None for facts in declared)


def properties_of(*, model: bool) -> Sequence[Named]:
    """List the properties that are asked of a whole model, or of attention."""
    return OF_MODELS if model else PROPERTIES


def check_attention_or_model(
    code: Callable[..., Any], options: Mapping[str, Any]
) -> Report:
    """Check attention, or a whole model if the size of a vocabulary is told.

    Args:
        code: A module, or a function.
        options: The options of its check; a whole model is not told those of
            attention that its constructor may have been given, nor `strict`.

    Raises:
        ValueError: If it cannot be checked, or is told what only the other one has.
    """
    if not is_model(code, options):
        for name in _OF_A_MODEL:
            if name in options:
                raise CannotCheckError(
                    f"vocab_size must be given with {name}, which is of a whole model; "
                    f"got {name}={options[name]!r}."
                )
        return check(code, **options)
    for name in _OF_ATTENTION:
        if name in options:
            raise CannotCheckError(
                f"{name} must be left out for a whole model; "
                f"got {name}={options[name]!r}."
            )
    left_out = (*_OF_CONSTRUCTORS, *_OF_THE_EQUATION)
    kept = {key: value for key, value in options.items() if key not in left_out}
    return check_model(code, **kept)
