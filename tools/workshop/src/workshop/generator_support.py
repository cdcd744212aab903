"""What a generator needs whose files must be the same wherever they are made.

A page includes such a file by one line, `--8<-- "kind/name.html"`. So no page holds
what a program has made, but for the outputs that are recorded.
"""

import argparse
import contextlib
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

# How near to a tie between two roundings a number may come, as a share of the number.
# One with a few decimals is what a reader computes in float32, which rounds by so much.
# One with many digits is off by what float64 loses in a long sum, which is far less.
FLOAT32, FLOAT64 = Decimal(2) ** -24, Decimal("1e-12")


def run_program(program: str, name: str = "__main__") -> tuple[dict[str, Any], str]:
    """Run a program of a page; return what it defines and what it prints."""
    names: dict[str, Any] = {"__name__": name}
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(program, "<program>", "exec"), names)  # noqa: S102
    return names, out.getvalue()


def fixed(value: float, decimals: int) -> str:
    """Write a number with a fixed number of decimals.

    Raises:
        ValueError: If the number lies so near a tie that another processor could round
            it the other way.
    """
    _refuse_tie(value, decimals, FLOAT32)
    return f"{value:.{decimals}f}"


def significant(value: float, digits: int) -> str:
    """Write a number with a number of significant digits.

    Raises:
        ValueError: If the number lies so near a tie that another processor could round
            it the other way.
    """
    if value:
        decimals = digits - 1 - Decimal(value).adjusted()
        _refuse_tie(value, decimals, FLOAT64)
    return f"{value:.{digits}g}"


def _refuse_tie(value: float, decimals: int, near: Decimal) -> None:
    units = abs(Decimal(value)).scaleb(decimals)
    if abs(units % 1 - Decimal("0.5")) <= near * units:
        raise ValueError(
            "a number must not lie between two roundings; "
            f"got value={value!r}, decimals={decimals}."
        )


def generate(
    command: str,
    make: Callable[[], Mapping[str, str]],
    folder: Path,
    arguments: Sequence[str] | None = None,
) -> int:
    """Write files, or with `--check` compare them with those that are there.

    Args:
        command: How one calls the generator.
        make: Makes the files: their text by path, relative to the folder.
        folder: Where they belong; `--to` names another.
        arguments: What follows the command; `None` for what this process was given.

    Returns:
        An exit status: 1 if `--check` finds a file that is not as it is made now.
    """
    parser = argparse.ArgumentParser(prog=command)
    parser.add_argument("--check", action="store_true", help="compare, do not write")
    parser.add_argument("--to", type=Path, default=folder, help="folder of the files")
    options = parser.parse_args(arguments)
    made = make()
    if options.check:
        found = [*_problems(command, made, options.to)]
        print(*found, sep="\n", end="\n" if found else "")
        return 1 if found else 0
    for name, text in made.items():
        path = options.to / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    return 0


def _problems(command: str, made: Mapping[str, str], folder: Path) -> Iterator[str]:
    """Name the files that are missing or outdated, and those that nothing makes."""
    there = {path for path in folder.rglob("*") if path.is_file()}
    for path in sorted(there | {folder / name for name in made}):
        text = made.get(path.relative_to(folder).as_posix())
        if text is None:
            yield f"{path} must not be there: {command} does not make it."
        elif path not in there or path.read_bytes() != text.encode():
            yield f"{path} must be as made now; run {command}."
