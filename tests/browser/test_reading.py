"""How a reader goes through the book: previews, keys, missing pages, and on paper."""

import gzip
import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest
from served import SITE, Packing, fresh, visit

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page


@pytest.fixture(scope="module")
def host() -> Iterator[str]:
    """Serve the site that `make site` has built."""
    assert (SITE / "index.html").is_file(), "There must be a site. Run `make site`."
    with ThreadingHTTPServer(("127.0.0.1", 0), Packing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


# ---- Previews ----

CHAPTER = "/book/walk/masks/"
ENTRY = 'article a[href$="#headway.masks.hide_by_boolean"]'


@pytest.fixture
def chapter(browser: "Browser", host: str) -> Iterator["Page"]:
    context = fresh(browser)
    seen = visit(context, host + CHAPTER)
    yield seen.page
    assert seen.said == []
    context.close()


def preview(page: "Page") -> "Locator":
    return page.locator("#hw-preview")


def shown(page: "Page") -> "Locator":
    preview(page).wait_for(state="visible")
    return preview(page)


def test_the_script_of_previews_is_small() -> None:
    script = (SITE / "assets/preview.js").read_bytes()
    assert len(gzip.compress(script, 6)) <= 1536


def test_a_link_to_an_entry_shows_its_signature(chapter: "Page") -> None:
    link = chapter.locator(ENTRY).first
    link.hover()
    text = shown(chapter).inner_text()
    assert "hide_by_boolean(" in text
    assert "Hand the boolean mask to the attention function" in text
    assert "Explained in" not in text
    assert link.get_attribute("aria-describedby") == "hw-preview"
    assert preview(chapter).get_attribute("role") == "tooltip"
    from axe_playwright_python.sync_playwright import Axe

    assert Axe().run(chapter).response["violations"] == []
    inner = preview(chapter).locator("[id], [href], [tabindex], button")
    assert inner.count() == 0


def test_a_link_to_a_section_shows_its_first_words(chapter: "Page", host: str) -> None:
    chapter.goto(f"{host}/book/reference/masks/", wait_until="networkidle")
    chapter.locator('.hw-explained a[href$="#two-more-masks"]').hover()
    text = shown(chapter).inner_text()
    first, second = text.strip().split("\n", 1)
    assert first == "Two more masks"
    assert len(second) > 20


def test_a_preview_can_be_hovered_and_dismissed(chapter: "Page") -> None:
    link = chapter.locator(ENTRY).first
    link.hover()
    shown(chapter).hover()
    chapter.wait_for_timeout(500)
    assert preview(chapter).is_visible()
    chapter.keyboard.press("Escape")
    assert preview(chapter).is_hidden()
    assert link.get_attribute("aria-describedby") is None
    chapter.mouse.move(0, 0)
    link.hover()
    shown(chapter)
    chapter.mouse.move(0, 0)
    preview(chapter).wait_for(state="hidden")


def test_a_preview_comes_by_key(chapter: "Page") -> None:
    link = chapter.locator(ENTRY).first
    link.scroll_into_view_if_needed()
    chapter.keyboard.press("Shift")  # so that the browser shows the focus
    link.focus()
    shown(chapter)
    box, at = preview(chapter).bounding_box(), link.bounding_box()
    assert box
    assert at
    assert box["y"] >= at["y"] + at["height"] - 1 or box["y"] + box["height"] <= at["y"]
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 1280
    chapter.keyboard.press("Tab")
    preview(chapter).wait_for(state="hidden")


def test_a_page_is_asked_for_once(chapter: "Page") -> None:
    asked: list[str] = []
    chapter.on("request", lambda request: asked.append(request.url))
    for _ in range(2):
        for name in ("hide_by_boolean", "hide_by_renormalising"):
            chapter.locator(f'article a[href$="#headway.masks.{name}"]').first.hover()
            shown(chapter).get_by_text(name).first.wait_for()
            chapter.keyboard.press("Escape")
    assert [url for url in asked if url.endswith("/")] == [
        chapter.url.partition("/walk")[0] + "/reference/masks/"
    ]


@pytest.mark.parametrize("selector", ['article a[href^="#"]', "article a[download]"])
def test_what_is_here_or_no_page_has_no_preview(chapter: "Page", selector: str) -> None:
    asked: list[str] = []
    chapter.on("request", lambda request: asked.append(request.url))
    chapter.locator(selector).first.hover()
    chapter.wait_for_timeout(800)
    assert preview(chapter).is_hidden()
    assert [url for url in asked if not url.endswith("favicon.svg")] == []


def test_a_finger_gets_the_page_and_no_preview(browser: "Browser", host: str) -> None:
    context = fresh(browser, has_touch=True, is_mobile=True)
    page = visit(context, host + CHAPTER).page
    page.evaluate("addEventListener('click', (event) => event.preventDefault(), true)")
    page.locator(ENTRY).first.tap()
    page.wait_for_timeout(800)
    assert preview(page).is_hidden()
    context.close()


def test_a_page_read_from_a_file_has_no_preview(browser: "Browser") -> None:
    context = fresh(browser)
    page = context.new_page()
    page.goto((SITE / "walk/masks/index.html").as_uri())
    page.locator("article h1").wait_for()
    assert preview(page).count() == 0
    context.close()
