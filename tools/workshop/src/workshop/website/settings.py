"""What `mkdocs.yml` says about a site, under one key that knows what may stand there.

    extra:
      workshop:
        reference: reference/ # the folders in it name the folders of the chapters
        chapters: [guide/] # or: these do
        takeaway: {project: ., note: Without an address, do this.}
        search_exclude: ["#cite$"] # sections that the search need not find
        search_last: [^api/] # pages that come after others that say the same
        archive: book.zip # the whole site, as it works without a server
        llms: true # the Markdown of each page, and a list of them in llms.txt
        policy: "default-src 'self'" # for browsers; scripts are added
        verified: [torch] # the packages whose versions a template can name

A key that is misspelled is refused. Without its policy, a site would look the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from difflib import get_close_matches
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, get_args, get_type_hints

KEY = "workshop"
EXPECTED = {
    str: "text",
    bool: "true or false",
    tuple[str, ...]: "a list of texts",
}
T = TypeVar("T")


@dataclass(frozen=True)
class Takeaway:
    """How the chapters become notebooks and programs.

    Args:
        project: The folder of the package that they import. The site offers its wheel.
        note: Markdown that a reader sees first if there is no wheel to install.
        colab: How the address of a notebook begins in Colab.
        programs: A folder of further programs in cells, each about a section of a page:
            `guide/walk/first.py` about `first` in `guide/walk.md`.
    """

    project: str = ""
    note: str = ""
    colab: str = ""
    programs: str = ""


@dataclass(frozen=True)
class SiteSettings:
    """What is made of a site besides its pages.

    Args:
        reference: The folder of the reference, in the folder of the pages. If it has a
            folder `part/`, the pages of the folder `part/` beside it are chapters.
        chapters: Folders of further chapters.
        takeaway: How the chapters become notebooks and programs, if they do.
        search_exclude: Expressions for the addresses of sections to leave out.
        search_last: Expressions for those that come after others that say the same.
        archive: The file name of the archive that works without a server.
        llms: Whether the Markdown of the pages is published, with a list of them.
        policy: The content security policy, without a word on scripts.
        verified: The packages that the site names as what it was verified with.
    """

    reference: str = ""
    chapters: tuple[str, ...] = ()
    takeaway: Takeaway | None = None
    search_exclude: tuple[str, ...] = ()
    search_last: tuple[str, ...] = ()
    archive: str = ""
    llms: bool = False
    policy: str = ""
    verified: tuple[str, ...] = ()

    def chapter_folders(self, docs: Path) -> tuple[str, ...]:
        """Return the folders of the chapters, each with a slash at its end.

        Args:
            docs: The folder of the pages.

        Raises:
            ValueError: If a folder does not exist.
        """
        for name in (*self.chapters, *filter(None, [self.reference])):
            if not (docs / name).is_dir():
                raise ValueError(
                    f"extra.{KEY} must name folders of {docs}; got folder={name!r}."
                )
        found = [*self.chapters]
        if self.reference:
            parts = sorted(path.name for path in (docs / self.reference).iterdir())
            found += [name for name in parts if (docs / self.reference / name).is_dir()]
        return tuple(f"{name.rstrip('/')}/" for name in found if (docs / name).is_dir())


def read_settings(extra: Mapping[str, Any]) -> SiteSettings:
    """Return the settings that the mapping `extra` of a configuration holds.

    Raises:
        ValueError: If a key is not known, or a value is of the wrong type.
    """
    for key in extra:
        if key != KEY and get_close_matches(str(key), [KEY]):
            raise ValueError(unknown("extra", key, extra[key], KEY))
    return from_mapping(SiteSettings, extra.get(KEY, {}), f"extra.{KEY}")


def from_mapping(kind: type[T], given: object, name: str) -> T:
    """Return a data class made of a mapping.

    Args:
        kind: The data class.
        given: What should be a mapping from its fields to their values.
        name: What a sentence calls it.

    Raises:
        ValueError: If a key is not known, or a value is of the wrong type.
    """
    if not isinstance(given, Mapping):
        raise ValueError(f"{name} must be a mapping; got {name}={given!r}.")
    types = get_type_hints(kind)
    known = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    for key, value in given.items():
        if key not in known:
            nearest = get_close_matches(str(key), known, n=1, cutoff=0)[0]
            raise ValueError(unknown(name, key, value, nearest))
    values = {
        key: convert(types[key], value, f"{name}.{key}") for key, value in given.items()
    }
    return kind(**values)


def unknown(name: str, key: object, value: object, nearest: str) -> str:
    """Return the sentence about a key that is not known."""
    sentence = f"{name} must have known keys only, such as {nearest}"
    return f"{sentence}; got {name}.{key}={value!r}."


def convert(wanted: Any, value: object, name: str) -> object:
    """Return a value as its field has it.

    Raises:
        ValueError: If the value is of another type.
    """
    kinds = get_args(wanted) if isinstance(wanted, UnionType) else (wanted,)
    kind = kinds[0]
    if is_dataclass(kind):
        return from_mapping(kind, value, name)  # type: ignore[arg-type]
    if kind == tuple[str, ...]:
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            return tuple(value)
    elif isinstance(value, kind):
        return value
    raise ValueError(f"{name} must be {EXPECTED[kind]}; got {name}={value!r}.")
