"""Take out of a built site what no reader needs.

Material for MkDocs ships the maps of its scripts, for its own developers, and what a
search in thirty languages needs. Pygments marks each name, space, bracket and operator
of a program; these are told by their form, and to mark them doubles what a browser has
to keep of a page of programs. A tenth of a page is lines with nothing on them, and the
space before those with something. Comments speak to the tools that made the page;
`proofread.website.offline_zip` still needs two of them.
"""

import re
import shutil
from collections.abc import Collection
from pathlib import Path

from proofread.website.paths import rewrite

MAP = re.compile(r"\s*(?://[#@] sourceMappingURL=\S+|/\*[#@] sourceMappingURL=.*?\*/)")
UNSEEN = re.compile(r'<span class="[nwpo]">([^<]*)</span>')
# Where space is as it was written.
VERBATIM = re.compile(r"(<(pre|code|kbd|script|style|textarea)\b.*?</\2>)", re.DOTALL)
COMMENT = re.compile(r"<!--(?! (?:end of )?online -->).*?-->\n?", re.DOTALL)
INDENT = re.compile(r"[ \t]*\n\s*")
# What each search in another language than English needs.
ALWAYS = {"stemmer.support", "multi"}


def tidy(site: Path, languages: Collection[str] = ("en",)) -> None:
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
    """Take out marks in programs that tell nothing, comments, and empty lines."""
    html = UNSEEN.sub(r"\1", html).replace("<pre><span></span>", "<pre>")
    # Each third part is the name of what was found verbatim.
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
