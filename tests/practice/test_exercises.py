"""Every exercise stands where the book does, and leads to what is there."""

import ast
import re
import tomllib
from pathlib import Path

import pytest
from markdown.extensions.toc import slugify

import headway
from headway.checks.attention.oracle.mistakes import KNOWN_MISTAKES
from headway.practice.task.library import Task, book
from tests.support.book_nav import chapters

DOCS = Path(__file__).parents[2] / "docs"
TASKS = [*book().values()]
ORDER = [page.removesuffix(".md") for page in chapters()]
# Chapters of which no exercise is core: what they teach is asked for elsewhere.
WITHOUT_CORE: set[str] = set()
# Exercises whose mistakes bear other words than the check has for the same id: they say
# what is done in the lines of that exercise, or with what.
IN_OTHER_WORDS = {
    "heads-split-without-transpose": [
        "multi_head_attention",
        "split_heads",
        "split_heads",
    ],
    "keys-and-values-swapped": ["in_proj"],
    "mask-after-softmax": ["find_the_mistake", "renormalise"],
    "mask-hides-itself": [
        "causal_attention",
        "find_the_mistake",
        "future_mask",
        "keep_first",
        "same_document",
        "torch_masks",
        "travel",
        "two_passes",
    ],
    "mask-of-ones-added": ["masked_weights", "torch_masks"],
    "mask-shows-next": ["behind_copy", "next_chunk"],
    "queries-and-keys-swapped": ["in_proj"],
    "rotary-angles-laid-out-otherwise": [
        "look_back",
        "look_back",
        "rotary_scores",
        "rotary_scores",
        "rotary_scores",
        "rotary_scores",
        "rotate",
        "rotate",
        "rotate",
        "rotate",
        "rows_for_halves",
        "rows_for_halves",
    ],
    "rotary-sign-lost": ["look_back"],
    "scaled-by-root-of-d-in": ["causal_attention"],
    "softmax-over-queries": ["looks_most_at", "masked_weights"],
    "window-too-wide": ["keep_tail", "short_memory", "window_of_a_chunk"],
}
each = pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)


def test_they_stand_in_the_order_of_the_book() -> None:
    places = [ORDER.index(task.chapter) for task in TASKS]
    assert places == sorted(places)


@each
def test_the_section_to_read_is_in_the_book_and_no_later(task: Task) -> None:
    address, title = task.exercise.read
    page, _, anchor = address.partition("/#")
    assert ORDER.index(page) <= ORDER.index(task.chapter)
    text = re.sub(r"^```.*?^```$", "", (DOCS / f"{page}.md").read_text("utf-8"))
    titles = re.findall(r"^##+ (.+)$", text, re.MULTILINE)
    assert title in titles
    assert slugify(title, "-") == anchor


@each
def test_its_exhibits_are_in_the_museum(task: Task) -> None:
    for wrong in task.exercise.wrong:
        if not wrong.exhibit:
            continue
        room, _, name = wrong.exhibit.partition("/#")
        records = (DOCS / f"museum/{room}.toml").read_text("utf-8")
        assert name in tomllib.loads(records)


def test_a_mistake_that_check_knows_has_its_name() -> None:
    names = {one.id: one.sentence for one in KNOWN_MISTAKES}
    found: dict[str, list[str]] = {}
    for task in TASKS:
        for wrong in task.exercise.wrong:
            name = wrong.exhibit.partition("/#")[2]
            if wrong.sentence != names.get(name, wrong.sentence):
                found.setdefault(name, []).append(task.name)
    assert {name: sorted(tasks) for name, tasks in found.items()} == IN_OTHER_WORDS


@each
def test_it_needs_only_what_earlier_chapters_gave(task: Task) -> None:
    for node in ast.walk(ast.parse(task.source.stub)):
        if not isinstance(node, ast.ImportFrom) or node.module != "headway":
            continue
        for one in node.names:
            home = getattr(headway, one.name).__module__
            chapter = "/".join(home.removeprefix("headway.").split("."))
            if chapter in ORDER:  # what is no chapter belongs to all
                assert ORDER.index(chapter) <= ORDER.index(task.chapter), one.name


@each
def test_what_it_covers_comes_before(task: Task) -> None:
    for name in task.exercise.covers:
        assert book()[name].number < task.number


def test_up_to_three_of_a_chapter_are_core() -> None:
    for chapter, tasks in book().chapters().items():
        core = [task.name for task in tasks if task.stars]
        assert len(core) <= 3, chapter
        assert core or chapter in WITHOUT_CORE, chapter


@each
def test_the_name_of_its_file_says_what_is_written(task: Task) -> None:
    assert re.fullmatch(r"[a-z][a-z_0-9]*", task.name)
    assert len(task.name) <= 24  # the list has a column for it


@each
def test_a_right_answer_says_what_this_way_is_good_for(task: Task) -> None:
    for one in task.exercise.right:
        assert one.strip().startswith("# "), one


@each
def test_it_says_how_long_it_takes(task: Task) -> None:
    assert task.exercise.minutes > 0


@each
def test_every_line_fits_into_the_readers_editor(task: Task) -> None:
    assert max(map(len, task.source.stub.splitlines())) <= 88
