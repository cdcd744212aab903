"""Write what the book says of its exercises: `python -m generators.practice [--check]`.

For each chapter a list, which its page includes; for each part the tasks themselves,
and one table of the parts; for each task a program in cells, which becomes a notebook.
All are read off the exercises that the package carries.
"""

import re
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence

import headway
from generators import GENERATED, HASHES, ROOT
from headway.practice.task.library import Task, book
from headway.practice.task.source import EXAMPLE
from workshop.generator_support import generate

NAV = ROOT / "mkdocs.yml"
COMMAND = "python -m generators.practice"
FOLDER = GENERATED / "practice"
STAR = "\N{BLACK STAR}"
# Laid out like the site, which has each notebook beside the page of its task.
NOTEBOOKS = "notebooks"
# What stands for a link to Colab, which overrides/main.html makes if it can.
COLAB = "<!--colab {} colab-->"


def chapters() -> dict[str, str]:
    """Give the title of each chapter, as the nav has it, in its order."""
    lines = re.findall(r"^ +- (.+): (\S+)\.md$", NAV.read_text("utf-8"), re.M)
    folders = parts()
    return {page: title for title, page in lines if page.partition("/")[0] in folders}


def parts() -> dict[str, str]:
    """Give the title of each part, as the nav has it, by its folder."""
    text = NAV.read_text("utf-8")
    found = re.findall(r"^ +- (\d+\. .+):\n +- \d+\.\d+ .+: (\w+)/", text, re.M)
    return {folder: title for title, folder in found}


def make() -> dict[str, str]:
    """Make the lists of the chapters, the tasks of the parts, and the notebooks."""
    known = book().chapters()
    refuse_lacking(known)
    files = {}
    of_parts: dict[str, list[str]] = {part: [] for part in parts()}
    for chapter, title in chapters().items():
        tasks = known[chapter]
        files[f"{chapter}.md"] = chapter_list(chapter, tasks)
        of_parts[chapter.partition("/")[0]] += chapter_tasks(title, tasks)
        files |= {
            f"{NOTEBOOKS}/{page_of(one)}/{one.name}.py": cells(one) for one in tasks
        }
    for part, lines in of_parts.items():
        files[f"{part}.md"] = "\n".join(lines) + "\n"
    files["table.md"] = table(known)
    return files


def refuse_lacking(known: Mapping[str, Sequence[Task]]) -> None:
    """Refuse chapters without an exercise.

    Raises:
        ValueError: If there is one.
    """
    if lacking := chapters().keys() - known.keys():
        raise ValueError(
            "each chapter must have an exercise in src/headway/practice/exercises; "
            f"got none for {', '.join(sorted(lacking))}."
        )


def chapter_list(chapter: str, tasks: Sequence[Task]) -> str:
    """List the exercises of a chapter, for its page."""
    part = chapter.partition("/")[0]
    lines = [
        "**Write.** [`headway practice`](../practice.md#how-to-start) has a file for "
        "each of these, judges what you write, and names your mistake."
    ]
    core = [task for task in tasks if task.stars]
    if core:
        lines.append(
            f"Stars mark the [core](../practice.md#the-core), from {STAR} (a few "
            f"lines) to {3 * STAR} (a puzzle)."
            + ("" if core == tasks else " The others are optional.")
        )
    lines.append("")
    for task in tasks:
        link = f"[`{task.name}`](../practice/{part}.md#{task.name})"
        lines.append(f"- {link}{_stars(task, before=' ')}: {task.source.title}")
    return "\n".join(lines) + "\n"


def chapter_tasks(title: str, tasks: Sequence[Task]) -> Iterator[str]:
    """Give the tasks of a chapter, for the page of its part."""
    yield f"## {title}"
    yield ""
    for task in tasks:
        exercise, file = task.exercise, f"{task.name}.ipynb"
        yield f"### {task.number}. `{task.name}` {{ #{task.name} }}"
        yield ""
        yield f"**{task.source.title}.**{_stars(task, before=' Core, ', after='.')}"
        yield _fenced(_kept_here(task))
        yield ""
        yield (
            f"It practises {_section(task)}; {len(exercise.wrong)} mistakes are "
            f"recognised.{_minutes(task)}{_covers(exercise.covers)}"
        )
        yield (
            f'<a href="{file}" type="application/x-ipynb+json">Notebook</a> '
            + COLAB.format(file)
        )
        yield ""


