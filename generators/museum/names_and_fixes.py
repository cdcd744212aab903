"""The names of a mistake and its fix, as the last fold of an exhibit includes them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from generators import ROOT
from generators.museum.exhibits import Exhibit, exhibits
from headway.checks.command.explanations import diff
from headway.practice.task.library import book


def make() -> dict[str, str]:
    """Make both of each exhibit, as the pages of the rooms include them."""
    ids = (ROOT / "docs/reference/ids.md").read_text("utf-8")
    links = links_to_exercises()
    files = {}
    for one in exhibits():
        names = names_of(one, ids, links[f"{one.room}/#{one.id}"])
        files[f"{one.room}/{one.id}-name.md"] = names
        edits = ((edit.old, edit.new) for edit in one.fix)
        files[f"{one.room}/{one.id}-fix.md"] = diff(edits)
    return files


def links_to_exercises() -> Mapping[str, Sequence[str]]:
    """List the exercises to which an exhibit is a wrong answer."""
    links: dict[str, list[str]] = defaultdict(list)
    for task in book().values():
        part = task.chapter.partition("/")[0]
        for exhibit in dict.fromkeys(one.exhibit for one in task.exercise.wrong):
            links[exhibit].append(f"[`{task.name}`](../practice/{part}.md#{task.name})")
    return links


def names_of(one: Exhibit, ids: str, exercises: Sequence[str]) -> str:
    """Name a mistake, with links to its id in `check`, and to what it answers wrong."""
    name = one.name
    if f"#mistake-{one.id} " in ids:
        name = f"[{name}](../reference/ids.md#mistake-{one.id})"
    lines = [f"**{name}**, or *{one.nickname}*."]
    if exercises:
        what = f"exercise{'s' * (len(exercises) > 1)} {', '.join(exercises)}"
        lines += ["", f"It is a known wrong answer to the {what}."]
    return "".join(f"{line}\n" for line in lines)
