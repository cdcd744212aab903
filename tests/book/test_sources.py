"""The ledger of the sources is true: each figure is held against what a page prints."""

import copy
import hashlib
import re
import tomllib
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import pytest

from generators.sources import __main__ as sources
from tests.support.book_nav import chapters
from tests.support.made_now import made_now

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LEDGER = tomllib.loads(sources.LEDGER.read_text("utf-8"))
FIGURES: list[dict[str, Any]] = LEDGER["figure"]
BY_ID = {figure["id"]: figure for figure in FIGURES}
ERRATA = "sources/errata.md"
# A page can show that a figure is not what a run prints, but not what it was in the
# source. So the ledger's values are kept from slips of the hand by their digest.
DIGEST = "a50da3bc3f5123343b29e254e8a7a1d0b5e62ab4a6ab6d53f595833481c67502"

MARKER = "<!--pytest-codeblocks:expected-output-->"
HEADING = re.compile(r"^#{1,6} (.+?)(?: \{.*\})?$")
PART = re.compile(r"[\[\]]|-?(?:\d+\.?\d*)(?:e[+-]\d+)?|-?inf|[A-Za-z_][\w.]*")
# What a figure of many parameters says, and what it stands for.
LARGE = {"million": 10**6, "billion": 10**9}
# Dropout on these weights gave these figures; ones, where there is no name.
DROPPED = {"A18": None, "A19": "A17", "E31": None, "E32": "E30"}

every_figure = pytest.mark.parametrize("figure", FIGURES, ids=lambda f: f["id"])


def tokens(text: str) -> list[Decimal | str]:
    """Take a print of tensors apart: numbers as printed, brackets and words."""
    found: list[Decimal | str] = []
    for part in PART.findall(re.sub(r",?\s*grad_fn=<\w+>", "", text)):
        try:
            found.append(Decimal(part))
        except InvalidOperation:
            found.append(part)
    return found


def outputs(page: str) -> dict[str, list[str]]:
    """Give the recorded outputs of a page under the heading where they stand."""
    found: dict[str, list[str]] = {}
    heading, fence, recorded = "", None, False
    lines: list[str] = []
    for line in page.splitlines():
        bare = line.strip()
        if fence is not None:
            if bare == "```":
                if fence == "```text" and recorded:
                    found[heading].append("\n".join(lines))
                    recorded = False
                fence = None
            else:
                lines.append(bare)
        elif bare.startswith("```"):
            fence, lines = bare, []
        elif bare == MARKER:
            recorded = True
        elif title := HEADING.match(line):
            heading = title[1]
            found.setdefault(heading, [])
    return found


def holds(value: str, output: str) -> bool:
    """Find a printed value in an output, to the last digit."""
    if large := re.fullmatch(r"([\d.]+) (million|billion)", value):
        return any(
            shortened(int(number.replace(",", "")), large[1], large[2])
            for number in re.findall(r"\d[\d,]*", output)
        )
    given, start = tokens(output), 0
    # A source may leave out what stands between, and shows it by dots.
    for shown in value.split("..."):
        wanted = tokens(shown)
        starts = range(start, len(given) - len(wanted) + 1)
        found = (i for i in starts if given[i : i + len(wanted)] == wanted)
        if (at := next(found, None)) is None:
            return False
        start = at + len(wanted)
    return True


def shortened(number: int, digits: str, unit: str) -> bool:
    """Say whether a number begins with these digits, in millions or billions."""
    place = 10 ** len(digits.partition(".")[2])
    return number * place // LARGE[unit] == int(Decimal(digits) * place)


def numbers_of(figure: dict[str, Any]) -> list[Decimal]:
    return [part for part in tokens(figure["value"]) if isinstance(part, Decimal)]


def kept(figure: dict[str, Any]) -> bool:
    """Say whether each number is zero or twice the weight that dropout acted on."""
    numbers = numbers_of(figure)
    weights_of = DROPPED[figure["id"]]
    weights = numbers_of(BY_ID[weights_of]) if weights_of else [Decimal(1)] * 36
    # Both are rounded to four places: twice a rounding, and one more.
    slack = Decimal("0.00015") if weights_of else Decimal(0)
    return len(numbers) == len(weights) == 36 and all(
        number == 0 or abs(number - 2 * weight) <= slack
        for number, weight in zip(numbers, weights, strict=True)
    )