def page_of(task: Task) -> str:
    """Give the address of the page that has a task, without the ending."""
    return f"practice/{task.chapter.partition('/')[0]}"


def cells(task: Task) -> str:
    """Give a task as a program in cells: what to write, what judges it, and help."""
    program, printed = task.source.example
    example = [*program.splitlines(), *(f"# {one}" for one in printed.splitlines())]
    shown = "\n".join(["```python", *example, "```"])
    texts = [
        f"# {task.source.title}",
        _fenced(task.source.text),
        task.types,
        "An example, and what it must print:",
        shown,
        f"To read: {_section(task)}.{_minutes(task)}",
    ]
    prose = "\n\n".join(filter(None, texts))
    one, answer = f'exercise("{task.name}")', task.exercise.answer
    return "\n".join(
        [
            "# %% [markdown]",
            *(f"# {one}".rstrip() for one in prose.splitlines()),
            "",
            "# %%",
            task.source.stub.partition(EXAMPLE)[0].rstrip(),
            "",
            "# %%",
            "from headway.practice import exercise",
            "",
            f"{one}.check({answer})",
            "",
            "# %% [markdown]",
            "# A hint; run the cell again for the next one. None gives the line away.",
            "",
            "# %%",
            f"print({one}.hint())",
            "",
            "# %% [markdown]",
            "# For a solution and other ways to write it, take away the signs `#`.",
            "",
            "# %%",
            f"# print({one}.solution())",
            f'# print(*{one}.other_ways(), sep="\\n\\n")',
            "",
            "# %% [markdown]",
            "# The next exercise that is not solved; `exercises()` lists all.",
            "",
            "# %%",
            f"{one}.next()",
            "",
        ]
    )


def table(known: Mapping[str, Sequence[Task]]) -> str:
    """Count the exercises of each part, and their mistakes."""
    lines = [
        "| Part | Exercises | Core | Mistakes recognised |",
        "| --- | ---: | ---: | ---: |",
    ]
    every = []
    for part, title in parts().items():
        own = [
            task
            for chapter, found in known.items()
            if chapter.partition("/")[0] == part
            for task in found
        ]
        lines.append(_row(f"[{title}](practice/{part}.md)", own))
        every += own
    lines.append(_row("all", every))
    return "\n".join(lines) + "\n"


def _row(title: str, tasks: Sequence[Task]) -> str:
    """Count exercises, for a row of the table."""
    core = sum(task.exercise.stars > 0 for task in tasks)
    wrong = sum(len(task.exercise.wrong) for task in tasks)
    return f"| {title} | {len(tasks)} | {core} | {wrong} |"


def _stars(task: Task, *, before: str, after: str = "") -> str:
    """Give the stars of a core exercise; nothing for another one."""
    stars = task.exercise.stars * STAR
    return f"{before}{stars}{after}" if stars else ""


def _kept_here(task: Task) -> str:
    """Let the name that is to be written lead nowhere but to its own task.

    Else the site leads from it to the reference, which shows how it is written.
    """
    name = task.exercise.answer
    if not hasattr(headway, name):
        return task.source.text
    code = re.compile(rf"`{name}(?:\([^`]*\))?`")
    return code.sub(lambda match: f"[{match[0]}](#{task.name})", task.source.text)


def _fenced(text: str) -> str:
    """Put what a task shows in indented lines between fences."""
    block = re.compile(r"(?:^ {4}.*\n?)+", re.M)
    return block.sub(
        lambda match: f"```text\n{textwrap.dedent(match[0]).rstrip()}\n```\n", text
    ).rstrip()


def _section(task: Task) -> str:
    """Give a link to the section that a task practises, from the page of its part."""
    address, title = task.exercise.read
    page, _, anchor = address.partition("/#")
    return f"[{title}](../{page}.md#{anchor})"


def _minutes(task: Task) -> str:
    minutes = task.exercise.minutes
    return f" It takes about {minutes} minutes." if minutes else ""


def _covers(names: Sequence[str]) -> str:
    if not names:
        return ""
    listed = ", ".join(
        f"[`{name}`]({page_of(book()[name]).removeprefix('practice/')}.md#{name})"
        for name in names
    )
    return f" It is a checkpoint, which contains {listed}."


def main(arguments: Sequence[str] | None = None) -> int:
    """Write all lists, or compare them with those that are there."""
    return generate(COMMAND, make, FOLDER, arguments, hashes=HASHES)


if __name__ == "__main__":
    sys.exit(main())
