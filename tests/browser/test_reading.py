"""How a reader goes through the book: previews, keys, missing pages, and on paper."""

import gzip
import inspect
import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import pytest

import headway
from tests.support.book_nav import numbered_chapters, sections_of, title_of
from tests.support.browsing import (
    FLAGS,
    SEARCH_HAS_FOCUS,
    Visit,
    browser_program,
    finish_animations,
    new_window,
    unfold,
    visit,
)
from tests.support.chosen_pages import all_pages
from tests.support.site_server import SITE, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page


ROOT = Path(__file__).parents[2]
FOLDER = "/deep/book"
EDITED = "https://github.com/OWNER/NAME/edit/main/"
needs_published = pytest.mark.xdist_group("published")  # so that one process builds it


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site as a workflow does that publishes it from a repository."""
    site = tmp_path_factory.mktemp("published")
    given = {
        "SITE_URL": f"https://example.org{FOLDER}/",
        "REPO_URL": "https://github.com/OWNER/NAME",
        "EDIT_URI": "edit/main/docs/",
        "LABS": "false",
        "NO_MKDOCS_2_WARNING": "1",
    }
    python = ROOT / ".venv/bin/python"  # where the templates of notebooks are
    build = [python, "-m", "workshop", "build", "--site-dir", site]
    subprocess.run(build, cwd=ROOT, env=os.environ | given, check=True)
    return site


# ---- Previews ----

CHAPTER = "basics/masks.md"
NAMES = ("hide_by_minus_infinity", "hide_by_renormalising")
ENTRY, OTHER = (f'article a[href$="#headway.basics.masks.{name}"]' for name in NAMES)


@pytest.fixture
def chapter_in(opened: Callable[..., Visit]) -> Iterator[Callable[..., "Page"]]:
    """Return what opens a chapter in a window; the browser may report nothing."""
    seen: list[Visit] = []

    def chapter_in(**options: object) -> "Page":
        seen.append(opened(CHAPTER.replace(".md", "/"), **options))
        return seen[-1].page

    yield chapter_in
    assert [one.messages for one in seen if one.messages] == []


@pytest.fixture
def chapter(chapter_in: Callable[..., "Page"]) -> "Page":
    return chapter_in()


LONGER_THAN_A_PREVIEW = 2000  # takes to come or to go, in milliseconds


def preview(page: "Page") -> "Locator":
    return page.locator("#hw-preview")


def shown(page: "Page") -> "Locator":
    preview(page).wait_for(state="visible")
    return preview(page)


def test_the_script_of_previews_is_small() -> None:
    script = (SITE / "assets/scripts/link_preview.js").read_bytes()
    assert len(gzip.compress(script, 6)) <= 1536


def test_a_link_to_an_entry_shows_its_signature(chapter: "Page") -> None:
    link = chapter.locator(ENTRY).first
    link.hover()
    text = shown(chapter).inner_text()
    assert f"{NAMES[0]}(" in text
    assert inspect.getdoc(getattr(headway, NAMES[0])).partition("\n")[0] in text
    assert "Explained in" not in text
    assert link.get_attribute("aria-describedby") == "hw-preview"
    assert preview(chapter).get_attribute("role") == "tooltip"
    from axe_playwright_python.sync_playwright import Axe

    assert Axe().run(chapter).response["violations"] == []
    inner = preview(chapter).locator("[id], [href], [tabindex], button")
    assert inner.count() == 0


def test_a_link_to_a_section_shows_its_first_words(
    chapter: "Page", address: Any
) -> None:
    chapter.goto(address("reference/basics/masks/"))
    link = chapter.locator(".hw-explained a[href*='#']").first
    link.hover()
    text = shown(chapter).inner_text()
    first, second = text.strip().split("\n", 1)
    assert first in link.inner_text()
    assert len(second) > 20


def test_a_preview_can_be_hovered_and_dismissed(
    chapter_in: Callable[..., "Page"],
) -> None:
    chapter = chapter_in(clock=True)
    link = chapter.locator(ENTRY).first
    link.hover()
    shown(chapter).hover()
    chapter.clock.run_for(LONGER_THAN_A_PREVIEW)
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


def requests_of(page: "Page") -> list[str]:
    """Return the addresses that a page asks for from now on."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    return asked


