"""Every exercise of the book is proved, and stands where the book does."""

import ast
import contextlib
import inspect
import io
import re
from pathlib import Path

import pytest
import torch
from markdown.extensions.toc import slugify

import headway
from headway.practice.proof.prove import prove
from headway.practice.task.library import Task, book
from tests.support.book_nav import chapters
from workshop.changed_modules.kept import Kept

DOCS = Path(__file__).parents[2] / "docs"
TASKS = [*book().values()]
ORDER = [page.removesuffix(".md") for page in chapters()]
# Chapters of which no exercise is core: what they teach is asked for elsewhere.
WITHOUT_CORE: set[str] = set()
# A wrong answer raises what it raises for a reader, who has no shape checks.
pytestmark = pytest.mark.refusal
each = pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)


@each
def test_it_is_proved(task: Task, kept: Kept) -> None:
    proof = kept(
        f"proof-{task.name}",
        lambda: prove(task),
        programs=[task.path.read_text("utf-8")],
        files=[Path(inspect.getfile(prove))],
        parts=[Path(__file__).read_text("utf-8")],
    )
    assert proof.ok, str(proof)


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
        room, _, anchor = wrong.exhibit.partition("/#")
        assert f"{{ #{anchor} }}" in (DOCS / f"museum/{room}.md").read_text("utf-8")


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
def test_every_line_fits_into_the_readers_editor(task: Task) -> None:
    assert max(map(len, task.source.stub.splitlines())) <= 88


@each
@pytest.mark.slow
def test_its_example_prints_the_same_whatever_is_drawn(task: Task) -> None:
    """A right answer would else fail, now and then, by rounding alone."""
    program = compile(task.source.solution, task.name, "exec")
    printed = set()
    for seed in range(100):
        torch.default_generator.manual_seed(seed)
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(program, {"__name__": "__main__"})  # noqa: S102
        printed.add(out.getvalue())
    assert len(printed) == 1
