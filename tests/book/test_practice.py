"""Each chapter ends by naming its exercises, and each part has a page of them."""

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import jupytext
import pytest

import headway
from generators.practice import __main__ as practice
from headway.practice import exercise
from headway.practice.task.library import Task, book
from tests.support.book_nav import chapters, numbered_chapters, sections_of, titles
from tests.support.made_now import made_now

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
CHAPTERS = chapters()
PARTS = [*dict.fromkeys(chapter.partition("/")[0] for chapter in CHAPTERS)]


def read(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def included(text: str) -> list[str]:
    """List the files of practice that a text includes."""
    return re.findall(r'^--8<-- "practice/(.+)"$', text, re.MULTILINE)


def test_what_is_generated_is_as_it_is_made_now() -> None:
    folder = practice.FOLDER
    found = {
        path.relative_to(folder).as_posix(): path.read_text("utf-8")
        for path in folder.rglob("*.*")
    }
    assert found == made_now("practice"), "run python -m generators"


def test_chapters_and_parts_are_those_of_the_nav() -> None:
    assert [*practice.chapters()] == CHAPTERS
    assert practice.parts() == {
        chapter.partition("/")[0]: sections_of(f"{chapter}.md")[-1][0]
        for chapter in numbered_chapters()
    }


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_names_its_exercises_among_the_others(chapter: str) -> None:
    before, _, end = read(f"{chapter}.md").partition("\n## Exercises\n")
    assert included(before) == []
    assert included(end) == [f"{chapter}.md"]


@pytest.mark.parametrize("part", PARTS)
def test_each_part_has_a_page_of_its_exercises(part: str) -> None:
    text = read(f"practice/{part}.md")
    assert included(text) == [f"{part}.md"]
    title = titles()[f"practice/{part}.md"]
    assert practice.parts()[part].partition(" ")[2] == title
    assert f"\n# Practice: {title}\n" in text


def test_pages_show_which_exercises_are_core() -> None:
    made = practice.make()
    star = practice.STAR
    link = "[`causal_mask`](../practice/basics.md#causal_mask)"
    assert f"- {link} {star}: Hide the future\n" in made["basics/masks.md"]
    assert "The others are optional." in made["basics/masks.md"]
    assert "The others are optional." not in made["models/induction.md"]
    assert f"**Hide the future.** Core, {star}.\n" in made["basics.md"]
    assert "**A short memory.**\n" in made["basics.md"]
    *_, total = made["table.md"].splitlines()
    assert total.startswith(f"| all | {len(book())} | {len(book().core())} |")


def test_each_task_has_a_notebook_beside_its_page() -> None:
    made = practice.make()
    found = {name for name in made if name.endswith(".py")}
    assert found == {
        f"notebooks/practice/{task.chapter.partition('/')[0]}/{task.name}.py"
        for task in book().values()
    }
    for name in found:
        *_, page, file = Path(name).with_suffix(".ipynb").parts
        colab = f"<!--colab {file} colab-->"
        assert (
            f'<a href="{file}" type="application/x-ipynb+json">Notebook</a> {colab}'
            in (made[f"{page}.md"])
        )


def test_a_notebook_of_a_task_shows_it_and_judges() -> None:
    made = practice.make()["notebooks/practice/basics/causal_mask.py"]
    cells = jupytext.reads(made, fmt="py:percent").cells
    task, stub, check, _, hint, _, solution, _, following = cells
    text = book()["causal_mask"].source.text
    assert task.source.startswith(f"# Hide the future\n\n{text}\n\n")
    program, printed = book()["causal_mask"].source.example
    assert f"```python\n{program}\n# {printed.splitlines()[0]}\n" in task.source
    assert "](../basics/masks.md#two-more-masks)" in task.source
    names: dict[str, Any] = {}
    exec(stub.source, names)  # noqa: S102
    before, call = check.source.split("\n\n")
    exec(before, names)  # noqa: S102
    assert eval(call, names).state == "open"  # noqa: S307
    names["causal_mask"] = headway.causal_mask
    assert eval(call, names).ok  # noqa: S307
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(hint.source, names)  # noqa: S102
    assert re.match(r"hint \d/3  ", out.getvalue())
    assert repr(eval(following.source, names))  # noqa: S307
    # Whoever runs all cells at once is not shown the solution.
    lines = solution.source.splitlines()
    assert all(line.startswith("# print(") for line in lines)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec("\n".join(line.removeprefix("# ") for line in lines), names)  # noqa: S102
    assert exercise("causal_mask").solution() in out.getvalue()


def test_a_page_says_minutes_stars_and_what_a_checkpoint_contains() -> None:
    text = practice.make()["models.md"]
    ends = re.findall(r"^It practises .*\[`block`\].*$", text, re.M)
    assert len(ends) == 2
    assert "It takes about 45 minutes. It is a checkpoint, which contains [" in ends[1]


@pytest.mark.parametrize("task", book().values(), ids=lambda task: task.name)
def test_the_first_cell_of_a_notebook_can_be_run(task: Task) -> None:
    """The hole lies in a function, and is no line by itself."""
    exec(exercise(task.name).stub, {})  # noqa: S102


def test_ways_give_each_exercise_the_stars_that_it_has() -> None:
    star = practice.STAR
    for page in (DOCS / "ways").glob("*.md"):
        text = page.read_text("utf-8")
        for name, stars in re.findall(rf"`(\w+)` ({star}+)", text):
            assert book()[name].exercise.stars == len(stars), name


def test_a_chapter_without_exercises_is_an_error() -> None:
    without = {one: [] for one in book().chapters() if one != CHAPTERS[0]}
    with pytest.raises(ValueError, match=f"got none for {CHAPTERS[0]}"):
        practice.refuse_lacking(without)
