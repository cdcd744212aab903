"""Write how to cite a project, from its CITATION.cff: `python -m proofread.cite`."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mkdocs.utils.yaml import yaml_load


def bibtex(about: Mapping[str, Any]) -> str:
    """Return an entry of BibTeX.

    Args:
        about: What a CITATION.cff holds.
    """
    authors = " and ".join(f"{{{author['name']}}}" for author in about["authors"])
    fields = {
        "author": authors,
        "title": f"{{{about['title']}}}",
        "version": about["version"],
        "year": str(about["date-released"])[:4] if "date-released" in about else "",
        "url": about.get("url", ""),
    }
    key = about["title"].split()[0].strip(":,").lower()
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@software{{{key},", *lines, "}"]) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print how to cite a project."""
    parser = argparse.ArgumentParser(prog="python -m proofread.cite")
    parser.add_argument("file", type=Path, nargs="?", default=Path("CITATION.cff"))
    file = parser.parse_args(arguments).file
    print(bibtex(yaml_load(file.read_text(encoding="utf-8"))), end="")


if __name__ == "__main__":
    main()
