"""The built site in a browser: for every reader, light, private, and from one place."""

import gzip
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from bs4 import BeautifulSoup

from pytest_proofread.page.markdown import fences
from tests.support.book_nav import sections_of, title_of
from tests.support.browsing import (
    SEARCH_HAS_FOCUS,
    Visit,
    finish_animations,
    new_window,
    unfold,
    visit,
)
from tests.support.chosen_pages import all_pages
from tests.support.site_server import SITE, as_sent
from workshop.folds import programs_by_place
from workshop.verify.links import broken_links

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

DOCS = Path(__file__).parents[2] / "docs"
KB = 1024
# What one page may cost, all that it loads taken together.
BUDGET = {
    "bytes": 130 * KB,
    "requests": 15,
    "scripts": 6,
    "elements": 2100,  # in the text: the list of chapters around it grows with the book
    "layout shift": 0.1,  # from there on it is no longer good, says web.dev
}
REFERENCE_BUDGET = {**BUDGET, "elements": 2800}
# Compressed, in bytes. Two exercises take 2.7 KB of an article.
ARTICLE = 13.25 * KB
REFERENCE_ARTICLE = 15 * KB  # nobody reads it through
AROUND_ARTICLE = 8 * KB  # the list of chapters, which grows with the book
AROUND_EXERCISES = 9 * KB  # where the table of contents has each exercise
INDEX_PER_PAGE = 2.25 * KB  # of the search, loaded when somebody searches
OF_COLOURS = ("color-contrast", "link-in-text-block")  # the rules of axe that see them
# For colours, of visible text that looks the same and stands on the same, in the same
# part of the page, the first is enough: to look at each takes several times as long.
AGAIN = "data-again"
MARK_AGAIN = """
(again) => {
  const seen = new Set()
  for (const innermost of document.querySelectorAll("body :not(:has(*))")) {
    innermost.removeAttribute(again)
    const visible = { opacityProperty: true, visibilityProperty: true }
    if (!innermost.checkVisibility(visible) || !innermost.textContent.trim()) continue
    const { fontSize, fontWeight, textDecorationLine } = getComputedStyle(innermost)
    const look = [fontSize, fontWeight, textDecorationLine]
    for (let one = innermost; one; one = one.parentElement) {
      const { color, backgroundColor, backgroundImage, opacity } = getComputedStyle(one)
      look.push(one.localName, color, backgroundColor, backgroundImage, opacity)
    }
    innermost.toggleAttribute(again, seen.has(look.join()))
    seen.add(look.join())
  }
}
"""
each_scheme = pytest.mark.parametrize("scheme", ["light", "dark"])
# How far what stands on the page has moved, without the reader, since it was opened.
LAYOUT_SHIFT = """
() => new Promise((resolve) => {
  let sum = 0
  const add = (list) => {
    for (const shift of list.getEntries()) if (!shift.hadRecentInput) sum += shift.value
  }
  new PerformanceObserver(add).observe({ type: "layout-shift", buffered: true })
  requestAnimationFrame(() => setTimeout(() => resolve(sum)))
})
"""


@dataclass
class Found:
    """What was found in one visit to a page."""

    requests: list[str]
    messages: list[str]
    costs: dict[str, float]
    barriers: dict[str, list[str]]


def barriers(page: "Page") -> list[str]:
    """List what axe finds on a page, its colours apart."""
    return found_by_axe(page, rules={one: {"enabled": False} for one in OF_COLOURS})


def barriers_of_colour(page: "Page") -> list[str]:
    """List what axe finds in the colours of a page, as they are now."""
    page.evaluate(MARK_AGAIN, AGAIN)
    only = {"type": "rule", "values": [*OF_COLOURS]}
    return found_by_axe(page, {"exclude": [[f"[{AGAIN}]"]]}, runOnly=only)


def found_by_axe(page: "Page", context: Any = None, **options: Any) -> list[str]:
    from axe_playwright_python.sync_playwright import Axe

    result = Axe().run(page, context, options)
    return [
        f"{rule['id']}: {node['html'][:120]}"
        for rule in result.response["violations"]
        for node in rule["nodes"]
    ]


