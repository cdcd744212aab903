"""What is recorded of the corpus, so that nothing gets worse unseen."""

import json
from collections.abc import Iterable
from pathlib import Path

from tests.checks.corpus.judge import Judged

RECORD = Path(__file__).with_name("recorded.json")

Exceptions = dict[str, dict[str, str]]


def exceptions(one: Judged) -> dict[str, str]:
    """Give all in which a check of it falls short: defects, false alarms, and calls."""
    found = {what: told for what, told in one.verdicts.items() if told != "named"}
    found |= {name: "false alarm" for name, _ in one.false}
    found |= {name: "harmless" for name, _ in one.harmless}
    if one.by_default:
        found["a plain call"] = "raises"
    if one.asked.raised:
        found["the check"] = "raises"
    if not one.intent:
        found["the future"] = "taken wrongly"
    return dict(sorted(found.items()))


def write(judged: Iterable[Judged]) -> None:
    """Record the exceptions of all; what is not recorded has none."""
    found = {one.name: exceptions(one) for one in judged}
    kept = {name: one for name, one in found.items() if one}
    text = json.dumps(kept, indent=1, ensure_ascii=False)
    RECORD.write_text(f"{text}\n", encoding="utf-8")


def read() -> Exceptions:
    """Read what was recorded."""
    return json.loads(RECORD.read_text("utf-8"))
