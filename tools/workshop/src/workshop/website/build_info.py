"""When a site was last changed, and what it is built with."""

import importlib.metadata
import os
import platform
import subprocess
import time
from collections.abc import Sequence


def build_time() -> int:
    """Return the seconds of SOURCE_DATE_EPOCH, else of the last commit, else of now."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    command = ["git", "log", "-1", "--format=%ct"]
    try:
        done = subprocess.run(command, capture_output=True, text=True)  # noqa: S603
    except OSError:
        return int(time.time())
    return int(done.stdout) if done.returncode == 0 else int(time.time())


def environment(packages: Sequence[str], seconds: int) -> str:
    """Return a date, and what a build that has it uses, as the end of a sentence.

    Args:
        packages: What to name, with its version.
        seconds: The time of the build.
    """
    day = time.strftime("%Y-%m-%d", time.gmtime(seconds))
    versions = [f"{name} {importlib.metadata.version(name)}" for name in packages]
    software = ", ".join([*versions, f"Python {platform.python_version()}"])
    return f"{day} with {software} on {platform.system()} {platform.machine()}"
