"""What one property gives: a verdict, a sentence and a figure."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from headway.checks.core.book_sections import Section
from headway.checks.core.report import Verdict


class Outcome(NamedTuple):
    """The verdict on one property.

    Attributes:
        verdict: `passed`, `failed`, `note` or `not applicable`.
        sentence: What was seen, or why the property cannot be asked.
        figure: What was measured, if anything was.
        section: What to read, if it is not what explains the property.
        explains: If it failed, the properties that then fail of themselves.
        mistakes: The ids of the mistakes that the sentence names.
        unexplained: Whether something differs, and nothing known here explains it.
    """

    verdict: Verdict
    sentence: str
    figure: int | float | None = None
    section: Section | None = None
    explains: tuple[str, ...] = ()
    mistakes: tuple[str, ...] = ()
    unexplained: bool = False


class Cause(NamedTuple):
    """Why a property fails.

    Attributes:
        sentence: What was done, in words.
        mistake: The id of the mistake; empty if it may be one or another.
    """

    sentence: str
    mistake: str = ""

    @property
    def mistakes(self) -> tuple[str, ...]:
        """The ids of the mistakes that are named."""
        return (self.mistake,) if self.mistake else ()


def passed(sentence: str, figure: int | float | None = None) -> Outcome:
    """Say that a property holds."""
    return Outcome("passed", sentence, figure)


def failed(
    sentence: str,
    figure: int | float | None = None,
    *,
    section: Section | None = None,
    explains: Collection[str] = (),
    mistakes: Sequence[str] = (),
) -> Outcome:
    """Say that a property does not hold, and what is probably wrong."""
    following = tuple(sorted(explains))
    return Outcome("failed", sentence, figure, section, following, tuple(mistakes))


def note(sentence: str, figure: int | float | None = None) -> Outcome:
    """Say what a reader should know, though it is no fault."""
    return Outcome("note", sentence, figure)


def unexplained(sentence: str, figure: int | float | None = None) -> Outcome:
    """Say that something differs, which may be a fault or a design not known here."""
    return Outcome("note", sentence, figure, unexplained=True)


def not_applicable(sentence: str) -> Outcome:
    """Say why a property cannot be asked."""
    return Outcome("not applicable", sentence)