def problem(figure: dict[str, Any], pages: dict[str, str] | None = None) -> str | None:
    """Say what is wrong with an entry of the ledger, if anything is."""
    name, path = figure["page"], DOCS / figure["page"]
    if pages is None and not path.is_file():
        return f"no page {name}"
    text = path.read_text("utf-8") if pages is None else pages[name]
    under = outputs(text).get(figure["heading"])
    if not under:
        return f"no output under {figure['heading']!r} of {name}"
    held = any(holds(figure["value"], output) for output in under)
    verdict = figure["verdict"]
    expected = {
        "reproduces": held and reproduced(name),
        "only with the fault": held and name == ERRATA and not in_a_chapter(figure),
        "refuted": not held,
        "depends on the platform": figure["id"] in DROPPED
        and kept(figure)
        and name == ERRATA,
    }
    return None if expected.get(verdict) else f"{verdict!r} is not what {name} shows"


def reproduced(page: str) -> bool:
    """Say whether a page prints what comes out: a chapter, or one for the figures."""
    return page.removesuffix(".md") in chapters() or page.startswith("sources/figures_")


def in_a_chapter(figure: dict[str, Any]) -> bool:
    return any(
        holds(figure["value"], output)
        for page in chapters()
        for under in outputs((DOCS / f"{page}.md").read_text("utf-8")).values()
        for output in under
    )


@every_figure
def test_each_figure_is_what_its_verdict_says(figure: dict[str, Any]) -> None:
    assert problem(figure) is None


def test_the_ledger_is_whole() -> None:
    ids = [entry["id"] for entry in FIGURES + LEDGER["claim"]]
    assert len(ids) == len(set(ids))
    assert len(FIGURES) == 91
    assert [claim["id"] for claim in LEDGER["claim"]] == [
        f"K{number:02}" for number in range(1, 13)
    ]
    assert {figure["source"] for figure in FIGURES} == set(LEDGER["source"])
    assert all(figure["id"].startswith(figure["source"]) for figure in FIGURES)


def test_no_printed_value_was_touched() -> None:
    values = "\n".join(f"{figure['id']}\n{figure['value']}" for figure in FIGURES)
    assert hashlib.sha256(values.encode()).hexdigest() == DIGEST


def test_only_dropout_depends_on_the_platform() -> None:
    on_the_platform = {
        figure["id"]
        for figure in FIGURES
        if figure["verdict"] == "depends on the platform"
    }
    assert on_the_platform == set(DROPPED)


# What would be wrong is found: tried with one figure of each verdict.
ONE_OF_EACH = {figure["verdict"]: figure for figure in FIGURES}
one_of_each = pytest.mark.parametrize("verdict", ONE_OF_EACH)
PRINTED = ("reproduces", "only with the fault")


@one_of_each
def test_a_wrong_verdict_or_place_is_found(verdict: str) -> None:
    figure = ONE_OF_EACH[verdict]
    for wrong in ONE_OF_EACH.keys() - {verdict} | {"probably"}:
        if {verdict, wrong} != {"refuted", "depends on the platform"}:
            # Neither of these two is on any page; `DROPPED` tells them apart.
            assert problem(figure | {"verdict": wrong}) is not None
    nowhere = figure | {"page": "basics/nowhere.md"}
    assert problem(nowhere) == "no page basics/nowhere.md"
    assert problem(figure | {"heading": "Nowhere"}) is not None


@pytest.mark.parametrize("verdict", PRINTED)
def test_another_digit_is_found(verdict: str) -> None:
    figure = ONE_OF_EACH[verdict]
    plain = re.sub(r"<\w+>", lambda name: " " * len(name[0]), figure["value"])
    for digit in re.finditer(r"\d", plain):
        other = str((int(digit[0]) + 5) % 10)
        value = (
            figure["value"][: digit.start()] + other + figure["value"][digit.end() :]
        )
        assert problem(figure | {"value": value}) is not None


@one_of_each
def test_a_page_that_prints_nothing_or_something_else_is_found(verdict: str) -> None:
    figure = ONE_OF_EACH[verdict]
    page = (DOCS / figure["page"]).read_text("utf-8")
    silent = page.replace(MARKER, "")
    assert problem(figure, {figure["page"]: silent}) is not None
    if verdict in PRINTED:
        turned = str.maketrans("0123456789", "1234567890")
        other = "".join(
            line if line.startswith("#") else line.translate(turned)
            for line in page.splitlines(keepends=True)
        )
        assert problem(figure, {figure["page"]: other}) is not None


