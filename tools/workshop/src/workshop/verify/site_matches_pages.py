"""Hold the built site against the pages it came from.

    workshop site docs site

Each block of code that the site shows is a fence of its page, in the same order, with
the same text; under each program stands what is recorded of it, and nothing else. So
no code reaches a reader that the tests of the pages do not know. What a page leaves to
its notebook stands there, with what is recorded of it, and not on the site.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from pathlib import Path, PurePosixPath

from pytest_proofread.page.markdown import Program, fences
from workshop.folds import as_shown, programs_by_place
from workshop.markdown_ext.labs import LAB, code
from workshop.verify.html_code_blocks import Block, blocks
from workshop.verify.notebook_cells import texts_of
from workshop.website.paths import REFERS, Find, built_page, include_reader
from workshop.website.takeaway.cells import whole

# What mkdocstrings shows of a module comes from the module: signature and source, and
# the examples of docstrings, which doctest reads. Any other code there is a block.
REFERENCE = (
    ".doc-object .doc-signature pre, .doc-object details.mkdocstrings-source pre, "
    ".doc-object .language-pycon pre"
)
Problem = tuple[str, str]


# ---- What it ought to show ---------------------------------------------------------


def as_block(program: Program) -> Block:
    """Return a program as a block that shows it and what is recorded of it."""
    below = tuple(said.strip("\n") for said in program.recorded if said)
    code = program.code.lstrip("\n").rstrip()
    return Block(program.heading, True, code, below)


def expected(text: str) -> list[tuple[int, Block]]:
    """Return the blocks that the site must show of a page, with their lines."""
    known = {program.line: program for program in programs_by_place(text)[0]}
    recorded = {
        fence.line
        for program in known.values()
        for fence in (program.output, program.error)
        if fence
    }
    result = []
    for fence in fences(as_shown(text)):
        if program := known.get(fence.line):
            result.append((fence.line, as_block(program)))
        elif fence.line not in recorded:
            code = fence.code.strip("\n")
            result.append((fence.line, Block("", fence.info == "python", code)))
    return result


def first_difference(shown: str, wanted: str) -> str:
    """Return a sentence with the first line in which two texts differ."""
    lines = zip_longest(shown.split("\n"), wanted.split("\n"))
    for number, (one, other) in enumerate(lines, 1):
        if one != other:
            there = "missing" if one is None else repr(one)
            here = "missing" if other is None else repr(other)
            return f"its line {number} is {there} there and {here} here"
    return ""


def differences(shown: Block, wanted: Block) -> Iterator[str]:
    """Find in what a block of the site differs from the one that it should be."""
    if shown[1:3] != wanted[1:3]:
        how = first_difference(shown.text, wanted.text) or "in another language"
        yield f"the site shows another block: {how}"
        return
    if len(shown.below) != len(wanted.below):
        yield (
            f"the site must show what is recorded, {len(wanted.below)} text(s) under "
            f"this program; got {len(shown.below)}"
        )
        return
    for one, other in zip(shown.below, wanted.below, strict=True):
        if one != other:
            how = first_difference(one, other)
            yield f"the site shows another output: {how}"


def aligned(
    shown: Sequence[Block], wanted: Sequence[tuple[int, Block]]
) -> Iterator[tuple[Block | None, tuple[int, Block] | None]]:
    """Pair what a page shows with what it should; None stands for a missing one."""
    texts = ([block[1:3] for block in shown], [block[1:3] for _, block in wanted])
    matcher = SequenceMatcher(None, *texts, autojunk=False)
    for _, a, b, c, d in matcher.get_opcodes():
        if b - a == d - c:
            yield from zip(shown[a:b], wanted[c:d], strict=True)
        else:
            yield from ((block, None) for block in shown[a:b])
            yield from ((None, line_and_block) for line_and_block in wanted[c:d])


def problems(text: str, html: str) -> list[Problem]:
    """List where a page of the site does not show what its Markdown has."""
    shown = blocks(html, REFERENCE if REFERS.search(text) else None)
    result: list[Problem] = []
    for there, here in aligned(shown, expected(text)):
        if there and here:
            line, block = here
            result += [(f"line {line}", said) for said in differences(there, block)]
            continue
        if here:
            result.append((f"line {here[0]}", "the site does not show this block"))
        if there:
            begins = repr(there.text.partition("\n")[0])
            sentence = f"the site shows a block that the page has not: {begins}"
            result.append((f"#{there.heading}", sentence))
    return result


def shown_programs(text: str, html: str) -> list[tuple[Program, Block]]:
    """Return the programs of a page, each with what the site shows of it.

    Only for pages without problems.
    """
    shown = blocks(html, REFERENCE if REFERS.search(text) else None)
    python = [block for block in shown if block.python]
    return [*zip(programs_by_place(text)[0], python, strict=True)]


def left_to_notebook(text: str) -> list[tuple[Program, Block]]:
    """Return the programs that a page leaves to its notebook, each as a block."""
    return [(program, as_block(program)) for program in programs_by_place(text)[1]]


def lost(text: str, notebook: Path) -> Iterator[Problem]:
    """Find what a page leaves to its notebook, and the notebook has not.

    Args:
        text: The page.
        notebook: Where its notebook should be.
    """
    if not (unseen := left_to_notebook(text)):
        return
    there = texts_of(notebook) if notebook.is_file() else []
    for program, block in unseen:
        if (block.text, "\n".join(block.below)) not in there:
            yield (
                f"line {program.line}",
                f"the site leaves out this program, so {notebook.name} must hold it "
                "with its output",
            )


# ---- All pages ---------------------------------------------------------------------


def of_lab(programs: Sequence[str], html: str) -> list[Problem]:
    """List where a page does not show the programs of its labs, and no other Python."""
    wanted = [(0, Block("", True, text.strip())) for text in programs]
    shown = [Block(*block[:3]) for block in blocks(html) if block.python]
    result: list[Problem] = []
    for there, here in aligned(shown, wanted):
        if there and here:
            how = differences(there, here[1])
            result += [(f"#{there.heading}", said) for said in how]
            continue
        if there:
            sentence = "the site shows Python that is no cell of the lab"
            result.append((f"#{there.heading}", sentence))
        if here:
            begins = repr(here[1].text.partition("\n")[0])
            result.append(("lab", f"the site does not show the cell {begins}"))
    return result


def of_page(path: Path, built: Path, read: Find) -> list[Problem]:
    """List where a page of the site does not show what its source has."""
    html = built.read_text(encoding="utf-8")
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":  # a notebook
        return of_lab(code(text), html)
    if labs := LAB.findall(text):
        files = (path.parent / name for name in labs)
        texts = (file.read_text(encoding="utf-8") for file in files)
        return of_lab([program for text in texts for program in code(text)], html)
    try:
        found = problems(whole(text, read), html)
    except ValueError as error:
        return [("an include", str(error))]
    return [*found, *lost(text, built.parent / f"{path.stem}.ipynb")]


def site_problems(docs: Path, site: Path, folders: Sequence[Path] = ()) -> list[str]:
    """List all that the site shows and the pages have not, or the other way round.

    Args:
        docs: The folder of the pages.
        site: The folder that the site was built into.
        folders: Where the files are that pages include.
    """
    result = []
    seen = {site / "404.html"}
    for path in (*sorted(docs.rglob("*.md")), *sorted(docs.rglob("*.py"))):
        html = built_page(PurePosixPath(path.relative_to(docs).as_posix()), site)
        if html is None and path.suffix == ".py":  # a program, and no page
            continue
        if html is None:
            result.append(f"{path}: the site must have this page")
            continue
        if html in seen:  # the program of a lab that has its page
            continue
        seen.add(html)
        found = of_page(path, html, include_reader(folders))
        result += [f"{path}, {where}: {sentence}" for where, sentence in found]
    for html in sorted({*site.rglob("*.html")} - seen):
        if not (docs / html.relative_to(site)).is_file():
            result.append(f"{html}: a page of the site must come from a page of {docs}")
    return result


def require(site: Path) -> None:
    """End the program with one sentence if there is no site."""
    if not (site / "index.html").is_file():
        sys.exit(f"site must be a built site; got site={site}. Run `make site` first.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what is wrong with a site; return 1 if something is."""
    parser = argparse.ArgumentParser(prog="workshop site")
    parser.add_argument("docs", type=Path)
    parser.add_argument("site", type=Path)
    parser.add_argument("--include", type=Path, action="append", default=[])
    options = parser.parse_args(arguments)
    require(options.site)
    found = site_problems(options.docs, options.site, options.include)
    for sentence in found:
        print(sentence)
    return bool(found)
