"""A built site on a server of this computer, sent as a host of pages sends it."""

import gzip
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from http.server import ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from proofread.website.serve import SiteHandler

SITE = Path(__file__).parents[2] / "site"
COMPRESSED = {".html", ".css", ".js", ".json", ".svg", ".txt", ".xml"}


def as_sent(file: Path) -> bytes:
    """Return what a host sends for a file: text is compressed."""
    data = file.read_bytes()
    return gzip.compress(data, 6) if file.suffix in COMPRESSED else data


class FolderHandler(SiteHandler):
    """Serve a site below a folder of a host, and nothing else; compress its texts."""

    def __init__(self, *args: Any, folder: str, **options: Any) -> None:
        self.folder = folder
        super().__init__(*args, **options)

    def translate_path(self, path: str) -> str:
        """Return the file that an address means."""
        inside = path.startswith(f"{self.folder}/")
        return super().translate_path(path.removeprefix(self.folder) if inside else "-")

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


@contextmanager
def serving(site: Path, folder: str = "") -> Iterator[str]:
    """Serve a site below a folder; yield the address of the folder.

    Args:
        site: The folder with the files.
        folder: Where the host has it, such as `/deep/book`; at its root by default.
    """
    handler = partial(FolderHandler, directory=str(site), folder=folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}{folder}"
        server.shutdown()


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
