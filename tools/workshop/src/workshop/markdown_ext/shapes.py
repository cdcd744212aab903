"""Under each program of a page, the shapes of the tensors that it makes.

A Markdown extension. What stands there is not typed: the programs run, as they do for
the tests, and the tensors that they have named at the end are listed, folded up and out
of the search; below, those that its functions bind while they run.
`workshop.run.tensor_shapes` and `bound_names` decide what is listed. Of a program that
ends in its error it is what was made until then; one that is skipped, or makes no
tensor, has no list.

What has run is kept, and runs anew only if the program, what it reaches through its
imports, or anything installed has changed. If one is missing, all that are missing on
any page run, as many at once as there are cores, so that PyTorch is loaded once a core,
and not at all if none has changed.
"""

import os
import sys
from collections.abc import Sequence
from html import escape
from pathlib import Path
from threading import Lock
from typing import Any

from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor

from pytest_proofread.page.markdown import Program, last, pages, programs, skipped
from pytest_proofread.runner import Row
from workshop.markdown_ext.pending import PENDING
from workshop.reached import from_here
from workshop.run.kept_shapes import CACHE, Shapes, keep_shapes, kept, key_of
from workshop.run.programs import Python, job, run_jobs
from workshop.run.watched_shapes import WATCH

# A generator may make several pages at once; what one runs, the next one finds.
LOCK = Lock()


# ---- Running programs --------------------------------------------------------------


def running(text: str) -> list[Program]:
    """Return the programs of a page that run everywhere."""
    return [program for program in programs(text) if not skipped(program)]


def run(found: dict[str, tuple[str, Program]]) -> Shapes:
    """Run programs; return what they made.

    Args:
        found: By its key each program, with the name of its page.

    Raises:
        ValueError: If one does not end as its page says.
    """
    jobs = [job(page, program, watch=WATCH) for page, program in found.values()]
    cores = min(os.cpu_count() or 1, len(jobs))
    results = run_jobs(Python(Path(sys.executable)), jobs, at_once=cores)
    made: Shapes = {}
    for (name, (page, program)), result in zip(found.items(), results, strict=True):
        if not result.finished or bool(result.error) != bool(program.error):
            said = result.traceback or "\n".join(result.problems)
            raise ValueError(
                "a program must end as its page says, to show its shapes; "
                f"{page}, {program.name} does not:\n"
                f"{said.rstrip() or 'it ends without its error'}"
            )
        made[name] = result.seen
    return made


def shapes_of(found: Sequence[Program], options: dict[str, Any]) -> list[Any]:
    """Return what the programs of a page have made, now or before.

    If one is not known, all programs of all pages run, unless this is a preview: then
    there is nothing for it.
    """
    folder = Path(options["cache"])
    reached = options["reached"] or from_here()
    keys = [key_of(program, reached) for program in found]
    here = {name: ("this page", one) for name, one in zip(keys, found, strict=True)}
    with LOCK:
        made = kept(folder)
        if not (options["preview"] or here.keys() <= made.keys()):
            # Once, and with the name of its page if that is known.
            wanted = here | {
                key_of(program, reached): (str(path), program)
                for path in pages([Path(options["folder"])])
                for program in running(path.read_text(encoding="utf-8"))
            }
            missing = {name: wanted[name] for name in wanted if name not in made}
            # What no page asks for any more is not kept.
            made = {name: made[name] for name in wanted if name in made} | run(missing)
            keep_shapes(folder, made)
    return [made.get(name) for name in keys]


# ---- What a page shows -------------------------------------------------------------


def details(rows: Sequence[Row] | None) -> str:
    """Return HTML for shapes, on one line; without rows they are being computed."""
    content = PENDING if rows is None else listed(rows)
    return (
        '<details class="hw-shapes" data-search-exclude><summary>Shapes</summary>'
        f"{content}</details>"
    )


def listed(rows: Sequence[Row]) -> str:
    """Return HTML for rows; one without a shape is the title of those below."""
    parts = ["<dl>"]
    for name, shape in rows:
        text = escape(name, quote=False)
        if shape:
            parts.append(f"<dt>{text}</dt><dd>{shape}</dd>")
        else:
            parts.append(f"</dl><p>{text}</p><dl>")
    return "".join([*parts, "</dl>"]).replace("<dl></dl>", "")


class _Shapes(Preprocessor):
    def __init__(self, md: Markdown, options: dict[str, Any]) -> None:
        super().__init__(md)
        self.options = options

    def run(self, lines: list[str]) -> list[str]:
        text = "\n".join(lines)
        if found := running(text):
            made = shapes_of(found, self.options)
            # From the bottom, so that the line numbers above stay true.
            for program, rows in reversed([*zip(found, made, strict=True)]):
                if rows != []:
                    below = last(program)
                    part = self.md.htmlStash.store(details(rows))
                    lines[below.end : below.end] = ["", below.indent + part, ""]
        return lines


class ShapesExtension(Extension):
    """Put the shapes of its tensors under each program."""

    def __init__(self, **options: Any) -> None:
        self.config = {
            "folder": ["docs", "where the pages are"],
            "cache": [str(CACHE), "where what has run is kept"],
            "preview": [False, "whether programs that are not known do not run"],
            "reached": ["", "what finds the files that they reach, for all pages"],
        }
        super().__init__(**options)

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        """Work after odd characters are taken out (30) and before labs (28)."""
        md.preprocessors.register(_Shapes(md, self.getConfigs()), "shapes", 29)


def makeExtension(**options: Any) -> ShapesExtension:  # noqa: N802
    """Make the extension, under the name that Markdown looks for."""
    return ShapesExtension(**options)
