"""What an author declares of attention, so that a check does not have to guess it.

A class says it once, as `attention_facts`: a dictionary, or a method that gives one.
The name has no underscores around it: those that have are Python's own.
"""

import functools
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from headway.checks.core.cannot_check import CannotCheckError
from headway.checks.core.choosing import nearest

ATTRIBUTE = "attention_facts"
NONE = "none"  # said of what may be there, and is not
POSITIONS = (NONE, "rotary", "bias", "absolute")
LAYOUTS = ("batch first", "time first", "heads first", "tokens first", "one text")
MEANINGS = (
    "True may look",
    "True is hidden",
    "added to the scores",
    "tokens of each text",
)
NORMS = (NONE, "after projection", "after rotation")
_NORMALIZE = ("softmax", "sigmoid", "softmax plus one")


def _is_number(value: Any) -> bool:
    numeric = isinstance(value, (int, float)) and not isinstance(value, bool)
    return numeric and math.isfinite(value)


def _is_positive(value: Any) -> bool:
    return _is_number(value) and value > 0


def _is_count(value: Any) -> bool:
    return type(value) is int and value > 0


def _is_call(value: Any) -> bool:
    if not isinstance(value, str):
        return callable(value)
    try:
        compile(value.strip(), "<cached>", "eval")
    except SyntaxError:
        return False
    return True


def _are_masks(value: Any) -> bool:
    return value == NONE or (isinstance(value, Mapping) and bool(value))


class _Condition(NamedTuple):
    """What the value of a fact must be.

    Attributes:
        holds: Asks whether it is so.
        words: The same in words.
        choices: All values, if they are few.
    """

    holds: Callable[[Any], bool]
    words: str = ""
    choices: tuple[str, ...] = ()


def _one_of(*choices: str) -> _Condition:
    return _Condition(lambda one: one in choices, choices=choices)


_ANYTHING = _Condition(lambda one: True)  # where it is used, it is refused
_CONDITIONS: Mapping[str, _Condition] = {
    "causal": _Condition(lambda one: isinstance(one, bool), "be True or False"),
    "window": _Condition(
        lambda one: one == NONE or _is_count(one),
        'be a positive whole number or "none"',
    ),
    "positions": _one_of(*POSITIONS),
    "layout": _one_of(*LAYOUTS),
    "masks": _Condition(
        _are_masks, 'be a table of arguments and what they mean, or "none"'
    ),
    "caches": _Condition(lambda one: isinstance(one, bool), "be True or False"),
    "cached": _Condition(_is_call, "be an expression or a function"),
    "scale": _Condition(_is_positive, "be a positive number"),
    "normalize": _one_of(*_NORMALIZE),
    "rotary_base": _Condition(
        lambda one: _is_number(one) and one > 1, "be a number above 1"
    ),
    "softcap": _Condition(
        lambda one: one == NONE or _is_positive(one),
        'be a positive number or "none"',
    ),
    "sinks": _Condition(
        lambda one: isinstance(one, str), 'be the name of a parameter or "none"'
    ),
    "norms": _one_of(*NORMS),
    "groups": _Condition(_is_count, "be a positive whole number"),
    "half_precision": _Condition(lambda one: isinstance(one, bool), "be True or False"),
    **dict.fromkeys(
        ("num_heads", "d_in", "context_length", "vocab_size", "weights", "call"),
        _ANYTHING,
    ),
}
_OF_MODELS_ALONE = ("vocab_size",)
OF_MODELS = (
    "causal", "layout", "masks", "caches", "cached", "context_length", "vocab_size",
    "call",
)  # fmt: skip
OF_ATTENTION = tuple(one for one in _CONDITIONS if one not in _OF_MODELS_ALONE)


def declared(
    target: Any,
    facts: Mapping[str, Any] | None,
    keywords: Mapping[str, Any],
    known: Iterable[str] = OF_ATTENTION,
) -> dict[str, Any]:
    """Collect what is declared: by a keyword, else by `facts`, else by the class.

    What is `None` is not declared. What a class declares of no concern here, such as
    the norms of the layers of a whole model, is left out.

    Args:
        target: The code, which may have an attribute `attention_facts`.
        facts: What was handed over as `facts`.
        keywords: What was handed over by name.
        known: The facts that are of concern.

    Raises:
        ValueError: If a fact is not known, or can have no such value.
    """
    known = [*known]
    own = {k: v for k, v in facts_of(target).items() if k in known}
    asked = _table("facts", facts or {}, known)
    found = {
        name: value
        for name, value in {**own, **asked, **_said(keywords)}.items()
        if value is not None
    }
    refuse_impossible(found)
    return found


def facts_of(target: Any) -> Mapping[str, Any]:
    """Give what code declares of itself, by an attribute or a method.

    Raises:
        ValueError: If that is no table of known facts.
    """
    while isinstance(target, functools.partial) and not hasattr(target, ATTRIBUTE):
        target = target.func
    found = getattr(target, ATTRIBUTE, None)
    if callable(found):
        found = found()
    return _table(ATTRIBUTE, {} if found is None else found, [*_CONDITIONS])


def _table(name: str, value: Any, known: list[str]) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise CannotCheckError(f"{name} must be a dictionary; got {name}={value!r}.")
    for key in value:
        if key not in known:
            raise CannotCheckError(
                f"{name} must have known keys, {_near(key, known)}; got {key!r}."
            )
    return _said(value)


def _said(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def refuse_impossible(facts: Mapping[str, Any]) -> None:
    """Refuse facts that no attention can have, or that contradict each other.

    Raises:
        ValueError: If a scale, a base, a window or the like is none.
    """
    for name, value in facts.items():
        condition = _CONDITIONS.get(name, _ANYTHING)
        if not condition.holds(value):
            words = condition.words or _among(value, condition.choices)
            raise CannotCheckError(f"{name} must {words}; got {name}={value!r}.")
    masks = facts.get("masks")
    for argument, meaning in masks.items() if isinstance(masks, Mapping) else ():
        if meaning not in MEANINGS:
            raise CannotCheckError(
                f"masks must say what True means in {argument}, "
                f"{_near(meaning, MEANINGS)}; got {meaning!r}."
            )
    positions = facts.get("positions", "rotary")
    if "rotary_base" in facts and positions != "rotary":
        raise CannotCheckError(
            f"rotary_base must be left out with positions={positions!r}; "
            f"got rotary_base={facts['rotary_base']!r}."
        )
    if "cached" in facts and facts.get("caches") is False:
        cached = facts["cached"]
        raise CannotCheckError(
            f"cached must be left out with caches=False; got cached={cached!r}."
        )


def _among(value: Any, choices: tuple[str, ...]) -> str:
    return f"have a known value, {_near(value, choices)}"


def _near(value: Any, known: Iterable[str]) -> str:
    return nearest(str(value), {one: one for one in known})
