"""A report says the same in Python, on a terminal, in a notebook and to a program."""

import html.parser
import json
from dataclasses import replace

import pytest

from headway.checks import Fact, Report, Row
from headway.checks.attention.properties import PROPERTIES
from headway.checks.core.book_sections import Section
from headway.checks.core.report import (
    Verdict,
    in_a_terminal,
    name_causes,
    short,
)
from headway.checks.model.properties import PROPERTIES as OF_MODELS

MASKS = Section("Hiding the future", "How to see a leak", "basics/masks/#leak")
PASSED = Row(
    "batch", "texts do not move each other", "passed", "No text moves.", MASKS, 0
)
FAILED = Row(
    "leak",
    "no leak from the future",
    "failed",
    "A row moves when a later token is changed. A row sees every token: no mask acts, "
    "or the result of hiding is dropped.",
    MASKS,
    0.69314,
)
SKIPPED = Row(
    "dropout", "dropout keeps the mean", "not applicable", "No rate found.", MASKS
)
FACTS = {
    "called": Fact("m(x)", "guessed", "say call= if that is wrong"),
    "heads": Fact("5", "declared"),
    "type": Fact("float64 on cpu"),
}
MIXED = Report("CausalAttention", FACTS, [PASSED, FAILED, SKIPPED])

TABLE = """\
Checked CausalAttention
  called    m(x) (guessed; say call= if that is wrong)
  heads     5 (declared)
  type      float64 on cpu

passed  texts do not move each other               0  [batch]
FAILED  no leak from the future                0.693  [leak]
        A row moves when a later token is changed. A row sees every token: no
        mask acts, or the result of hiding is dropped. Read "How to see a leak"
        in "Hiding the future" (basics/masks/#leak).
-       dropout keeps the mean                        [dropout]
        No rate found.

1 passed, 1 failed, 1 not applicable"""


CAUSE = Row(
    "equation",
    "equals the equation",
    "failed",
    "It is exactly what comes out when nothing is hidden.",
    MASKS,
    4.2,
    explains=("leak", "earlier-rows"),
)
FOLLOWS = replace(FAILED, explained_by="equation")
NOTED = Row(
    "state", "a call leaves nothing behind", "note", "A call keeps attn.", MASKS
)
EXPECTED = Row(
    "large-scores", "large scores", "expected", "It is nan.", MASKS, 100, "It is known."
)
ONE_CAUSE = Report("Attend", {}, [PASSED, FOLLOWS, NOTED, CAUSE, EXPECTED, SKIPPED])

ONE_CAUSE_TABLE = """\
Checked Attend

FAILED  equals the equation                      4.2  [equation]
        It is exactly what comes out when nothing is hidden. Read "How to see a
        leak" in "Hiding the future" (basics/masks/#leak).
passed  texts do not move each other               0  [batch]
FAILED  no leak from the future                0.693  [leak] see above
note    a call leaves nothing behind                  [state]
        A call keeps attn.
expected  large scores                           100  [large-scores]
        It is nan. Expected: It is known.
-       dropout keeps the mean                        [dropout]
        No rate found.

1 passed, 2 failed, 1 expected to fail, 1 note, 1 not applicable"""


def test_the_cause_stands_first_and_what_follows_takes_a_line() -> None:
    assert str(ONE_CAUSE) == ONE_CAUSE_TABLE


def test_what_follows_says_from_what_where_it_stands_alone() -> None:
    assert FOLLOWS.advice == f"{FAILED.sentence} Explained by [equation]."
    assert "Explained by [equation]." in str(FOLLOWS)


def test_a_failure_that_no_other_explains_says_how_to_read_on() -> None:
    assert in_a_terminal(FAILED) == " In a terminal: headway explain leak"
    assert in_a_terminal(FOLLOWS) == ""
    assert in_a_terminal(PASSED) == ""


def test_an_assertion_shows_the_cause_first_too() -> None:
    with pytest.raises(AssertionError) as caught:
        ONE_CAUSE.assert_ok()
    lines = str(caught.value).splitlines()
    assert lines[1:] == [
        *str(CAUSE).splitlines(),
        "FAILED  no leak from the future                0.693  [leak] see above",
        "Read on: headway explain equation",
    ]


def test_every_property_that_is_explained_fits_into_a_line() -> None:
    for one in (*PROPERTIES, *OF_MODELS):
        row = Row(one.id, one.name, "failed", "", MASKS, 1.23e-05, explained_by="sizes")
        [line] = row._lines(below=True)
        assert line.endswith(f"1.23e-05  [{one.id}] see above")
        assert len(line) <= 80


def test_a_notebook_puts_the_cause_first_too() -> None:
    cells = _Table(ONE_CAUSE._repr_html_()).cells[5:]
    assert cells[::4] == [
        "equals the equation [equation]",
        "texts do not move each other [batch]",
        "no leak from the future [leak]",
        "a call leaves nothing behind [state]",
        "large scores [large-scores]",
        "dropout keeps the mean [dropout]",
    ]
    assert cells[11] == "explained by the above"
    assert cells[1::4] == [
        "failed",
        "passed",
        "failed",
        "note",
        "expected",
        "not applicable",
    ]


