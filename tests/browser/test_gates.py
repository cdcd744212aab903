"""The built site in a browser: for every reader, light, private, and from one place."""

import gzip
import re
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from http.server import ThreadingHTTPServer
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from bs4 import BeautifulSoup
from served import SITE, Packing, address, fresh, visit

from proofread.page.markdown import programs

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))
SCHEMES = ["light", "dark"]
KB = 1024
PAGE, HTML, REQUESTS = 130 * KB, 15 * KB, 15
INDEX = 72 * KB  # of the search; nearly all of it is the text of the book
# Pages with more HTML than that, how much they may have, and why.
LONG = {
    "labs/stacked_or_split/index.html": (16, "its programs and what they measured"),
    "labs/why_sqrt_dk/index.html": (17.5, "four plots, drawn as it is built"),
    "sources/errata/index.html": (16.5, "an entry and a program for each mistake"),
    "basics/scaled_dot_product/index.html": (17, "three pictures, two live figures"),
}
# What is seen in a visit is shared by the tests of a page, so these stay together.
each_page = pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=pytest.mark.xdist_group(page))
        for page in PAGES or ["index.html"]
    ],
)
each_scheme = pytest.mark.parametrize("scheme", SCHEMES)


@pytest.fixture(scope="module")
def host() -> Iterator[str]:
    """Serve the site that `make site` has built."""
    assert PAGES, "There must be a built site; got none. Run `make site` first."
    with ThreadingHTTPServer(("127.0.0.1", 0), Packing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@dataclass
class Found:
    """What was found in one visit to a page."""

    asked: list[str]
    wire: int
    said: list[str]
    barriers: list[str]


def unfold(page: "Page") -> None:
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = 1)")


def barriers(page: "Page") -> list[str]:
    """List what axe finds on a page with all that can be unfolded."""
    from axe_playwright_python.sync_playwright import Axe

    unfold(page)
    result = Axe().run(page).response
    return [
        f"{rule['id']}: {node['html'][:120]}"
        for rule in result["violations"]
        for node in rule["nodes"]
    ]


@pytest.fixture(scope="module")
def look(browser: "Browser", host: str) -> Callable[[str, str], Found]:
    """Look once at a page in a scheme, however many tests ask what was seen."""

    @cache
    def look(page: str, scheme: str) -> Found:
        context = fresh(browser, color_scheme=scheme, reduced_motion="reduce")
        # What comes late is counted once; an error that comes late is seen, too, since
        # axe takes longer than to wait for one would.
        until = "networkidle" if scheme == "light" else "load"
        seen = visit(context, address(host, page), until)
        shown = seen.page.locator("body").get_attribute("data-md-color-scheme")
        assert (shown == "slate") == (scheme == "dark")
        wire = seen.wire()  # before the figures, which come as a reader does
        seen.wake()
        found = barriers(seen.page)
        asked = [request.url for request in seen.requests]
        context.close()
        return Found(asked, wire, seen.said, found)

    return look


# ---- For every reader ----


@each_scheme
@each_page
def test_nothing_bars_a_reader(look: Any, page: str, scheme: str) -> None:
    assert look(page, scheme).barriers == []


@each_page
def test_it_fits_on_a_phone(browser: "Browser", host: str, page: str) -> None:
    small = {"width": 360, "height": 740}
    context = fresh(browser, viewport=small, is_mobile=True, has_touch=True)
    seen = visit(context, address(host, page), "load")
    seen.wake()
    seen.page.evaluate("document.fonts.ready.then(() => null)")
    width = "document.documentElement.scrollWidth"
    assert seen.page.evaluate(width) == 360
    unfold(seen.page)
    assert seen.page.evaluate(width) == 360
    context.close()


HIDDEN = """
() => [...document.querySelectorAll(
  "article :is(h1, h2, h3, p, li, td, th, pre, math, svg, img), .md-nav--primary a"
)].filter((one) =>
  !one.closest("details:not([open])") && !one.closest("[hidden]") &&
  !one.closest(".md-nav--secondary, .md-nav__title, label") &&
  !one.checkVisibility({ opacityProperty: true, visibilityProperty: true })
).map((one) => one.outerHTML.slice(0, 100))
"""


@each_page
def test_it_can_be_read_without_scripts(
    browser: "Browser", host: str, page: str
) -> None:
    context = fresh(browser, java_script_enabled=False)
    seen = visit(context, address(host, page), "load")  # without scripts, nothing more
    assert seen.said == []
    hidden = seen.page.evaluate(HIDDEN)
    # The page that one is on has its name twice in the list, for two sizes of window.
    assert [one for one in hidden if "md-nav__link--active" not in one] == []
    soup = BeautifulSoup((SITE / page).read_text("utf-8"), "html.parser")
    for kind in ("pre", "math", ".md-nav--primary a"):
        assert seen.page.locator(kind).count() == len(soup.select(kind))
    assert not any("/live/" in request.url for request in seen.requests)
    context.close()


