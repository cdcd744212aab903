"""An edition: exercises and judge as they are, so that verdicts stay for a term."""

import hashlib
import json
from pathlib import Path
from typing import Any

import torch

from headway.practice.task.library import Library
from headway.practice.task.refused import RefusedError

_PACKAGE = Path(__file__).parents[1]
_JUDGE = ("judging", "task", "grading")


def describe(library: Library, seed: int) -> dict[str, Any]:
    """Say which exercises a set has, and by what they are judged.

    Args:
        library: The set.
        seed: What the hidden numbers are drawn from.
    """
    judge = sorted(one for part in _JUDGE for one in (_PACKAGE / part).glob("*.py"))
    return {
        "edition": 1,
        "seed": seed,
        "torch": torch.__version__.partition("+")[0],
        "judge": _digest(*judge),
        "exercises": {one.name: _digest(*one.files) for one in library.values()},
    }


def write(library: Library, path: Path, seed: int) -> None:
    """Write an edition into a file.

    Args:
        library: The set.
        path: The file.
        seed: What the hidden numbers are drawn from.
    """
    text = json.dumps(describe(library, seed), indent=2) + "\n"
    path.write_text(text, encoding="utf-8")


def differs(library: Library, path: Path) -> tuple[int, str]:
    """Compare an edition with what there is.

    Args:
        library: The set.
        path: The file of the edition.

    Returns:
        The seed of the edition, and a sentence if something differs; else nothing.

    Raises:
        ValueError: If it is no edition.
    """
    try:
        then = json.loads(path.read_text(encoding="utf-8"))
        now = describe(library, int(then["seed"]))
        exercises = dict(then["exercises"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RefusedError(
            f"--edition must be a file that --edition has written; got {path}."
        ) from error
    changed = [
        name
        for name in sorted({*exercises, *now["exercises"]})
        if exercises.get(name) != now["exercises"].get(name)
    ]
    parts = [f"the exercise {name}" for name in changed[:3]]
    parts += [f"{len(changed) - 3} more"] if len(changed) > 3 else []
    parts += ["the judge"] if then.get("judge") != now["judge"] else []
    if then.get("torch") != now["torch"]:
        parts.append(f"PyTorch ({then.get('torch')} then, {now['torch']} now)")
    sentence = f"Not as in the edition: {', '.join(parts)}." if parts else ""
    return now["seed"], sentence


def _digest(*paths: Path) -> str:
    found = hashlib.sha256()
    for path in paths:
        found.update(path.read_bytes().replace(b"\r\n", b"\n"))
    return found.hexdigest()
