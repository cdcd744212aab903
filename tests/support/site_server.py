"""A built site on a server of this computer, sent as a host of pages sends it."""

import gzip
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from http import HTTPStatus
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from workshop.website.serve import SiteHandler
from workshop.website.serve import serving as serve

SITE = Path(__file__).parents[2] / "site"
COMPRESSED = {".html", ".css", ".js", ".json", ".svg", ".txt", ".xml"}


def as_sent(file: Path) -> bytes:
    """Return what a host sends for a file: text is compressed."""
    data = file.read_bytes()
    return gzip.compress(data, 6) if file.suffix in COMPRESSED else data


class CompressingHandler(SiteHandler):
    """Send texts compressed, as a host of pages does."""

    def send_head(self) -> BinaryIO | Any:
        """Send the head of an answer; return its body."""
        file = Path(self.translate_path(self.path))
        if self.path.partition("?")[0].endswith("/"):
            file /= "index.html"
        if file.suffix not in COMPRESSED or not file.is_file():
            return super().send_head()
        body = as_sent(file)
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", self.guess_type(str(file)))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        return BytesIO(body)


def serving(site: Path, folder: str = "") -> AbstractContextManager[str]:
    """Serve a site below a folder of a host; the value is the address of the folder.

    Args:
        site: The folder with the files.
        folder: Where the host has it, such as `/deep/book`; at its root by default.
    """
    return serve(site, folder, CompressingHandler)


@contextmanager
def serving_pages(site: Path) -> Iterator[Callable[[str], str]]:
    """Serve a site in a folder of a host; yield what returns the address of a page.

    A site that was built without its address knows no folder: its 404.html belongs to
    the root of a host.
    """
    with serving(site, "/book") as book, serving(site) as root:
        yield (
            lambda page: (
                f"{root}/{page}"
                if page == "404.html"
                else f"{book}/{page.removesuffix('index.html')}"
            )
        )
