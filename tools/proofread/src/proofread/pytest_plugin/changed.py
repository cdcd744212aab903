"""Tell what a change can affect: a key for what is tested, and all that it reaches.

The key of a program is made of its text and what is recorded of it, of the text of
each module of the project that it imports, directly or through others, and of the
environment: Python, the platform, every installed version, and this tool. A file that
a program reads, or a module that it finds by a name made at run time, is not seen. For
a module of tests they count too, since they were seen in earlier runs.

What a package only hands on counts by name: `from package import a` reaches the module
that `a` comes from, and not those of all other names.
"""

import ast
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from proofread.caching import digest, installed
from proofread.page.markdown import Program


def environment() -> list[str]:
    """Return what is installed, where, and with which text of this tool."""
    own = sorted(Path(__file__).parents[1].rglob("*.py"))
    return [*installed(), *(path.read_text(encoding="utf-8") for path in own)]


# What of a file is reached: all that it does, or that it is imported on the way to
# something else; or the name of what it hands on.
ALL, PASSED = "*", ""
Reached = tuple[Path, str]


class Import(NamedTuple):
    """One name that a text imports: `name` of `module`, or the module itself."""

    base: Path | None
    module: str
    name: str
    bound: str
    in_function: bool


class Text:
    """What a text of Python imports and how it uses that."""

    def __init__(self, code: str, file: Path | None) -> None:
        self.imports: list[Import] = []
        self.defined: set[str] = set()
        self.loads: Counter[str] = Counter()
        self.attributes: dict[str, list[str]] = {}
        try:
            tree = ast.parse(code)
        except (SyntaxError, ValueError):
            return
        self.walk(tree, file, in_function=False)

    def walk(self, node: Any, file: Path | None, *, in_function: bool) -> None:
        """Take note of a part of the text and of all within it."""
        kind = type(node)
        if kind is ast.Name:
            if type(node.ctx) is ast.Load:
                self.loads[node.id] += 1
            elif not in_function:
                self.defined.add(node.id)
            return
        if kind is ast.Constant:
            return
        if kind is ast.Attribute:
            if type(node.value) is ast.Name:
                self.attributes.setdefault(node.value.id, []).append(node.attr)
        elif kind is ast.Import:
            for alias in node.names:
                bound = alias.asname or alias.name.partition(".")[0]
                self.imports.append(Import(None, alias.name, "", bound, in_function))
        elif kind is ast.ImportFrom and (file or not node.level):
            base = file.parents[node.level - 1] if file and node.level else None
            for alias in node.names:
                bound = alias.asname or alias.name
                found = Import(base, node.module or "", alias.name, bound, in_function)
                self.imports.append(found)
        elif kind in {ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef}:
            self.defined |= set() if in_function else {node.name}
            in_function = True
        for field in node._fields:
            inner = getattr(node, field, None)
            for child in inner if type(inner) is list else (inner,):
                if isinstance(child, ast.AST):
                    self.walk(child, file, in_function=in_function)


