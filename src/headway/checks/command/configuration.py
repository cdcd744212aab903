"""What `pyproject.toml` says of targets, below `[tool.headway.checks]`."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from headway._paths import shown
from headway.checks.command.target_name import FILES, split
from headway.checks.core.cannot_check import CannotCheckError
from headway.checks.core.choosing import nearest

FILE = "pyproject.toml"
# A constructor gets those that it takes, too.
OF_CONSTRUCTORS = (
    "d_in", "context_length", "num_heads", "vocab_size", "causal", "scale",
    "normalize", "rotary_base", "window",
)  # fmt: skip
# What each key holds, and in words.
_KEYS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "arguments": ((dict,), "a table of arguments of the constructor"),
    "d_in": ((int,), "a whole number"),
    "context_length": ((int,), "a whole number"),
    "num_heads": ((int,), "a whole number"),
    "vocab_size": ((int,), "a whole number"),
    "causal": ((bool,), "true or false"),
    "call": ((str,), "a string"),
    "weights": ((dict,), "a table of names of weights"),
    "scale": ((int, float), "a number"),
    "normalize": ((str,), "a string"),
    "rotary_base": ((int, float), "a number"),
    "window": ((int, str), 'a whole number or "none"'),
    "cached": ((str,), "a string"),
    "facts": ((dict,), "a table of facts"),
    "mask": ((str,), "a string"),
    "positions": ((str,), "a string"),
    "compile": ((bool, str), "true, false or the name of a backend"),
    "memory": ((int, float), "a number of gigabytes"),
    "expected": ((dict,), "a table of reasons"),
    "only": ((list,), "a list of ids of properties"),
    "skip": ((list,), "a list of ids of properties"),
    "strict": ((bool,), "true or false"),
    "limit": ((int, float), "a number of seconds"),
}


class ConfiguredTarget(NamedTuple):
    """A target that is configured.

    Attributes:
        name: What the command line would call it.
        options: The options of its check.
        arguments: The arguments of its constructor, by name.
        by_place: Those that are given without names, before the others.
    """

    name: str
    options: dict[str, Any]
    arguments: dict[str, Any]
    by_place: Sequence[Any] = ()


def configured(name: str) -> ConfiguredTarget:
    """Find what is configured for a target, which may be nothing.

    Args:
        name: `path/to/file.py:Name`, looked for from the folder of the file upwards,
            or `package.module:Name`, looked for in the working directory.

    Raises:
        ValueError: If the file that configures it says what cannot be meant.
    """
    place = split(name)[0]
    folders = [Path.cwd()]
    if place.endswith(FILES):
        folders = [*Path(place).resolve().parents, *folders]
    for folder in folders:
        checks = _checks(folder / FILE)
        if checks is not None:
            for target in _targets(folder, checks):
                if _resolved(target.name) == _resolved(name):
                    return target._replace(name=name)
            break
    return ConfiguredTarget(name, {}, {})


def all_configured() -> list[ConfiguredTarget]:
    """List all targets that are configured, from the working directory upwards.

    Raises:
        ValueError: If there is none.
    """
    for folder in (Path.cwd(), *Path.cwd().parents):
        checks = _checks(folder / FILE)
        if checks:
            return [*_targets(folder, checks)]
    raise CannotCheckError(
        "target must be given, file.py:Name or package.module:Name, or configured in "
        f"{FILE} below [tool.headway.checks]; got none."
    )


def _checks(file: Path) -> dict[str, Any] | None:
    """Read the table of targets; `None` if there is no such file or table."""
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CannotCheckError(f"{file} must be TOML; got {error}.") from error
    ours = content.get("tool", {}).get("headway")
    if ours is None:
        return None
    table = _table(ours, "tool.headway", file)
    for key in table:
        if key != "checks":
            raise CannotCheckError(f"tool.headway must have checks alone; got {key!r}.")
    return _table(table.get("checks", {}), "tool.headway.checks", file)


def _table(value: Any, name: str, file: Path) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise CannotCheckError(f"{name} must be a table in {file}; got {value!r}.")
    return value


def _targets(folder: Path, checks: Mapping[str, Any]) -> Iterator[ConfiguredTarget]:
    for name, options in checks.items():
        place, what = split(name)
        options = dict(_table(options, f"tool.headway.checks.{name!r}", folder / FILE))
        _refuse(name, options)
        if place.endswith(FILES):
            place = shown(folder / place, Path.cwd())
            name = f"{place}:{what}" if what else place
        yield ConfiguredTarget(name, options, options.pop("arguments", {}))


def _refuse(name: str, options: Mapping[str, Any]) -> None:
    """Refuse keys that are not known, and values of another kind."""
    for key, value in options.items():
        if key not in _KEYS:
            raise CannotCheckError(
                f"tool.headway.checks.{name!r} must have known keys, "
                f"{nearest(key, {one: one for one in _KEYS})}; got {key!r}."
            )
        kinds, words = _KEYS[key]
        if not isinstance(value, kinds) or (type(value) is bool and bool not in kinds):
            raise CannotCheckError(
                f"{key} must be {words} in tool.headway.checks.{name!r}; "
                f"got {key}={value!r}."
            )


def _resolved(name: str) -> tuple[Path | str, str]:
    """Make names of the same target equal, however its file is called."""
    place, what = split(name)
    return (Path(place).resolve() if place.endswith(FILES) else place), what
