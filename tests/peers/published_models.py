"""Write the table of published models: `python tests/peers/published_models.py`.

It needs the environment of `make peers`. With `--check` nothing is written; the command
fails if the table is not as it would be written, and so does a test.
"""

import functools
import sys
import warnings
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from headway.checks import Report, check_model
from tests.peers.language_models import NAMES, OF_TRANSFORMERS, build
from workshop.generator_support import generate

FOLDER = Path(__file__).parents[2] / "generated" / "published_models"
COMPILED = "compile"
# Nowhere asked here: one takes a minute, and nothing is declared of these models.
UNASKED = (COMPILED, "facts")
# By model and property: why a row that fails, or says something, is as it is.
REASONS: dict[str, Mapping[str, str]] = {
    "BartForConditionalGeneration": {
        "padding-left": (
            "positions count padding before a text, and no argument tells them; pad "
            "behind texts"
        )
    },
    "BigBirdForCausalLM": {
        "gradients": (
            "its pooler is called, and the logits do not depend on what that gives"
        )
    },
    "RobertaForCausalLM": {
        "greedy": (
            "`generate` hands over positions from 0 on, where the model by itself "
            "begins behind the position of padding"
        )
    },
    "MambaForCausalLM": {
        "cache": (
            "behind a cache single tokens get the logits that they get at once; a "
            "piece of several gets others, and no error says so"
        )
    },
}


@functools.cache
def report(name: str) -> Report:
    """Check a model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what they warn of is theirs to fix
        return check_model(build(name))


def make() -> dict[str, str]:
    """Write the table: one row for each model."""
    lines = [
        f"Checked with transformers {version('transformers')} and x-transformers "
        f"{version('x-transformers')}, each model as its configuration builds it, "
        "with two layers and random weights.",
        "",
        "| model | passed | not asked, and why | found |",
        "| --- | --- | --- | --- |",
        *map(_line, NAMES),
        "",
    ]
    return {"table.md": "\n".join(lines)}


def _line(name: str) -> str:
    rows = report(name).rows
    passed = sum(row.verdict == "passed" for row in rows)
    silent = [
        f"*{row.name}*: {row.sentence}"
        for row in rows
        if row.verdict == "not applicable" and row.id not in UNASKED
    ]
    found = [
        f"**{row.name}**: {REASONS.get(name, {}).get(row.id, row.sentence)}"
        for row in rows
        if row.verdict in ("failed", "note")
    ]
    shown = f"`{name}`" if name in OF_TRANSFORMERS else f"`{name.replace(', ', '`, ')}"
    cells = [shown, str(passed), "<br>".join(silent), "<br>".join(found) or "nothing"]
    return f"| {' | '.join(cells)} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the table, or compare it."""
    return generate("tests/peers/published_models.py", make, FOLDER, arguments)


if __name__ == "__main__":
    sys.exit(main())
