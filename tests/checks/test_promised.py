"""What is promised is kept: ids, JSON and names, as a list has them."""

import ast
import functools
import itertools
import json
import re
import tomllib
from collections.abc import Collection
from pathlib import Path
from typing import get_args

import pytest

from headway import checks
from headway._pipes import NOBODY_READS
from headway.checks import Fact, Report, Row
from headway.checks.attention.oracle.mistakes import KNOWN_MISTAKES
from headway.checks.attention.properties import PROPERTIES
from headway.checks.command.configuration import _KEYS
from headway.checks.command.own_process import INTERRUPTED
from headway.checks.core import book_sections as book
from headway.checks.core.book_sections import EQUATION, Section
from headway.checks.core.declared_facts import (
    LAYOUTS,
    MEANINGS,
    NORMS,
    OF_ATTENTION,
    POSITIONS,
)
from headway.checks.core.declared_facts import OF_MODELS as OF_MODELS_DECLARED
from headway.checks.core.report import Origin, Verdict
from headway.checks.model.properties import PROPERTIES as OF_MODELS

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"
PROMISED = tomllib.loads((Path(__file__).parent / "promised.toml").read_text("utf-8"))
KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)+")
NO_IDS = {"ls-files", "rev-parse", "site-packages", "system-out", "utf-8"}


@functools.cache
def mistakes() -> frozenset[str]:
    """List the ids of all mistakes: the words with hyphens that no property has."""
    found = set()
    for file in (ROOT / "src" / "headway" / "checks").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found |= {node.value} if KEBAB.fullmatch(node.value) else set()
    return frozenset(found - NO_IDS - {one.id for one in (*PROPERTIES, *OF_MODELS)})


def fields() -> dict[str, Collection[str]]:
    row = Row("leak", "no leak", "passed", "It was seen.", EQUATION)
    report = json.loads(Report("f", {"called": Fact("m(x)")}, [row]).to_json())
    return {
        "of_a_report": report,
        "of_a_row": report["rows"][0],
        "of_a_section": report["rows"][0]["section"],
        "of_a_fact": report["facts"]["called"],
        "verdicts": get_args(Verdict),
        "origins": get_args(Origin),
        "facts": OF_ATTENTION,
        "facts_of_models": OF_MODELS_DECLARED,
        "positions": POSITIONS,
        "layouts": LAYOUTS,
        "meanings": MEANINGS,
        "norms": NORMS,
        "names": checks.__all__,
        "pyproject": _KEYS,
        "properties": [one.id for one in PROPERTIES],
        "properties_of_models": [one.id for one in OF_MODELS],
        "mistakes": mistakes(),
    }


@pytest.mark.parametrize("kind", PROMISED)
def test_what_is_promised_is_there_and_what_is_there_is_promised(kind: str) -> None:
    there, promised = {*fields()[kind]}, {*PROMISED[kind]}
    assert promised <= there, "deprecate it first: see docs/reference/stability.md"
    assert there <= promised, "add a line to tests/checks/promised.toml"
    assert len(PROMISED[kind]) == len(promised)


def test_all_kinds_are_promised() -> None:
    assert PROMISED.keys() == fields().keys()


@pytest.mark.parametrize("properties", [PROPERTIES, OF_MODELS], ids=["", "models"])
def test_ids_are_short_plain_and_unique(properties: tuple) -> None:
    ids = [one.id for one in properties]
    assert len({*ids}) == len(ids)
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)?", one) for one in ids)
    assert max(map(len, ids)) <= 14  # so that a line of a report has room for it


def test_mistakes_have_ids_of_their_own() -> None:
    ids = [one.id for one in KNOWN_MISTAKES]
    assert len({*ids}) == len(ids)
    assert all(KEBAB.fullmatch(one) for one in ids)
    assert {*ids} <= mistakes()


def test_what_means_the_same_has_one_id() -> None:
    both = itertools.product(PROPERTIES, OF_MODELS)
    assert [(a.id, m.id) for a, m in both if a.name == m.name and a.id != m.id] == []


# The pages.


def link(section: Section) -> str:
    return f"[{section.title}](../{section.address.replace('/#', '.md#')})"


def table(heading: str) -> list[str]:
    """Give the rows of the table below a heading of the page of ids."""
    text = (REFERENCE / "ids.md").read_text("utf-8")
    part = text.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return [line for line in part.splitlines() if line.startswith("| `")]


def test_the_page_has_all_properties() -> None:
    attention = {one.id: one for one in PROPERTIES}
    models = {one.id: one for one in OF_MODELS}
    rows = []
    for one in dict.fromkeys([*attention, *models]):
        found = [attention.get(one), models.get(one)]
        names = [each.name if each else "" for each in found]
        [section, *_] = [each.section for each in found if each]
        rows.append(f"| `{one}`{{ #{one} }} | {' | '.join(names)} | {link(section)} |")
    assert table("Properties") == rows


def exhibits() -> dict[str, str]:
    """Give a link to each exhibit of the museum, by its id."""
    return {
        one: f"[the museum](../museum/{room.stem}.md#{one})"
        for room in (REFERENCE.parent / "museum").glob("*.toml")
        for one in tomllib.loads(room.read_text("utf-8"))
    }


def test_the_page_has_all_mistakes() -> None:
    shown = exhibits()
    known = []
    for one in KNOWN_MISTAKES:
        links = [link(one.section), *([shown[one.id]] if one.id in shown else [])]
        row = f"`{one.id}`{{ #mistake-{one.id} }} | {one.sentence} | {', '.join(links)}"
        known.append(f"| {row} |")
    assert table("Mistakes in the equation") == known
    others = [row.split("`")[1] for row in table("Other mistakes")]
    assert len({*others}) == len(others)
    assert {*others} == mistakes() - {one.id for one in KNOWN_MISTAKES}
    sections = {link(one) for one in vars(book).values() if isinstance(one, Section)}
    for row, one in zip(table("Other mistakes"), others, strict=True):
        assert row.startswith(f"| `{one}`{{ #mistake-{one} }} | ")
        links = (
            row.removesuffix(" |")
            .rsplit(" | ", 1)[1]
            .replace(f", {shown.get(one)}", "")
        )
        assert links in sections
        assert (shown.get(one, "[the museum]") in row) == (one in shown)


def test_the_page_of_promises_names_them() -> None:
    text = (REFERENCE / "stability.md").read_text("utf-8")
    named = {*re.findall(r"`([\w ]+)`", text)}
    kinds = (
        "of_a_report",
        "of_a_row",
        "of_a_section",
        "of_a_fact",
        "verdicts",
        "pyproject",
        "facts",
        "facts_of_models",
    )
    for kind in kinds:
        assert {*PROMISED[kind]} <= named
    assert {*PROMISED["origins"]} <= {*named, ""}
    facts = (REFERENCE / "checks.md").read_text("utf-8")
    for kind in ("positions", "layouts", "meanings", "norms"):
        assert all(f'`"{one}"`' in facts for one in PROMISED[kind])
    assert all(f"`{one}`" in facts for one in PROMISED["facts"])
    for status in (0, 1, 2, INTERRUPTED, NOBODY_READS):
        assert f"\n| {status} | " in text
