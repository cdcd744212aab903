"""Rewrite the recorded outputs of Markdown pages: `python -m proofread.record docs`.

A page is read as pytest-codeblocks reads it, so that what is recorded here is what
`pytest --codeblocks` compares.
"""

import argparse
import contextlib
import io
import os
import shutil
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_codeblocks import CodeBlock, extract_from_buffer

MARKER = "<!--pytest-codeblocks:expected-output-->"


class CannotRecordError(RuntimeError):
    """A block raised, or printed what a page cannot hold."""


def pages(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield the Markdown files that paths name or hold."""
    for path in paths:
        yield from sorted(path.rglob("*.md")) if path.is_dir() else [path]


def programs(text: str) -> list[CodeBlock]:
    """Return the Python fences of a page, with what is recorded of each."""
    # newline=None translates line ends as opening a file does.
    blocks = extract_from_buffer(io.StringIO(text, newline=None))
    return [block for block in blocks if block.syntax == "python"]


def run(block: CodeBlock) -> str:
    """Run a program as pytest-codeblocks does and return what it prints."""
    folder = Path.cwd()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            exec(block.code, {"__MODULE__": "__main__"})  # noqa: S102
        except (Exception, SystemExit) as error:
            sentence = f"line {block.lineno}: {type(error).__name__}: {error}"
            raise CannotRecordError(sentence) from error
        finally:
            os.chdir(folder)
    return printed.getvalue()


def find(text: str, lines: Sequence[str], start: int) -> int:
    """Return the index of the first line from start on that holds text."""
    return next(i for i in range(start, len(lines)) if text in lines[i])


def after_fence(lines: Sequence[str], start: int) -> int:
    """Return the index of the line after the fence that opens at start."""
    opening = lines[start].lstrip()
    ticks = opening[: len(opening) - len(opening.lstrip("`"))]
    rest = range(start + 1, len(lines))
    return next(i for i in rest if lines[i].lstrip().startswith(ticks)) + 1


def fence(output: str, indent: str) -> list[str]:
    """Return the lines of a fence around output."""
    body = output.removesuffix("\n").split("\n")
    ticks = "```"
    while any(line.lstrip().startswith(ticks) for line in body):
        ticks += "`"
    # An empty line is indented too: pytest-codeblocks loses one that is not.
    return [indent + line for line in (f"{ticks}text", *body, ticks)]


def replace_output(lines: list[str], block: CodeBlock, output: str) -> str:
    """Put output into the lines of a page, under its block; say what was done."""
    start = block.lineno - 1
    end = after_fence(lines, start)
    if block.expected_output is None:
        indent = lines[start].partition("`")[0]
        lines[end:end] = ["", indent + MARKER, "", *fence(output, indent)]
        return "added"
    marker = find("pytest-codeblocks:expected-output", lines, end)
    start = find("```", lines, marker)
    end = after_fence(lines, start)
    if not output:
        marker -= not lines[marker - 1].strip()
        del lines[marker:end]
        return "removed"
    lines[start:end] = fence(output, lines[start].partition("`")[0])
    return "changed"


def record(text: str) -> tuple[str, list[str]]:
    """Return a page with the outputs of now, and a sentence for each that differs.

    Raises:
        CannotRecordError: If a program raises or warns, or if pytest-codeblocks would
            not read back what was printed.
    """
    blocks = programs(text)
    outputs = [run(block) for block in blocks]
    lines = text.split("\n")
    changes: list[str] = []
    # From the bottom, so that the line numbers above stay true.
    for block, output in reversed([*zip(blocks, outputs, strict=True)]):
        if output != (block.expected_output or ""):
            what = replace_output(lines, block, output)
            changes.insert(0, f"line {block.lineno}: output {what}")
    text = "\n".join(lines)
    for before, after, output in zip(blocks, programs(text), outputs, strict=True):
        if output != (after.expected_output or ""):
            raise CannotRecordError(
                f"line {before.lineno}: output must be whole lines of plain text; "
                f"got output={output!r}."
            )
    return text, changes


def write(page: Path, text: str) -> None:
    """Replace a page in one step: whoever reads it sees the old one or the new one."""
    temporary = page.with_name(f".{page.name}.recording")
    try:
        temporary.write_text(text, encoding="utf-8", newline="\n")
        shutil.copymode(page, temporary)
        temporary.replace(page)
    finally:
        temporary.unlink(missing_ok=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Record every page; return 1 if one could not be, or with --check would be."""
    parser = argparse.ArgumentParser(prog="python -m proofread.record")
    parser.add_argument("paths", nargs="+", type=Path, help="pages or folders")
    parser.add_argument("--check", action="store_true", help="change no page")
    options = parser.parse_args(arguments)

    status = 0
    for page in pages(options.paths):
        try:
            text, changes = record(page.read_text(encoding="utf-8"))
        except (RuntimeError, OSError) as error:  # pytest-codeblocks raises the former
            print(f"{page}: {error}", file=sys.stderr)
            status = 1
            continue
        for change in changes:
            print(f"{page}, {change}")
        if changes and options.check:
            status = 1
        elif changes:
            write(page, text)
    return status


if __name__ == "__main__":
    sys.exit(main())