def test_json_leaves_no_row_out_and_shortens_none() -> None:
    rows = json.loads(ONE_CAUSE.to_json())["rows"]
    assert [row["id"] for row in rows] == [row.id for row in ONE_CAUSE.rows]
    assert [row["sentence"] for row in rows] == [row.sentence for row in ONE_CAUSE.rows]
    assert [row["explained_by"] for row in rows] == [
        None,
        "equation",
        *4 * [None],
    ]
    assert rows[4]["reason"] == "It is known."


def test_notes_are_told_and_no_failures() -> None:
    report = Report("f", {}, [PASSED, NOTED, EXPECTED])
    assert report.ok
    assert report.notes == [NOTED]
    assert report.failed == []
    report.assert_ok()
    assert not Report("f", {}, [NOTED]).ok


def test_two_notes_are_notes() -> None:
    assert Report("f", {}, [NOTED, NOTED]).count() == (
        "0 passed, 0 failed, 2 notes, 0 not applicable"
    )


# Which row explains which.


def named(one: str, *explains: str, verdict: Verdict = "failed") -> Row:
    return Row(one, "It holds", verdict, "It was seen.", MASKS, explains=explains)


def explained(*rows: Row) -> dict[str, str]:
    return {row.id: row.explained_by for row in name_causes(rows) if row.explained_by}


@pytest.mark.parametrize(
    ("rows", "causes"),
    [
        # A failed row explains what it says, before it and after, and nothing else.
        (["a: b d", "b:", "c:"], {"b": "a"}),
        (["b:", "a: b"], {"b": "a"}),
        # What is explained explains for its cause.
        (["a: b", "b: c", "c:"], {"b": "a", "c": "a"}),
        (["b: c", "c:", "a: b"], {"b": "a", "c": "a"}),
        # Of two that explain each other, or the same, the first is the cause.
        (["a: b", "b: a"], {"b": "a"}),
        (["a: c", "b: c", "c:"], {"c": "a"}),
    ],
)
def test_a_failed_row_explains_what_it_says_and_nothing_else(
    rows: list[str], causes: dict[str, str]
) -> None:
    parts = [row.partition(":") for row in rows]
    assert explained(*(named(one, *more.split()) for one, _, more in parts)) == causes


@pytest.mark.parametrize("verdict", ["passed", "note", "expected", "not applicable"])
def test_only_failures_explain_and_are_explained(verdict: Verdict) -> None:
    assert explained(named("a", "b", verdict=verdict), named("b")) == {}
    assert explained(named("a", "b"), named("b", verdict=verdict)) == {}


def test_a_report_is_a_table() -> None:
    assert str(MIXED) == MIXED.table() == TABLE