def costs(seen: Visit, start: str) -> dict[str, float]:
    """Count what a page has loaded and made."""
    files = [SITE / urlsplit(one.url.removeprefix(start)).path for one in seen.requests]
    files = [file / "index.html" if file.is_dir() else file for file in files]
    return {
        "bytes": sum(len(as_sent(file)) for file in files),
        "requests": len(files),
        "scripts": sum(file.suffix == ".js" for file in files),
        "elements": seen.page.locator("article *").count(),
        "layout shift": seen.page.evaluate(LAYOUT_SHIFT),
    }


def make_dark(page: "Page") -> None:
    """Have the reader ask for dark colours, and wait until they are there."""
    page.emulate_media(color_scheme="dark")
    page.locator("body[data-md-color-scheme=slate]").wait_for()
    finish_animations(page)


@pytest.fixture(scope="module")
def look(browser: "Browser", address: Callable[[str], str]) -> Callable[[str], Found]:
    """Look once at a page, however many tests ask what was seen."""

    @cache
    def look(page: str) -> Found:
        window = new_window(browser, color_scheme="light", reduced_motion="reduce")
        seen = visit(window, address(page))
        seen.settle()
        # Before the figures, whose scripts come as a reader does.
        cost = costs(seen, site_of(page, address))
        seen.start_figures()
        unfold(seen.page)
        light = barriers(seen.page) + barriers_of_colour(seen.page)
        make_dark(seen.page)
        found = {"light": light, "dark": barriers_of_colour(seen.page)}
        requests = [request.url for request in seen.requests]
        window.close()
        return Found(requests, seen.messages, cost, found)

    return look


def site_of(page: str, address: Callable[[str], str]) -> str:
    """Return the address of the site that a page is served with."""
    return urljoin(address(page), "/") if page == "404.html" else address("")


# ---- For every reader ----


@each_scheme
def test_nothing_bars_a_reader(look: Any, tried: str, scheme: str) -> None:
    assert look(tried).barriers[scheme] == []


@each_scheme
def test_a_page_opens_in_the_colours_of_the_reader(opened: Any, scheme: str) -> None:
    body = opened("", color_scheme=scheme).page.locator("body")
    shown = body.get_attribute("data-md-color-scheme")
    assert (shown == "slate") == (scheme == "dark")


def test_it_fits_on_a_phone(opened: Any, tried: str) -> None:
    small = {"width": 360, "height": 740}
    seen = opened(tried, viewport=small, is_mobile=True, has_touch=True)
    seen.start_figures()
    seen.page.evaluate("document.fonts.ready.then(() => null)")
    width = "document.documentElement.scrollWidth"
    assert seen.page.evaluate(width) == 360
    unfold(seen.page)
    assert seen.page.evaluate(width) == 360


HIDDEN = """
() => [...document.querySelectorAll(
  "article :is(h1, h2, h3, p, li, td, th, pre, math, svg, img), .md-nav--primary a"
)].filter((one) =>
  !one.closest("details:not([open])") && !one.closest("[hidden]") &&
  !one.closest(".md-nav--secondary, .md-nav__title, label") &&
  !one.closest(".md-nav__toggle:not(:checked) ~ .md-nav") &&
  !one.checkVisibility({ opacityProperty: true, visibilityProperty: true })
).map((one) => one.outerHTML.slice(0, 100))
"""


def href_of(html: str) -> str | None:
    """Return where the link in a piece of HTML leads."""
    link = BeautifulSoup(html, "html.parser").a
    return str(link["href"]) if link else None


def test_it_can_be_read_without_scripts(opened: Any, tried: str) -> None:
    seen = opened(tried, java_script_enabled=False)
    assert seen.messages == []
    hidden = seen.page.evaluate(HIDDEN)
    soup = BeautifulSoup((SITE / tried).read_text("utf-8"), "html.parser")
    tabs = {link["href"] for link in soup.select(".md-tabs a")}
    # The page that one is on has its name twice in the list, for two sizes of window;
    # and what is a tab in a wide window stands in the list of a small one.
    unseen = [one for one in hidden if "md-nav__link--active" not in one]
    assert [one for one in unseen if href_of(one) not in tabs] == []
    for kind in ("pre", "math", ".md-nav--primary a"):
        assert seen.page.locator(kind).count() == len(soup.select(kind))
    assert not any("/live/" in request.url for request in seen.requests)


