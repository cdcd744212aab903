"""What only a chapter has: where one is on the way, and outputs that wait."""

import gzip
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from bs4 import BeautifulSoup

from tests.support.book_nav import chapters, sections_of, sources, title_of
from tests.support.browsing import Visit, new_window, unfold, visit
from tests.support.site_server import SITE
from workshop.folds import programs_by_place

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

DOCS = Path(__file__).parents[2] / "docs"
CHAPTERS = chapters()
NAME = "basics/masks"
SMALL = {"width": 360, "height": 740}
OUTPUTS = ".language-python.highlight + .language-text.highlight"


@pytest.fixture
def chapter_in(opened: Callable[..., Visit]) -> Iterator[Callable[..., "Page"]]:
    """Return what opens a chapter in a window; the browser may report nothing."""
    seen: list[Visit] = []

    def chapter_in(name: str = NAME, **options: object) -> "Page":
        seen.append(opened(f"{name}/", **options))
        return seen[-1].page

    yield chapter_in
    assert [one.messages for one in seen if one.messages] == []


def barriers(page: "Page") -> list[Any]:
    from axe_playwright_python.sync_playwright import Axe

    return list(Axe().run(page).response["violations"])


# ---- Where one is on the way ----


def part_of(name: str) -> list[str]:
    folder = name.partition("/")[0]
    beside = sources(sections_of(f"{name}.md")[-1][1])
    return [
        one
        for one in CHAPTERS
        if one.startswith(f"{folder}/") and f"{one}.md" in beside
    ]


