"""Ask pytest-codeblocks how it reads a page; it must see what a reader sees."""

import ast
import io
import warnings
from collections.abc import Iterator

from pytest_codeblocks import extract_from_buffer

from proofread.page.markdown import Fence, lines_of, programs


def as_run(fence: Fence) -> str:
    """Return what pytest-codeblocks has: it drops empty lines where it unindents."""
    lines = lines_of(fence.code) if fence.code else []
    kept = (line for line in lines if line.strip() or not fence.indent)
    return "".join(f"{line}\n" for line in kept)


def same_program(one: str, other: str) -> bool:
    """Say whether two texts are one program, whatever its empty lines."""
    if one == other:
        return True
    try:
        return ast.dump(ast.parse(one)) == ast.dump(ast.parse(other))
    except SyntaxError:
        return False


def check_runner(text: str) -> Iterator[tuple[int, str]]:
    """Ask pytest-codeblocks what it would run, and compare with."""
    expected = [
        (p.line, as_run(p.fence), as_run(p.output) if p.output else None)
        for p in programs(text)
    ]
    for program in programs(text):
        if not same_program(program.code, as_run(program.fence)):
            yield program.line, "the runner must run the program that the reader copies"
    try:
        with warnings.catch_warnings():  # of words that it no longer wants
            warnings.simplefilter("ignore")
            blocks = extract_from_buffer(io.StringIO(text))
    except RuntimeError as error:
        yield 1, f"the runner must be able to read the page; it says: {error}"
        return
    run = [
        (block.lineno, block.code, block.expected_output)
        for block in blocks
        if block.syntax in ("python", "sh", "bash")
    ]
    for block in {*run} ^ {*expected}:
        yield block[0], "the runner must see the block as the reader does"
