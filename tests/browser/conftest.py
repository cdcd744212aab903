"""A browser, the built site on a server, and what one more page costs."""

import importlib.util
import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.browsing import (
    FLAGS,
    PATIENCE,
    Visit,
    browser_program,
    new_window,
    visit,
)
from tests.support.chosen_pages import chosen_pages, describe
from tests.support.site_server import SITE, serving_pages

if TYPE_CHECKING:
    from playwright.sync_api import Browser

HERE = Path(__file__).parent
TRIED = chosen_pages()


def missing() -> str | None:
    """Say what is not installed here."""
    if importlib.util.find_spec("playwright") is None:
        return "Playwright, which the extra browser names"
    return None if browser_program() else "a program chromium"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    lacks = missing()
    for item in items:
        if HERE not in item.path.parents:
            continue
        # In CI nothing may be left out in silence.
        if lacks and "CI" not in os.environ:
            item.add_marker(pytest.mark.skip(reason=f"needs {lacks}"))
        if "tried" in item.fixturenames:
            page = item.callspec.params["tried"]
            item.user_properties.append(("tried", page))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give each test that asks for `tried` the pages that are tried."""
    if "tried" in metafunc.fixturenames:
        # What is seen in a visit is shared by the tests of a page: they stay together.
        pages = [
            pytest.param(page, marks=pytest.mark.xdist_group(page))
            for page in TRIED or ["index.html"]
        ]
        metafunc.parametrize("tried", pages)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print how many pages were tried, and what one more costs."""
    seconds: dict[str, float] = defaultdict(float)
    pages = set()
    for reports in terminalreporter.stats.values():
        for report in reports:
            is_test = isinstance(report, pytest.TestReport)
            if page := is_test and dict(report.user_properties).get("tried"):
                pages.add(page)
                name = report.nodeid.rpartition("::")[2].partition("[")[0]
                seconds[name] += report.duration
    if not pages:
        return
    terminalreporter.section("pages")
    terminalreporter.line(describe(TRIED))
    each = {name: total / len(pages) for name, total in seconds.items()}
    terminalreporter.line(f"One more page costs {sum(each.values()):.1f} s:")
    for name, cost in sorted(each.items(), key=lambda one: -one[1]):
        terminalreporter.line(f"{cost:7.2f} s  {name}")


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        path = browser_program()
        running = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield running
        running.close()


@pytest.fixture(scope="session")
def address() -> Iterator[Callable[[str], str]]:
    """Serve the site that `make site` has built; return the address of a page."""
    assert TRIED, "There must be a built site; got none. Run `make site` first."
    with serving_pages(SITE) as address:
        yield address


@pytest.fixture
def opened(browser: "Browser", address: Callable[[str], str]) -> Iterator[Any]:
    """Return what opens a page in a window of its own, as long as the test runs.

    With `clock`, the test can have the time of the page pass at once.
    """
    windows = []

    def opened(page: str, *, clock: bool = False, **options: Any) -> Visit:
        windows.append(new_window(browser, **options))
        if clock:
            windows[-1].clock.install()
        return visit(windows[-1], address(page))

    yield opened
    for window in windows:
        window.close()
