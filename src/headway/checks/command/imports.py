"""Import the file, the notebook or the module that a command line names."""

import ast
import contextlib
import importlib
import importlib.machinery
import importlib.util
import json
import linecache
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from headway.checks.command.target_name import FILES
from headway.checks.core.cannot_check import CannotCheckError
from headway.checks.core.errors import at_the_border, describe, is_ours, place
from headway.checks.core.limit import limited

_DEFINITIONS = (
    ast.Import,
    ast.ImportFrom,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Assign,
    ast.AnnAssign,
)
# Errors that speak for themselves: what is missing or misspelt is named.
_CLEAR = (ImportError, SyntaxError)


class Notebook(ModuleType):
    """What the code cells of a notebook define.

    Attributes:
        errors: What cells raised, each as a sentence.
    """

    errors: list[str]


def import_place(where: str) -> ModuleType:
    """Import a file, a notebook or a module.

    Raises:
        ValueError: If that raises something.
    """
    try:
        with limited():
            return _import(where)
    except (Exception, SystemExit) as raised:  # whatever a reader's code may raise
        if is_ours(raised):
            raise
        hint = ""
        ran = place(raised)
        if ran and not isinstance(raised, _CLEAR):
            hint = (
                f"{ran}. It is run when it is imported: what trains belongs under "
                'if __name__ == "__main__"'
            )
        raise CannotCheckError(
            f"{where} could not be imported: {describe(raised)}{hint}."
        ) from raised


@contextlib.contextmanager
def search_path(where: str) -> Iterator[None]:
    """Let what lies beside a file be imported for a while, and what lies here."""
    before = [*sys.path]
    sys.path[:0] = [*dict.fromkeys([str(import_root(where)), str(Path.cwd())])]
    try:
        yield
    finally:
        sys.path[:] = before


def _import(where: str) -> ModuleType:
    path = Path(where)
    if path.suffix == ".ipynb":
        return _import_notebook(path)
    return _import_file(path) if path.suffix == ".py" else _import_module(where)


@at_the_border
def _import_module(name: str) -> ModuleType:
    return importlib.import_module(name)


def import_root(where: str) -> Path:
    """Give the folder that imports begin in: above all packages that a file is in."""
    if not where.endswith(FILES):
        return Path.cwd()
    folder = Path(where).resolve().parent
    while _is_package(folder):
        folder = folder.parent
    return folder


def _is_package(folder: Path) -> bool:
    return (folder / "__init__.py").exists()


def _import_file(path: Path) -> ModuleType:
    _refuse_missing(path)
    if _is_package(path.resolve().parent):
        return _import_from_package(path.resolve(), import_root(str(path)))
    name = _free_name(path)
    loader = importlib.machinery.SourceFileLoader(name, str(path))
    spec = importlib.machinery.ModuleSpec(name, loader, origin=str(path))
    spec.has_location = True
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # as dataclasses, for one, look themselves up
    try:
        _execute(loader, module)
    except BaseException as raised:
        del sys.modules[name]
        if "no known parent package" in str(raised):
            return _import_relatively(path.resolve())
        raise
    return module


@at_the_border
def _refuse_missing(path: Path) -> None:
    path.stat()  # its error names the file as the reader does


@at_the_border
def _execute(loader: importlib.machinery.SourceFileLoader, module: ModuleType) -> None:
    loader.exec_module(module)


def _free_name(path: Path) -> str:
    return path.stem if path.stem not in sys.modules else f"checked_{path.stem}"


def _import_relatively(path: Path) -> ModuleType:
    """Import a file that imports its neighbours, in a folder without `__init__.py`."""
    here = Path.cwd()
    above = here if here in path.parent.parents else path.parent.parent
    with search_path(str(above / path.name)):
        return _import_from_package(path, above)


@at_the_border
def _import_from_package(path: Path, root: Path) -> ModuleType:
    """Import a file by its full name, which its relative imports need."""
    inside = path.relative_to(root).with_suffix("")
    name = ".".join(part for part in inside.parts if part != "__init__")
    module = importlib.import_module(name)
    if path != Path(module.__file__ or "").resolve():
        raise ImportError(f"another package is called {inside.parts[0]}")
    return module


def _import_notebook(path: Path) -> Notebook:
    """Run what the code cells define, and leave out all else, as what trains.

    A cell that fails does not keep the others from being run: the one that reads a file
    that is not here says nothing of the classes below it.
    """
    code = _code_cells(path)
    module = Notebook(_free_name(path))
    module.__file__ = str(path)
    module.errors = []
    sys.modules[module.__name__] = module
    for number, source in enumerate(code, 1):
        name = f"{path.as_posix()}, cell {number}"
        _run_cell(module, name, _without_magics(source))
    return module


@at_the_border
def _code_cells(path: Path) -> list[str]:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return ["".join(one["source"]) for one in cells if one["cell_type"] == "code"]


@at_the_border
def _run_cell(module: Notebook, name: str, source: str) -> None:
    # Errors and `inspect` show lines of it, as in a notebook.
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    try:
        body = ast.parse(source, name).body
    except SyntaxError as error:
        module.errors.append(f"{name} raised {describe(error)}")
        return
    for statement in body:
        if not isinstance(statement, _DEFINITIONS):
            continue
        code = compile(ast.Module([statement], []), name, "exec")
        try:
            exec(code, vars(module))  # noqa: S102  # it is the reader's own notebook
        except (Exception, SystemExit) as raised:  # whatever it may raise
            module.errors.append(f"{name} raised {describe(raised)}")


def _without_magics(source: str) -> str:
    """Leave out the commands of IPython; lines keep their numbers."""
    if source.lstrip().startswith(("%%bash", "%%sh", "%%html", "%%writefile")):
        return ""
    lines = [
        "" if line.lstrip().startswith(("%", "!", "?")) else line
        for line in source.splitlines()
    ]
    return "\n".join(lines)
