"""Run what a reader takes from the site, where a reader is: with the wheel alone."""

import copy
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import nbformat

from pytest_proofread.output.compare import difference
from pytest_proofread.page.markdown import Program, skipped
from pytest_proofread.runner import Result
from workshop.markdown_ext.labs import LAB
from workshop.run.jupyter import execute
from workshop.run.programs import Python, job, run_jobs
from workshop.verify.html_code_blocks import Block, offered
from workshop.verify.notebook_cells import stored, texts_of
from workshop.verify.site_matches_pages import left_to_notebook, shown_programs
from workshop.website.paths import built_page
from workshop.website.takeaway.notebook import COMMAND


@dataclass(frozen=True)
class Page:
    """A page of the site, its programs, and the files that it offers.

    Args:
        path: Its source.
        programs: The programs that the site shows.
        files: The files.
        unseen: The programs that only these files have.
    """

    path: Path
    programs: list[tuple[Program, Block]]
    files: list[Path]
    unseen: list[tuple[Program, Block]] = field(default_factory=list)

    @property
    def all_programs(self) -> list[tuple[Program, Block]]:
        """The programs of its source, in their order."""
        return sorted(self.programs + self.unseen, key=lambda pair: pair[0].line)


def read_site(docs: Path, site: Path) -> list[Page]:
    """Return the pages of a site that has no problems."""
    result = []
    for path in sorted(docs.rglob("*.md")):
        html = built_page(PurePosixPath(path.relative_to(docs).as_posix()), site)
        text = path.read_text(encoding="utf-8")
        if html is not None and not LAB.search(text):  # a lab ran for the site
            page = html.read_text(encoding="utf-8")
            shown = shown_programs(text, page)
            files = [html.parent / name for name in offered(page)]
            result.append(Page(path, shown, files, left_to_notebook(text)))
    return result


def read_notebooks(docs: Path, site: Path) -> list[Page]:
    """Return the pages of a site that are notebooks, with the files that they offer.

    Such a page shows what its cells printed when the site was built, and a reader's may
    print something else; that they run to the end is all that can be asked.
    """
    result = []
    for path in sorted(docs.rglob("*.py")):
        html = built_page(PurePosixPath(path.relative_to(docs).as_posix()), site)
        # Of a lab, the page has another source.
        if html is not None and not path.with_suffix(".md").is_file():
            names = offered(html.read_text(encoding="utf-8"))
            result.append(Page(path, [], [html.parent / name for name in names]))
    return result


@dataclass(frozen=True)
class Reader(Python):
    """Where the reader's programs run, and how they are judged.

    Args:
        exact: Whether each character of an output counts.
    """

    exact: bool = field(default=False, kw_only=True)

    def differs(self, wanted: str, printed: str) -> str:
        """Return how an output differs; empty lines around it are not seen."""
        texts = [text.strip("\n") for text in (wanted, printed)]
        first, second = (text + "\n" * bool(text) for text in texts)
        return difference(first, second, exact=self.exact)


# ---- Each block alone --------------------------------------------------------------


def result_problems(
    reader: Reader, program: Program, block: Block, result: Result
) -> list[str]:
    """Find in what a block did something else than its page shows."""
    texts = [*block.below]
    output = texts.pop(0) if program.output else ""
    error = texts.pop(0) if program.error else ""
    if result.problems:
        return [*result.problems]
    if error != result.error.strip("\n"):
        missing = f"it must end in the error that the page shows, {error}"
        return [result.traceback.rstrip() or missing]
    how = reader.differs(output, result.output)
    return [how] if how else []


def block_problems(reader: Reader, pages: Sequence[Page]) -> list[str]:
    """Find the blocks that do something else than their page shows."""
    run = [
        (page, program, block)
        for page in pages
        for program, block in page.all_programs
        if not skipped(program)
    ]
    jobs = [job(str(page.path), one, f"{block.text}\n") for page, one, block in run]
    results = run_jobs(reader, jobs)
    return [
        f"{page.path}, {program.name}: {said}"
        for (page, program, block), result in zip(run, results, strict=True)
        for said in result_problems(reader, program, block, result)
    ]


# ---- Notebooks and programs for download -------------------------------------------


def wanted(page: Page) -> list[str]:
    """Return what each program prints when the page is run from top to bottom."""
    return [
        "" if skipped(program) else "\n".join(block.below)
        for program, block in page.all_programs
    ]


def ended(done: subprocess.CompletedProcess[str]) -> Iterator[str]:
    """Find that a program failed, or wrote to stderr."""
    said = done.stderr.strip()
    if done.returncode:
        yield f"it must end without an error; got status {done.returncode}\n{said}"
    elif said:
        yield f"it must not write to stderr; got\n{said}"


def notebook_problems(reader: Reader, page: Page, notebook: Path) -> Iterator[str]:
    """Find in what a notebook shows or prints something else than its page."""
    if page.path.suffix == ".py":  # a page that is a notebook
        if stopped := execute(without_commands(notebook), reader.limit):
            yield stopped
        return
    known = [(block.text, "\n".join(block.below)) for _, block in page.all_programs]
    if texts_of(notebook) != known:
        yield "it must hold the programs and outputs of its page; build the site anew"
    else:
        yield from jupyter_problems(reader, notebook)


def without_commands(notebook: Path) -> nbformat.NotebookNode:
    """Return a notebook without the cells that install: here it is installed."""
    whole = nbformat.read(notebook, as_version=4)
    whole.cells = [
        cell for cell in whole.cells if COMMAND not in cell.metadata.get("tags", [])
    ]
    return whole


def jupyter_problems(reader: Reader, notebook: Path) -> Iterator[str]:
    """Find in what Jupyter prints something else than the notebook has stored."""
    recorded = without_commands(notebook)
    now = copy.deepcopy(recorded)
    if stopped := execute(now, reader.limit):
        yield stopped
        return
    pairs = [*zip(recorded.cells, now.cells, strict=True)]
    code = [pair for pair in pairs if pair[0].cell_type == "code"]
    for number, (before, after) in enumerate(code, 1):
        if how := reader.differs(stored(before.outputs), stored(after.outputs)):
            yield f"cell {number}: {how}"


def script_problems(reader: Reader, page: Page, script: Path) -> Iterator[str]:
    """Find in what a program prints something else than its page shows."""
    with tempfile.TemporaryDirectory() as folder:
        # Alone, as it is after a download: what stands next to it can be imported.
        copied = Path(folder, script.name)
        copied.write_bytes(script.read_bytes())
        done = reader.run(copied)
    yield from ended(done)
    if how := reader.differs("\n".join(filter(None, wanted(page))), done.stdout):
        yield how


def file_problems(reader: Reader, page: Page, file: Path) -> list[str]:
    """Find what is wrong with a file that a page offers."""
    if not file.is_file():
        return [f"{page.path}: the file that it offers must exist; got {file}"]
    kinds = {".ipynb": notebook_problems, ".py": script_problems}
    check = kinds.get(file.suffix)
    return [f"{file}: {said}" for said in check(reader, page, file)] if check else []
