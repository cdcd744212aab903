"""A report as tests: nothing is lost of it, and nothing breaks the XML."""

from dataclasses import replace
from xml.etree import ElementTree as Tree

from headway.checks import Fact, Report
from headway.checks.command.junit import join, to_suite, to_suite_error
from tests.checks.command.test_formats import ROWS

REPORT = Report("Attend", {"heads": Fact("5", "declared")}, ROWS)


def read(*suites: str) -> list[Tree.Element]:
    text = join(suites)
    assert text.startswith('<?xml version="1.0" encoding="utf-8"?>\n')
    return [*Tree.fromstring(text.encode())]  # noqa: S314


def test_each_property_is_a_test() -> None:
    [suite] = read(to_suite(REPORT, "mine.py:Attend"))
    assert suite.attrib == {
        "name": "mine.py:Attend",
        "tests": "5",
        "failures": "1",
        "errors": "0",
        "skipped": "2",
    }
    tests = suite.findall("testcase")
    assert [one.get("name") for one in tests] == [row.id for row in ROWS]
    assert {one.get("classname") for one in tests} == {"mine.py:Attend"}
    [fact] = suite.findall("properties/property")
    assert fact.attrib == {"name": "heads", "value": "5 (declared)"}


def test_what_is_below_a_test_says_how_it_ended() -> None:
    [suite] = read(to_suite(REPORT, "mine.py:Attend"))
    passed, failed, not_asked, note, expected = suite.findall("testcase")
    assert [*passed] == []
    [failure] = failed
    assert (failure.tag, failure.get("message")) == ("failure", "large scores")
    assert failure.text is not None
    words = f"{ROWS[1].advice} In a terminal: headway explain large-scores"
    assert failure.text.split() == words.split()
    assert [(one.tag, one.get("message")) for one in (*not_asked, *expected)] == [
        ("skipped", "It takes none."),
        ("skipped", "No gradient. Expected: known."),
    ]
    assert [(one.tag, one.text) for one in note] == [("system-out", "It keeps attn.")]


def test_what_could_not_be_checked_is_an_error_beside_the_others() -> None:
    first, second = read(to_suite_error("b.py:B", "It is <b>."), to_suite(REPORT, "a"))
    assert (first.get("errors"), first.get("tests")) == ("1", "1")
    [error] = first.findall("testcase/error")
    assert error.get("message") == "It is <b>."
    assert second.get("name") == "a"


def test_signs_that_xml_has_not_are_replaced() -> None:
    row = replace(ROWS[1], sentence="\x1b[1m \ud800 \uffff & \U0001f600")
    report = Report("Attend", {"called": Fact("\x00")}, [row])
    [suite] = read(to_suite(report, "a\x07"))
    [failure] = suite.findall("testcase/failure")
    assert failure.text is not None
    assert failure.text.startswith("\ufffd[1m \ufffd \ufffd & \U0001f600 Read")
    assert suite.get("name") == "a\ufffd"
