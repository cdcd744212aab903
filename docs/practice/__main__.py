"""Write what the book says of its exercises: `python docs/practice [--check]`.

For each chapter a list, which its page includes; for each part the tasks themselves.
Both are read off the exercises that the package carries.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from headway.practice.library import Task, book
from proofread.generated import generate

DOCS = Path(__file__).parents[1]
FOLDER = DOCS.parent / "generated" / "practice"


def made() -> dict[str, str]:
    """Make the lists of the chapters, and the tasks of the parts."""
    files = {}
    parts: dict[str, list[str]] = {}
    for chapter, tasks in book().chapters().items():
        files[f"{chapter}.md"] = chapter_list(chapter, tasks)
        part = chapter.partition("/")[0]
        parts.setdefault(part, []).extend(chapter_tasks(chapter, tasks))
    for part, lines in parts.items():
        files[f"{part}.md"] = "\n".join(lines) + "\n"
    return files


def chapter_list(chapter: str, tasks: Sequence[Task]) -> str:
    """List the exercises of a chapter, for its page."""
    part = chapter.partition("/")[0]
    count = "This one is" if len(tasks) == 1 else "These are"
    lines = [
        f"**Write.** {count} yours to write in [practice](../practice.md), where a "
        "mistake is told by its name:",
        "",
    ]
    for task in tasks:
        link = f"[`{task.name}`](../practice/{part}.md#{task.name})"
        lines.append(f"- {link}: {task.source.title}")
    return "\n".join(lines) + "\n"


def chapter_tasks(chapter: str, tasks: Sequence[Task]) -> Iterator[str]:
    """Give the tasks of a chapter, for the page of its part."""
    yield f"## {_title(chapter)}"
    yield ""
    for task in tasks:
        exercise = task.exercise
        page, title = exercise.read
        page, _, anchor = page.partition("/#")
        yield f"### {task.number}. `{task.name}` {{ #{task.name} }}"
        yield ""
        yield f"**{task.source.title}.**"
        yield task.source.text
        yield ""
        yield (
            f"It practises [{title}](../{page}.md#{anchor}); "
            f"{len(exercise.wrong)} mistakes are known by name."
            + _covers(exercise.covers)
        )
        yield ""


def _covers(names: Sequence[str]) -> str:
    if not names:
        return ""
    listed = ", ".join(f"`{name}`" for name in names)
    return f" Who solves it has {listed} too."


def _title(chapter: str) -> str:
    """Read the title of a chapter off its page."""
    for line in (DOCS / f"{chapter}.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            return line.removeprefix("# ")
    raise ValueError(f"{chapter}.md must have a title.")


if __name__ == "__main__":
    sys.exit(generate("python docs/practice", made, FOLDER))
