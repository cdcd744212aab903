"""Numbers in prose are computed from what the page prints, and none is left to typing.

A computed number is followed by a comment that says where it comes from. So the page
reads well as it stands, and `compute` can hold it to that, or bring it up to date:

    The largest weight is 0.2386<!--= out[3] -->.

`pytest_proofread.page.expressions` tells what can stand in such a comment. A number
that no output shows is declared, anywhere on the page, with a reason:

    <!--given: 768 50,257: the configuration of GPT-2-->

A whole number that stands in a program of the same section needs no declaration: there
it is what the program was given.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import lru_cache

from pytest_proofread.page.markdown import Finding
from pytest_proofread.page.prose_numbers import GIVEN, NAME, NUMBER, Prose, blanked

# What may stand in a comment in code before the value that the code gives: an arrow,
# such a word, the type of the value.
BEFORE_VALUE = re.compile(
    r"(?:[-=>]+|\u2192|(?:outputs?|results?|prints?|returns?|gives?|shapes?)\b)?"
    r"[\s:=]*(?:[\w.]+(?=\([^)]))?",
    re.I,
)


def compute(text: str) -> str:
    """Bring the computed numbers of a page up to date.

    Args:
        text: A page in Markdown.

    Returns:
        The page, in which each of these numbers is what its comment computes.

    Raises:
        ValueError: If one of them cannot be computed.
    """
    for number in [*Prose(text).numbers()][::-1]:
        text = text[: number.start] + number.computed() + text[number.end :]
    return text


def check_prose(text: str) -> list[Finding]:
    """Find the numbers of a page that nothing holds to the truth.

    Args:
        text: A page in Markdown.

    Returns:
        A line and a sentence for each computed number that is stale or cannot be
        computed, each comment that is misspelt, each number in prose that is neither
        computed nor declared, each declared number that stands nowhere, and each value
        that a comment in code holds and nothing checks.
    """
    page = Prose(text)
    given = [note for note in page.notes if GIVEN.fullmatch(note[0])]
    declared = {_plain(number): note for note in given for number in _declares(note)}
    found, used = [*_misspelt(page), *_stale(page)], set[str]()
    for line, numbers, sentence in [*_in_prose(page), *_in_code(page)]:
        if numbers and declared.keys() >= {*numbers}:
            used.update(numbers)
        elif sentence:
            found.append((line, sentence))
    for number in declared.keys() - used:
        note = declared[number]
        sentence = (
            f"a declared number must stand on the page; got {number} in {note[0]}."
        )
        found.append((page.line(note.start()), sentence))
    return sorted(found)


def _declares(note: re.Match[str]) -> list[str]:
    given = GIVEN.fullmatch(note[0])
    return given[1].split() if given else []


def _plain(number: str) -> str:
    """Write a number as it is compared: 1,024 and 1024 are one."""
    return re.sub(r"[, ]", "", number).replace("\u2212", "-")


def _misspelt(page: Prose) -> Iterator[Finding]:
    given = [note for note in page.notes if GIVEN.fullmatch(note[0])]
    numbers = {note: [NUMBER.fullmatch(n) for n in _declares(note)] for note in given}
    wrong = [note for note in given if not numbers[note] or not all(numbers[note])]
    for note in [*page.misspelt, *wrong]:
        yield (
            page.line(note.start()),
            "a comment about numbers must be <!--= EXPRESSION --> or "
            f"<!--given: NUMBERS: REASON-->; got {note[0].strip()}.",
        )


def _stale(page: Prose) -> Iterator[Finding]:
    for number in page.numbers():
        shown = page.text[number.start : number.end]
        try:
            value = number.computed()
        except ValueError as error:
            yield number.line, str(error)
            continue
        if shown != value:
            yield (
                number.line,
                f"a number must be what its comment computes, {value}; "
                f"got {shown}{number.comment}.",
            )


def _in_prose(page: Prose) -> Iterator[tuple[int, list[str], str]]:
    """Give the numbers in prose that are typed; no sentence if a program has them."""
    inputs: dict[str, set[Decimal]] = {}
    for program in page.programs:
        inputs.setdefault(program.heading, set()).update(_literals(program.code))
    for line, number in page.typed():
        plain = _plain(number)
        given = inputs.get(page.heading(line), set())
        sentence = (
            "a number in prose must be computed by <!--= EXPRESSION --> or declared by "
            f"<!--given: NUMBERS: REASON-->; got {number}."
        )
        is_input = plain.isdigit() and Decimal(plain) in given
        yield line, [plain], "" if is_input else sentence


@lru_cache(maxsize=512)
def _literals(code: str) -> frozenset[Decimal]:
    """Collect the numbers that stand in a program."""
    try:
        nodes = [*ast.walk(ast.parse(code))]
    except SyntaxError:
        return frozenset()
    values = [node.value for node in nodes if isinstance(node, ast.Constant)]
    return frozenset(Decimal(repr(n)) for n in values if type(n) in (int, float))


def _in_code(page: Prose) -> Iterator[tuple[int, list[str], str]]:
    """Give the comments in programs that hold a value, with their numbers."""
    for program in page.programs:
        inputs = _literals(program.code)
        for line, comment in _comments(program.code):
            body = NAME.sub(blanked, comment.lstrip("# ") + "\n").strip()
            numbers = [_plain(match[0]) for match in NUMBER.finditer(body)]
            value = _is_value(body)
            if not value:
                numbers = [n for n in numbers if Decimal(n.strip("+-%")) not in inputs]
            if value or numbers:
                sentence = (
                    "a comment in code must hold no value that nothing checks; "
                    f"got {comment}."
                )
                yield program.line + line, numbers, sentence


@lru_cache(maxsize=512)
def _comments(code: str) -> Sequence[tuple[int, str]]:
    """List the comments of a program with their lines."""
    try:
        tokens = [*tokenize.generate_tokens(io.StringIO(code).readline)]
    except (tokenize.TokenError, SyntaxError):
        return []
    return [
        (one.start[0], one.string) for one in tokens if one.type == tokenize.COMMENT
    ]


def _is_value(comment: str) -> bool:
    """Say whether a comment is nothing but a value: `# -> True`, `# Size([2, 3])`."""
    try:
        ast.literal_eval(BEFORE_VALUE.sub("", comment, count=1))
    except (ValueError, SyntaxError):
        return False
    return True
