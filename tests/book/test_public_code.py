"""The data of what was tried, and the page that counts it."""

import csv
import re
from collections import Counter
from pathlib import Path

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"


def tried() -> list[dict[str, str]]:
    with (REFERENCE / "public_code.csv").open(encoding="utf-8", newline="") as file:
        return [*csv.DictReader(file)]


def test_each_row_says_where_the_code_is() -> None:
    for one in tried():
        assert re.fullmatch(r"[\w.-]+/[\w.-]+", one["repository"])
        assert re.fullmatch(r"[0-9a-f]{40}", one["commit"])
        assert one["path"].endswith((".py", ".ipynb", ".md"))
        assert one["symbol"].isidentifier()


def test_the_page_counts_what_was_tried() -> None:
    counted = Counter((one["set"], one["kind"]) for one in tried())
    text = (REFERENCE / "published_models.md").read_text("utf-8")
    for number in "23456":
        assert counted[number, "module"] == 60
        assert counted[number, "model"] == 10
    assert "readers who had not seen the checks drew 60 modules and 10 whole" in text
    assert f"The first set of {counted['1', 'module']} modules and 10 models" in text
    found = [(one["set"], one["repository"], one["symbol"]) for one in tried()]
    assert len(found) - len({*found}) == 2  # as the page says
    repositories = [
        str(len({one["repository"].lower() for one in tried() if one["set"] == number}))
        for number in "23456"
    ]
    assert f"| repositories | {' | '.join(repositories)} |" in text
