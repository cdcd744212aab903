"""A browser on this computer, and what it does with a page."""

import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, Request

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# The first draws pages and has no windows around them, which takes half the time.
PROGRAMS = ("chromium-headless-shell", "chromium")
# How long to wait for what must come, in milliseconds: a busy computer takes its time.
PATIENCE = 120_000
# A page that has asked for nothing for so long asks for nothing more, in milliseconds.
QUIET = 500
# What `Page.wait_for_function` waits for is a function here, and no expression: a page
# may not evaluate text, so an expression fails unless it is true at once.
SEARCH_HAS_FOCUS = "() => document.activeElement.name === 'query'"


def browser_program() -> str | None:
    """Find the browser that is installed here."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


@dataclass
class Visit:
    """What a browser loaded for one page, and what it reported."""

    page: "Page"
    requests: list["Request"] = field(default_factory=list)
    answered: set["Request"] = field(default_factory=set)
    messages: list[str] = field(default_factory=list)

    def settle(self) -> None:
        """Wait until the page has its fonts and asks for nothing more.

        Playwright's own "networkidle" is discouraged: it never comes if a page was
        quiet for half a second before it was ready, as on a busy computer.
        """
        self.page.evaluate("document.fonts.ready.then(() => null)")
        for _ in range(PATIENCE // QUIET):
            asked = len(self.requests)
            # By the clock of the page: what it does within that time comes before.
            self.page.evaluate("(ms) => new Promise((go) => setTimeout(go, ms))", QUIET)
            if asked == len(self.requests) and not self.waiting():
                return
        raise TimeoutError(
            f"The page still asks for more; it waits for {self.waiting()}."
        )

    def waiting(self) -> list[str]:
        """List what the page has asked for and has not got."""
        return [one.url for one in self.requests if one not in self.answered]

    def start_figures(self) -> None:
        """Bring each live figure into view, and wait until it has started."""
        for figure in self.page.locator("[data-live]").all():
            figure.scroll_into_view_if_needed()
            name = figure.get_attribute("data-live")
            self.page.locator(f'.hw-live--on[data-live="{name}"]').wait_for()


def visit(context: "BrowserContext", url: str) -> Visit:
    """Open a page, and wait until it has loaded."""
    page = context.new_page()
    seen = Visit(page)
    page.on("request", lambda request: seen.requests.append(request))
    for answered in ("requestfinished", "requestfailed"):
        page.on(answered, lambda request: seen.answered.add(request))
    page.on("console", lambda message: seen.messages.append(message.text))
    page.on("pageerror", lambda error: seen.messages.append(str(error)))
    page.goto(url, wait_until="load")
    return seen


def new_window(browser: "Browser", **options: object) -> "BrowserContext":
    """Open a window without a history."""
    size = {"width": 1280, "height": 900}
    window = browser.new_context(**{"viewport": size, **options})
    window.set_default_timeout(PATIENCE)
    return window


def unfold(page: "Page") -> None:
    """Open all that can be unfolded on a page."""
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = 1)")


def finish_animations(page: "Page") -> None:
    """Wait until nothing on a page moves or changes its colour any more."""
    page.evaluate(
        "Promise.allSettled(document.getAnimations().map(one => one.finished))"
        ".then(() => null)"
    )
