"""Run the programs of pages in a pytest of their own, with other variables."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


class NoProgramRanError(Exception):
    """There is nothing to compare with."""


def run_pages(
    paths: Sequence[Path],
    options: Sequence[str | Path] = (),
    environment: Mapping[str, str] | None = None,
) -> dict[str, dict[str, Any]]:
    """Run the programs of pages in a process of their own.

    Args:
        paths: Pages, or folders of pages.
        options: More options for pytest.
        environment: The whole environment; `None` for that of this process.

    Returns:
        What each program did, under the name that pytest gives it.

    Raises:
        NoProgramRanError: With what pytest said, if no program ran.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "results.json"
        command = [sys.executable, "-m", "pytest", "-q", "--proofread", *options]
        done = subprocess.run(  # noqa: S603
            [*command, f"--results={file}", *paths],
            env=environment,
            capture_output=True,
            text=True,
        )
        text = file.read_text("utf-8") if file.exists() else "{}"
    results: dict[str, dict[str, Any]] = json.loads(text)
    if not results:
        raise NoProgramRanError(f"no program ran; pytest says:\n{done.stdout}")
    return results
