"""Find the files of a project that a program reaches through what it imports.

A program is followed through each module of the project that it imports, directly or
through others, wherever in its text that stands. What a package imports under
`TYPE_CHECKING` does not run: it says where a name comes from that the package hands on
when it is asked for. Such an import counts for the name alone, and so does each import
of a module that does nothing but import. Of a package that is used as a whole, or asked
for a name that nobody can find, all of this counts; if it has a `__getattr__`, all that
lies below it does.

A text in a program counts as an import if it is the full name of a module, the name of
a Python file beside, or a program itself, as it is handed to another process. A name
that is made while a program runs is not seen.

A module may read what lies beside it. So with each module come the other files of its
folder, and those below that are in no package. The folder of the project is left out,
since all builds leave their files there.
"""

import ast
import sys
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pytest_proofread import reached
from pytest_proofread.reached import MODULE, PROGRAM

# ---- What the text of a program says -----------------------------------------------


class Source(NamedTuple):
    """Where a name comes from: a module, and names in it, each in the one before."""

    level: int
    module: str
    names: tuple[str, ...] = ()


class Facts(ast.NodeVisitor):
    """What stands in a program.

    Attributes:
        imports: Where the names come from that imports bind when they run.
        on_demand: The same of imports under `TYPE_CHECKING`.
        stars: The modules of which all names are imported, and whether on demand.
        modules: The modules that are imported as such.
        uses: The attributes that are asked of each name, `()` for the name itself.
        defined: The names that it binds itself.
        texts: The texts in it.
        only_imports: Whether it does nothing but import.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.imports: defaultdict[str, set[Source]] = defaultdict(set)
        self.on_demand: defaultdict[str, set[Source]] = defaultdict(set)
        self.stars: set[tuple[Source, bool]] = set()
        self.modules: set[Source] = set()
        self.uses: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
        self.defined: set[str] = set()
        self.texts: set[str] = set()
        self.only_imports = all(map(is_import, tree.body))
        self.below = self.is_on_demand = self.in_getattr = False
        self.visit(tree)

    def visit_If(self, node: ast.If) -> None:
        """Read what is under `TYPE_CHECKING` as what is on demand."""
        name = getattr(node.test, "attr", getattr(node.test, "id", ""))
        if name != "TYPE_CHECKING":
            self.generic_visit(node)
            return
        before, self.is_on_demand = self.is_on_demand, True
        self.visit_all(node.body)
        self.is_on_demand = before
        self.visit_all(node.orelse)

    def visit_all(self, nodes: Iterable[ast.AST]) -> None:
        """Read some statements."""
        for node in nodes:
            self.visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        """Read `import a.b, c as d`."""
        bound = self.on_demand if self.is_on_demand else self.imports
        for alias in node.names:
            if not self.is_on_demand:
                self.modules.add(Source(0, alias.name))
            module = alias.name if alias.asname else alias.name.partition(".")[0]
            bound[alias.asname or module].add(Source(0, module))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """Read `from a import b, c as d` and `from a import *`."""
        bound = self.on_demand if self.is_on_demand else self.imports
        module = Source(node.level, node.module or "")
        for alias in node.names:
            if alias.name == "*":
                self.stars.add((module, self.is_on_demand))
            else:
                source = module._replace(names=(alias.name,))
                bound[alias.asname or alias.name].add(source)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """Read `a.b.c` as a use of `a`."""
        names: list[str] = []
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            names.insert(0, inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name):
            self.uses[inner.id].add(tuple(names))
        else:
            self.visit(inner)

    def visit_Name(self, node: ast.Name) -> None:
        """Read a name that is used, or bound at the top."""
        if isinstance(node.ctx, ast.Load):
            self.uses[node.id].add(())
        elif not self.below:
            self.defined.add(node.id)

    def visit_Constant(self, node: ast.Constant) -> None:
        """Read a text; what `__getattr__` imports, the imports on demand tell."""
        if isinstance(node.value, str) and not self.in_getattr:
            self.texts.add(node.value)

    def visit_definition(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    ) -> None:
        """Read a function or a class: it binds nothing at the top but its name."""
        before = self.below, self.in_getattr
        if not self.below:
            self.defined.add(node.name)
            self.in_getattr = node.name == "__getattr__"
        self.below = True
        self.generic_visit(node)
        self.below, self.in_getattr = before

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_definition  # noqa: N815


def is_import(node: ast.stmt) -> bool:
    """Say whether a statement imports, or is a docstring or `__all__`."""
    if isinstance(node, ast.Assign):
        return [ast.unparse(target) for target in node.targets] == ["__all__"]
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    return isinstance(node, ast.Import | ast.ImportFrom)


@cache
def read(text: str | bytes) -> Facts:
    """Return what stands in a program, which is nothing if it is none."""
    try:
        return Facts(ast.parse(text))
    except (SyntaxError, ValueError):
        return Facts(ast.Module([], []))


# ---- Following it ------------------------------------------------------------------


class Step(NamedTuple):
    """A file that is reached, and what of it.

    Attributes:
        file: The file.
        names: A name that is asked of it and attributes of that, `()` for all that it
            has, or nothing: it runs.
        runs: Whether what it imports is reached, too.
    """

    file: Path
    names: tuple[str, ...] | None = None
    runs: bool = True


class Reached(reached.Reached):
    """Finds the files of a project that programs reach, name by name.

    It remembers what it has read, so each is for a moment in which no file changes.

    Args:
        project: The folder of the files that may change.
        path: The folders that modules are looked for in; what lies outside of the
            project or is installed is passed over.
        imported: For files, others that they were seen to import.
    """

    def __init__(
        self,
        project: Path,
        path: Sequence[str | Path],
        imported: Mapping[Path, Iterable[Path]] | None = None,
    ) -> None:
        super().__init__(project, path)
        self.imported = imported or {}
        self.steps: dict[Step, set[Step]] = {}
        self.beside: dict[Path, set[Path]] = {}

    def of(self, text: str, file: Path | None = None) -> set[Path]:
        """Return the files that a program reaches, without its own.

        Args:
            text: The program.
            file: Its file, if it has one, for what it imports relatively.
        """
        waiting = {*self.running(text, file)}
        if file is not None:
            waiting |= {*self.packages(file.resolve())}
        modules = self.reached_from(waiting)
        return modules.union(*(self.files_beside(one.parent) for one in modules))

    def modules_of(self, files: Iterable[Path]) -> set[Path]:
        """Return some files that run, and the modules that they reach.

        What lies beside them is not among these.
        """
        return self.reached_from({Step(file) for file in files if file.is_file()})

    def reached_from(self, waiting: set[Step]) -> set[Path]:
        """Return the files of some steps, and of all that these lead to."""
        found: set[Step] = set()
        while waiting:
            step = waiting.pop()
            if step not in found:
                found.add(step)
                if step not in self.steps:
                    self.steps[step] = {*self.next(step)}
                waiting |= self.steps[step]
        return {step.file for step in found}

    def facts(self, file: Path) -> Facts:
        """Return what stands in a file."""
        return read(self.content(file))

    def next(self, step: Step) -> Iterator[Step]:
        """Yield what a step leads to."""
        file, names, runs = step
        facts = self.facts(file)
        yield from self.packages(file)
        if names is None:
            if runs:
                yield from self.running(self.content(file), file)
                # What it imports when it is asked for a name counts for the name.
                if "__getattr__" not in facts.defined:
                    others = self.imported.get(file, ())
                    yield from (Step(other) for other in others if other.is_file())
            return
        if names == ():
            yield from self.all_of(file)
            return
        yield Step(file, runs=not facts.only_imports)
        name, *rest = names
        sources = {*facts.imports.get(name, ()), *facts.on_demand.get(name, ())}
        inside = file.name == "__init__.py" and module_file(file.parent / name)
        if inside:
            yield from self.asked(file.parent / name, tuple(rest))
        stars = {
            star for star, _ in facts.stars if self.gives(file, star, name, {file})
        }
        sources |= {star._replace(names=(name,)) for star in stars}
        for source in sources:
            yield from self.followed(file, source, tuple(rest))
        if not (inside or sources or name in facts.defined):
            yield from self.all_of(file)

    def all_of(self, file: Path) -> Iterator[Step]:
        """Yield all that a file has or hands on."""
        facts = self.facts(file)
        yield Step(file)
        for sources in facts.on_demand.values():
            for source in sources:
                yield from self.followed(file, source)
        for star, _ in facts.stars:
            yield from self.followed(file, star)
        if "__getattr__" in facts.defined and file.name == "__init__.py":
            yield from (Step(one) for one in file.parent.rglob("*.py"))

    def running(self, text: str | bytes, file: Path | None) -> Iterator[Step]:
        """Yield what a program leads to when it runs."""
        facts = read(text)
        for module in facts.modules:
            for place in self.places(file, module):
                if found := module_file(place):
                    yield Step(found)
        for name, sources in facts.imports.items():
            for source in sources:
                # A name of a module is bound without that it is asked for anything.
                uses = facts.uses.get(name) or ({()} if source.names else set())
                for names in uses:
                    yield from self.followed(file, source, names)
        for star, is_on_demand in facts.stars:
            if not is_on_demand:
                yield from self.followed(file, star)
        for value in facts.texts:
            yield from self.named(value, file)

    def named(self, value: str, file: Path | None) -> Iterator[Step]:
        """Yield what a text in a program leads to."""
        if MODULE.fullmatch(value):
            for place in self.places(None, Source(0, value)):
                if found := module_file(place):
                    yield Step(found, ())
            if file and value.endswith(".py"):
                beside = file.parent / value
                yield from (Step(one) for one in [beside] if one.is_file())
        elif PROGRAM.search(value):
            yield from self.running(textwrap.dedent(value), None)

    def followed(
        self, file: Path | None, source: Source, names: tuple[str, ...] = ()
    ) -> Iterator[Step]:
        """Yield what it leads to that a file asks a source for names."""
        for place in self.places(file, source):
            yield from self.asked(place, source.names + names)

    def asked(self, place: Path, names: tuple[str, ...]) -> Iterator[Step]:
        """Yield what it leads to that a module is asked for names."""
        if file := module_file(place):
            yield Step(file, names)
        elif names:  # a package without a file
            yield from self.asked(place / names[0], names[1:])

    def gives(self, file: Path, star: Source, name: str, asked: set[Path]) -> bool:
        """Say whether a module, of which a file imports all names, has one.

        Args:
            file: The file that imports them.
            star: The module.
            name: The name.
            asked: The files that are being asked already, since two can import all
                names of each other.
        """
        for place in self.places(file, star):
            if (found := module_file(place)) and found not in asked:
                facts = self.facts(found)
                if name in {*facts.imports, *facts.on_demand, *facts.defined}:
                    return True
                asked.add(found)
                stars = [star for star, _ in facts.stars]
                if any(self.gives(found, star, name, asked) for star in stars):
                    return True
        return False

    def places(self, file: Path | None, source: Source) -> Iterator[Path]:
        """Yield where a module may be, without the suffix."""
        if source.level:
            bases = [file.parents[source.level - 1]] if file else []
        else:
            bases = self.path
        for base in bases:
            yield base.joinpath(*filter(None, source.module.split(".")))

    def packages(self, file: Path) -> Iterator[Step]:
        """Yield the packages that a module is in."""
        for folder in file.parents:
            if folder == self.project:
                break
            if (folder / "__init__.py").is_file():
                yield Step(folder / "__init__.py")

    def files_beside(self, folder: Path) -> set[Path]:
        """Return the files that the modules of a folder may read.

        These are all that are no modules, in the folder and in those below that have
        no module either. In a package they are all below that are in no other package.
        """
        if folder not in self.beside:
            found: set[Path] = set()
            if folder != self.project:
                is_package = (folder / "__init__.py").is_file()
                for path in seen(folder):
                    if path.is_file() and path.suffix != ".py":
                        found.add(path)
                    elif path.is_dir() and not (path / "__init__.py").is_file():
                        below = {*files_below(path)}
                        if is_package or not any(f.suffix == ".py" for f in below):
                            found |= below
            self.beside[folder] = found
        return self.beside[folder]


def from_here(*folders: Path) -> Reached:
    """Return what finds the files of the project in the current folder.

    Args:
        folders: Where modules are looked for besides, before all others.
    """
    return Reached(Path.cwd(), [*folders, "src", ".", *sys.path])


def module_file(place: Path) -> Path | None:
    """Return the file of a module, of which the path without suffix is given."""
    for file in (place / "__init__.py", place.parent / f"{place.name}.py"):
        if file.is_file():
            return file
    return None


def seen(folder: Path) -> Iterator[Path]:
    """Yield what is in a folder, without what is hidden or compiled."""
    for path in sorted(folder.iterdir()):
        if not path.name.startswith(".") and path.name != "__pycache__":
            yield path


def files_below(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder that are in no package."""
    for path in seen(folder):
        if path.is_file():
            yield path
        elif path.is_dir() and not (path / "__init__.py").is_file():
            yield from files_below(path)
