"""A file of failures that a project begins with; it shrinks, and never grows.

It holds, for each target, what `expected` would name: ids of properties, with the ids
of the mistakes that they name.
"""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from headway.checks.command.target_name import FILES, split
from headway.checks.core.cannot_check import CannotCheckError
from headway.checks.core.expected import property_of

Failures = dict[str, list[str]]


def read(file: Path) -> Failures:
    """Read a baseline.

    Raises:
        ValueError: If it is not one.
    """
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CannotCheckError(
            f"baseline must be a file, which --update-baseline writes; got {file}."
        ) from None
    except (OSError, ValueError) as error:
        raise CannotCheckError(f"baseline must be JSON; {file}: {error}.") from error
    if not isinstance(content, dict) or not all(map(_is_list, content.values())):
        raise CannotCheckError(
            f"baseline must hold a list of ids for each target; {file} does not."
        )
    return content


def _is_list(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def name_in(file: Path, target: str) -> str:
    """Give the name of a target in a baseline, which begins at the folder of that."""
    place, what = split(target)
    if not place.endswith(FILES):
        return target
    path = os.path.relpath(Path(place).resolve(), file.resolve().parent)
    place = Path(path).as_posix()
    return f"{place}:{what}" if what else place


def expected(failures: Failures, file: Path, target: str) -> dict[str, str]:
    """Give what a target is expected to fail, each with the baseline for a reason."""
    known = failures.get(name_in(file, target), [])
    return dict.fromkeys(
        known, f"it is in {file.as_posix()}, which --update-baseline renews"
    )


def failing(report: Mapping[str, Any]) -> list[str]:
    """Name what fails by the keys of `expected`, without what a mistake explains.

    Args:
        report: As `Report.to_json` writes it.
    """
    keys = {
        row["id"]: _key(row) for row in report["rows"] if row["verdict"] == "failed"
    }
    return [
        keys[row["id"]]
        for row in report["rows"]
        # What was expected in vain has a reason, and no baseline may hide that.
        if row["id"] in keys and not row["reason"]
        if ":" not in keys.get(row["explained_by"], "")
    ]


def _key(row: Mapping[str, Any]) -> str:
    return ":".join([row["id"], *filter(None, [",".join(sorted(row["mistakes"]))])])


def update(
    file: Path, reports: Mapping[str, Mapping[str, Any]]
) -> tuple[Failures, Failures]:
    """Write what fails into a new baseline; from an old one take what does not.

    What was not asked now stays as it was, be it a target or a property.

    Args:
        file: The baseline.
        reports: The reports of the targets that were checked, by the name of each.

    Returns:
        What the baseline holds now, and what fails and is not in it.

    Raises:
        ValueError: If the file is no baseline, or cannot be written.
    """
    old = read(file) if file.exists() else None
    named = {name_in(file, target): report for target, report in reports.items()}
    found = {target: failing(report) for target, report in named.items()}
    known = {
        target: found[target]
        if old is None
        else _left(old.get(target, []), found[target], report)
        for target, report in named.items()
    }
    others = {t: keys for t, keys in (old or {}).items() if t not in found}
    new = {target: keys for target, keys in {**others, **known}.items() if keys}
    text = json.dumps(dict(sorted(new.items())), indent=2)
    half = file.with_name(f"{file.name}.half")
    try:
        half.write_text(f"{text}\n", encoding="utf-8")
        half.replace(file)
    except OSError as error:
        raise CannotCheckError(
            f"baseline must be a file that can be written; {file}: {error.strerror}."
        ) from error
    rest = {t: [k for k in keys if k not in known[t]] for t, keys in found.items()}
    return new, {target: keys for target, keys in rest.items() if keys}


def _left(
    old: Iterable[str], keys: Sequence[str], report: Mapping[str, Any]
) -> list[str]:
    asked = {row["id"] for row in report["rows"]}
    return [key for key in old if key in keys or property_of(key) not in asked]
