"""Say how long a command takes, or write how long it took.

    python .ci/times.py test
    python .ci/times.py test 413

The second writes `times.csv`, and the minutes in the table of `CONTRIBUTING.md`.
"""

import csv
import os
import re
import sys
from datetime import UTC, datetime
from pathlib import Path

TIMES = Path(__file__).with_name("times.csv")
PAGE = Path(__file__).parents[1] / "CONTRIBUTING.md"
ROW = re.compile(r"^(\| `(?:make )?([^`]+)` \| .* \|) (?:\d+ )?\|$", re.MULTILINE)

Times = dict[str, dict[str, str]]


def read() -> Times:
    """Give the lines of the file, by command."""
    with TIMES.open(encoding="utf-8", newline="") as file:
        return {line["command"]: line for line in csv.DictReader(file)}


def minutes(line: dict[str, str]) -> int:
    """Give the minutes of a line, and one for what is quicker."""
    return max(1, round(int(line["seconds"]) / 60))


def fill(page: str, times: Times) -> str:
    """Write the minutes into the rows of a table that begin with a command."""

    def filled(row: re.Match[str]) -> str:
        line = times.get(row[2])
        return f"{row[1]} {minutes(line)} |" if line else f"{row[1]} |"

    return ROW.sub(filled, page)


def write(command: str, seconds: str) -> None:
    """Put a time in the file and in the table."""
    times = read()
    measured = seconds, os.cpu_count(), datetime.now(UTC).date()
    names = ("seconds", "cores", "date")
    times[command] = {
        "command": command,
        **dict(zip(names, map(str, measured), strict=True)),
    }
    with TIMES.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, ["command", *names], lineterminator="\n")
        table.writeheader()
        table.writerows(times.values())
    PAGE.write_text(fill(PAGE.read_text("utf-8"), times), "utf-8")


def say(command: str) -> None:
    """Print how long a target of make takes."""
    line = read()[command]
    many = "s" * (minutes(line) > 1)
    print(
        f"make {command} takes about {minutes(line)} minute{many} on {line['cores']} "
        "cores, when all is installed."
    )


if __name__ == "__main__":
    command, *seconds = sys.argv[1:]
    if seconds:
        write(command, *seconds)
    else:
        say(command)
