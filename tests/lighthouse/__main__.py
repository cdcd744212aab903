"""Score the built site with Lighthouse, and check its HTML with the checker of the W3C.

    python tests/lighthouse

Both run in programs that Python does not bring: Node with npm, Java and Chromium. What
package-lock.json pins is fetched into .cache/lighthouse; nothing of it is run while it
is fetched. Lighthouse stands in for a phone on a slow line. The pages that it sees are
one of each kind and those that have changed; with ALL=1, every page.

How fast a page is depends on the computer and on what else that does. So speed is
printed and fails nothing: with SPEED=1, beside the score of the same text in Material
for MkDocs as it comes, measured in the same run. What a page weighs does not depend on
the computer: tests/browser/test_access_privacy_and_weight.py holds fixed limits.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT))

from tests.support.browsing import FLAGS, browser_program  # noqa: E402
from tests.support.chosen_pages import chosen_pages, describe  # noqa: E402
from tests.support.site_server import SITE, serving, serving_pages  # noqa: E402

CACHE = ROOT / ".cache" / "lighthouse"
PACKAGES = CACHE / "node_modules"
PROGRAMS = ("node", "npm", "java")
PINS = ("package.json", "package-lock.json")
PERFECT = ("accessibility", "best-practices", "seo")
PERFORMANCE = "performance"
# How many times slower a phone is than this computer when it has nothing else to do,
# and what Lighthouse then finds the speed of its processor to be, or more.
SLOWDOWN, SPEED = 4.0, 1500.0
# For a page that has no text of its own: a notebook, and the one for what is not found.
ANY_TEXT = "basics/scaled_dot_product.md"
STOCK = """\
site_name: Material as it comes
theme: {{name: material, font: false}}
markdown_extensions:
  - admonition
  - attr_list
  - md_in_html
  - pymdownx.details
  - pymdownx.highlight
  - pymdownx.superfences
  - tables
plugins:
  - mkdocstrings: {{handlers: {{python: {{paths: [{source}]}}}}}}