def test_a_page_is_asked_for_once(chapter: "Page", address: Any) -> None:
    asked = requests_of(chapter)
    for _ in range(2):
        for name, selector in zip(NAMES, (ENTRY, OTHER), strict=True):
            chapter.locator(selector).first.hover()
            shown(chapter).get_by_text(name).first.wait_for()
            chapter.keyboard.press("Escape")
    pages = [url for url in asked if url.endswith("/")]
    assert pages == [address("reference/basics/masks/")]


@pytest.mark.parametrize("selector", ['article a[href^="#"]', "article a[download]"])
def test_what_is_here_or_no_page_has_no_preview(
    chapter_in: Callable[..., "Page"], selector: str
) -> None:
    chapter = chapter_in(clock=True)
    asked = requests_of(chapter)
    chapter.locator(selector).first.hover()
    chapter.clock.run_for(LONGER_THAN_A_PREVIEW)
    assert preview(chapter).is_hidden()
    assert [url for url in asked if not url.endswith("favicon.svg")] == []


def test_a_finger_gets_the_page_and_no_preview(opened: Callable[..., Visit]) -> None:
    page = opened("basics/masks/", clock=True, has_touch=True, is_mobile=True).page
    page.evaluate("addEventListener('click', (event) => event.preventDefault(), true)")
    asked = requests_of(page)
    page.locator(ENTRY).first.tap()
    page.clock.run_for(LONGER_THAN_A_PREVIEW)
    assert preview(page).is_hidden()
    assert [url for url in asked if url.endswith("/")] == []


def test_a_page_read_from_a_file_has_no_preview(browser: "Browser") -> None:
    window = new_window(browser)
    page = visit(window, (SITE / "basics/masks/index.html").as_uri()).page
    assert preview(page).count() == 0
    window.close()


# ---- At a desk ----


@pytest.mark.parametrize(
    "name", ["embedding", "multi_head_attention", "masks", "pytorch"]
)
def test_what_a_program_prints_is_read_to_its_end(
    chapter: "Page", address: Any, name: str
) -> None:
    chapter.goto(address(f"basics/{name}/"))
    cut = """all => all.filter(one => one.scrollWidth > one.clientWidth)
        .map(one => one.textContent)"""
    assert chapter.locator(".language-text pre > code").evaluate_all(cut) == []


def test_a_picture_stands_in_the_column_of_its_text(
    chapter: "Page", address: Any
) -> None:
    chapter.goto(address(""))
    sides = """one => {
        const { left, right } = one.getBoundingClientRect()
        return [left, right]
    }"""
    heading = chapter.locator("article h2").first.evaluate(sides)
    assert chapter.locator("article .hw-figure").evaluate(sides) == heading


def test_the_way_back_to_the_top_covers_no_text(chapter: "Page") -> None:
    chapter.mouse.wheel(0, 1500)
    chapter.wait_for_function("() => scrollY > 1400")
    chapter.mouse.wheel(0, -300)
    button = chapter.locator(".md-top:not([hidden])")
    button.wait_for()
    box = button.bounding_box()
    text = chapter.locator("article").bounding_box()
    assert box["x"] > text["x"] + text["width"]
    assert box["height"] < 60
    assert box["y"] + box["height"] < chapter.viewport_size["height"]


def test_the_search_does_not_find_everything(chapter: "Page") -> None:
    chapter.keyboard.press("/")
    chapter.wait_for_function(SEARCH_HAS_FOCUS)
    chapter.keyboard.type("xqzzwvk")
    chapter.get_by_text("No matching documents").wait_for()
    assert chapter.locator("a.md-search-result__link").count() == 0


def test_the_search_shows_no_formula_without_its_root() -> None:
    index = json.loads((SITE / "search/search_index.json").read_text("utf-8"))
    texts = [entry["text"] for entry in index["docs"]]
    assert [text for text in texts if "softmax\u2061(" in text] == []


# ---- By keyboard ----

