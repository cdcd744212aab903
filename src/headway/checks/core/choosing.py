"""Which properties are asked, and what names one."""

import difflib
from collections.abc import Collection, Mapping, Sequence
from typing import Protocol, TypeVar

from headway.checks.core.cannot_check import CannotCheckError


class Named(Protocol):
    """A property, of attention or of a model."""

    @property
    def id(self) -> str:
        """Its short name."""

    @property
    def name(self) -> str:
        """What holds, in a few words."""


P = TypeVar("P", bound=Named)


def chosen(
    properties: Sequence[P],
    only: Collection[str] | None = None,
    skip: Collection[str] | None = None,
) -> list[P]:
    """Choose the properties that are asked.

    Args:
        properties: All of them.
        only: The ids of those to ask, all if there are none.
        skip: The ids of those to leave out.

    Raises:
        ValueError: If an id is of no property, or no property is left.
    """
    for option, ids in (("only", only), ("skip", skip)):
        if isinstance(ids, str):
            raise CannotCheckError(
                f"{option} must be a list of ids; got {option}={ids!r}."
            )
        for one in ids or ():
            refuse_unknown(option, one, properties)
    left = [
        one
        for one in properties
        if (not only or one.id in only) and one.id not in (skip or ())
    ]
    if not left:
        raise CannotCheckError(
            f"only and skip must leave a property; got only={only!r}, skip={skip!r}."
        )
    return left


def refuse_unknown(option: str, given: str, properties: Sequence[Named]) -> None:
    """Refuse an id of no property, and say which may be meant.

    Args:
        option: Where it was given.
        given: What was given.
        properties: Those that there are.

    Raises:
        ValueError: If no property has this id.
    """
    known = {one.id: one.id for one in properties}
    if str(given) not in known:
        words = {one.name: one.id for one in properties} | known
        raise CannotCheckError(
            f"{option} must name a property by its id, {nearest(str(given), words)}; "
            f"got {option}={given!r}."
        )


def nearest(name: str, known: Mapping[str, str]) -> str:
    """Say what may be meant: what is near to a name, or all if nothing is near.

    Args:
        name: What was given.
        known: What each word means.
    """
    lower = {word.lower(): meant for word, meant in known.items()}
    near = difflib.get_close_matches(name.lower(), lower, n=2, cutoff=0.5)
    if near:
        found = dict.fromkeys(repr(lower[one]) for one in near)
        return f"such as {' or '.join(found)}"
    return f"one of {', '.join(map(repr, dict.fromkeys(known.values())))}"
