"""What a project has set for its pages, and what follows from it."""

import importlib.metadata
from collections.abc import Sequence
from functools import cache

import pytest
from packaging.requirements import Requirement

from proofread.page import lint as census
from proofread.page.lint import Problem


def wanted(config: pytest.Config) -> bool:
    """Say whether pages are to be read at all."""
    option = config.option
    return bool(option.proofread or option.record or option.changed)


def differs_from_reference(requirements: Sequence[str]) -> str:
    """Say what is not as in the reference environment; nothing, if all is."""
    for text in requirements:
        requirement = Requirement(text)
        if requirement.marker and not requirement.marker.evaluate():
            return f"not {requirement.marker}"
        try:
            version = importlib.metadata.version(requirement.name)
        except importlib.metadata.PackageNotFoundError:
            return f"no {requirement.name}"
        if not requirement.specifier.contains(version, prereleases=True):
            return f"{requirement.name} {version}, not {requirement.specifier}"
    return ""


# Each program asks, and the answer holds for the whole run.
_differs = cache(differs_from_reference)


def inexact(config: pytest.Config) -> str:
    """Say why outputs are compared token by token; nothing, if they are exactly."""
    if config.option.compare != "auto":
        return "as asked" if config.option.compare == "tokens" else ""
    return _differs(tuple(config.getini("proofread_reference")))


def fences(config: pytest.Config, text: str) -> list[Problem]:
    """Count the fences of a page by the settings of the project."""
    kinds = config.getini("proofread_kinds") or census.KINDS
    width = int(config.getini("proofread_width"))
    return census.problems(text, kinds=kinds, width=width)
