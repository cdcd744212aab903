"""A browser, and the chapters with live figures as a site in a folder of a server."""

import functools
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from served import FLAGS

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parents[2]


def missing() -> str | None:
    """Say what is not installed here."""
    if importlib.util.find_spec("playwright") is None:
        return "Playwright, which the extra browser names"
    return None if shutil.which("chromium") else "a program chromium"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    lacks = missing()
    # There nothing may be left out in silence.
    if lacks and "CI" not in os.environ:
        mark = pytest.mark.skip(reason=f"needs {lacks}")
        for item in items:
            if Path(__file__).parent in item.path.parents:
                item.add_marker(mark)


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = shutil.which("chromium")
        running = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield running
        running.close()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build page one and the chapters as configured, without nav and plugins."""
    folder = tmp_path_factory.mktemp("served")
    docs = folder / "docs"
    for part in ("walk", "assets"):
        shutil.copytree(ROOT / "docs" / part, docs / part)
    shutil.copy(ROOT / "docs/index.md", docs)
    text = (ROOT / "mkdocs.yml").read_text("utf-8")
    text = re.sub(r"(?ms)^plugins:.*?^(?=markdown_extensions)", "plugins: []\n", text)
    text = re.sub(r"(?ms)^nav:.*?^(?=exclude_docs)", "", text)
    text = text.replace("custom_dir: ", f"custom_dir: {ROOT}/")
    text = text.replace("base_path: [", f"base_path: [{ROOT}/")
    # Links to pages that are not built here are no matter of this.
    text = text.replace("strict: true", "strict: false")
    config = folder / "mkdocs.yml"
    config.write_text(f"{text}\ndocs_dir: {docs}\nsite_dir: {folder / 'www/book'}\n")
    build = [sys.executable, "-m", "mkdocs", "build", "--quiet", "-f", config]
    quiet = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    subprocess.run(build, env=quiet, check=True, capture_output=True)
    return folder / "www" / "book"


class Handler(SimpleHTTPRequestHandler):
    """Serve files; below /strict/ under a policy that allows files of ours only."""

    def translate_path(self, path: str) -> str:
        return super().translate_path(path.removeprefix("/strict"))

    def end_headers(self) -> None:
        if self.path.startswith("/strict/"):
            self.send_header(
                "Content-Security-Policy",
                "default-src 'self'; script-src 'self'; style-src 'self'",
            )
        super().end_headers()

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="session")
def origin(site: Path) -> Iterator[str]:
    """Serve the site in a subfolder: ORIGIN/book/, and ORIGIN/strict/book/."""
    handler = functools.partial(Handler, directory=str(site.parent))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