@pytest.mark.parametrize("at", [0, len(CHAPTERS) // 2, -1])
@pytest.mark.parametrize("scripts", [True, False])
def test_a_chapter_says_where_it_is(
    chapter_in: Callable[..., "Page"], address: Any, at: int, scripts: bool
) -> None:
    name = CHAPTERS[at]
    part = part_of(name)
    way = chapter_in(name, java_script_enabled=scripts).locator(".hw-way")
    place = part.index(name) + 1
    assert way.inner_text().startswith(f"Chapter {place} of {len(part)}")
    links = way.locator("ol > li > a")
    assert links.all_inner_texts() == [str(n) for n in range(1, len(part) + 1)]
    leads = links.evaluate_all("all => all.map(one => one.href)")
    assert leads == [address(f"{one}/") for one in part]
    names = links.evaluate_all("all => all.map(one => one.ariaLabel)")
    assert names == [title_of(f"{one}.md") for one in part]
    assert way.locator("[aria-current=page]").all_inner_texts() == [str(place)]


def test_the_links_of_the_way_are_large_enough(
    chapter_in: Callable[..., "Page"],
) -> None:
    page = chapter_in(viewport=SMALL)
    boxes = [one.bounding_box() for one in page.locator(".hw-way a").all()]
    assert all(box["width"] >= 24 and box["height"] >= 24 for box in boxes)
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 360 for box in boxes)
    title = page.locator("article h1").bounding_box()
    assert max(box["y"] + box["height"] for box in boxes) <= title["y"]


def test_the_way_goes_by_key_and_says_the_title(
    chapter_in: Callable[..., "Page"], address: Any
) -> None:
    page = chapter_in()
    page.locator(".hw-way a").first.focus()
    page.keyboard.press("Tab")
    page.locator("#hw-preview").wait_for(state="visible")
    title = title_of(f"{CHAPTERS[1]}.md").partition(" ")[2]
    assert title in page.locator("#hw-preview").inner_text()
    page.keyboard.press("Enter")
    page.wait_for_url(address(f"{CHAPTERS[1]}/"))


def test_only_chapters_have_a_way_and_a_switch() -> None:
    pages = {path for path in SITE.rglob("*.html") if "hw-way" in path.read_text()}
    assert pages == {SITE / one / "index.html" for one in CHAPTERS}
    pages = {path for path in SITE.rglob("*.html") if "chapter.js" in path.read_text()}
    assert pages == {SITE / one / "index.html" for one in CHAPTERS}


# ---- Outputs that wait to be asked ----


def switch(page: "Page") -> "Locator":
    return page.get_by_role("button", name="Hide outputs until I ask")


def shown(page: "Page") -> list[bool]:
    """Say of each output of a page whether one sees it."""
    unfold(page)
    seen = "all => all.map(one => one.checkVisibility({contentVisibilityAuto: true}))"
    return page.locator(f"{OUTPUTS} > pre > code").evaluate_all(seen)


def recorded(name: str) -> int:
    found, _ = programs_by_place((DOCS / f"{name}.md").read_text("utf-8"))
    return sum(bool(one.output or one.error) for one in found)


def test_the_script_of_chapters_is_small() -> None:
    script = (SITE / "assets/scripts/chapter.js").read_bytes()
    switch, folding = script.split(b"// What a program repeats")
    assert len(gzip.compress(switch, 6)) <= 1536
    assert len(gzip.compress(folding, 6)) <= 512


@pytest.mark.parametrize("name", CHAPTERS)
def test_outputs_are_seen_until_one_hides_them(
    chapter_in: Callable[..., "Page"], name: str
) -> None:
    page = chapter_in(name)
    count = recorded(name)
    assert count
    assert shown(page) == [True] * count
    assert page.locator(".hw-show").count() == 0
    assert switch(page).get_attribute("aria-pressed") == "false"
    pictures = page.locator("article :is(svg, [data-live], math):visible").count()
    switch(page).click()
    assert switch(page).get_attribute("aria-pressed") == "true"
    assert shown(page) == [False] * count
    assert page.locator(".hw-show").count() >= count
    now = page.locator("article :is(svg, [data-live], math):visible").count()
    assert now == pictures
    switch(page).click()
    assert shown(page) == [True] * count
    assert page.locator(".hw-show").count() == 0


def test_each_output_comes_when_it_is_asked_for_by_key(
    chapter_in: Callable[..., "Page"],
) -> None:
    page = chapter_in()
    switch(page).focus()
    page.keyboard.press("Space")
    unfold(page)
    asks = page.locator(".hw-show")
    for number in (0, recorded(NAME) - 1):
        one = asks.nth(number)
        assert one.inner_text() == "Show the output"
        assert one.get_attribute("aria-expanded") == "false"
        one.focus()
        page.keyboard.press("Enter")
        assert one.get_attribute("aria-expanded") == "true"
        assert shown(page)[number]
        assert page.locator(":focus").inner_text() == "Hide the output"
    assert sum(shown(page)) == 2
    page.keyboard.press("Enter")
    assert sum(shown(page)) == 1


def test_a_finger_asks_too(chapter_in: Callable[..., "Page"]) -> None:
    page = chapter_in(viewport=SMALL, has_touch=True, is_mobile=True)
    switch(page).tap()
    ask = page.locator(".hw-show").first
    ask.tap()
    assert shown(page)[:2] == [True, False]
    assert ask.bounding_box()["height"] >= 24
    assert page.evaluate("document.documentElement.scrollWidth") == 360


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_hidden_outputs_bar_no_reader(
    chapter_in: Callable[..., "Page"], scheme: str
) -> None:
    page = chapter_in(color_scheme=scheme, reduced_motion="reduce")
    switch(page).click()
    page.locator(".hw-show").first.click()
    unfold(page)
    assert barriers(page) == []


def test_the_choice_holds_on_the_next_page_and_before_it_is_drawn(
    chapter_in: Callable[..., "Page"], address: Any
) -> None:
    page = chapter_in()
    switch(page).click()
    other = CHAPTERS[-1]
    page.add_init_script(
        "addEventListener('DOMContentLoaded', () => {"
        f"  const code = document.querySelector('{OUTPUTS} > pre > code');"
        "  window.early = code.checkVisibility()"
        "}, true)"
    )
    page.goto(address(f"{other}/"))
    assert not page.evaluate("window.early")
    assert shown(page) == [False] * recorded(other)
    switch(page).click()
    page.reload()
    assert shown(page) == [True] * recorded(other)


REFUSES = {
    "missing": "Object.defineProperty(window, 'localStorage', {value: undefined})",
    "refuses": "Object.defineProperty(window, 'localStorage', "
    "{get() { throw new DOMException('no', 'SecurityError') }})",
    "full": "Storage.prototype.setItem = () => { throw new Error('full') }",
}


@pytest.mark.parametrize("how", REFUSES)
def test_a_browser_that_keeps_nothing_hides_them_too(
    browser: "Browser", address: Any, how: str
) -> None:
    window = new_window(browser)
    window.add_init_script(REFUSES[how])
    seen = visit(window, address(f"{NAME}/"))
    switch(seen.page).click()
    assert not any(shown(seen.page))
    seen.page.reload()
    assert all(shown(seen.page))
    # The theme says that it cannot read, too; it writes nothing here.
    assert [one for one in seen.messages if "full" in one] == []
    window.close()


def test_without_scripts_nothing_is_hidden(chapter_in: Callable[..., "Page"]) -> None:
    page = chapter_in(java_script_enabled=False)
    assert shown(page) == [True] * recorded(NAME)
    assert page.locator("article button").count() == 0


def test_paper_shows_every_output(chapter_in: Callable[..., "Page"]) -> None:
    page = chapter_in()
    switch(page).click()
    page.emulate_media(media="print")
    assert shown(page) == [True] * recorded(NAME)
    assert page.locator("article button").locator("visible=true").count() == 0
    assert page.locator(".hw-way").is_hidden()


# A browser that does not look into what is hidden.
LOOKS_NOT = "delete Document.prototype.onbeforematch"
# As the theme does while one scrolls, which may come first.
FORGETS = (
    "const forgets = () => history.replaceState({}, '', '#');"
    "addEventListener('hashchange', forgets);"
    "addEventListener('click', () => setTimeout(forgets))"
)


@pytest.mark.parametrize(
    "alone",
    ["", LOOKS_NOT, f"{LOOKS_NOT};{FORGETS}"],
    ids=["looks", "looks_not", "forgets_address"],
)
def test_a_link_into_an_output_opens_it(
    chapter_in: Callable[..., "Page"], alone: str
) -> None:
    page = chapter_in()
    if alone:
        page.add_init_script(alone)
        page.reload()
    switch(page).click()
    page.evaluate(
        f"document.querySelectorAll('{OUTPUTS} > pre > code')[1].id = 'there';"
        "document.querySelector('.hw-takeaway').innerHTML += '<a href=#there>x</a>'"
    )
    link = page.get_by_role("link", name="x", exact=True)
    asks = page.locator(".hw-show").nth(1)
    # The second time the address stays as it is.
    for way in ("click", "address", "click"):
        if way == "click":
            link.click()
        else:
            page.evaluate("location.hash = ''")
            page.evaluate("location.hash = 'there'")
        asks.locator("xpath=self::*[@aria-expanded='true']").wait_for()
        assert [n for n, one in enumerate(shown(page)) if one] == [1]
        asks.click()
        assert not any(shown(page))


def test_what_a_search_has_found_is_shown(
    chapter_in: Callable[..., "Page"], address: Any
) -> None:
    page = chapter_in()
    switch(page).click()
    text = page.locator(f"{OUTPUTS} > pre > code").all_text_contents()
    words = sorted({*re.findall("[a-z]{4,}", " ".join(text).lower())})
    word = next(one for one in words if not all(one in t.lower() for t in text))
    page.goto(address(f"{NAME}/?h={word}"))
    expected = [word in one.lower() for one in text]
    assert any(expected)
    assert not all(expected)
    assert shown(page) == expected


def test_who_goes_back_finds_the_choice(
    chapter_in: Callable[..., "Page"], address: Any
) -> None:
    page = chapter_in()
    page.goto(address(f"{CHAPTERS[0]}/"))
    switch(page).click()
    page.go_back()
    assert not any(shown(page))


def test_a_program_is_copied_as_before(chapter_in: Callable[..., "Page"]) -> None:
    page = chapter_in(permissions=["clipboard-read", "clipboard-write"])
    switch(page).click()
    [[first, *_], _] = programs_by_place((DOCS / f"{NAME}.md").read_text("utf-8"))
    code = first.code
    page.locator(".language-python button[data-md-type=copy]").first.click()
    page.wait_for_function(
        "async (code) => await navigator.clipboard.readText() === code",
        arg=code.rstrip("\n"),
    )


# ---- What a program repeats ----

ABOVE = ".hw-above"


def folded(page: "Page") -> list[bool]:
    """Say of the lines that repeat those above whether one does not see them."""
    thin = "all => all.map(one => one.getBoundingClientRect().height <= 1)"
    return page.locator(ABOVE).evaluate_all(thin)


def repeats(name: str) -> list[str]:
    """Return the lines that the programs of a chapter repeat, as the site has them."""
    html = (SITE / name / "index.html").read_text("utf-8")
    found = BeautifulSoup(html, "html.parser").select(ABOVE)
    return [one.get_text() for one in found]


def count_of(text: str) -> int:
    return sum(bool(line.strip()) for line in text.split("\n"))


def test_part_one_repeats_much_and_shows_it_once() -> None:
    basics = [name for name in CHAPTERS if name.startswith("basics/")]
    lines = sum(count_of(text) for name in basics for text in repeats(name))
    assert lines > 40


@pytest.mark.parametrize("name", CHAPTERS)
def test_what_repeats_is_one_line_until_asked_for(
    chapter_in: Callable[..., "Page"], name: str
) -> None:
    expected = repeats(name)
    page = chapter_in(name)
    unfold(page)
    asks = page.locator(".hw-unfold")
    assert asks.all_inner_texts() == [f"{count_of(t)} lines as above" for t in expected]
    assert folded(page) == [True] * len(expected)
    # For who listens, all of it is there.
    assert page.locator(ABOVE).all_text_contents() == expected
    hidden = "all => all.some(one => !one.checkVisibility({visibilityProperty: true}))"
    assert not page.locator(ABOVE).evaluate_all(hidden)
    for ask in asks.all():
        assert ask.get_attribute("aria-expanded") == "false"
        assert ask.bounding_box()["height"] >= 24


def chapter_that_repeats() -> str:
    return max(CHAPTERS, key=lambda name: len(repeats(name)))


def test_it_opens_by_key_and_by_finger(chapter_in: Callable[..., "Page"]) -> None:
    name = chapter_that_repeats()
    page = chapter_in(name, viewport=SMALL, has_touch=True, is_mobile=True)
    unfold(page)
    asks = page.locator(".hw-unfold")
    asks.first.focus()
    page.keyboard.press("Enter")
    assert asks.first.get_attribute("aria-expanded") == "true"
    asks.nth(1).tap()
    assert folded(page)[:3] == [False, False, True]
    page.keyboard.press("Escape")
    asks.first.focus()
    page.keyboard.press("Space")
    assert folded(page)[:3] == [True, False, True]
    assert page.evaluate("document.documentElement.scrollWidth") == 360


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_folded_lines_bar_no_reader(
    chapter_in: Callable[..., "Page"], scheme: str
) -> None:
    page = chapter_in(
        chapter_that_repeats(), color_scheme=scheme, reduced_motion="reduce"
    )
    unfold(page)
    page.locator(".hw-unfold").first.click()
    assert barriers(page) == []


def test_folded_lines_are_copied(chapter_in: Callable[..., "Page"]) -> None:
    name = chapter_that_repeats()
    page = chapter_in(name, permissions=["clipboard-read", "clipboard-write"])
    unfold(page)
    shown, _ = programs_by_place((DOCS / f"{name}.md").read_text("utf-8"))
    blocks = page.locator(".language-python.highlight")
    for at, program in enumerate(shown):
        block = blocks.nth(at)
        if not block.locator(ABOVE).count():
            continue
        for _ in range(2):  # folded, and unfolded
            block.locator("button[data-md-type=copy]").click()
            page.wait_for_function(
                "async (code) => await navigator.clipboard.readText() === code",
                arg=program.code.rstrip("\n"),
            )
            page.evaluate("navigator.clipboard.writeText('')")
            block.locator(".hw-unfold").click()


def test_without_scripts_and_on_paper_nothing_is_folded(
    chapter_in: Callable[..., "Page"],
) -> None:
    name = chapter_that_repeats()
    count = len(repeats(name))
    page = chapter_in(name, java_script_enabled=False)
    unfolded = "all => all.every(one => one.getClientRects().length > 2)"
    assert page.locator("article button").count() == 0
    assert count >= 3
    for paper in (page, chapter_in(name)):
        paper.emulate_media(media="print" if paper is not page else "screen")
        unfold(paper)
        assert paper.locator(ABOVE).count() == count
        assert paper.locator(ABOVE).evaluate_all(unfolded)
        assert paper.locator(".hw-unfold:visible").count() == 0


def test_nothing_moves_when_the_lines_fold(chapter_in: Callable[..., "Page"]) -> None:
    page = chapter_in(chapter_that_repeats())
    box = page.locator(f".highlight:has({ABOVE})").first
    height = "one => one.getBoundingClientRect().height"
    with_button = box.evaluate(height)
    page.evaluate(
        "document.querySelectorAll('.hw-unfold').forEach(one => one.remove())"
    )
    assert abs(box.evaluate(height) - with_button) < 1


# ---- What a chapter says at its top ----


def test_a_chapter_says_how_long_it_takes(chapter_in: Callable[..., "Page"]) -> None:
    opening = chapter_in().locator(".hw-opening")
    assert re.search(r"^About \d+ minutes$", opening.inner_text(), re.MULTILINE)
    below = opening.evaluate("one => one.previousElementSibling.tagName")
    assert below == "H1"


def test_only_chapters_have_an_opening() -> None:
    pages = {path for path in SITE.rglob("*.html") if "hw-opening" in path.read_text()}
    assert pages == {SITE / one / "index.html" for one in CHAPTERS}