class Keys:
    """Makes the keys of programs, and finds what files reach.

    Args:
        project: The folder whose modules may change; what is installed has a version.
        settings: What else a result depends on.
        seen: For files of the project, other modules that they were seen to import.
    """

    def __init__(
        self,
        project: Path,
        settings: Sequence[str] = (),
        seen: Mapping[Path, Iterable[Path]] | None = None,
    ) -> None:
        self.project = project.resolve()
        self.settings = digest(*map(str, settings), *environment())
        self.seen = seen or {}
        self.path = [Path(entry) for entry in sys.path if self.owns(Path(entry))]
        self.text = cache(lambda file: parsed(read(file), file))
        self.leads_to = cache(self.direct)
        self.module = cache(self.find)
        self.packages = cache(self.find_packages)

    def of(self, program: Program) -> str:
        """Return the key of a program."""
        text = Text(program.code, None)
        start = {one for each in text.imports for one in self.targets(each, text)}
        modules = [read(file) for file in sorted(self.files(start))]
        marks = [*program.marks, *program.recorded]
        return digest(self.settings, program.code, *marks, "modules", *modules)

    def files(self, waiting: set[Reached]) -> set[Path]:
        """Return the files that are reached from some."""
        found: set[Reached] = set()
        while waiting:
            one = waiting.pop()
            if one not in found:
                found.add(one)
                waiting |= self.leads_to(*one)
        return {file for file, _ in found}

    def direct(self, file: Path, what: str) -> set[Reached]:
        """Return what a file itself leads to, or what it hands on as one name."""
        text: Text = self.text(file)
        if what == ALL:
            found = {one for each in text.imports for one in self.targets(each, text)}
            return found | {(other, ALL) for other in self.seen.get(file, ())}
        if what in text.defined:
            return {(file, ALL)}
        found = set()
        if what == PASSED:
            for each in text.imports:
                used = not each.name or text.loads[each.bound]
                if used and not each.in_function:
                    found.update(self.targets(each, text))
            return found
        named = [
            one for one in text.imports if one.bound == what and not one.in_function
        ]
        for each in named:
            found.update(self.targets(each, text))
        for each in text.imports if not named else ():
            if each.name == "*" and (module := self.module(each.base, each.module)):
                others = self.text(module)
                if what in {*others.defined, *(one.bound for one in others.imports)}:
                    found |= {(module, what), *self.packages(each.base, each.module)}
        if not found and (inner := self.module(file.parent, what)):
            found.add((inner, ALL))
        return {*found, (file, PASSED)} if found or named else {(file, ALL)}

    def targets(self, one: Import, text: Text) -> Iterator[Reached]:
        """Yield what an import reaches, with the packages on the way."""
        yield from self.packages(one.base, one.module)
        module = self.module(one.base, one.module)
        if not one.name:
            top = one.module.partition(".")[0]
            if module and one.bound != top:
                yield from self.used(module, one.bound, text)
            elif module:
                # The name that is bound is the first package's.
                if module != (first := self.module(one.base, top)):
                    yield module, ALL
                inside = one.module.split(".")[1:2]
                if first:
                    yield from self.used(first, one.bound, text, inside)
            return
        inner = f"{one.module}.{one.name}".strip(".")
        if inner_module := self.module(one.base, inner):
            yield from self.used(inner_module, one.bound, text)
        if module and (one.name == "*" or module.name != "__init__.py"):
            yield module, ALL
        elif module:
            handed = {each.bound for each in self.text(module).imports}
            known = {one.name, "*"} & (handed | self.text(module).defined)
            yield module, one.name if known or not inner_module else PASSED

    def used(
        self, module: Path, bound: str, text: Text, inside: Sequence[str] = ()
    ) -> Iterator[Reached]:
        """Yield what is reached of a module that a text has bound to a name."""
        attributes = text.attributes.get(bound, [])
        if module.name != "__init__.py" or text.loads[bound] > len(attributes):
            yield module, ALL
            return
        yield module, PASSED
        for name in {*attributes} - {*inside}:
            yield module, name

    def find_packages(self, base: Path | None, name: str) -> list[Reached]:
        """Return the packages that are imported on the way to a module."""
        parts = name.split(".") if name else []
        paths = [base / "__init__.py"] if base and self.owns(base) else []
        for folder in [base] if base else self.path:
            for count in range(1, len(parts)):
                paths.append(folder.joinpath(*parts[:count], "__init__.py"))
        return [(path.resolve(), PASSED) for path in paths if path.is_file()]

    def find(self, base: Path | None, name: str) -> Path | None:
        """Return the file of a module of the project, if there is one."""
        parts = name.split(".") if name else []
        for folder in [base] if base else self.path:
            if not (parts or base) or not self.owns(folder):
                continue
            inner = folder.joinpath(*parts)
            plain = [inner.with_name(f"{inner.name}.py")] if parts else []
            for path in (inner / "__init__.py", *plain):
                if path.is_file():
                    return path.resolve()
        return None

    def owns(self, folder: Path) -> bool:
        """Say whether a folder belongs to the project and not to what is installed."""
        resolved = folder.resolve()
        inside = resolved == self.project or self.project in resolved.parents
        return inside and "site-packages" not in resolved.parts


@cache
def parsed(code: str, file: Path | None) -> Text:
    """Return what a text imports; once, as long as it does not change."""
    return Text(code, file)


def read(file: Path) -> str:
    """Return the text of a file; of one that is gone, nothing."""
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
