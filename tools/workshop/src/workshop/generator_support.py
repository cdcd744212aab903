"""What a generator needs whose files must be the same wherever they are made.

A page includes such a file by one line, `--8<-- "kind/name.html"`. So no page holds
what a program has made, but for the outputs that are recorded. Git keeps such files, or
else one list of their hashes, which `sha256sum --check` can read too.
"""

import argparse
import contextlib
import hashlib
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
    *,
    hashes: Path | None = None,
) -> int:
    """Write files, or with `--check` compare them with those that are there.

    Args:
        command: How one calls the generator.
        make: Makes the files: their text by path, relative to the folder.
        folder: Where they belong; `--to` names another.
        arguments: What follows the command; `None` for what this process was given.
        hashes: The list of the hashes of files that git does not keep, in a folder
            above. It is written, and compared, in their place.

    Returns:
        An exit status: 1 if `--check` finds a file that is not as it is made now.
    """
    parser = argparse.ArgumentParser(prog=command)
    parser.add_argument("--check", action="store_true", help="compare, do not write")
    parser.add_argument("--to", type=Path, default=folder, help="folder of the files")
    options = parser.parse_args(arguments)
    files = {options.to / name: text for name, text in make().items()}
    of_list = hashes if options.to == folder else None
    if options.check:
        found = [*_problems(command, files, options.to, of_list)]
        print(*found, sep="\n", end="\n" if found else "")
        return 1 if found else 0
    write(files)
    if of_list is not None:
        others = read_hashes(of_list).items() - read_hashes(of_list, folder).items()
        made = {path: sha256(text.encode()) for path, text in files.items()}
        write_hashes(of_list, dict(others) | made)
    return 0


def write(files: Mapping[Path, str]) -> None:
    """Write files that are not there, or not like this."""
    for path, text in files.items():
        if not path.is_file() or path.read_bytes() != text.encode():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")


def _problems(
    command: str, files: Mapping[Path, str], folder: Path, of_list: Path | None
) -> Iterator[str]:
    """Name the files that are missing or outdated, and those that nothing makes."""
    there = hashes_of(folder) if of_list is None else read_hashes(of_list, folder)
    where = "" if of_list is None else f" in {of_list}"
    for path in sorted(there.keys() | files.keys()):
        if path not in files:
            yield f"{path}{where} must not be there: {command} does not make it."
        elif there.get(path) != sha256(files[path].encode()):
            yield f"{path}{where} must be as made now; run {command}."


# ---- Hashes of files ---------------------------------------------------------------


def sha256(content: bytes) -> str:
    """Return the hash of a file."""
    return hashlib.sha256(content).hexdigest()


def hashes_of(folder: Path) -> dict[Path, str]:
    """Return the hash of each file in a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path: sha256(path.read_bytes()) for path in files}


def read_hashes(of_list: Path, folder: Path | None = None) -> dict[Path, str]:
    """Read a list of hashes, or what it has of one folder."""
    lines = of_list.read_text("utf-8").splitlines() if of_list.is_file() else []
    pairs = (line.split("  ", 1) for line in lines)
    found = {of_list.parent / name: one for one, name in pairs}
    return {path: found[path] for path in found if not folder or folder in path.parents}


def write_hashes(of_list: Path, hashes: Mapping[Path, str]) -> None:
    """Write such a list, in the order of the files."""
    names = {path.relative_to(of_list.parent).as_posix(): path for path in hashes}
    lines = [f"{hashes[names[name]]}  {name}\n" for name in sorted(names)]
    of_list.write_text("".join(lines), encoding="utf-8", newline="\n")
