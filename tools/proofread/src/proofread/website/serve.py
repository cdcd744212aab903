"""Build the site and show it on this computer: `proofread serve`."""

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

HOST = "127.0.0.1"
BUILD = (sys.executable, "-m", "proofread", "build")


class SiteHandler(SimpleHTTPRequestHandler):
    """Answer as a host of static pages does: no folder listings, the site's own 404."""

    def handle(self) -> None:
        """Let a browser hang up in mid-page without a traceback."""
        with suppress(ConnectionError):
            super().handle()

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
        body = page.read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def end_headers(self) -> None:
        """Have the browser ask again, so that a rebuilt page is seen at once."""
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Stay quiet: the terminal belongs to the reader."""


def bind(port: str, site: Path) -> ThreadingHTTPServer:
    """Take the port, or end the program with one sentence."""
    if not port.isdecimal() or int(port) > 65535:
        sys.exit(f"PORT must be a number from 0 to 65535; got PORT={port}.")
    try:
        handler = partial(SiteHandler, directory=str(site))
        return ThreadingHTTPServer((HOST, int(port)), handler)
    except OSError as error:
        sys.exit(
            f"PORT must be free; got PORT={port} ({error.strerror}). "
            "Name another one: make serve PORT=NUMBER."
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Take the port, build the site, then serve it until Ctrl-C."""
    parser = argparse.ArgumentParser(prog="proofread serve")
    parser.add_argument("--port", default="8000")
    parser.add_argument("--site", type=Path, default=Path("site"))
    parser.add_argument("--check", action="store_true", help="only try the port")
    options = parser.parse_args(arguments)

    # The port comes first: nobody should wait for a build to hear that it is taken.
    with bind(options.port, options.site) as server:
        if options.check:
            return
        try:
            subprocess.run(BUILD, check=True)  # noqa: S603
            # The socket has listened since bind: from here on it answers.
            print(f"http://{HOST}:{server.server_port}", flush=True)
            server.serve_forever()
        except subprocess.CalledProcessError as error:
            sys.exit(error.returncode)
        except KeyboardInterrupt:
            print()
