"""Make the environment of a reader: the wheel of a project, what it needs, no more."""

import platform
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

from pytest_proofread.digests import digest

PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")


class CannotInstallError(RuntimeError):
    """The wheel could not be built, or not be installed."""


def call(*command: str | Path) -> None:
    """Run a command quietly.

    Raises:
        CannotInstallError: With what the command said, if it fails.
    """
    done = subprocess.run(  # noqa: S603
        [str(part) for part in command], capture_output=True, text=True
    )
    if done.returncode:
        said = (done.stderr or done.stdout).strip()
        shown = " ".join(str(part) for part in command[2:])
        raise CannotInstallError(f"`{shown}` must succeed; it says:\n{said}")


def build_wheel(project: Path, folder: Path) -> Path:
    """Build the wheel of a project with the build backend that is installed here."""
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", folder)
    call(*PIP, "wheel", *options, project)
    return next(folder.glob("*.whl"))


def requirements(wheel: Path) -> list[str]:
    """Return what a wheel says that it requires, its extras left out."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = next(name for name in names if name.endswith(".dist-info/METADATA"))
        lines = archive.read(metadata).decode("utf-8").splitlines()
    wanted = [line for line in lines if line.startswith("Requires-")]
    return [line for line in wanted if "extra ==" not in line]


def install(
    wheel: Path, folder: Path, constraints: Path | None, options: Sequence[str] = ()
) -> Path:
    """Return the Python of an environment with a wheel and what it requires.

    The environment is made anew only if what it requires, the constraints, the options
    or Python itself changed; a new wheel alone is put in the place of the old one.

    Args:
        wheel: What is installed.
        folder: The environment; what else is in it goes.
        constraints: The versions that are allowed, as pip reads them.
        options: More options for pip.

    Raises:
        CannotInstallError: If pip fails.
    """
    pinned = constraints.read_bytes() if constraints else b""
    base = digest(sys.prefix, platform.python_version(), pinned, *options)
    needed = digest(base, *requirements(wheel))
    state = f"{needed}\n{digest(wheel.read_bytes())}\n"
    note = folder / "made-of.txt"
    made = note.read_text(encoding="utf-8") if note.is_file() else ""
    python = folder / "bin" / "python"
    if made == state:
        return python
    note.unlink(missing_ok=True)
    pip = (*PIP, "--python", python, "install", "--quiet", "--no-compile")
    if made.startswith(f"{needed}\n"):
        call(*pip, "--no-deps", "--force-reinstall", wheel)
    else:
        shutil.rmtree(folder, ignore_errors=True)
        call(sys.executable, "-m", "venv", "--without-pip", folder)
        limits = ("--constraint", constraints) if constraints else ()
        call(*pip, *limits, *options, wheel)
    note.write_text(state, encoding="utf-8")
    return python