def test_the_list_of_pages_opens_without_scripts(browser: "Browser", host: str) -> None:
    small = {"width": 360, "height": 740}
    from playwright.sync_api import expect

    context = fresh(browser, viewport=small, java_script_enabled=False)
    page = visit(context, address(host, "index.html")).page
    link = page.locator(".md-nav--primary").get_by_role("link", name="Notation")
    expect(link).not_to_be_in_viewport()
    page.locator("header label[for=__drawer]").click()
    link.click()
    assert page.url.endswith("/book/notation/")
    context.close()


# ---- By keyboard ----


@pytest.fixture
def chapter(browser: "Browser", host: str) -> Iterator["Page"]:
    context = fresh(browser, permissions=["clipboard-read", "clipboard-write"])
    yield visit(context, f"{host}/book/basics/self_attention/").page
    context.close()


def test_one_key_skips_to_the_text(chapter: "Page") -> None:
    chapter.keyboard.press("Tab")
    link = chapter.locator(":focus")
    assert link.inner_text().strip() == "Skip to content"
    assert link.is_visible()
    chapter.keyboard.press("Enter")
    name = urlsplit(chapter.url).fragment
    assert chapter.locator("article h1").get_attribute("id") == name


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("scaled_dot", "basics/scaled_dot_product/"),
        ("scaled_dot", "reference/basics/scaled_dot_product/"),
        ("MultiHead", "basics/multi_head_attention/"),
        ("MultiHead", "reference/basics/multi_head_attention/"),
        ("W_query", "basics/self_attention/"),
        ("query may look got mask.dtype", "basics/masks/"),
    ],
)
def test_the_search_finds_by_keyboard(
    chapter: "Page", host: str, word: str, expected: str
) -> None:
    chapter.keyboard.press("/")
    field = chapter.locator(".md-search__input")
    field.wait_for()
    chapter.wait_for_function("document.activeElement.name === 'query'")
    chapter.keyboard.type(word)
    results = chapter.locator("a.md-search-result__link")
    results.first.wait_for()
    wanted = chapter.locator(f'a.md-search-result__link[href*="/{expected}?"]')
    for _ in range(100):  # it shows some, and more as one scrolls
        if wanted.count():
            break
        results.last.scroll_into_view_if_needed()
        chapter.wait_for_timeout(50)
    assert wanted.count()
    chapter.keyboard.press("ArrowDown")
    first = chapter.locator(":focus").get_attribute("href")
    chapter.keyboard.press("Enter")
    chapter.wait_for_url(
        lambda url: "basics/self_attention/" not in url or "?h=" in url
    )
    assert urlsplit(chapter.url).path == urlsplit(urljoin(host, first)).path
    chapter.locator("mark").first.wait_for(state="attached")


@pytest.mark.parametrize("name", ["basics/self_attention", "basics/masks", "made"])
def test_the_copy_button_copies_the_program(
    chapter: "Page", host: str, name: str
) -> None:
    chapter.goto(f"{host}/book/{name}/", wait_until="networkidle")
    unfold(chapter)
    buttons = chapter.locator(".language-python button[data-md-type=copy]")
    expected = [one.code for one in programs((DOCS / f"{name}.md").read_text("utf-8"))]
    assert buttons.count() == len(expected)
    for button, code in zip(buttons.all(), expected, strict=True):
        button.focus()
        chapter.keyboard.press("Enter")
        chapter.wait_for_function(
            "async (code) => await navigator.clipboard.readText() === code",
            arg=code.rstrip("\n"),
        )


def test_the_archive_can_be_searched(browser: "Browser", tmp_path: Path) -> None:
    with zipfile.ZipFile(SITE / "headway.zip") as archive:
        archive.extractall(tmp_path)
    home = (tmp_path / "headway/index.html").as_uri()
    context = fresh(browser)
    seen = visit(context, f"{home}?q=scaled_dot", "load")
    results = seen.page.locator("a.md-search-result__link")
    results.first.wait_for()
    found = results.evaluate_all("all => all.map(one => one.href)")
    files = {unquote(urlsplit(url).path) for url in found}
    assert any("/basics/scaled_dot_product/index.html" in file for file in files)
    assert all(Path(file).is_file() for file in files)
    assert seen.said == []
    context.close()


def test_a_copied_session_has_no_prompts(chapter: "Page", host: str) -> None:
    chapter.goto(f"{host}/book/made/", wait_until="networkidle")
    session = chapter.locator(".language-console").first
    command = session.locator("code").inner_text()
    assert command.startswith("$ ")
    session.locator("button[data-md-type=copy]").click()
    copied = chapter.evaluate("navigator.clipboard.readText()")
    assert copied.strip() == command.strip().removeprefix("$ ")


# ---- Private ----