FOCUS = """
() => {
  const one = document.activeElement
  if (one === document.body) return null
  // The line may be drawn around what shows a field.
  const drawn = one.matches("input[name=query]") ? one.form
    : one.matches(".md-option") ? one.nextElementSibling : one
  const style = getComputedStyle(drawn)
  const box = drawn.getBoundingClientRect()
  const regions = [
    ".md-skip", "header", ".md-tabs", ".md-sidebar", "article", "footer",
  ]
  let behind = drawn.parentElement
  while (/, 0\\)|transparent/.test(getComputedStyle(behind).backgroundColor)) {
    behind = behind.parentElement ?? document.body
    if (behind === document.body) break
  }
  return {
    what: one.outerHTML.slice(0, 100),
    region: regions.findIndex((region) => one.closest(region)),
    line: `${style.outlineStyle} ${style.outlineWidth}`,
    colours: [style.outlineColor, getComputedStyle(behind).backgroundColor],
    seen: box.width > 0 && box.height > 0 && box.right > 0 && box.bottom > 0 &&
      box.left < innerWidth && box.top < innerHeight,
  }
}
"""


def luminance(colour: str) -> float:
    """Return how much light a colour gives, from 0 to 1, as WCAG counts it."""
    most = 1 if colour.startswith("color(") else 255
    parts = [float(part) / most for part in re.findall(r"[\d.]+", colour)[:3]]
    light = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def stops(page: "Page") -> list[dict[str, Any]]:
    """Go through a page by the Tab key; return what has the focus at each stop."""
    found = []
    for _ in range(400):
        page.keyboard.press("Tab")
        stop = page.evaluate(FOCUS)
        if stop and not stop["seen"]:  # it is being scrolled to
            page.wait_for_function(f"() => ({FOCUS})().seen")
            stop = page.evaluate(FOCUS)
        if stop is None:
            return found
        found.append(stop)
    raise AssertionError("the Tab key must come to an end")


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "name", ["basics/masks/", "reference/basics/masks/", "notation/"]
)
def test_a_reader_sees_where_the_keys_have_led(
    opened: Callable[..., Visit], name: str, scheme: str, width: int
) -> None:
    size = {"width": width, "height": 800}
    seen = opened(name, viewport=size, color_scheme=scheme, reduced_motion="reduce")
    unfold(seen.page)
    seen.settle()  # what comes late would move the page while it scrolls to a stop
    found = stops(seen.page)
    assert len(found) > 20
    regions = [stop["region"] for stop in found]
    assert regions[0] == 0
    assert regions == sorted(regions)
    for stop in found:
        assert stop["seen"], stop
        assert stop["line"] == "solid 2px", stop
        assert contrast(*stop["colours"]) >= 3, stop


@pytest.fixture
def phone(chapter_in: Callable[..., "Page"]) -> "Page":
    small = {"width": 360, "height": 740}
    return chapter_in(viewport=small, reduced_motion="reduce")


def focused(page: "Page") -> "Locator":
    return page.locator(":focus")


def open_pages(page: "Page") -> "Locator":
    button = page.get_by_role("button", name="Pages")
    button.focus()
    page.keyboard.press("Enter")
    page.locator("#__drawer:checked").wait_for(state="attached")
    return button


def expect_focus(page: "Page", text: str) -> None:
    from playwright.sync_api import expect

    expect(focused(page)).to_have_text(text)


def tab_to(page: "Page", text: str, key: str = "Tab") -> None:
    """Press the Tab key, or another, until the focus is on a text."""
    for _ in range(50):
        page.keyboard.press(key)
        if focused(page).inner_text().strip() == text:
            return
    raise AssertionError(f"the Tab key must reach {text}")


def test_the_list_of_pages_opens_and_closes_by_key(phone: "Page") -> None:
    from axe_playwright_python.sync_playwright import Axe

    part, pages = sections_of(CHAPTER)[-1]
    button = open_pages(phone)
    assert button.get_attribute("aria-expanded") == "true"
    expect_focus(phone, part)
    assert Axe().run(phone).response["violations"] == []
    phone.keyboard.press("Tab")
    expect_focus(phone, next(iter(pages[0])))
    phone.keyboard.press("Escape")
    assert not phone.locator("#__drawer").is_checked()
    assert button.evaluate("one => one === document.activeElement")
    assert button.get_attribute("aria-expanded") == "false"


def test_a_part_of_the_list_opens_and_closes_by_key(phone: "Page") -> None:
    open_pages(phone)
    for part, _ in reversed(sections_of(CHAPTER)):  # back to all parts
        if focused(phone).inner_text().strip() != part:
            tab_to(phone, part, "Shift+Tab")
        phone.keyboard.press("Enter")
        expect_focus(phone, part)
        assert focused(phone).get_attribute("aria-expanded") == "false"
    for part, _ in sections_of("labs/why_sqrt_dk.md"):
        tab_to(phone, part)
        phone.keyboard.press("Space")
    tab_to(phone, title_of("labs/why_sqrt_dk.md"))
    phone.keyboard.press("Enter")
    phone.wait_for_url("**/labs/why_sqrt_dk/")


