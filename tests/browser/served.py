"""The built site on a server of this computer, and what a browser does with a page."""

import gzip
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, Request

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SITE = Path(__file__).parents[2] / "site"
# What a host of static pages packs on its way.
PACKED = {".html", ".css", ".js", ".json", ".svg", ".txt", ".xml"}


class Packing(SimpleHTTPRequestHandler):
    """Serve the site at /book/, its 404 page at the root, and text as gzip."""

    sent: ClassVar[dict[str, int]] = {}

    def do_GET(self) -> None:
        path = self.path.partition("?")[0].removeprefix("/book/").lstrip("/")
        file = SITE / path
        if file.is_dir():
            file /= "index.html"
        if not file.is_file():
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        body = file.read_bytes()
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", self.guess_type(str(file)))
        if file.suffix in PACKED:
            body = gzip.compress(body, 6)
            self.send_header("Content-Encoding", "gzip")
        self.sent[self.path.partition("?")[0]] = len(body)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with suppress(BrokenPipeError):  # the browser is on another page already
            self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@dataclass
class Visit:
    """What a browser loaded for one page, and what it said."""

    page: "Page"
    requests: list["Request"] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def wire(self) -> int:
        """Count the bytes of all answers, their heads too."""
        # Its head first: to ask for that waits for the answer. A browser does not say
        # how large the script of a worker is.
        return sum(
            request.sizes()["responseHeadersSize"]
            + Packing.sent[urlsplit(request.url).path]
            for request in [*self.requests]
        )

    def wake(self) -> None:
        """Bring each live figure into view, and wait until it has started."""
        for figure in self.page.locator("[data-live]").all():
            figure.scroll_into_view_if_needed()
            name = figure.get_attribute("data-live")
            self.page.locator(f'.hw-live--on[data-live="{name}"]').wait_for()
            self.page.wait_for_load_state("networkidle")


def visit(context: "BrowserContext", url: str, until: str = "networkidle") -> Visit:
    """Open a page; if not told otherwise, wait until it asks for nothing more."""
    page = context.new_page()
    seen = Visit(page)
    page.on("request", lambda request: seen.requests.append(request))
    page.on("console", lambda message: seen.said.append(message.text))
    page.on("pageerror", lambda error: seen.said.append(str(error)))
    page.goto(url, wait_until=until)
    return seen


def address(origin: str, page: str) -> str:
    """Return where a page of the site is."""
    if page == "404.html":  # stands for any address below the root of a host
        return f"{origin}/404.html"
    return f"{origin}/book/{page.removesuffix('index.html')}"


def fresh(browser: "Browser", **options: object) -> "BrowserContext":
    """Open a window without a history."""
    return browser.new_context(
        **{"viewport": {"width": 1280, "height": 900}, **options}
    )
