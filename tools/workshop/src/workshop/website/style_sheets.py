"""Join the style sheets of a site: a page loads one file, and not one for each concern.

A style sheet may be a list of others in the same folder,

    @import "palette.css";
    @import "code.css";

which browsers would fetch one after the other. In the built site it holds them itself.
"""

import re
from pathlib import Path

IMPORT = re.compile(r"""^@import (["'])([^"'/:]+\.css)\1;\n""", re.MULTILINE)


def join_style_sheets(site: Path) -> None:
    """Put what style sheets import from their own folder in its place.

    Args:
        site: The folder that the site was built into.

    Raises:
        ValueError: If a style sheet imports what is not there, or imports itself.
    """
    joined: set[Path] = set()
    for path in sorted(site.rglob("*.css")):
        text = path.read_text(encoding="utf-8")
        if IMPORT.search(text):
            path.write_text(_whole(path, (), joined), encoding="utf-8", newline="\n")
    for path in joined:
        path.unlink()


def _whole(path: Path, importing: tuple[Path, ...], joined: set[Path]) -> str:
    """Return the text of a style sheet with all that it imports; note what that is."""
    if path in importing:
        raise ValueError(f"a style sheet must not import itself; got {path.name}.")
    if not path.is_file():
        raise ValueError(
            f"{importing[-1].name} must import what is in its folder; got {path.name}."
        )

    def imported(match: re.Match[str]) -> str:
        neighbour = path.with_name(match[2])
        text = _whole(neighbour, (*importing, path), joined)
        joined.add(neighbour)
        return text

    return IMPORT.sub(imported, path.read_text(encoding="utf-8"))