def test_who_leaves_the_list_closes_it(phone: "Page") -> None:
    open_pages(phone)
    for _ in range(50):
        phone.keyboard.press("Tab")
        if focused(phone).evaluate("one => !!one.closest('article')"):
            break
    assert not phone.locator("#__drawer").is_checked()
    assert focused(phone).evaluate("one => !!one.closest('article')")


@pytest.fixture
def touched(chapter_in: Callable[..., "Page"]) -> "Page":
    """Open a chapter on a phone with a touch screen, where things move."""
    small = {"width": 360, "height": 740}
    return chapter_in(viewport=small, is_mobile=True, has_touch=True)


def test_a_list_that_a_finger_opens_comes_into_view(touched: "Page") -> None:
    touched.locator("header label[for=__drawer]").tap()
    touched.locator(".md-nav--primary label[for=__toc]:visible").tap()
    entry = touched.locator(".md-nav--primary .md-nav--secondary a").first
    entry.wait_for()
    finish_animations(touched)  # it slides in
    left, right = entry.evaluate(
        "one => [one.getBoundingClientRect().left, one.getBoundingClientRect().right]"
    )
    assert left >= 0
    assert right > 100


@pytest.mark.parametrize("written", ["softmax", "sofmax", "softmacks softmx"])
def test_the_search_answers_without_keys(touched: "Page", written: str) -> None:
    """As when it is pasted or dictated; a letter may be wrong."""
    touched.locator(".md-header__button[for=__search]").tap()
    touched.locator(".md-search__input").fill(written)
    found = touched.locator(".md-search-result__item mark", has_text="softmax")
    found.first.wait_for()


@pytest.mark.parametrize(("width", "size"), [(320, 16), (360, 32)])
def test_a_smaller_screen_and_larger_text_fit_too(
    address: Any, browser: "Browser", width: int, size: int
) -> None:
    flags = [*FLAGS, f"--blink-settings=defaultFontSize={size}"]
    path = browser_program()
    large = browser.browser_type.launch(executable_path=path, args=flags)
    screen = {"width": width, "height": 740}
    window = new_window(large, viewport=screen, is_mobile=True)
    for name in ("", "basics/scaled_dot_product/", "basics/masks/"):
        seen = visit(window, address(name))
        seen.start_figures()
        assert seen.page.evaluate("document.documentElement.scrollWidth") == width
        drawer = seen.page.locator(".md-sidebar--primary").bounding_box()
        assert drawer["width"] <= width - 40  # what is beside it closes it
    large.close()


# Escape is what "back" is on a phone; here none of the scripts sees the key.
UNSEEN = """
addEventListener("keydown", (event) => event.stopImmediatePropagation(), true)
"""


@pytest.mark.parametrize("toggled", ["__drawer", "__search"])
def test_back_closes_what_is_open(touched: "Page", toggled: str) -> None:
    from playwright.sync_api import expect

    touched.add_init_script(UNSEEN)
    touched.reload()
    toggle = touched.locator(f"#{toggled}")
    for _ in range(2):
        touched.locator(f".md-header__button[for={toggled}]").tap()
        expect(toggle).to_be_checked()
        touched.keyboard.press("Escape")
        expect(toggle).not_to_be_checked()


# By then the page has been told that it was scrolled.
NEXT_FRAME = """
() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
"""


def test_the_way_to_the_top_hides_no_text(touched: "Page") -> None:
    button = touched.get_by_role("button", name="Back to top")
    for y in (2000, 1800):
        touched.evaluate("y => scrollTo({ top: y, behavior: 'instant' })", y)
        touched.evaluate(NEXT_FRAME)
    button.wait_for()
    finish_animations(touched)
    box = button.bounding_box()
    assert 24 <= box["width"] <= 48
    assert 24 <= box["height"] <= 48
    assert box["y"] > 600


def test_a_small_footer_names_the_pages_before_and_after(touched: "Page") -> None:
    titles = touched.locator(".md-footer__title .md-ellipsis")
    assert titles.count() == 2
    for title in titles.all():
        assert title.is_visible()
        assert title.evaluate("one => one.scrollWidth <= one.clientWidth + 1")
    for link in touched.locator("footer a").all():
        assert link.bounding_box()["height"] >= 24


