"""Hosts, which are right, and their mutants: one change each, written down in TOML.

Beside each host `NAME.py` stands a file `NAME.toml` of tables `[[mutant]]`, with the
fields of `Change`. Where several changes have one cause, `cause` is its name in
`causes.toml`, which has what is `named` for all of them. A host has `make()`, and
`options` that must be told of it.
"""

import re
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from headway._edits import Edit
from tests.checks.corpus.ground_truth import Style
from tests.support.load_module import load_module

HOSTS = Path(__file__).parent / "hosts"
CAUSES = Path(__file__).with_name("causes.toml")

FOLDER = tempfile.TemporaryDirectory(prefix="corpus")


@dataclass(frozen=True)
class Change(Edit):
    """A change of a host.

    Args:
        name: What it is called.
        why: What is wrong.
        named: A regular expression that a sentence which names it matches.
        shows: What tells it from the host. What only 16 bits show is declared to run
            in them.
        equivalent: Whether it changes nothing.
        published: Whether only who knows the published model can tell that it is wrong.
    """

    name: str
    why: str = ""
    named: str = ""
    shows: str = ""
    equivalent: bool = False
    published: bool = False


@dataclass(frozen=True)
class Mutant:
    """A host with one change.

    Args:
        name: The host, and the name of the change.
        source: The program that is changed already.
        why: What is wrong.
        named: A regular expression that a sentence which names it matches.
        equivalent: Whether the change changes nothing.
        options: What must be told beyond a plain call.
    """

    name: str
    source: str
    why: str
    named: str
    equivalent: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)

    def make(self) -> Any:
        """Build the attention of the changed host."""
        return _built(self.name, self.source)


def _module(name: str, source: str) -> ModuleType:
    """Import a program from a file of its own, so that its source can be read."""
    stem = "corpus_" + re.sub(r"\W", "_", name)
    path = Path(FOLDER.name) / f"{stem}.py"
    path.write_text(source, encoding="utf-8")
    return load_module(path)


def _built(name: str, source: str) -> Any:
    return _module(name, source).make()


def hosts() -> list[Style]:
    """Give the hosts, unchanged: styles with which nothing is wrong."""
    return [_host(path) for path in sorted(HOSTS.glob("*.py")) if _is_host(path)]


def _is_host(path: Path) -> bool:
    return not path.stem.startswith("_")


def _host(path: Path) -> Style:
    source = path.read_text("utf-8")
    credit = source.partition("\n")[0].strip('"')
    options = options_of(path.stem)
    causal = options.get("causal", True)
    name = f"host_{path.stem}"
    return Style(
        name, credit, "hosts", lambda: _built(name, source), causal, options=options
    )


def options_of(host: str) -> dict[str, Any]:
    """Give what must be told of a host: `options` in its program."""
    source = (HOSTS / f"{host}.py").read_text("utf-8")
    return dict(getattr(_module(host, source), "options", {}))


def mutants() -> list[Mutant]:
    """Read all mutants; each change must fit exactly one place."""
    return [one for path in sorted(HOSTS.glob("*.toml")) for one in _of(path)]


def _of(path: Path) -> list[Mutant]:
    source = path.with_suffix(".py").read_text("utf-8")
    options = options_of(path.stem)
    made = []
    for one in changes(path.stem):
        name = f"{path.stem}, {one.name}"
        changed = one.apply(source, name)
        told = options | ({"half_precision": True} if one.shows == "half" else {})
        made.append(Mutant(name, changed, one.why, one.named, one.equivalent, told))
    return made


def changes(host: str) -> list[Change]:
    """Read the changes of a host."""
    causes = tomllib.loads(CAUSES.read_text("utf-8"))
    told = tomllib.loads((HOSTS / f"{host}.toml").read_text("utf-8"))["mutant"]
    for table in told:
        if "cause" in table:
            table["named"] = causes[table.pop("cause")]
    return [Change.read(table) for table in told]
