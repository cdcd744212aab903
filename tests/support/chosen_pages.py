"""The pages that slow checks of the site try: one of each kind, and all that changed.

With ALL=1 in the environment they try every page. A page has changed if its source, or
what its source shows, has; where git cannot tell, every page is tried. Of what is built
the list of hashes tells what has changed. What all pages share, such as the style
sheet, changes no page: one of each kind stands for the rest.
"""

import os
import re
from pathlib import Path, PurePosixPath

from generators import HASHES
from generators.built import hashes
from tests.support.book_nav import sources as nav_sources
from tests.support.site_server import SITE
from workshop.changed_files import changed_files, git, starting_point

ROOT = Path(__file__).parents[2]
# What the source of a page says to show a file, whose name follows.
SHOWS = re.compile(r'^[ \t]*(?:--8<-- "|<!--lab: )([^">]+?)(?:"|-->)$', re.MULTILINE)
# An address of before, with a page that leads to the new one.
MOVED = {
    path.relative_to(ROOT / "docs").as_posix() for path in ROOT.glob("docs/**/*.html")
}
DOCUMENTS = re.compile(r"^::: ([\w.]+)", re.MULTILINE)


def all_pages(site: Path = SITE) -> list[str]:
    """List the pages of a built site by their paths, without those that moved."""
    found = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    return [page for page in found if page not in MOVED]


def kind(page: str) -> str:
    """Return what kind of page one is: its folder, if it has one, or how it is made."""
    found = nav_sources()
    if page.replace("/index.html", ".py") in found:
        return "notebook"
    source = page.replace("/index.html", ".md")
    alone = not any(one.startswith(source.replace(".md", "/")) for one in found)
    if "/" not in source and source in found and alone:
        return "single page"
    folder, _, name = page.rpartition("/")
    top = folder.partition("/")[0]
    return top if name == "index.html" and top else name


def one_of_each_kind(site: Path = SITE) -> list[str]:
    """Choose the largest page of each kind."""
    largest: dict[str, tuple[int, str]] = {}
    for page in all_pages(site):
        html = (site / page).read_text("utf-8")
        one = kind(page)
        largest[one] = max(largest.get(one, (0, "")), (len(html), page))
    return sorted(page for _, page in largest.values())


def sources(page: str) -> list[Path]:
    """Return the files that a page may be made of; one is."""
    name = PurePosixPath(page.removesuffix("/index.html")).with_suffix("")
    stems = (f"docs/{name}", f"docs/{name}/index")
    return [ROOT / f"{stem}{suffix}" for stem in stems for suffix in (".md", ".py")]


def stem(file: str) -> str:
    """Return the path of a file without its suffix."""
    return PurePosixPath(file).with_suffix("").as_posix()


def has_changed(page: str, files: set[str]) -> bool:
    """Return whether the source of a page, or what it shows, is among some files."""
    for source in filter(Path.is_file, sources(page)):
        if source.relative_to(ROOT).as_posix() in files:
            return True
        text = source.read_text("utf-8")
        # The script of a live figure has the name of its tables.
        shown = tuple(f"/{stem(name)}" for name in SHOWS.findall(text))
        if any(stem(file).endswith(shown) for file in files):
            return True
        for module in DOCUMENTS.findall(text):
            path = f"src/{module.replace('.', '/')}"
            if any(re.match(rf"{path}[./]", file) for file in files):
                return True
    return False


def changed_built_files() -> set[str]:
    """Return the files that are built, and were not the same at the starting point."""
    listed = HASHES.relative_to(ROOT).as_posix()
    lines = git("show", f"{starting_point()}:{listed}") or []
    before = {HASHES.parent / name: one for one, name in map(str.split, lines)}
    changed = before.items() ^ hashes().items()
    return {path.relative_to(ROOT).as_posix() for path, _ in changed}


def chosen_pages(site: Path = SITE) -> list[str]:
    """Choose the pages of a built site that are tried."""
    pages = all_pages(site)
    files = None if os.environ.get("ALL") else changed_files()
    if files is None:
        return pages
    files |= changed_built_files()
    chosen = {*one_of_each_kind(site)}
    return [page for page in pages if page in chosen or has_changed(page, files)]


def describe(chosen: list[str], site: Path = SITE) -> str:
    """Say how many pages are tried, and why these."""
    count = len(all_pages(site))
    if len(chosen) == count:
        return f"All {count} pages are tried."
    return (
        f"{len(chosen)} of {count} pages are tried: one of each kind, and those that "
        f"changed since {(starting_point() or '')[:10]}. ALL=1 tries all."
    )