@pytest.mark.parametrize("place", ["field", "result"])
def test_the_search_gives_the_focus_back(chapter: "Page", place: str) -> None:
    link = chapter.locator(ENTRY).first
    link.focus()
    chapter.keyboard.press("/")
    chapter.wait_for_function(SEARCH_HAS_FOCUS)
    chapter.keyboard.type("mask")
    chapter.locator("a.md-search-result__link").first.wait_for()
    if place == "result":
        chapter.keyboard.press("ArrowDown")
    chapter.keyboard.press("Escape")
    assert not chapter.locator("#__search").is_checked()
    chapter.wait_for_function(
        "link => document.activeElement === link", arg=link.element_handle()
    )


# ---- A page that is missing ----


@pytest.fixture(
    scope="module", params=["", pytest.param(FOLDER, marks=needs_published)]
)
def lost(request: pytest.FixtureRequest) -> Iterator[str]:
    """Serve a site at the root of a host, or in a folder that it is given."""
    site = request.getfixturevalue("published") if request.param else SITE
    with serving(site, request.param) as origin:
        yield origin


@pytest.mark.parametrize("path", ["/gone", "/basics/gone/", "/a/b/c/d.html"])
def test_a_missing_page_leads_on(browser: "Browser", lost: str, path: str) -> None:
    window = new_window(browser)
    page = window.new_page()
    answer = page.goto(lost + path)
    assert answer
    assert answer.status == 404
    title = page.get_by_role("heading", name="There is no such page")
    assert title.evaluate("one => getComputedStyle(one).fontFamily") != "serif"
    addresses = page.locator("article li a").evaluate_all(
        "all => all.map((one) => one.href)"
    )
    assert addresses == [f"{lost}/{chapter}/" for chapter in numbered_chapters()]
    assert all(page.request.get(address).ok for address in addresses)
    window.close()


def test_a_missing_page_can_be_searched_for(browser: "Browser", lost: str) -> None:
    window = new_window(browser)
    page = window.new_page()
    page.goto(f"{lost}/basics/gone/")
    page.get_by_label("Search for").focus()
    page.keyboard.type("padding_mask")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{lost}/?q=padding_mask")
    result = page.locator('a.md-search-result__link[href*="/reference/basics/masks/"]')
    result.first.wait_for()
    # So does the search above each page.
    page.goto(f"{lost}/basics/gone/")
    page.keyboard.press("/")
    page.wait_for_function(SEARCH_HAS_FOCUS)
    page.keyboard.type("padding_mask")
    result.first.wait_for()
    window.close()


# ---- Where to edit it ----


@needs_published
def test_a_page_says_where_one_edits_it(published: Path) -> None:
    for page, file in {
        "index.html": "docs/index.md",
        "made/index.html": "docs/made.md",
        "basics/masks/index.html": "docs/basics/masks.md",
        "reference/basics/masks/index.html": "src/headway/basics/masks.py",
        "labs/why_sqrt_dk/index.html": "docs/labs/why_sqrt_dk.py",
        "labs/check_in_a_notebook/index.html": "docs/labs/check_in_a_notebook.py",
    }.items():
        html = (published / page).read_text("utf-8")
        found = re.findall(r'<a href="(\S+)" rel="edit">Edit this page</a>', html)
        assert found == [EDITED + file]


@needs_published
def test_each_page_is_edited_in_a_file_of_the_project(published: Path) -> None:
    for page in all_pages(published):
        if not page.endswith("index.html"):
            continue
        html = (published / page).read_text("utf-8")
        links = re.findall(r'href="(\S+)" rel="edit"', html)
        (file,) = (link.removeprefix(EDITED) for link in links)
        assert (ROOT / file).is_file(), page


@needs_published
def test_a_mistake_is_reported_with_its_place(
    browser: "Browser", published: Path
) -> None:
    window = new_window(browser)
    with serving(published, FOLDER) as origin:
        page = visit(window, f"{origin}/basics/masks/#how-to-see-a-leak").page
        link = page.get_by_role("link", name="report a mistake")
        address = link.evaluate("""one => {
            one.addEventListener("click", (event) => event.preventDefault())
            one.click()
            return one.href
        }""")
    window.close()
    form, _, query = address.partition("?")
    assert form == f"{EDITED.partition('/edit/')[0]}/issues/new"
    asked = dict(parse_qsl(query))
    assert asked["template"] == "text.yml"
    assert asked["page"] == "basics/masks/"
    assert asked["heading"] == "How to see a leak"
    assert "torch" in asked["version"]
    template = (ROOT / ".github/ISSUE_TEMPLATE/text.yml").read_text("utf-8")
    assert {*asked} - {"template"} <= {*re.findall(r"^ +id: (\w+)$", template, re.M)}


