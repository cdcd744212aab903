"""Hold the checks against the corpus: `python -m tests.checks.corpus`."""

import argparse
import json
import re
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.checks.corpus.judge import Judged, judge_mutant, judge_style, timed
from tests.checks.corpus.large import LARGE
from tests.checks.corpus.mutants import hosts, mutants
from tests.checks.corpus.recorded_exceptions import write
from tests.checks.corpus.styles import STYLES
from tests.checks.corpus.table import table

RESULTS = Path(__file__).with_name("results.md")
_HEAD = """# What the checks say of the corpus

Written by `make corpus`. Times are those of a processor, of one thread.

"""


def main() -> None:
    """Read the command line, ask, and print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.checks.corpus", description=__doc__
    )
    parser.add_argument("--only", metavar="PATTERN", help="names that match alone")
    parser.add_argument("--json", type=Path, help="a file for every verdict, as JSON")
    parser.add_argument("--write", action="store_true", help="record all of it")
    parser.add_argument("--slow", action="store_true", help="width 768 as well")
    told = parser.parse_args()
    if told.write and told.only:
        parser.error("--write must be given without --only")
    judged = judge(lambda name: told.only is None or bool(re.search(told.only, name)))
    large = {}
    if told.slow or told.write:
        large = {name: timed(make) for name, make in LARGE.items()}
    print(table(judged, large))
    if told.json:
        told.json.write_text(_json(judged, large), encoding="utf-8")
    if told.write:
        RESULTS.write_text(f"{_HEAD}{table(judged, large)}", encoding="utf-8")
        write(judged)


def judge(wanted: Callable[[str], bool]) -> list[Judged]:
    """Judge all styles and mutants whose names are wanted."""
    styles = [*STYLES.values(), *hosts()]
    judged = [judge_style(one) for one in styles if wanted(one.name)]
    return judged + [judge_mutant(one) for one in mutants() if wanted(one.name)]


def _json(judged: list[Judged], large: dict[str, float]) -> str:
    told: dict[str, Any] = {"judged": [asdict(one) for one in judged], "large": large}
    return json.dumps(told, indent=1)


if __name__ == "__main__":
    main()