@each_scheme
@each_page
def test_all_comes_from_the_site(look: Any, host: str, page: str, scheme: str) -> None:
    start = f"{host}/" if page == "404.html" else f"{host}/book/"
    assert [url for url in look(page, scheme).asked if not url.startswith(start)] == []


@each_scheme
@each_page
def test_the_browser_has_nothing_to_say(look: Any, page: str, scheme: str) -> None:
    # Of what the policy of a page refuses, too.
    assert look(page, scheme).said == []


@each_page
def test_each_page_has_the_policy(page: str) -> None:
    html = (SITE / page).read_text("utf-8")
    (policy,) = re.findall(
        r'<meta http-equiv="Content-Security-Policy" content="(.*?)">', html
    )
    parts = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert parts["default-src"] == "'self'"
    allowed = parts["script-src"].split()
    assert allowed[0] == "'self'"
    assert all(one.startswith("'sha256-") for one in allowed[1:])
    assert html.index(policy) < html.index("<script")


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
    browser: "Browser", host: str, part: str
) -> None:
    context = fresh(browser)
    html = (SITE / "index.html").read_text("utf-8")
    url = f"{host}/book/"
    context.route(
        url,
        lambda route: route.fulfill(
            body=html.replace("<body", part + "<body"), content_type="text/html"
        ),
    )
    seen = visit(context, url)
    if "id=there" in part:
        seen.page.locator("#there").evaluate("one => one.click()")
    assert any("Content Security Policy" in said for said in seen.said)
    assert seen.page.evaluate("window.injected") is None
    assert all(
        request.url.startswith(host) or request.failure for request in seen.requests
    )
    context.close()


# ---- Light ----


@each_page
def test_a_cold_page_is_light(look: Any, page: str) -> None:
    found = look(page, "light")
    assert found.wire <= PAGE
    assert len(found.asked) <= REQUESTS


@each_page
def test_the_text_of_a_page_is_light(page: str) -> None:
    size = len(gzip.compress((SITE / page).read_bytes(), 6))
    most, _ = LONG.get(page, (HTML / KB, ""))
    assert size <= most * KB
    assert page not in LONG or size > HTML, "it needs no exception"


def test_the_index_of_the_search_is_light() -> None:
    index = (SITE / "search/search_index.json").read_bytes()
    assert len(gzip.compress(index, 6)) <= INDEX


def test_no_exception_is_for_a_page_that_is_gone() -> None:
    assert LONG.keys() <= {*PAGES}


# ---- Whole ----


def dead(folder: Path) -> list[tuple[str, str]]:
    """List the links of the pages in a folder that lead to no file or no anchor."""
    soups = {
        path.relative_to(folder).as_posix(): BeautifulSoup(
            path.read_text("utf-8"), "html.parser"
        )
        for path in folder.rglob("*.html")
    }
    anchors = {
        page: {tag["id"] for tag in soup.find_all(id=True)}
        for page, soup in soups.items()
    }
    found = []
    for page, soup in soups.items():
        for tag in soup.find_all(["a", "link", "script", "img", "use", "form"]):
            for mark in ("href", "src", "xlink:href", "action"):
                url = tag.get(mark)
                parts = urlsplit(url or "https:")
                if parts.scheme or parts.netloc:
                    continue
                target = file_of(page, unquote(parts.path))
                if not (folder / target).is_file() or (
                    parts.fragment
                    and unquote(parts.fragment) not in anchors.get(target, {""})
                    and not unquote(parts.fragment).startswith(":~:")
                ):
                    found.append((page, str(url)))
    return found


def file_of(page: str, path: str) -> str:
    """Return the file that a path on a page means."""
    if not path:
        return page
    start = "" if path.startswith("/") else dirname(page)
    file = normpath(join(start, path.lstrip("/")))
    is_folder = path.endswith("/") or path.rpartition("/")[2] in (".", "..")
    return normpath(join(file, "index.html")) if is_folder else file


def test_every_link_leads_somewhere() -> None:
    assert dead(SITE) == []


def test_every_link_of_the_archive_leads_somewhere(tmp_path: Path) -> None:
    with zipfile.ZipFile(SITE / "headway.zip") as archive:
        archive.extractall(tmp_path)
    assert dead(tmp_path / "headway") == []


def test_every_link_of_the_markdown_leads_somewhere() -> None:
    files = [SITE / "llms.txt", *SITE.rglob("*.md")]
    lost = []
    for file in files:
        text = re.sub(r"(?ms)^(`{3,}|~{3,}).*?^\1", "", file.read_text("utf-8"))
        for url in re.findall(r"\]\(([^)\s]+)\)", text):
            parts = urlsplit(url)
            target = file.parent / unquote(parts.path)
            if not parts.scheme and parts.path and not target.exists():
                lost.append((file.name, url))
    assert lost == []
    assert len(files) > 30
