"""Addresses of the book and its source for PyPI: known only where it is published."""

import os
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Addresses(MetadataHookInterface):
    """Sets the addresses of the project to what the environment says they are."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Read `SITE_URL` and `REPO_URL`, as the site does."""
        given = {"Documentation": "SITE_URL", "Source": "REPO_URL"}
        metadata["urls"] = {
            name: os.environ[variable]
            for name, variable in given.items()
            if os.environ.get(variable)
        }
