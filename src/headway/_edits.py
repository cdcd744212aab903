"""A change of a text: what stands in it once, and what is put in its place.

Mutants of the package and of the corpus, wrong answers of exercises and fixes of the
museum are such changes, each with more fields of its own.
"""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, Self


@dataclass(frozen=True)
class Edit:
    """A change of a text.

    Attributes:
        old: What stands in the text, once.
        new: What is put in its place.
    """

    old: str
    new: str

    @classmethod
    def read(cls, table: Mapping[str, Any]) -> Self:
        """Read a change from a table in TOML.

        Raises:
            ValueError: If the table lacks a field, or has one that is not known.
        """
        known = {one.name: one.default is MISSING for one in fields(cls)}
        needed = [name for name, must in known.items() if must]
        if not {*needed} <= table.keys() <= known.keys():
            raise ValueError(
                f"a {cls.__name__.lower()} must have {', '.join(needed)}; got {table}."
            )
        return cls(**table)

    def apply(self, text: str, where: str) -> str:
        """Make the change in a text, which a refusal calls by the name `where`.

        Raises:
            ValueError: If it is not clear what is replaced.
        """
        if (times := text.count(self.old)) != 1:
            raise ValueError(
                f"old must stand once in {where}; got {times} of {self.old!r}."
            )
        return text.replace(self.old, self.new)
