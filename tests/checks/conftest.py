"""Let no slow machine change what is asked."""

import importlib
import math

import pytest

from headway.checks.attention.subject.discover import discover


@pytest.fixture(autouse=True)
def _all_calls_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look for a call until all are tried; a budget of seconds ends sooner or later."""
    module = importlib.import_module(discover.__module__)
    monkeypatch.setattr(module, "_SECONDS", math.inf)
