"""Where a verdict sends the reader: sections of the book, and rooms of the museum."""

from headway._published import url_of

# The titles are those of the nav in mkdocs.yml; a test compares them.
ROOMS = {
    "masks": "Masks",
    "triangles": "Triangles",
    "softmax": "Scale and softmax",
    "heads": "Heads and layout",
    "dropout": "Dropout and modes",
    "padding": "Padding and fully masked rows",
    "state": "State, precision and sizes",
    "positions": "Positions",
    "caches": "Caches and windows",
    "groups": "Groups and latents",
    "pieces": "Pieces and tiles",
    "gradients": "Gradients by hand",
    "processes": "Many processes",
    "variants": "Variants",
    "models": "Parts of models",
    "whole_models": "Whole models",
    "running_models": "Running models",
}


def to_section(address: str, title: str) -> str:
    """Name a section, with its full address if the build knew where the book is.

    Args:
        address: Where it stands, from the first page of the book; or the address of
            a page elsewhere.
        title: Its title.
    """
    return f'Read "{title}": {_whole(address)}'


def to_exhibit(address: str) -> str:
    """Name the room of an exhibit, with its full address if the build knew it.

    Args:
        address: Where it stands, from the first page of the book:
            `museum/triangles/#wrong-corner`.
    """
    room = address.removeprefix("museum/").partition("/")[0]
    title = f'in "{ROOMS[room]}"' if room in ROOMS else "too"
    return f"The museum shows it {title}: {_whole(address)}"


def _whole(address: str) -> str:
    """Complete an address of the book; the set of a teacher may name other sites."""
    return address if "://" in address else url_of(address) or address
