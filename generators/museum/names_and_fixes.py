"""The names of a mistake and its fix, as the last fold of an exhibit includes them."""

import textwrap

from generators import ROOT
from generators.museum.exhibits import Exhibit, exhibits


def make() -> dict[str, str]:
    """Make both of each exhibit, as the pages of the rooms include them."""
    ids = (ROOT / "docs/reference/ids.md").read_text("utf-8")
    files = {}
    for one in exhibits():
        files[f"{one.room}/{one.id}-name.md"] = names_of(one, ids)
        files[f"{one.room}/{one.id}-fix.md"] = diff(one)
    return files


def names_of(one: Exhibit, ids: str) -> str:
    """Make the line that names a mistake, with a link to its id if `check` has one."""
    name = one.name
    if f"#mistake-{one.id} " in ids:
        name = f"[{name}](../reference/ids.md#mistake-{one.id})"
    return f"**{name}**, or *{one.nickname}*.\n"


def diff(one: Exhibit) -> str:
    """Make the block that shows a fix."""
    shown = ""
    for edit in one.fix:
        if edit.old == edit.new:
            shown += textwrap.indent(edit.old, " ")
        else:
            shown += textwrap.indent(edit.old, "-", lambda line: True)
            shown += textwrap.indent(edit.new, "+", lambda line: True)
    return f"```diff\n{shown}```\n"
