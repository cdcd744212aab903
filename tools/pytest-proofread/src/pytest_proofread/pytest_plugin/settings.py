"""What a project has set for its pages, and what follows from it."""

import math
from functools import cache

import pytest

from pytest_proofread.output.reference_environment import differs_from_reference
from pytest_proofread.page.lint import KINDS, check_fences
from pytest_proofread.page.markdown import Finding

_differs = cache(differs_from_reference)


def inexact(config: pytest.Config) -> str:
    """Say why outputs are compared token by token; nothing, if they are exactly."""
    if config.option.compare != "auto":
        return "as asked" if config.option.compare == "tokens" else ""
    return _differs(tuple(config.getini("proofread_reference")))


def fences(config: pytest.Config, text: str) -> list[Finding]:
    """Say what is wrong with a page by the settings and the plugins of the project."""
    kinds = config.getini("proofread_kinds") or KINDS
    width = int(config.getini("proofread_width"))
    wrong = check_fences(text, kinds=kinds, width=width)
    for found in config.hook.pytest_proofread_check(text=text):
        wrong += found
    return sorted(wrong)


def number(config: pytest.Config, name: str, usual: float) -> float:
    """Return a setting that is a positive number, or the usual one.

    Raises:
        pytest.UsageError: If it is set to anything else.
    """
    text = config.getini(name)
    if not text:
        return usual
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0 < found < math.inf:
        raise pytest.UsageError(
            f"{name} must be a positive number; got {name}={text!r}."
        )
    return found