REFUTED = [figure for figure in FIGURES if figure["verdict"] == "refuted"]


@pytest.mark.parametrize("figure", REFUTED, ids=lambda figure: figure["id"])
def test_a_refuted_figure_that_a_page_prints_is_found(figure: dict[str, Any]) -> None:
    """Where the source leaves rows out, the page would print them."""
    printed = figure["value"].replace("117 million", "117,439,808")
    printed = printed.replace(", ...]", ", 0.5000]").replace("\n...\n", "\n[0.5000],\n")
    page = f"# {figure['heading']}\n{MARKER}\n```text\n{printed}\n```\n"
    assert "..." not in page
    assert problem(figure, {figure["page"]: page}) is not None
    other = page.replace(re.findall(r"\d", printed)[0], "6")
    assert problem(figure, {figure["page"]: other}) is None


@pytest.mark.parametrize("claim", LEDGER["claim"], ids=lambda claim: claim["id"])
def test_a_program_settles_each_claim(claim: dict[str, Any]) -> None:
    text = (DOCS / claim["page"]).read_text("utf-8")
    if claim["page"].startswith("labs/"):
        lab = (DOCS / claim["page"]).with_suffix(".py").read_text("utf-8")
        text = re.sub(r"(?m)^# ", "", lab)
        assert f"## {claim['heading']}\n" in text
    else:
        assert outputs(text)[claim["heading"]]


def test_each_numbered_output_of_e_has_a_program() -> None:
    numbered = [figure for figure in FIGURES if figure["source"] == "E"]
    assert len(numbered) == 25
    for figure in numbered:
        assert reproduced(figure["page"]) or figure["id"] in DROPPED


def test_the_pages_say_what_the_ledger_says() -> None:
    assert sources.main(["--check"]) == 0
    folder = ROOT / "generated" / "sources"
    there = {path.name: path.read_text("utf-8") for path in folder.iterdir()}
    assert there == made_now("sources")


def test_what_the_ledger_says_stands_on_its_page() -> None:
    folder = ROOT / "generated" / "sources"
    made = {path.relative_to(folder).as_posix() for path in folder.rglob("*.md")}
    shown = [
        (page.relative_to(DOCS).as_posix(), name)
        for page in DOCS.rglob("*.md")
        for name in re.findall(
            r'^ *--8<-- "sources/(.+)"$', page.read_text("utf-8"), re.M
        )
    ]
    assert sorted(name for _, name in shown) == sorted(made)
    for page, name in shown:
        # A source shows what is its own.
        assert page in (
            "sources/index.md",
            "sources/claims.md",
            f"sources/{name[0]}.md",
        )


def test_tokens_tell_numbers_apart() -> None:
    assert holds("tensor([[1., 2.]])", "x tensor([[1.0000, 2.0000]], grad_fn=<A>) y")
    assert not holds("tensor([[1., 2.]])", "tensor([1., 2.])")
    assert not holds("tensor([1.2345])", "tensor([1.2346])")
    assert not holds("tensor([0.5])", "tensor([-0.5])")
    assert holds("[[1., 2.],\n...\n[5., 6.]]", "[[1., 2.], [3., 4.], [5., 6.]]")
    assert holds("[[1., ...],\n[3., ...]]", "[[1., 2.], [3., 4.]]")
    assert not holds("[[1., 2.],\n...\n[5., 6.]]", "[[1., 2.], [3., 4.], [5., 7.]]")
    assert not holds("[[5., ...],\n[1., ...]]", "[[1., 2.], [5., 6.]]")
    assert holds("1.5 billion", "1,557,611,200")
    assert not holds("117 million", "124,439,808")
    assert outputs(f"# A\n```python\n# B\n```\n{MARKER}\n```text\n1\n```\n") == {
        "A": ["1"]
    }


def test_dropout_figures_are_zero_or_twice_the_weight() -> None:
    for name in DROPPED:
        assert kept(BY_ID[name])
        wrong = copy.deepcopy(BY_ID[name])
        wrong["value"] = wrong["value"].replace("[[2.", "[[3.", 1)
        assert not kept(wrong)
