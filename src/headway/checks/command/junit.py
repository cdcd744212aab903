"""A report as JUnit's XML, which services of continuous integration show as tests.

Each target is a suite, and each property a test of it. The elements and attributes are
those that Jenkins and GitLab read.
"""

import re
from collections.abc import Sequence
from xml.etree import ElementTree as Tree

from headway.checks.core.report import Report, Row, in_a_terminal

# All else that a sentence may quote cannot stand in XML 1.0.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_suite(report: Report, target: str) -> str:
    """Write a suite of tests, one for each property.

    Args:
        report: What was found.
        target: The target, as it was named.
    """
    suite = _suite(target, len(report.rows))
    facts = Tree.SubElement(suite, "properties")
    for name, fact in report.facts.items():
        Tree.SubElement(facts, "property", name=name, value=_clean(str(fact)))
    for row in report.rows:
        _add_test(suite, target, row)
    suite.set("failures", str(len(report.failed)))
    suite.set("skipped", str(len(suite.findall("testcase/skipped"))))
    return Tree.tostring(suite, encoding="unicode")


def to_suite_error(target: str, sentence: str) -> str:
    """Write a suite for what could not be checked at all: one test, with an error."""
    suite = _suite(target, 1)
    suite.set("errors", "1")
    test = Tree.SubElement(suite, "testcase", classname=_clean(target), name="check")
    Tree.SubElement(test, "error", message=_clean(sentence))
    return Tree.tostring(suite, encoding="unicode")


def join(suites: Sequence[str]) -> str:
    """Make one document of the suites of all targets."""
    root = Tree.Element("testsuites", name="headway check")
    root.extend(Tree.fromstring(suite) for suite in suites)  # noqa: S314  # our own
    Tree.indent(root)
    text = Tree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}'


def _suite(name: str, tests: int) -> Tree.Element:
    counts = {"tests": str(tests), "failures": "0", "errors": "0", "skipped": "0"}
    return Tree.Element("testsuite", {"name": _clean(name)} | counts)


def _add_test(suite: Tree.Element, target: str, row: Row) -> None:
    test = Tree.SubElement(suite, "testcase", classname=_clean(target), name=row.id)
    advice = _clean(row.advice)
    if row.verdict == "failed":
        told = f"{advice}{in_a_terminal(row)}"
        Tree.SubElement(test, "failure", message=_clean(row.name)).text = told
    elif row.verdict in {"expected", "not applicable"}:
        Tree.SubElement(test, "skipped", message=advice)
    elif row.verdict == "note":
        Tree.SubElement(test, "system-out").text = advice


def _clean(text: str) -> str:
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", text)
