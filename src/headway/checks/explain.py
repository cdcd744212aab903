"""`headway explain ID`: what the book says of a property or a mistake."""

import argparse
import functools
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

from headway._published import url_of
from headway.checks.command.explanations import (
    Explanation,
    Text,
    from_json,
    read_book,
)

_WIDTH = 80
_PACKED = Path(__file__).with_name("explanations.json")  # in a wheel
_BOOK = Path(__file__).parents[3] / "docs"  # beside the source
_FENCE = re.compile(r"^( *)```\w*\n(.*?)^\1```$\n?", re.MULTILINE | re.DOTALL)
_AS_IT_IS = re.compile(r" *(\||\$\$|#+ |> )")  # tables, formulas and headings
_ITEM = re.compile(r" *(?:[-*]|\d+\.) (?=\S)")


def main(arguments: Sequence[str]) -> int:
    """Print what the book says of some ids, or list all.

    Args:
        arguments: What stands behind `headway explain`.

    Returns:
        The exit status: 0, or 2 if an id is not known.
    """
    parser = argparse.ArgumentParser(
        "headway explain",
        description="Show what the book says of a property, or of a mistake, by the "
        "id that a report of headway check shows in brackets. Without one, list all.",
        allow_abbrev=False,
    )
    parser.add_argument("ids", nargs="*", metavar="ID", help="such as leak or no-scale")
    ids = parser.parse_args(arguments).ids
    known = explanations()
    for name in ids:
        if name not in known:
            return _refuse(name, known)
    if ids:
        print("\n\n\n".join(explain(name, known[name]) for name in dict.fromkeys(ids)))
    else:
        print("\n".join(_list(known)))
    return 0


@functools.cache
def explanations() -> Mapping[str, Explanation]:
    """Give all explanations, from the wheel or from the book beside the source."""
    if _PACKED.exists():
        return from_json(_PACKED.read_text("utf-8"))
    return read_book(_BOOK)


def explain(name: str, explanation: Explanation) -> str:
    """Write an explanation for a terminal.

    Args:
        name: The id.
        explanation: What the book says of it.
    """
    texts = [_text(at, text) for at, text in explanation.texts.items()]
    head = f"{name}, a {explanation.kind}: {explanation.sentence}"
    return "\n\n".join([head, *texts])


def _text(address: str, text: Text) -> str:
    head = [f'"{text.title}" in "{text.page}"', url_of(address) or address]
    parts, at = [], 0
    for code in _FENCE.finditer(text.markdown):
        parts += [*_blocks(text.markdown[at : code.start()]), _code(code)]
        at = code.end()
    parts += _blocks(text.markdown[at:])
    return "\n".join([*head, "", "\n\n".join(parts)])


def _code(fence: re.Match[str]) -> str:
    return textwrap.indent(textwrap.dedent(fence[2]), fence[1] + " " * 4).rstrip("\n")


def _blocks(markdown: str) -> Iterator[str]:
    """Yield paragraphs in lines of one width; what has lines of its own keeps them."""
    for block in re.split(r"\n{2,}", markdown.strip("\n")):
        if _AS_IT_IS.match(block):
            yield block
        elif block:
            yield "\n".join(_paragraphs(block))


def _paragraphs(block: str) -> Iterator[str]:
    """Yield the items of a list, or the one paragraph that it is."""
    lines: list[str] = []
    for line in block.splitlines():
        deeper = lines and _indent(line) != _indent(lines[-1])
        if lines and (_ITEM.match(line) or (deeper and not _ITEM.match(lines[0]))):
            yield _fill(lines)
            lines = []
        lines.append(line)
    yield _fill(lines)


def _fill(lines: Sequence[str]) -> str:
    item = _ITEM.match(lines[0])
    indent = " " * _indent(lines[0])
    return textwrap.fill(
        " ".join(line.strip() for line in lines),
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=" " * item.end() if item else indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _list(known: Mapping[str, Explanation]) -> Iterator[str]:
    """Yield the lines of a list of all ids."""
    width = max(map(len, known))
    for kind, title in (("property", "Properties"), ("mistake", "\nMistakes")):
        yield title
        for name, explanation in known.items():
            if explanation.kind == kind:
                yield f"  {name:{width}}  {explanation.sentence}"


def _refuse(name: str, known: Mapping[str, Explanation]) -> int:
    near = get_close_matches(name, known, 1)
    hint = f" Did you mean {near[0]}?" if near else ""
    print(
        f"headway explain: ID must be that of a property or a mistake; got {name!r}."
        f"{hint}",
        file=sys.stderr,
    )
    return 2
