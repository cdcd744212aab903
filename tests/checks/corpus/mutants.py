"""Hosts, which are right, and their mutants: one change each, written down in TOML.

Beside each host `NAME.py` stands a file `NAME.toml` of tables `[[mutant]]`, with a
`name`, `old` and `new`, `why` it is wrong, the regular expression `named` that a true
sentence matches, and `equivalent = true` if nothing is wrong with it. A host has
`make()`, and `options` that must be told of it.
"""

import importlib.util
import re
import sys
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.checks.corpus.ground_truth import Style

HOSTS = Path(__file__).parent / "hosts"

FOLDER = tempfile.TemporaryDirectory(prefix="corpus")


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
    spec = importlib.util.spec_from_file_location(stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[stem] = module
    spec.loader.exec_module(module)
    return module


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
    for table in tomllib.loads(path.read_text("utf-8"))["mutant"]:
        name = f"{path.stem}, {table['name']}"
        if source.count(table["old"]) != 1:
            raise ValueError(f"old must be there once in {name}; got {table['old']!r}.")
        changed = source.replace(table["old"], table["new"])
        equivalent = bool(table.get("equivalent", False))
        named, why = table.get("named", ""), table.get("why", "")
        made.append(Mutant(name, changed, why, named, equivalent, options))
    return made
