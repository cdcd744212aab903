"""Find where the code of a target is written."""

import inspect
import os
from pathlib import Path
from typing import Any

from torch import nn

from headway.checks.command.formats import SourcePlace
from headway.checks.command.target_name import FILES, split
from headway.checks.core.copies import uncompiled
from headway.checks.core.signature import unwrapped


def place_of(target: Any) -> SourcePlace | None:
    """Find where the class of a module, or a function, is written.

    Returns:
        The place, or `None` if it is in no file below the root of the repository, which
        GitHub names in `GITHUB_WORKSPACE`, and else is the working directory.
    """
    code = uncompiled(target)
    code = type(code) if isinstance(code, nn.Module) else unwrapped(code)
    if not (inspect.isclass(code) or inspect.isfunction(code)):
        code = type(code)
    try:
        file = Path(inspect.getsourcefile(code) or "").resolve()
        line = inspect.getsourcelines(code)[1]
    except (OSError, TypeError):  # of a notebook, or built in
        return None
    root = Path(os.environ.get("GITHUB_WORKSPACE") or ".").resolve()
    if not file.is_relative_to(root):
        return None
    return SourcePlace(file.relative_to(root).as_posix(), max(line, 1))


def named_place(target: str) -> SourcePlace:
    """Give where a target is named, for code that is written in no file of its own.

    Args:
        target: As it was named: its file if it has one, and else `pyproject.toml`.
    """
    file = split(target)[0]
    return SourcePlace(file if file.endswith(FILES) else "pyproject.toml", 1)
