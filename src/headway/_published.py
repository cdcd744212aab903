"""Where the book is published, as far as the build of the package was told."""

import functools
from importlib import metadata


@functools.cache
def published_at() -> str | None:
    """Read where the book is published, if the build of the package was told."""
    try:
        entries = metadata.metadata("headway").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:  # it is used from its source
        return None
    known = dict(entry.split(", ", 1) for entry in entries)
    return known.get("Documentation")


def url_of(address: str) -> str | None:
    """Give the full address of a page, or `None` if nobody said where the book is.

    Args:
        address: Where it stands, from the first page of the book.
    """
    site = published_at()
    return site and f"{site.rstrip('/')}/{address}"