def test_the_list_of_pages_opens_without_scripts(opened: Any, address: Any) -> None:
    from playwright.sync_api import expect

    small = {"width": 360, "height": 740}
    page = opened("", viewport=small, java_script_enabled=False).page
    title = title_of("notation.md")
    link = page.locator(".md-nav--primary").get_by_role("link", name=title)
    expect(link).not_to_be_in_viewport()
    page.locator("header label[for=__drawer]").click()
    here, *_ = [title for title, _ in sections_of("index.md")]
    for part in (here, *(title for title, _ in sections_of("notation.md"))):
        whole = re.compile(rf"^\s*{re.escape(part)}\s*$")
        page.locator(".md-nav--primary label:visible", has_text=whole).click()
    link.click()
    page.wait_for_url(address("notation/"))


# ---- By keyboard ----


@pytest.fixture
def chapter(opened: Any) -> "Page":
    permissions = ["clipboard-read", "clipboard-write"]
    return opened("basics/self_attention/", permissions=permissions).page


def test_one_key_skips_to_the_text(chapter: "Page") -> None:
    chapter.keyboard.press("Tab")
    link = chapter.locator(":focus")
    assert link.inner_text().strip() == "Skip to content"
    assert link.is_visible()
    chapter.keyboard.press("Enter")
    name = urlsplit(chapter.url).fragment
    assert chapter.locator("article h1").get_attribute("id") == name


# It shows some results, and more as one scrolls.
SCROLL_TO_RESULT = """
(address) => {
  const results = [...document.querySelectorAll("a.md-search-result__link")]
  results.at(-1)?.scrollIntoView()
  return results.some((one) => one.href.includes(address))
}
"""


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("scaled_dot", "basics/scaled_dot_product/"),
        ("scaled_dot", "reference/basics/scaled_dot_product/"),
        ("MultiHead", "basics/multi_head_attention/"),
        ("MultiHead", "reference/basics/multi_head_attention/"),
        ("query may look got mask.dtype", "basics/masks/"),
    ],
)
def test_the_search_finds_by_keyboard(
    chapter: "Page", address: Any, word: str, expected: str
) -> None:
    chapter.keyboard.press("/")
    chapter.wait_for_function(SEARCH_HAS_FOCUS)
    # All at once: a search for each letter would draw the results anew, and the focus
    # would be lost. It is the last key that searches.
    chapter.keyboard.insert_text(word[:-1])
    chapter.keyboard.press(word[-1])
    chapter.wait_for_function(SCROLL_TO_RESULT, arg=f"{address(expected)}?")
    chapter.keyboard.press("ArrowDown")
    first = chapter.locator(":focus").get_attribute("href")
    chapter.keyboard.press("Enter")
    chapter.wait_for_url(
        lambda url: "basics/self_attention/" not in url or "?h=" in url
    )
    assert urlsplit(chapter.url).path == urlsplit(urljoin(address(""), first)).path
    chapter.locator("mark").first.wait_for(state="attached")


IN_CLIPBOARD = "async (text) => (await navigator.clipboard.readText()).trim() === text"


@pytest.mark.parametrize("name", ["basics/self_attention", "basics/masks", "made"])
def test_the_copy_button_copies_the_program(
    chapter: "Page", address: Any, name: str
) -> None:
    from playwright.sync_api import expect

    chapter.goto(address(f"{name}/"))
    unfold(chapter)
    buttons = chapter.locator(".language-python button[data-md-type=copy]")
    shown, _ = programs_by_place((DOCS / f"{name}.md").read_text("utf-8"))
    expected = [one.code for one in shown]
    expect(buttons).to_have_count(len(expected))
    for button, code in zip(buttons.all(), expected, strict=True):
        button.focus()
        chapter.keyboard.press("Enter")
        chapter.wait_for_function(
            "async (code) => await navigator.clipboard.readText() === code",
            arg=code.rstrip("\n"),
        )