def test_without_a_repository_there_is_nothing_to_edit() -> None:
    for page in SITE.rglob("*.html"):
        html = page.read_text("utf-8")
        assert 'rel="edit"' not in html
        assert "data-report" not in html
        assert 'class="md-source"' not in html


@needs_published
def test_the_host_of_the_source_is_not_asked(
    browser: "Browser", published: Path
) -> None:
    window = new_window(browser)
    with serving(published, FOLDER) as origin:
        seen = visit(window, f"{origin}/basics/masks/")
        seen.settle()
        assert seen.page.locator("header .md-source").inner_text().strip() == "GitHub"
        asked = [request.url for request in seen.requests]
        assert [url for url in asked if not url.startswith(origin)] == []
    window.close()


# ---- On paper ----

SHEET = 658  # what 18 mm on each side leave of 210
ON_SCREEN_ONLY = """
() => [...document.querySelectorAll(
  "header, footer, nav, aside, button, input, select, label, form, [role=search], " +
  ".md-sidebar, .md-skip, .md-top, .headerlink, .hw-takeaway, .hw-preview, " +
  "details.mkdocstrings-source, details.hw-shapes"
)].filter((one) => one.checkVisibility()).map((one) => one.outerHTML.slice(0, 80))
"""
FOLDED = """
() => [...document.querySelectorAll("article details:not(.hw-live__tables) > *")]
  .filter((one) => !one.closest(".mkdocstrings-source, .hw-shapes"))
  .filter((one) => !one.checkVisibility())
  .map((one) => one.outerHTML.slice(0, 80))
"""
WIDE = """
(sheet) => [...document.querySelectorAll(
  "article :is(pre, pre > code, table, svg, math)"
)]
  .filter((one) => one.checkVisibility())
  .filter((one) => one.getBoundingClientRect().right > sheet + 1 ||
                   (one.tagName !== "math" && one.scrollWidth > one.clientWidth + 1))
  .map((one) => one.outerHTML.slice(0, 80))
"""
PRINTED = [
    "basics/masks/",
    "basics/scaled_dot_product/",
    "basics/checks/",
    "reference/basics/masks/",
    "museum/",
    "notation/",
    "labs/why_sqrt_dk/",
    "sources/errata/",
]


@pytest.mark.parametrize("name", PRINTED)
@pytest.mark.parametrize("scripts", [True, False])
def test_paper_shows_the_book_and_nothing_else(
    opened: Callable[..., Visit], name: str, scripts: bool
) -> None:
    sheet = {"width": SHEET, "height": 980}
    dark = {"color_scheme": "dark", "java_script_enabled": scripts}
    seen = opened(name, viewport=sheet, **dark)
    if scripts:
        seen.start_figures()
    page = seen.page
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate(ON_SCREEN_ONLY) == []
    assert page.evaluate(FOLDED) == []
    assert page.evaluate(WIDE, SHEET) == []
    paper, ink = (
        page.evaluate(f"getComputedStyle(document.body).{what}")
        for what in ("backgroundColor", "color")
    )
    assert brightness(paper) > 0.9
    assert brightness(ink) < 0.2


def brightness(colour: str) -> float:
    """Return how bright a colour is, from 0 to 1."""
    return sum(map(float, re.findall(r"[\d.]+", colour)[:3])) / 3 / 255


def test_paper_gives_the_address_of_what_lies_elsewhere(
    opened: Callable[..., Visit],
) -> None:
    page = opened("basics/scaled_dot_product/").page
    page.emulate_media(media="print")
    after = "one => getComputedStyle(one, '::after').content"
    paper = page.locator("article p a[href='https://arxiv.org/abs/1706.03762']").first
    assert "https://arxiv.org/abs/1706.03762" in paper.evaluate(after)
    inside = page.locator('article p > a[href^="../"]').first
    assert inside.evaluate(after) == "none"
