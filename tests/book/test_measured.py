"""The table of measured times says what the data beside it hold."""

import json
import re
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.load_module import load_module

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/kernels/flash.md"


@pytest.fixture(scope="module")
def measuring() -> ModuleType:
    return load_module(ROOT / "tools/measure_kernels.py")


def test_the_table_shows_the_data(measuring: ModuleType) -> None:
    measured = json.loads(measuring.DATA.read_text("utf-8"))
    table = measuring.DATA.with_suffix(".md").read_text("utf-8")
    assert table == measuring.table(measured)
    for device in measured.values():
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", device["date"])
        assert "PyTorch " in device["device"]


def test_the_page_names_figures_of_the_table(measuring: ModuleType) -> None:
    [names] = re.findall(r"<!--given: (.*): the table-->", PAGE.read_text("utf-8"))
    table = measuring.DATA.with_suffix(".md").read_text("utf-8")
    shown = {*re.findall(r"[\d.,]*\d", table)}
    assert {*names.split()} - {"80"} <= shown  # the memory of the card


def test_a_kernel_is_named_and_what_it_takes_is_measured(
    measuring: ModuleType,
) -> None:
    for way in measuring.WAYS:
        found = measuring.measure(way, "cpu", 67, backward=True)
        assert found["ms"] > 0
        assert bool(found["kernel"]) == (way == "PyTorch")
