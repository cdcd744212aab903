"""How long a chapter takes follows one rule, and its sentences come from its source."""

from pathlib import Path

import pytest

from workshop.folds import LEFT_OUT
from workshop.website.chapter_openings import (
    lines_of_programs,
    minutes,
    opening,
    openings,
    words,
)

PROGRAM = "```python\n" + "\n\n".join(f"x{n} = {n}" for n in range(40)) + "\n```\n"
PROSE = "word " * 1000 + "\n\n"


def test_the_rule() -> None:
    assert minutes(PROSE) == 5
    assert minutes(PROGRAM) == 5
    assert minutes(PROSE * 2 + PROGRAM) == 15
    assert minutes("# Title\n") == 5  # nothing takes less
    # Rounded to the nearest: 7.5 is the first that is 10.
    assert minutes("word " * 1499) == 5
    assert minutes("word " * 1500) == 10


FREE = {
    "a fold": '??? note "More"\n\n    ' + "word " * 4000 + "\n",
    "a program in a fold": f'??? example "{LEFT_OUT}"\n    '
    + PROGRAM.replace("\n", "\n    "),
    "exercises": f"## Exercises\n\n{PROSE * 4}{PROGRAM}",
    "an output": "```text\n" + "word " * 4000 + "\n```\n",
    "a comment": "<!--given: " + "1 " * 4000 + ": a reason-->\n",
    "a table that is included": '--8<-- "a/table.md"\n' * 4000,
    "markup": "<br>\n" * 4000,
    "a program that repeats": PROGRAM,
}


@pytest.mark.parametrize("what", FREE)
def test_what_is_not_counted(what: str) -> None:
    first = f"# A title\n\n{PROGRAM}\nTwo words\n\n"
    text = f"{first}{FREE[what]}"
    assert (minutes(first), minutes(text)) == (5, 5)


def test_what_comes_after_exercises_counts() -> None:
    text = f"# A\n\n## Exercises\n\n{PROSE}## More\n\n{PROSE * 3}"
    assert minutes(text) == 15
    fenced = "```text\n## Exercises\n```\n"
    assert minutes(fenced + PROSE * 3) == 15


def test_words_and_lines() -> None:
    assert words('# A title\n\nOne [link here](to/there.md "x"), `x = 1` - 5.\n') == 8
    assert lines_of_programs("```python\na = 1\n\nb = 2\n```\n") == 2
    first = "a = 1\nb = 2\nc = 3\n"
    page = f"```python\n{first}d = 4\n```\n\n```python\n{first}\n\ne = 5\n```\n"
    assert lines_of_programs(page) == 5


def test_the_sentences_of_a_chapter() -> None:
    text = (
        "---\nlearn: Compute `weights` by *hand*.\n"
        "skip: Skip [The end](#end) if you know <it>.\n---\n# A\n"
    )
    assert opening(text) == {
        "learn": "compute <code>weights</code> by <em>hand</em>.",
        "minutes": 5,
        "skip": 'Skip <a href="#end">The end</a> if you know <it>.',
    }
    for name in ("PyTorch", "GPUs"):
        assert opening(f"---\nlearn: {name} do.\n---\n")["learn"] == f"{name} do."


def test_what_is_missing_stays_away() -> None:
    assert opening("# A\n") == {"learn": "", "minutes": 5, "skip": ""}
    assert opening("---\ntags: [a]\n---\n# A\n")["skip"] == ""


def test_all_chapters_and_no_other_pages(tmp_path: Path) -> None:
    (tmp_path / "walk/deep").mkdir(parents=True)
    for name in ("index", "walk/b", "walk/deep/a"):
        (tmp_path / f"{name}.md").write_text(f"---\nlearn: Say {name}.\n---\n")
    found = openings(tmp_path, ("walk/",))
    assert {source: one["learn"] for source, one in found.items()} == {
        "walk/b.md": "say walk/b.",
        "walk/deep/a.md": "say walk/deep/a.",
    }
