"""Build the site and show it on this computer: `workshop serve`.

A book whose labs have not run yet takes minutes to build. So first it is built without
what takes long and without search and downloads, and shown. Then a second process
builds all of it into the folder of the site. When that is done the server turns to this
folder, and open pages reload.
"""

import argparse
import io
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, BinaryIO

from workshop.markdown_ext.pending import MARK

HOST = "127.0.0.1"
BUILD = (sys.executable, "-m", "workshop", "build")
PREVIEW = Path(".cache/preview")


# ---- A server of any folder --------------------------------------------------------


class SiteHandler(SimpleHTTPRequestHandler):
    """Answer as a host of static pages does: no folder listings, the site's own 404.

    Args:
        directory: The folder of the site, a keyword as for the class above.
        prefix: Where the host has it, such as `/book`; at its root by default.
    """

    def __init__(self, *args: Any, prefix: str = "", **options: Any) -> None:
        self.prefix = prefix
        super().__init__(*args, **options)

    def handle(self) -> None:
        """Let a browser leave before its page has come."""
        with suppress(ConnectionError):
            super().handle()

    def translate_path(self, path: str) -> str:
        """Return the file that an address means."""
        if not path.startswith(f"{self.prefix}/"):
            return os.devnull + "/"  # there is no such file
        return super().translate_path(path.removeprefix(self.prefix))

    def list_directory(self, path: str | os.PathLike[str]) -> None:
        """Refuse to list a folder that has no index.html."""
        self.send_error(HTTPStatus.NOT_FOUND)

    def send_error(
        self, code: int, message: str | None = None, explain: str | None = None
    ) -> None:
        """Send 404.html for a page that is missing."""
        page = Path(self.directory, "404.html")
        if code != HTTPStatus.NOT_FOUND or not page.is_file():
            super().send_error(code, message, explain)
            return
        body = self.send_body(page.read_bytes(), "text/html; charset=utf-8", code)
        if self.command != "HEAD":
            self.copyfile(body, self.wfile)

    def send_body(self, body: bytes, kind: str, code: int = HTTPStatus.OK) -> BinaryIO:
        """Send the head of an answer; return its body."""
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        return io.BytesIO(body)

    def end_headers(self) -> None:
        """Have the browser ask again, so that a rebuilt page is seen at once."""
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Stay quiet: the terminal belongs to the reader."""


@contextmanager
def serving(
    site: Path, prefix: str = "", handler: Callable[..., SiteHandler] = SiteHandler
) -> Iterator[str]:
    """Serve a folder from a thread; yield the address at which it stands.

    Args:
        site: The folder.
        prefix: Where the host has it, such as `/book`; at its root by default.
        handler: What answers.
    """
    answer = partial(handler, directory=str(site), prefix=prefix)
    with ThreadingHTTPServer((HOST, 0), answer) as server:
        server.daemon_threads = False  # so that leaving waits for every answer
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://{HOST}:{server.server_port}{prefix}"
        finally:
            server.shutdown()
            thread.join()


# ---- A site that is not whole yet --------------------------------------------------

STATE, SCRIPT = "/_workshop/state.json", "/_workshop/reload.js"
# A file of the server, for which every policy of a site has leave, and of no site.
RELOAD = f"""\
const wait = setInterval(async () => {{
  const state = await fetch("{STATE}").then((answer) => answer.json(), () => null)
  if (!state || state.building) return
  clearInterval(wait)
  if (!state.failed) return location.reload()
  for (const place of document.querySelectorAll("[{MARK}]"))
    place.textContent = "This could not be computed; the terminal says why."
}}, 1000)
"""


class Preview:
    """What a server shows: the folder of a site, and whether that is still built."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.building = False
        self.failed = False
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, site: Path, command: Sequence[str]) -> threading.Thread:
        """Run the command that builds the whole site, and show it when it is there.

        Args:
            site: The folder that the command builds into.
            command: The command.

        Returns:
            The thread that waits for the command.
        """
        self.building = True
        self.process = subprocess.Popen(command)  # noqa: S603
        thread = threading.Thread(target=self._wait, args=(self.process, site))
        thread.start()
        return thread

    def _wait(self, process: subprocess.Popen[bytes], site: Path) -> None:
        if process.wait() == 0:
            self.folder = site
            print("The whole site is there now, with search.", flush=True)
        elif self.building:
            self.failed = True
            print("The site lacks what could not be computed.", file=sys.stderr)
        self.building = False

    def stop(self) -> None:
        """End the command if it still runs."""
        self.building = False
        if self.process is not None:
            self.process.terminate()
            self.process.wait()


class PreviewHandler(SiteHandler):
    """Serve what a preview shows; as long as it is not whole, pages wait for more."""

    def __init__(self, *args: Any, preview: Preview, **options: Any) -> None:
        self.preview = preview
        super().__init__(*args, directory=str(preview.folder), **options)

    def send_head(self) -> BinaryIO | Any:
        """Send the head of an answer; return its body."""
        if self.path == STATE:
            state = {
                "building": self.preview.building,
                "failed": self.preview.failed,
            }
            return self.send_body(json.dumps(state).encode(), "application/json")
        if self.path == SCRIPT:
            return self.send_body(RELOAD.encode(), "text/javascript; charset=utf-8")
        address = self.path.partition("?")[0]
        page = Path(self.translate_path(address))
        page = page / "index.html" if address.endswith("/") else page
        whole = not (self.preview.building or self.preview.failed)
        if whole or page.suffix != ".html" or not page.is_file():
            return super().send_head()
        script = f'<script src="{SCRIPT}" defer></script></head>'
        html = page.read_text(encoding="utf-8").replace("</head>", script, 1)
        return self.send_body(html.encode(), "text/html; charset=utf-8")


# ---- The command -------------------------------------------------------------------


def bind(port: str, preview: Preview) -> ThreadingHTTPServer:
    """Take the port, or end the program with one sentence."""
    if not port.isdecimal() or int(port) > 65535:
        sys.exit(f"PORT must be a number from 0 to 65535; got PORT={port}.")
    try:
        handler = partial(PreviewHandler, preview=preview)
        return ThreadingHTTPServer((HOST, int(port)), handler)
    except OSError as error:
        sys.exit(
            f"PORT must be free; got PORT={port} ({error.strerror}). "
            "Name another one: make serve PORT=NUMBER."
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Take the port, build the site, then serve it until Ctrl-C."""
    parser = argparse.ArgumentParser(prog="workshop serve")
    parser.add_argument("--port", default="8000")
    parser.add_argument("--site", type=Path, default=Path("site"))
    parser.add_argument("--check", action="store_true", help="only try the port")
    options = parser.parse_args(arguments)

    preview = Preview(PREVIEW)
    # The port comes first: nobody should wait for a build to hear that it is taken.
    with bind(options.port, preview) as server:
        if options.check:
            return
        try:
            subprocess.run(  # noqa: S603
                [*BUILD, "--preview", "--site-dir", str(PREVIEW)], check=True
            )
            preview.start(options.site, [*BUILD, "--site-dir", str(options.site)])
            # The socket has listened since bind: from here on it answers.
            print(f"http://{HOST}:{server.server_port}", flush=True)
            server.serve_forever()
        except subprocess.CalledProcessError as error:
            sys.exit(error.returncode)
        except KeyboardInterrupt:
            print()
        finally:
            preview.stop()
