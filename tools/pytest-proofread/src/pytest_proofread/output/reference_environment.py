"""Tell whether this is the environment in which outputs are exact."""

import importlib.metadata
from collections.abc import Sequence

from packaging.requirements import Requirement


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