"""
# What the checker says against the HTML and is no mistake, and why.
ALLOWED = {
    r"Attribute “autocomplete” is only allowed when the input type is": (
        "Firefox opens after a reload what was open before, if not told otherwise; "
        "the theme tells it so for its list of pages and its search"
    ),
    r"Attribute “(displaystyle|scriptlevel)” not allowed on element “m": (
        "MathML Core allows both on each of its elements; the checker knows MathML 3"
    ),
}


def fetch() -> None:
    """Install what is pinned, unless it is there."""
    texts = {name: (HERE / name).read_text(encoding="utf-8") for name in PINS}
    done = CACHE / "installed"
    if done.is_file() and done.read_text(encoding="utf-8") == "".join(texts.values()):
        return
    CACHE.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (CACHE / name).write_text(text, encoding="utf-8")
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    subprocess.run(command, cwd=CACHE, check=True)
    done.write_text("".join(texts.values()), encoding="utf-8")


def source(page: str) -> str:
    """Return the Markdown that a page is made of, as the site publishes it."""
    text = page.removesuffix("/index.html").removesuffix(".html") + ".md"
    return text if (SITE / text).is_file() else ANY_TEXT


def build_stock(pages: Sequence[str]) -> Path:
    """Build pages with Material as it comes, with the texts of ours."""
    folder = CACHE / "stock"
    shutil.rmtree(folder / "docs", ignore_errors=True)
    for text in {source(page) for page in pages}:
        (folder / "docs" / text).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(SITE / text, folder / "docs" / text)
    (folder / "mkdocs.yml").write_text(
        STOCK.format(source=ROOT / "src"), encoding="utf-8"
    )
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet"]
    quiet = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    # The texts have links to others, which are not here.
    subprocess.run(command, cwd=folder, env=quiet, check=True, capture_output=True)
    return folder / "site"


def report(url: str, *categories: str, slowdown: float) -> dict[str, Any]:
    """Return what Lighthouse has to say of a page, on a processor slowed down."""
    command = ["node", str(PACKAGES / "lighthouse/cli/index.js"), url, "--quiet"]
    command += ["--output=json", "--no-enable-error-reporting"]
    command += ["--disable-full-page-screenshot"]
    command += [f"--throttling.cpuSlowdownMultiplier={slowdown:.2f}"]
    command += [f"--chrome-flags={' '.join(FLAGS)}"]
    command += [f"--only-categories={','.join(categories)}"]
    path = {"CHROME_PATH": str(browser_program())}
    done = subprocess.run(command, env=os.environ | path, stdout=subprocess.PIPE)
    if done.returncode:
        sys.exit(f"Lighthouse must be able to read {url}.")
    return json.loads(done.stdout)


def score(reported: dict[str, Any], category: str) -> int:
    """Return the score of a category; none counts as zero."""
    return round(100 * (reported["categories"][category]["score"] or 0))


def shortfalls(reported: dict[str, Any], category: str) -> Iterator[str]:
    """Say which audits cost a page points, and why."""
    for audit in reported["categories"][category]["auditRefs"]:
        found = reported["audits"][audit["id"]]
        # Without a score it does not apply, or could not be made.
        failed = found["scoreDisplayMode"] == "error" or found["score"] not in (None, 1)
        if audit["weight"] and failed:
            seen = found.get("errorMessage") or found.get("displayValue", "")
            yield f"{category}: {found['title']} {seen}".rstrip()
            for item in found.get("details", {}).get("items", [])[:5]:
                part = item.get("node", item)
                yield f"  {json.dumps(part.get('snippet', part))[:300]}"


class Phone:
    """What Lighthouse slows this computer down to, however busy that is."""

    def __init__(self, url: str) -> None:
        self.slowdown = SLOWDOWN
        self.report(url, PERFORMANCE)  # to know how busy the computer is

    def report(self, url: str, *categories: str) -> dict[str, Any]:
        """Return what Lighthouse says of a page.

        A processor that other programs use is slow already.
        """
        found = report(url, *categories, slowdown=self.slowdown)
        speed = found["environment"]["benchmarkIndex"]
        self.slowdown = min(SLOWDOWN, max(1.0, SLOWDOWN * speed / SPEED))
        return found


def perfect(pages: Sequence[str]) -> Iterator[str]:
    """Print what each page scores where each can have all; say what falls short."""
    print(" " * 46, *(f"{title:>14}" for title in PERFECT))
    with serving_pages(SITE) as address, ThreadPoolExecutor(os.cpu_count()) as several:

        def look(page: str) -> dict[str, Any]:
            return report(address(page), *PERFECT, slowdown=1.0)

        for page, found in zip(pages, several.map(look, pages), strict=True):
            got = {category: score(found, category) for category in PERFECT}
            print(f"{page:46}", *(f"{one:14}" for one in got.values()), flush=True)
            for category in (one for one in PERFECT if got[one] < 100):
                yield f"{page}: {category} must be 100; got {got[category]}."
                yield from shortfalls(found, category)


def compare_speed(pages: Sequence[str]) -> None:
    """Print how fast each page is, and the same text as Material shows it."""
    print(f"{PERFORMANCE:46}", f"{'the page':>14}", f"{'stock page':>14}")
    with serving_pages(SITE) as address, serving(build_stock(pages)) as stock:
        phone = Phone(address(pages[0]))
        for page in pages:
            same = source(page).removesuffix("index.md").removesuffix(".md")
            urls = (address(page), f"{stock}/{same}/")
            found = (score(phone.report(url, PERFORMANCE), PERFORMANCE) for url in urls)
            print(f"{page:46}", *(f"{one:14}" for one in found), flush=True)


def invalid(pages: Sequence[str], *, all_pages: bool) -> Iterator[str]:
    """Say what the checker finds wrong with the HTML of some pages."""
    jar = PACKAGES / "vnu-jar/build/dist/vnu.jar"
    options = ["--errors-only", "--format", "json", "--stdout", "--exit-zero-always"]
    command = ["java", "-jar", str(jar), *options, *(str(SITE / one) for one in pages)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    unused = {*ALLOWED}
    for one in json.loads(done.stdout)["messages"]:
        if known := {text for text in ALLOWED if re.match(text, one["message"])}:
            unused -= known
            continue
        page = one["url"].partition(f"{SITE.name}/")[2]
        yield f"{page}:{one.get('lastLine')}: {one['message']}"
        yield f"  {one.get('extract', '').strip()}"
    if all_pages:
        yield from (f"{text}: is allowed, and not found any more" for text in unused)


def main() -> int:
    """Check the site; return 1 if it falls short anywhere."""
    lacks = [name for name in PROGRAMS if shutil.which(name) is None]
    lacks += [] if browser_program() else ["chromium"]
    if lacks:
        needed = ", ".join((*PROGRAMS, "chromium"))
        print(f"PATH must hold {needed}; got no {', '.join(lacks)}.")
        # There nothing may be left out in silence.
        return int("CI" in os.environ)
    fetch()
    pages = chosen_pages()
    print(describe(pages))
    begun = time.monotonic()
    found = [*perfect(pages)]
    scored = time.monotonic()
    found += invalid(pages, all_pages="ALL" in os.environ)
    checked = time.monotonic()
    if "SPEED" in os.environ:
        compare_speed(pages)
    print(*found, sep="\n")
    for name, seconds in (("Scores", scored - begun), ("HTML", checked - scored)):
        print(f"{name}: one more page costs {seconds / len(pages):.1f} s.")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
