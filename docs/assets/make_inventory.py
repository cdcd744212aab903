"""Make inventory.inv, which links the types in our signatures, from inventory.txt.

Run it after a change of the list: `python docs/assets/make_inventory.py`. It also says
what mkdocs.yml must name: mkdocs keeps what it read from an address for a day, and
would not notice a new content under an old one.
"""

import zlib
from pathlib import Path

from mkdocstrings import Inventory

HERE = Path(__file__).parent


def make(listing: str) -> bytes:
    """Turn the readable list into what mkdocstrings reads."""
    inventory = Inventory(project="headway", version="types of others")
    for line in listing.splitlines():
        if line and not line.startswith("#"):
            name, role, address = line.split()
            inventory.register(name=name, domain="py", role=role, uri=address)
    return inventory.format_sphinx()


def url(listing: str) -> str:
    """Name the file together with its content."""
    return f"file:docs/assets/inventory.inv#{zlib.crc32(listing.encode()):08x}"


if __name__ == "__main__":
    text = (HERE / "inventory.txt").read_text()
    (HERE / "inventory.inv").write_bytes(make(text))
    print("mkdocs.yml must name", url(text))
