"""What a build adds: addresses that it is told, and texts of the book."""

import os
import runpy
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

READER = "src/headway/checks/command/explanations.py"
PACKED = "headway/checks/explanations.json"


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


class Explanations(BuildHookInterface[Any]):
    """Packs the sections that explain ids, for `headway explain` without the book."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write them to a file, unless the source has one, which came with an sdist."""
        if version == "editable" or Path(self.root, "src", PACKED).exists():
            return
        reader = runpy.run_path(str(Path(self.root, READER)))
        self.folder = tempfile.TemporaryDirectory()
        written = Path(self.folder.name, "explanations.json")
        found = reader["read_book"](Path(self.root, "docs"))
        written.write_text(reader["to_json"](found), encoding="utf-8")
        inside = f"src/{PACKED}" if self.target_name == "sdist" else PACKED
        build_data["force_include"][str(written)] = inside

    def finalize(
        self, version: str, build_data: dict[str, Any], artifact_path: str
    ) -> None:
        """Remove that file once it is packed."""
        if hasattr(self, "folder"):
            self.folder.cleanup()
