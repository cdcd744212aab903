"""Tell when a book was last built, and with what."""

import importlib.metadata
import os
import platform
import subprocess
import time
from collections.abc import Sequence


def moment() -> int:
    """Return the seconds of SOURCE_DATE_EPOCH, else of the last commit, else of now."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    command = ["git", "log", "-1", "--format=%ct"]
    try:
        done = subprocess.run(command, capture_output=True, text=True)  # noqa: S603
    except OSError:
        return int(time.time())
    return int(done.stdout) if done.returncode == 0 else int(time.time())


def verified(packages: Sequence[str]) -> dict[str, str]:
    """Return variables for a build: its date, and a sentence with its environment.

    Args:
        packages: What to name, with its version.
    """
    seconds = moment()
    day = time.strftime("%Y-%m-%d", time.gmtime(seconds))
    versions = [f"{name} {importlib.metadata.version(name)}" for name in packages]
    with_what = ", ".join([*versions, f"Python {platform.python_version()}"])
    where = f"{platform.system()} {platform.machine()}"
    return {
        "SOURCE_DATE_EPOCH": str(seconds),
        "VERIFIED": f"{day} with {with_what} on {where}",
    }
