"""Remove from a built site what no reader needs.

Material for MkDocs ships the source maps of its scripts, for its own developers, and
what a search in thirty languages needs. Pygments marks each name, space, bracket and
operator of a program; no style tells these apart, and marking them doubles the elements
that a browser keeps for a page of programs. mkdocstrings has each page load its style
sheet, for what only pages of a reference show. A tenth of a page is empty lines and
indentation. Comments are for the tools that made the page;
`workshop.website.offline_zip` still needs two of them.
"""

import re
import shutil
from collections.abc import Collection
from pathlib import Path

from workshop.website.paths import rewrite

MAP = re.compile(r"\s*(?://[#@] sourceMappingURL=\S+|/\*[#@] sourceMappingURL=.*?\*/)")
UNSTYLED = re.compile(r'<span class="[nwpo]">([^<]*)</span>')
# The style sheet of docstrings, and what shows that a page has one.
DOCSTRING_STYLES = re.compile(r'<link rel="stylesheet" href="[^"]*/_mkdocstrings.css">')
DOCSTRING = re.compile(r'class="[^"]*\bdoc\b')
# Where space is as it was written.
VERBATIM = re.compile(r"(<(pre|code|kbd|script|style|textarea)\b.*?</\2>)", re.DOTALL)
COMMENT = re.compile(r"<!--(?! (?:end of )?online -->).*?-->\n?", re.DOTALL)
INDENT = re.compile(r"[ \t]*\n\s*")
# What a search needs in any language but English.
ALWAYS = {"stemmer.support", "multi"}


def slim_site(site: Path, languages: Collection[str] = ("en",)) -> None:
    """Make a site smaller; what a reader sees stays as it is.

    Args:
        site: The folder that the site was built into.
        languages: Those that its search knows.
    """
    for path in site.rglob("*.map"):
        path.unlink()
    for path in (*site.rglob("*.js"), *site.rglob("*.css")):
        rewrite(path, lambda text: MAP.sub("", text))
    for path in site.rglob("*.html"):
        rewrite(path, slim)
    prune(site / "assets/javascripts/lunr", languages)


def slim(html: str) -> str:
    """Remove marks without a style, styles without a use, comments and empty lines."""
    if not DOCSTRING.search(html):
        html = DOCSTRING_STYLES.sub("", html)
    html = UNSTYLED.sub(r"\1", html).replace("<pre><span></span>", "<pre>")
    # Every third part is the name of a verbatim element.
    parts = VERBATIM.split(html)
    parts[::3] = [INDENT.sub("\n", COMMENT.sub("", part)) for part in parts[::3]]
    del parts[2::3]
    return "".join(parts)


def prune(folder: Path, languages: Collection[str]) -> None:
    """Delete what the search needs for languages that it does not know."""
    if {*languages} <= {"en"}:
        shutil.rmtree(folder, ignore_errors=True)
    for path in folder.glob("min/lunr.*.min.js"):
        name = path.name.removeprefix("lunr.").removesuffix(".min.js")
        if name not in ALWAYS | {*languages}:
            path.unlink()
