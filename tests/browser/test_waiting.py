"""What waits for a page ends, and not too early: on a busy computer too."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import pytest

from tests.support.browsing import QUIET, new_window, visit
from workshop.website.serve import SiteHandler, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PAGE = """\
<!doctype html><title>Busy</title><link rel="icon" href="data:,">Text.
<script src="busy.js"></script>
"""
# Long after all has come, the page still runs its script, which asks for a file and has
# it before the page is ready.
AT_ONCE = f"""
const end = Date.now() + {3 * QUIET}
while (Date.now() < end) {{}}
const ask = new XMLHttpRequest()
ask.open("GET", "asked.txt", false)
ask.send()
"""
LATER = f"""
setTimeout(() => fetch("first.json"), {QUIET // 2})
setTimeout(() => fetch("asked.txt"), {QUIET + QUIET // 2})
"""


class SlowHandler(SiteHandler):
    """Take longer over a text than a page takes to be quiet."""

    def send_head(self) -> BinaryIO | Any:
        """Send the head of an answer; return its body."""
        if self.path.endswith(".txt"):
            time.sleep(2 * QUIET / 1000)
        return super().send_head()


@pytest.mark.parametrize(
    ("script", "before"),
    [(AT_ONCE, []), (LATER, ["/first.json"])],
    ids=["at-once", "later"],
)
def test_it_waits_for_all_and_ends(
    browser: "Browser", tmp_path: Path, script: str, before: list[str]
) -> None:
    files = {"index.html": PAGE, "busy.js": script, "first.json": "1", "asked.txt": ""}
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8")
    window = new_window(browser)
    with serving(tmp_path, handler=SlowHandler) as origin:
        seen = visit(window, f"{origin}/")
        seen.settle()
        asked = [request.url.removeprefix(origin) for request in seen.requests]
        assert asked == ["/", "/busy.js", *before, "/asked.txt"]
        assert seen.waiting() == []
    window.close()
