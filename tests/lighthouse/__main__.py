"""Score the built site with Lighthouse, and check its HTML with the checker of the W3C.

    python tests/lighthouse

Both run in programs that Python does not bring: Node with npm, Java and Chromium. What
package-lock.json pins is fetched into .cache/lighthouse; nothing of it is run while it
is fetched. Lighthouse stands in for a phone on a slow line, on one page of each kind.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests" / "browser"))

from served import FLAGS, SITE, Packing, address  # noqa: E402

CACHE = ROOT / ".cache" / "lighthouse"
PACKAGES = CACHE / "node_modules"
PROGRAMS = ("node", "npm", "java", "chromium")
PINS = ("package.json", "package-lock.json")
# The heaviest of each kind. A host answers with 404.html where there is no page;
# Lighthouse refuses such an answer, so here it is a page like others.
KINDS = {
    "home": "index.html",
    "chapter": "basics/scaled_dot_product/index.html",
    "museum": "museum/masks/index.html",
    "reference": "reference/checks/index.html",
    "lab": "labs/why_sqrt_dk/index.html",
    "notebook": "labs/check_in_a_notebook/index.html",
    "sources": "sources/errata/index.html",
    "404": "404.html",
}
LEAST = {"performance": 95, "accessibility": 100, "best-practices": 100, "seo": 100}
TRIES = 3  # of the performance, which is less while a computer does other things
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


def report(url: str, *categories: str) -> dict[str, Any]:
    """Return what Lighthouse has to say of a page."""
    command = ["node", str(PACKAGES / "lighthouse/cli/index.js"), url, "--quiet"]
    command += ["--output=json", "--no-enable-error-reporting"]
    command += [f"--chrome-flags={' '.join(FLAGS)}"]
    command += [f"--only-categories={','.join(categories)}"]
    path = {"CHROME_PATH": str(shutil.which("chromium"))}
    done = subprocess.run(command, env=os.environ | path, stdout=subprocess.PIPE)
    if done.returncode:
        sys.exit(f"Lighthouse must be able to read {url}.")
    return json.loads(done.stdout)


def score(reported: dict[str, Any], category: str) -> int:
    """Return the score of a category; none counts as zero."""
    return round(100 * (reported["categories"][category]["score"] or 0))


def best(url: str) -> dict[str, dict[str, Any]]:
    """Return for each category the report with the best score that it got."""
    reports = dict.fromkeys(LEAST, report(url, *LEAST))
    for _ in range(1, TRIES):
        if score(reports["performance"], "performance") >= LEAST["performance"]:
            break
        again = [reports["performance"], report(url, "performance")]
        reports["performance"] = max(again, key=lambda one: score(one, "performance"))
    return reports


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


def scores() -> Iterator[str]:
    """Print what each kind of page scores; say what falls short."""
    print(" " * 10, *(f"{category:>15}" for category in LEAST))
    with ThreadingHTTPServer(("127.0.0.1", 0), Packing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for kind, page in KINDS.items():
            reports = best(address(f"http://127.0.0.1:{server.server_port}", page))
            got = {category: score(reports[category], category) for category in LEAST}
            print(f"{kind:10}", *(f"{number:15}" for number in got.values()))
            for category, least in LEAST.items():
                if (one := got[category]) < least:
                    yield f"{page}: {category} must be {least} or more; got {one}."
                    yield from shortfalls(reports[category], category)
        server.shutdown()


def invalid() -> Iterator[str]:
    """Say what the checker finds wrong with the HTML of all pages."""
    jar = PACKAGES / "vnu-jar/build/dist/vnu.jar"
    options = ["--errors-only", "--format", "json", "--skip-non-html", "--stdout"]
    command = ["java", "-jar", str(jar), *options, "--exit-zero-always", str(SITE)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    unused = {*ALLOWED}
    for one in json.loads(done.stdout)["messages"]:
        if known := {text for text in ALLOWED if re.match(text, one["message"])}:
            unused -= known
            continue
        page = one["url"].partition(f"{SITE.name}/")[2]
        yield f"{page}:{one.get('lastLine')}: {one['message']}"
        yield f"  {one.get('extract', '').strip()}"
    yield from (f"{text}: is allowed, and not found any more" for text in unused)


def main() -> int:
    """Check the site; return 1 if it falls short anywhere."""
    if lacks := [name for name in PROGRAMS if shutil.which(name) is None]:
        print(f"PATH must hold {', '.join(PROGRAMS)}; got no {', '.join(lacks)}.")
        # There nothing may be left out in silence.
        return int("CI" in os.environ)
    fetch()
    found = [*scores(), *invalid()]
    print(*found, sep="\n")
    print(f"{len([*SITE.rglob('*.html')])} pages of HTML are checked.")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
