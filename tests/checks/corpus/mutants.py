"""Hosts, which are right, and their mutants: one change each, written down in TOML.

Stands beside each host `NAME.py` a file `NAME.toml` of tables `[[mutant]]`, with `old`
and `new`, `why` it is wrong, the regular expression `named` that a true sentence
matches, the properties `fails`, and `equivalent = true` if nothing is wrong with it.
"""

import importlib.util
import re
import sys
import tempfile
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

HOSTS = Path(__file__).parent / "hosts"

_FOLDER = tempfile.TemporaryDirectory(prefix="corpus")


@dataclass(frozen=True)
class Mutant:
    """A host with one change.

    Args:
        name: The host, and the number of the change in its file.
        source: The program that is changed already.
        why: What is wrong.
        named: A regular expression that a sentence which names it matches.
        fails: Properties in which it shows.
        equivalent: Whether the change changes nothing.
        options: What must be told beyond a plain call.
    """

    name: str
    source: str
    why: str
    named: str
    fails: Sequence[str] = ()
    equivalent: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)

    def make(self) -> Any:
        """Build the attention of the changed host."""
        return _built(self.name, self.source)


def _module(name: str, source: str) -> ModuleType:
    """Import a program from a file of its own, so that its source can be read."""
    stem = "corpus_" + re.sub(r"\W", "_", name)
    path = Path(_FOLDER.name) / f"{stem}.py"
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


def hosts() -> dict[str, Callable[[], Any]]:
    """Give what builds each host, unchanged."""
    return {
        path.stem: lambda path=path: _built(path.stem, path.read_text("utf-8"))
        for path in sorted(HOSTS.glob("*.py"))
        if path.stem != "__init__"
    }


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
    for number, table in enumerate(tomllib.loads(path.read_text("utf-8"))["mutant"], 1):
        name = f"{path.stem} {number}"
        if source.count(table["old"]) != 1:
            raise ValueError(f"old must be there once in {name}; got {table['old']!r}.")
        changed = source.replace(table["old"], table["new"])
        equivalent = bool(table.get("equivalent", False))
        named, fails = table.get("named", ""), table.get("fails", ())
        why = table.get("why", "")
        made.append(Mutant(name, changed, why, named, fails, equivalent, options))
    return made