def test_a_copied_session_has_no_prompts(chapter: "Page", address: Any) -> None:
    sources = {path: path.read_text("utf-8") for path in DOCS.rglob("*.md")}
    (name, *_) = (
        path.relative_to(DOCS).with_suffix("").as_posix()
        for path, text in sources.items()
        if any(fence.info == "console" for fence in fences(text))
    )
    chapter.goto(address(f"{name}/"))
    session = chapter.locator(".language-console").first
    command = session.locator("code").inner_text()
    assert command.startswith("$ ")
    session.locator("button[data-md-type=copy]").click()
    copied = command.strip().removeprefix("$ ")
    chapter.wait_for_function(IN_CLIPBOARD, arg=copied)


# ---- Private ----


def test_all_comes_from_the_site(look: Any, address: Any, tried: str) -> None:
    start = site_of(tried, address)
    requests = look(tried).requests
    assert [url for url in requests if not url.startswith(start)] == []


def test_the_browser_reports_nothing(look: Any, tried: str) -> None:
    # Of what the policy of a page refuses, too.
    assert look(tried).messages == []


INJECTED = [
    "<script>window.injected = 1</script>",
    "<img src=x onerror='window.injected = 1'>",
    "<a id=there href='javascript:window.injected = 1'>there</a>",
    "<script src='https://example.org/a.js'></script>",
    "<script src='data:text/javascript,window.injected = 1'></script>",
    "<style>body { color: red }</style>",
]


@pytest.mark.parametrize("part", INJECTED)
def test_what_is_injected_does_not_run(
    browser: "Browser", address: Any, part: str
) -> None:
    window = new_window(browser)
    html = (SITE / "index.html").read_text("utf-8")
    url = address("index.html")
    window.route(
        url,
        lambda route: route.fulfill(
            body=html.replace("<body", part + "<body"), content_type="text/html"
        ),
    )
    seen = visit(window, url)
    if "id=there" in part:
        seen.page.locator("#there").evaluate("one => one.click()")
    seen.settle()
    assert any("Content Security Policy" in text for text in seen.messages)
    assert seen.page.evaluate("window.injected") is None
    assert all(
        request.url.startswith(url) or request.failure for request in seen.requests
    )
    window.close()


# ---- Light ----


def test_a_page_keeps_to_its_budget(look: Any, tried: str) -> None:
    cost = look(tried).costs
    budget = REFERENCE_BUDGET if tried.startswith("reference/") else BUDGET
    assert {what: cost[what] for what in cost if cost[what] > budget[what]} == {}


def test_the_text_of_each_page_is_light() -> None:
    for page in all_pages():
        html = (SITE / page).read_bytes()
        whole = len(gzip.compress(html, 6))
        found = re.search(rb"<article.*?</article>", html, re.DOTALL)
        article = len(gzip.compress(found[0], 6)) if found else 0
        limit = REFERENCE_ARTICLE if page.startswith("reference/") else ARTICLE
        assert article <= limit, page
        limit = AROUND_EXERCISES if page.startswith("practice/") else AROUND_ARTICLE
        assert whole - article <= limit, page


def test_the_index_of_the_search_is_light() -> None:
    size = len(as_sent(SITE / "search/search_index.json"))
    assert size <= INDEX_PER_PAGE * len(all_pages())


# ---- Whole ----


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpack the archive of the site."""
    folder = tmp_path_factory.mktemp("archive")
    with zipfile.ZipFile(SITE / "headway.zip") as packed:
        packed.extractall(folder)
    return folder / "headway"


def test_every_link_leads_somewhere() -> None:
    assert broken_links(SITE) == []


def test_every_link_of_the_archive_leads_somewhere(archive: Path) -> None:
    assert broken_links(archive) == []


def test_the_archive_can_be_searched(browser: "Browser", archive: Path) -> None:
    window = new_window(browser)
    home = (archive / "index.html").as_uri()
    seen = visit(window, f"{home}?q=scaled_dot")
    results = seen.page.locator("a.md-search-result__link")
    results.first.wait_for()
    found = results.evaluate_all("all => all.map(one => one.href)")
    files = {unquote(urlsplit(url).path) for url in found}
    assert any("/basics/scaled_dot_product/index.html" in file for file in files)
    assert all(Path(file).is_file() for file in files)
    assert seen.messages == []
    window.close()
