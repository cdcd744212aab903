"""Lead from the names of a reference to the chapters that explain them, and back.

A name is explained in the chapter that is called as its page of the reference; if that
one does not know it, in the first that does. There it is in the first section that
imports it, or names it in a sentence. Each entry of the reference says so, each
chapter ends with a list of the names that it explains, and on each page the first code
in a sentence that is a name leads to its entry. All of it is read from the pages; the
folder of the chapters stands in `mkdocs.yml`:

    extra: {explained: walk/}
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from posixpath import relpath
from typing import Any, NamedTuple

from proofread.page.markdown import REFERS
from proofread.website.mentions import END, imports, mentions
from proofread.website.paths import built, entries

ENTRY = re.compile(r'<h\d id="(?P<id>[\w.]+)" class="doc doc-heading">.*?</h\d>', re.S)
HEADING = re.compile(r'<h[1-6] id="([^"]+)"')
SECTION = re.compile(r'<h[2-6] id="([^"]+)">(.*?)<a class="headerlink"', re.S)


class Page(NamedTuple):
    """A page of the site: its title in the nav, its address, and what it says."""

    title: str
    address: str
    text: str
    html: str

    @property
    def stem(self) -> str:
        """The last part of its address."""
        return PurePosixPath(self.address).name


class Place(NamedTuple):
    """An anchor on a page."""

    page: Page
    anchor: str


def listed(pages: Sequence[Page]) -> dict[str, Place]:
    """Return what a reference lists; a method is left out, for it belongs to a class.

    Args:
        pages: The pages of the reference.

    Raises:
        ValueError: If two entries have one name.
    """
    found: dict[str, Place] = {}
    for page in pages:
        anchors = [match["id"] for match in ENTRY.finditer(page.html)]
        for anchor in anchors:
            package, _, name = anchor.rpartition(".")
            if package in anchors:
                continue
            if name in found:
                raise ValueError(f"a name must be listed once; got name={name}.")
            found[name] = Place(page, anchor)
    return found


def explained(chapters: Sequence[Page], names: Mapping[str, Place]) -> dict[str, Place]:
    """Return where each name is explained.

    Args:
        chapters: The pages that explain, in their order.
        names: What the reference lists.

    Raises:
        ValueError: If a name is not explained.
    """
    packages = {place.anchor.partition(".")[0] for place in names.values()}
    on = []
    for page in chapters:
        used = [*imports(page.text, packages)]
        said = [(name, one.heading) for name, one in mentions(page.html, names)]
        order = {anchor: n for n, anchor in enumerate(HEADING.findall(page.html))}
        found_here = sorted(used + said, key=lambda it: order.get(it[1], -1))
        on.append((page, dict(reversed(found_here))))
    found: dict[str, Place] = {}
    for name, place in names.items():
        own_first = sorted(on, key=lambda it: it[0].stem != place.page.stem)
        for page, headings in own_first:
            if name in headings:
                found[name] = Place(page, headings[name])
                break
    if missing := names.keys() - found:
        sentence = "a chapter must import or name what the reference lists; got none of"
        raise ValueError(f"{sentence} {', '.join(sorted(missing))}.")
    return found


# ---- What is written ---------------------------------------------------------------


def link(page: Page, place: Place, text: str) -> str:
    """Return a link from a page to a place."""
    path = relpath(place.page.address or ".", page.address or ".")
    path = "" if path == "." else f"{path}/"
    return f'<a href="{path}#{place.anchor}">{text}</a>'


def linked(page: Page, names: Mapping[str, Place]) -> str:
    """Return a page on which the first mention of each name leads to its entry."""
    done: set[str] = set()
    parts, at = [], 0
    for name, one in mentions(page.html, names):
        if name not in done:
            done.add(name)
            code = page.html[one.start : one.end]
            parts += [page.html[at : one.start], link(page, names[name], code)]
            at = one.end
    return "".join([*parts, page.html[at:]])


def told(page: Page, places: Mapping[str, Place]) -> str:
    """Return a page of the reference on which each entry says where it is explained."""

    def entry(match: re.Match[str]) -> str:
        name = match["id"].rpartition(".")[2]
        if name not in places or names[name].anchor != match["id"]:
            return match[0]
        place = places[name]
        section = dict(SECTION.findall(place.page.html)).get(place.anchor)
        title = place.page.title + (f": {section}" if section else "")
        sentence = f"Explained in {link(page, place, title)}"
        return f'{match[0]}\n<p class="hw-explained">{sentence}</p>'

    names = listed([page])
    return ENTRY.sub(entry, page.html)


def index(page: Page, names: Mapping[str, Place], places: Mapping[str, Place]) -> str:
    """Return a chapter that ends with the names that it explains."""
    links = [
        link(page, names[name], f"<code>{name}</code>")
        for name, place in places.items()
        if place.page is page
    ]
    if not links:
        return page.html
    line = f'<p class="hw-explained">In the reference: {", ".join(links)}</p>\n'
    start, end, rest = page.html.rpartition(END)
    return start + line + end + rest


def explain(docs: Path, site: Path, nav: Sequence[Any], folder: str) -> None:
    """Write into a site where each name of its reference is explained.

    Args:
        docs: The folder of the pages.
        site: The folder that the site was built into.
        nav: The order of the pages.
        folder: How the addresses of the pages begin that explain.

    Raises:
        ValueError: If two entries have one name, or a name is not explained.
    """
    pages: dict[Path, Page] = {}
    for _, title, source in entries(nav):
        path = built(PurePosixPath(source), site)
        if path and source.endswith(".md"):
            address = path.parent.relative_to(site).as_posix()
            text = (docs / source).read_text(encoding="utf-8")
            html = path.read_text(encoding="utf-8")
            pages[path] = Page(title, address, text, html)
    refers = [page for page in pages.values() if REFERS.search(page.text)]
    chapters = [p for p in pages.values() if f"{p.address}/".startswith(folder)]
    names = listed(refers)
    places = explained(chapters, names)
    for path, page in pages.items():
        html = index(page, names, places) if page in chapters else page.html
        html = linked(page._replace(html=html), names)
        if page in refers:
            html = told(page._replace(html=html), places)
        path.write_text(html, encoding="utf-8", newline="\n")
