"""The index of a search keeps what readers search for."""

import json
from pathlib import Path

import pytest

from workshop.website.search_index import shorten

PROGRAM = """\
<pre><code>import torch
x_1 = torch.tril(torch.ones(3, 3)).softMax(0)
print(known_name, 0.25, x_1 &lt; 1)
</code></pre>"""
PRINTED = """\
<pre><code>tensor([0.1])
ValueError: T must be &gt; 0; got T=<b>0</b>.
</code></pre>"""


def entry(location: str, text: str, title: str = "") -> dict[str, str]:
    return {"location": location, "title": title, "text": text}


@pytest.fixture
def shortened(tmp_path: Path) -> dict[str, str]:
    entries = [
        entry("a/", f"<p>One \n  <code>known_name</code>.</p>\n{PROGRAM} <p>Two.</p>"),
        entry("a/#more", f"{PROGRAM}{PRINTED}", "softMax"),
        entry("b/", f"<p>Only prose: x_1.</p> {PROGRAM}"),
        entry("b/#cite", "<p>Cite it.</p>"),
    ]
    path = tmp_path / "search/search_index.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"config": {"lang": ["en"]}, "docs": entries}))
    shorten(tmp_path, ["#cite$"])
    index = json.loads(path.read_text())
    assert index["config"] == {"lang": ["en"]}
    return {one["location"]: one["text"] for one in index["docs"]}


def test_text_stays_and_programs_become_the_names_that_a_page_has_not(
    shortened: dict[str, str],
) -> None:
    assert shortened["a/"] == (
        "<p>One <code>known_name</code>.</p> <p>Two.</p><p>x_1 tril ones print</p>"
    )
    assert shortened["b/"] == (
        "<p>Only prose: x_1.</p><p>tril ones softMax print known_name</p>"
    )


def test_an_error_stays_in_full(shortened: dict[str, str]) -> None:
    assert shortened["a/#more"] == (
        "<p>ValueError: T must be &gt; 0; got T=0.</p><p>tensor ValueError</p>"
    )


def test_a_section_that_is_excluded_goes(shortened: dict[str, str]) -> None:
    assert [*shortened] == ["a/", "a/#more", "b/"]


def test_a_site_without_a_search_is_left_alone(tmp_path: Path) -> None:
    shorten(tmp_path)
    assert [*tmp_path.iterdir()] == []


def test_what_comes_last_counts_less(tmp_path: Path) -> None:
    path = tmp_path / "search/search_index.json"
    path.parent.mkdir()
    docs = [entry("api/a/", "<p>a</p>"), entry("guide/#api/", "<p>a</p>")]
    path.write_text(json.dumps({"docs": docs}))
    shorten(tmp_path, last=["^api/"])
    found = json.loads(path.read_text())["docs"]
    assert [one.get("boost", 1) for one in found] == [0.4, 1]
