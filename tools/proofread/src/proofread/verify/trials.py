"""Run what a reader takes from the site, where a reader is: with the wheel alone."""

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from proofread.page.lint import LIMIT as TIMEOUT
from proofread.output.compare import difference
from proofread.markdown_ext.labs import DIRECTIVE
from proofread.website.takeaway.notebook import COMMAND, skipped
from proofread.page.markdown import Program
from proofread.verify.site_matches_pages import shown_programs
from proofread.run_cells import END
from proofread.verify.code_blocks import Block, offered
from proofread.website.takeaway.downloads import built

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Page:
    """A page of the site, its programs, and the files that it offers."""

    path: Path
    programs: list[tuple[Program, Block]]
    files: list[Path]


@dataclass(frozen=True)
class Reader:
    """Where the reader's programs run, and how they are judged.

    Args:
        python: The interpreter of the reader.
        ignore: How the warnings begin that every reader gets and may forget.
        exact: Whether each character of an output counts.
        limit: Seconds that a program may take.
    """

    python: Path
    ignore: Sequence[str] = ()
    exact: bool = False
    limit: float = 600.0

    def run(
        self, *arguments: str | Path, given: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Run Python in an empty folder, without what is set for Python here."""
        warnings = [f"-Wignore:{message}" for message in self.ignore]
        clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        # Threads that wait sleep: several programs run at once.
        clean.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        with tempfile.TemporaryDirectory() as folder:
            command = [self.python, "-Xutf8", *warnings, *arguments]
            try:
                return subprocess.run(  # noqa: S603
                    command,
                    input=given,
                    capture_output=True,
                    encoding="utf-8",
                    timeout=self.limit,
                    cwd=folder,
                    env=clean,
                )
            except subprocess.TimeoutExpired:
                late = f"it did not end within {self.limit:g} s"
                return subprocess.CompletedProcess(command, 1, "", late)

    def differs(self, wanted: str, printed: str) -> str:
        """Return how an output differs; empty lines around it are not seen."""
        texts = [text.strip("\n") for text in (wanted, printed)]
        first, second = (text + "\n" * bool(text) for text in texts)
        return difference(first, second, exact=self.exact)


def read_site(docs: Path, site: Path) -> list[Page]:
    """Return the pages of a site that has no problems."""
    result = []
    for path in sorted(docs.rglob("*.md")):
        html = built(PurePosixPath(path.relative_to(docs).as_posix()), site)
        text = path.read_text(encoding="utf-8")
        if html is not None and not DIRECTIVE.search(text):  # a lab ran for the site
            page = html.read_text(encoding="utf-8")
            shown = shown_programs(text, page)
            files = [html.parent / name for name in offered(page)]
            result.append(Page(path, shown, files))
    return result


# ---- Each block alone --------------------------------------------------------------


def job(page: str, program: Program, code: str = "") -> dict[str, Any]:
    """Return a program as `run.py` takes it, with another text if one is given."""
    about = {"code": code or program.code, "page": page, "line": program.line}
    marks = map(TIMEOUT.fullmatch, program.marks)
    limits = [float(mark[1]) for mark in marks if mark]
    return about | {"limit": limits[0]} if limits else about


def run_jobs(reader: Reader, jobs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Run programs one after the other, each as in a fresh interpreter.

    All run in one process: to load a large library anew takes longer than most of them.
    """
    lines = "".join(json.dumps(job) + "\n" for job in jobs)
    done = reader.run("-I", HERE / "run.py", given=lines)
    results = [json.loads(line) for line in done.stdout.splitlines()]
    nothing = {"output": "", "error": "", "traceback": ""}
    if len(results) < len(jobs):
        said = f"it ended the interpreter, with status {done.returncode}\n{done.stderr}"
        results.append(nothing | {"problems": [said.strip()]})
    after = "it did not run: one before it ended the interpreter"
    unknown = nothing | {"problems": [after]}
    return results + [unknown] * (len(jobs) - len(results))


def result_problems(
    reader: Reader, program: Program, block: Block, result: dict[str, Any]
) -> list[str]:
    """Find in what a block did something else than its page shows."""
    texts = [*block.below]
    output = texts.pop(0) if program.output else ""
    error = texts.pop(0) if program.error else ""
    if result["problems"]:
        return [*result["problems"]]
    if error != result["error"].strip("\n"):
        missing = f"it must end in the error that the page shows, {error}"
        return [result["traceback"].rstrip() or missing]
    how = reader.differs(output, result["output"])
    return [how] if how else []


def block_problems(reader: Reader, pages: Sequence[Page]) -> list[str]:
    """Find the blocks that do something else than their page shows."""
    run = [
        (page, program, block)
        for page in pages
        for program, block in page.programs
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


def stored(outputs: Sequence[dict[str, Any]]) -> str:
    """Return what a notebook shows under a cell: what was printed, then an error."""
    text = ""
    for output in outputs:
        if output["output_type"] == "error":
            text = text.rstrip("\n") + f"\n{output['ename']}: {output['evalue']}\n"
        else:
            text += "".join(output["text"])
    return text.strip("\n")


def code_cells(notebook: Path) -> list[dict[str, Any]]:
    """Return the cells of a notebook that are code of its page."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    return [cell for cell in code if COMMAND not in cell["metadata"].get("tags", [])]


def wanted(page: Page) -> list[str]:
    """Return what each program prints when the page is run from top to bottom."""
    return [
        "" if skipped(program) else "\n".join(block.below)
        for program, block in page.programs
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
    cells = [
        ("".join(cell["source"]).strip("\n"), stored(cell["outputs"]))
        for cell in code_cells(notebook)
    ]
    shown = [(block.text, "\n".join(block.below)) for _, block in page.programs]
    if cells != shown:
        yield "it must hold the programs and outputs of its page; build the site anew"
        return
    done = reader.run("-I", HERE / "run_cells.py", notebook.resolve())
    yield from ended(done)
    printed = done.stdout.split(END)
    for at, (text, now) in enumerate(zip(wanted(page), printed, strict=False), 1):
        if how := reader.differs(text, now):
            yield f"cell {at}: {how}"


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