@pytest.mark.parametrize("columns", ["20", "200"])
def test_a_table_is_as_wide_on_every_terminal(
    columns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert str(MIXED) == TABLE


def test_a_long_sentence_is_wrapped_at_80_and_not_at_hyphens() -> None:
    row = Row("sizes", "any sizes", "failed", "a word-with-hyphens " * 20, MASKS)
    lines = str(row).splitlines()
    assert max(len(line) for line in lines) <= 80
    assert len(lines[1]) > 60
    assert all(line.startswith(" " * 8) for line in lines[1:])
    assert "".join(lines).count("word-with-hyphens") == 20


def test_colours_mark_the_verdicts_and_nothing_else() -> None:
    table = MIXED.table(colour=True)
    for code, mark in (("32", "passed"), ("1;31", "FAILED"), ("2", "-     ")):
        coloured = f"\x1b[{code}m{mark}\x1b[0m"
        assert table.count(coloured) == 1
        table = table.replace(coloured, mark)
    assert table == TABLE


def test_a_row_is_the_paragraph_of_the_table() -> None:
    assert str(PASSED) == (
        "passed  texts do not move each other               0  [batch]"
    )
    assert str(FAILED) in TABLE
    assert str(SKIPPED) in TABLE


def test_a_failure_names_the_section_and_nothing_else_does() -> None:
    row = Row("sizes", "any sizes", "failed", "It raised.", MASKS)
    assert row.advice == (
        'It raised. Read "How to see a leak" in "Hiding the future" '
        "(basics/masks/#leak)."
    )
    assert Row("sizes", "any sizes", "passed", "It raised none.", MASKS).advice == (
        "It raised none."
    )


def test_an_address_is_not_broken() -> None:
    long = Section("C", "S", f"basics/masks/#{'a-long-title-' * 7}")
    assert f"({long.address})." in str(
        Row("sizes", "any sizes", "failed", "It raised.", long)
    )


def test_ok_needs_a_property_that_holds() -> None:
    assert Report("f", {}, [PASSED]).ok
    assert Report("f", {}, [SKIPPED, PASSED]).ok
    assert not Report("f", {}, [PASSED, FAILED]).ok
    assert not Report("f", {}, [SKIPPED]).ok
    assert not Report("f").ok
    assert MIXED.failed == [FAILED]
    assert Report("f", {}, [PASSED, SKIPPED]).failed == []


def test_assert_ok_passes_over_a_good_report() -> None:
    Report("f", {}, [PASSED, SKIPPED]).assert_ok()


def test_assert_ok_shows_what_failed_and_no_more() -> None:
    with pytest.raises(AssertionError) as caught:
        MIXED.assert_ok()
    assert str(caught.value) == (
        f"CausalAttention: 1 passed, 1 failed, 1 not applicable\n{FAILED}\n"
        "Read on: headway explain leak"
    )


@pytest.mark.parametrize("rows", [[], [SKIPPED]])
def test_assert_ok_refuses_a_report_in_which_nothing_was_asked(rows: list[Row]) -> None:
    with pytest.raises(AssertionError) as caught:
        Report("f", {}, rows).assert_ok()
    assert str(caught.value) == f"f: 0 passed, 0 failed, {len(rows)} not applicable"


def test_json_holds_what_the_table_holds() -> None:
    assert json.loads(MIXED.to_json()) == {
        "ok": False,
        "subject": "CausalAttention",
        "facts": {
            "called": {
                "value": "m(x)",
                "origin": "guessed",
                "hint": "say call= if that is wrong",
            },
            "heads": {"value": "5", "origin": "declared", "hint": ""},
            "type": {"value": "float64 on cpu", "origin": "", "hint": ""},
        },
        "rows": [
            {
                "id": row.id,
                "name": row.name,
                "verdict": row.verdict,
                "sentence": row.sentence,
                "section": {
                    "chapter": "Hiding the future",
                    "title": "How to see a leak",
                    "address": "basics/masks/#leak",
                    "url": None,
                },
                "figure": row.figure,
                "reason": "",
                "explained_by": None,
                "mistakes": [],
                "unexplained": False,
            }
            for row in (PASSED, FAILED, SKIPPED)
        ],
    }
    assert json.loads(Report("f", {}, [PASSED]).to_json())["ok"] is True


@pytest.mark.parametrize("figure", [float("nan"), float("inf")])
def test_json_refuses_numbers_that_json_does_not_have(figure: float) -> None:
    row = Row(
        "large-scores", "large scores", "failed", "It is not finite.", MASKS, figure
    )
    with pytest.raises(ValueError, match="not JSON compliant"):
        Report("f", {}, [row]).to_json()


class _Table(html.parser.HTMLParser):
    """Collect the tags and the text of each cell."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.cells: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag in ("caption", "th", "td"):
            self.cells.append("")

    def handle_data(self, data: str) -> None:
        self.cells[-1] += data


def test_a_notebook_shows_the_same_cells() -> None:
    table = _Table(MIXED._repr_html_())
    assert table.cells[:5] == [
        "CausalAttention: 1 passed, 1 failed, 1 not applicable. called: m(x) "
        "(guessed; say call= if that is wrong); heads: 5 (declared); "
        "type: float64 on cpu",
        "property",
        "verdict",
        "figure",
        "what was seen",
    ]
    for at, row in enumerate((PASSED, FAILED, SKIPPED)):
        cells = table.cells[5 + 4 * at : 9 + 4 * at]
        assert cells == [
            f"{row.name} [{row.id}]",
            row.verdict,
            short(row.figure),
            row.advice,
        ]
    assert len(table.cells) == 17
    assert table.tags.count("tr") == 4


def test_a_notebook_shows_signs_and_runs_nothing() -> None:
    row = Row("leak", "<b>&", "failed", "x < y & z > 0: <script>", MASKS)
    text = Report("<locals>.f", {}, [row])._repr_html_()
    table = _Table(text)
    known = {"table", "caption", "thead", "tbody", "tr", "th", "td", "strong"}
    assert {*table.tags} <= known
    assert table.tags.count("strong") == 1
    assert table.cells[0] == "<locals>.f: 0 passed, 1 failed, 0 not applicable"
    assert table.cells[5] == "<b>& [leak]"
    assert table.cells[8] == (f"x < y & z > 0: <script> Read {MASKS}.")


@pytest.mark.parametrize(
    ("figure", "text"),
    [
        (None, ""),
        (0, "0"),
        (1061, "1061"),
        (0.0, "<1e-9"),
        (9.9e-10, "<1e-9"),
        (1e-9, "1e-09"),
        (0.012345, "0.0123"),
        (12345.6, "1.23e+04"),
    ],
)
def test_a_figure_is_short(figure: float | None, text: str) -> None:
    assert short(figure) == text
