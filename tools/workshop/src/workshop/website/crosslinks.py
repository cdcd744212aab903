"""Lead from the names of a reference to the chapters that explain them, and back.

A name is explained in the chapter that has the path of its page of the reference; if
that one does not know it, in the one of the same stem, else in the first that does.
A page that is no chapter explains names only if it has the path of their page.
There it is in the first section that imports it, or names it in a sentence. Each entry
of the reference says so, each chapter ends with a list of the names that it explains,
and on each page the first code in a sentence that is a name leads to its entry. All of
it is read from the pages.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from posixpath import relpath
from typing import Any, NamedTuple

from workshop.folds import as_shown
from workshop.website.mentions import END, imports, mentions
from workshop.website.paths import REFERS, built_page, nav_entries

ENTRY = re.compile(r'<h\d id="(?P<id>[\w.]+)" class="doc doc-heading">.*?</h\d>', re.S)
HEADING = re.compile(r'<h[1-6] id="([^"]+)"')
SECTION = re.compile(r'<h[2-6] id="([^"]+)">(.*?)<a class="headerlink"', re.S)


class BuiltPage(NamedTuple):
    """A page of the site: its title in the nav, its address, its text and its HTML."""

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

    page: BuiltPage
    anchor: str


# ---- What the pages say ------------------------------------------------------------


def reference_entries(pages: Sequence[BuiltPage]) -> dict[str, Place]:
    """Return what a reference lists, by name, without the methods of classes.

    Args:
        pages: The pages of the reference.

    Raises:
        ValueError: If two entries have one name.
    """
    entries: dict[str, Place] = {}
    for page in pages:
        anchors = [match["id"] for match in ENTRY.finditer(page.html)]
        for anchor in anchors:
            owner, _, name = anchor.rpartition(".")
            if owner in anchors:
                continue
            if name in entries:
                raise ValueError(f"a name must be listed once; got name={name}.")
            entries[name] = Place(page, anchor)
    return entries


def headings_by_name(
    page: BuiltPage, names: Mapping[str, Place], packages: set[str]
) -> dict[str, str]:
    """Return the heading under which a page first imports or mentions each name."""
    order = {anchor: n for n, anchor in enumerate(HEADING.findall(page.html))}
    mentioned = [(name, found.heading) for name, found in mentions(page.html, names)]
    known = [*imports(as_shown(page.text), packages), *mentioned]
    known.sort(key=lambda pair: order.get(pair[1], -1))
    return dict(reversed(known))


def explanations(
    chapters: Sequence[BuiltPage],
    names: Mapping[str, Place],
    reference: str,
    others: Sequence[BuiltPage] = (),
) -> dict[str, Place]:
    """Return where each name is explained.

    Args:
        chapters: The pages that explain, in their order.
        names: What the reference lists.
        reference: The folder of the reference.
        others: Pages that explain what the page of the reference of their path lists.

    Raises:
        ValueError: If a name is not explained.
    """
    packages = {place.anchor.partition(".")[0] for place in names.values()}
    known = [
        (page, headings_by_name(page, names, packages)) for page in [*chapters, *others]
    ]
    found: dict[str, Place] = {}
    for name, place in names.items():
        path = place.page.address.removeprefix(reference)
        for page, headings in sorted(
            known,
            key=lambda pair: (pair[0].address != path, pair[0].stem != place.page.stem),
        ):
            if name in headings and (page not in others or page.address == path):
                found[name] = Place(page, headings[name])
                break
    if missing := names.keys() - found:
        sentence = "a chapter must import or name what the reference lists; got none of"
        raise ValueError(f"{sentence} {', '.join(sorted(missing))}.")
    return found


# ---- What is written ---------------------------------------------------------------


def link(page: BuiltPage, place: Place, text: str) -> str:
    """Return a link from a page to a place."""
    path = relpath(place.page.address or ".", page.address or ".")
    path = "" if path == "." else f"{path}/"
    return f'<a href="{path}#{place.anchor}">{text}</a>'


def link_mentions(page: BuiltPage, names: Mapping[str, Place]) -> str:
    """Return a page on which the first mention of each name leads to its entry."""
    linked: set[str] = set()
    parts, at = [], 0
    for name, mention in mentions(page.html, names):
        if name not in linked:
            linked.add(name)
            code = page.html[mention.start : mention.end]
            parts += [page.html[at : mention.start], link(page, names[name], code)]
            at = mention.end
    return "".join([*parts, page.html[at:]])


def add_explanations(page: BuiltPage, places: Mapping[str, Place]) -> str:
    """Return a page of the reference on which each entry says where it is explained."""
    names = reference_entries([page])

    def entry(match: re.Match[str]) -> str:
        name = match["id"].rpartition(".")[2]
        if name not in names or names[name].anchor != match["id"]:
            return match[0]
        place = places[name]
        section = dict(SECTION.findall(place.page.html)).get(place.anchor)
        title = place.page.title + (f": {section}" if section else "")
        sentence = f"Explained in {link(page, place, title)}"
        return f'{match[0]}\n<p class="hw-explained">{sentence}</p>'

    return ENTRY.sub(entry, page.html)


def add_index(
    page: BuiltPage, names: Mapping[str, Place], places: Mapping[str, Place]
) -> str:
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


def read_pages(docs: Path, site: Path, nav: Sequence[Any]) -> dict[Path, BuiltPage]:
    """Return the pages of a nav that were made of Markdown, by their files."""
    pages: dict[Path, BuiltPage] = {}
    for entry in nav_entries(nav):
        path = built_page(PurePosixPath(entry.source), site)
        if path and entry.source.endswith(".md"):
            address = path.parent.relative_to(site).as_posix()
            text = (docs / entry.source).read_text(encoding="utf-8")
            html = path.read_text(encoding="utf-8")
            pages[path] = BuiltPage(entry.title, address, text, html)
    return pages


def explain(
    docs: Path,
    site: Path,
    nav: Sequence[Any],
    reference: str,
    chapters: Sequence[str],
) -> None:
    """Write into a site where each name of its reference is explained.

    Args:
        docs: The folder of the pages.
        site: The folder that the site was built into.
        nav: The order of the pages.
        reference: The folder of the reference.
        chapters: The folders of the pages that explain, each with a slash at its end.
            So does a page whose path is that of a page of the reference.

    Raises:
        ValueError: If two entries have one name, or a name is not explained.
    """
    pages = read_pages(docs, site, nav)
    referring = [page for page in pages.values() if REFERS.search(page.text)]
    folder = f"{reference.rstrip('/')}/"
    namesakes = {page.address.removeprefix(folder) for page in referring}
    explaining, others = [], []
    for page in pages.values():
        if f"{page.address}/".startswith(tuple(chapters)):
            explaining.append(page)
        elif page.address in namesakes:
            others.append(page)
    names = reference_entries(referring)
    places = explanations(explaining, names, folder, others)
    for path, page in pages.items():
        explains = page in explaining or page in others
        html = add_index(page, names, places) if explains else page.html
        html = link_mentions(page._replace(html=html), names)
        if page in referring:
            html = add_explanations(page._replace(html=html), places)
        path.write_text(html, encoding="utf-8", newline="\n")
