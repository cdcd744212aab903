"""Put back what a program changed, so that the next finds a fresh interpreter.

That is: the working directory, the environment, `sys.argv`, `sys.path`, the names of
the project's modules and classes, the random numbers, and the settings of NumPy and
PyTorch where they are loaded. A module that was written in C cannot be made fresh.
"""

import ast
import contextlib
import copy
import importlib
import logging
import os
import random
import shutil
import sys
import tempfile
import types
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

MISSING = object()
Restore = Callable[[], object]


def of_numpy(numpy: Any) -> Restore:
    """Remember the settings of NumPy; its random numbers start anywhere."""
    options, errors = numpy.get_printoptions(), numpy.geterr()

    def restore() -> None:
        numpy.random.seed()
        numpy.set_printoptions(**options)
        numpy.seterr(**errors)

    return restore


def of_torch(torch: Any) -> Restore:
    """Remember the settings of PyTorch; its random numbers start anywhere."""
    options = copy.copy(torch._tensor_str.PRINT_OPTS)
    settings = [
        (get, get(), put)
        for get, put in (
            (torch.get_default_dtype, torch.set_default_dtype),
            (torch.get_default_device, torch.set_default_device),
            (torch.get_num_threads, torch.set_num_threads),
            (torch.get_float32_matmul_precision, torch.set_float32_matmul_precision),
            (torch.is_grad_enabled, torch.set_grad_enabled),
            (torch.is_anomaly_enabled, torch.set_anomaly_enabled),
            (
                torch.are_deterministic_algorithms_enabled,
                torch.use_deterministic_algorithms,
            ),
        )
    ]

    def restore() -> None:
        torch._tensor_str.PRINT_OPTS.__dict__.update(vars(options))
        torch.random.default_generator.seed()
        if torch.cuda.is_initialized():
            torch.cuda.seed_all()
        # Some are slow to set, and load half of PyTorch.
        for get, value, put in settings:
            if get() != value:
                put(value)

    return restore


KNOWN = {"numpy": of_numpy, "torch": of_torch}


def names_of(module: types.ModuleType) -> Restore:
    """Remember the names of a module and of the classes that it defines."""
    classes = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == module.__name__
    ]
    spaces = [(module, dict(vars(module))), *((c, dict(vars(c))) for c in classes)]

    def restore() -> None:
        for owner, names in spaces:
            now = vars(owner)
            for name in [*now.keys() - names.keys()]:
                # Python binds a submodule to its package once, and not again.
                if not isinstance(now[name], types.ModuleType):
                    delattr(owner, name)
            for name, value in names.items():
                if now.get(name, MISSING) is not value:
                    setattr(owner, name, value)

    return restore


class Interpreter:
    """Puts back what programs change, so that each finds what a fresh one has.

    Args:
        project: The folder whose modules a program may have changed; those of the
            packages that are installed are left alone.
    """

    def __init__(self, project: Path) -> None:
        self.project = project.resolve()
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("PYTEST_")
        }
        self.path = list(sys.path)
        self.folder: Path | None = None
        self.seen: set[str] = set()
        self.restores: list[Restore] = []

    def imports(self, code: str) -> None:
        """Import beforehand what is put back, to see it before it is changed."""
        for name in imported(code):
            # The program itself will show what is wrong.
            with contextlib.suppress(BaseException):
                if name.partition(".")[0] not in sys.stdlib_module_names:
                    importlib.import_module(name)
        for name in sys.modules.keys() - self.seen:
            self.seen.add(name)
            module = sys.modules[name]
            if name in KNOWN:
                self.restores.append(KNOWN[name](module))
            elif self.owns(name, getattr(module, "__file__", None)):
                self.restores.append(names_of(module))

    def owns(self, name: str, file: str | None) -> bool:
        """Say whether a module is a part of the project, and not of what checks it."""
        if not file or name.partition(".")[0] == __name__.partition(".")[0]:
            return False
        path = Path(file)
        return self.project in path.parents and "site-packages" not in path.parts

    def restore(self, threads: int = 0) -> None:
        """Put everything back, but let PyTorch use this many threads if not 0."""
        if os.environ != self.environment:
            os.environ.clear()
            os.environ.update(self.environment)
        sys.argv[:] = [""]
        sys.path[:] = ["", *self.path]
        random.seed()
        for restore in self.restores:
            restore()
        if threads and "torch" in sys.modules:
            sys.modules["torch"].set_num_threads(threads)

    @contextlib.contextmanager
    def fresh(self, code: str, threads: int = 0) -> Iterator[None]:
        """Run what is inside in a fresh state and an empty folder."""
        surrounding = dict(os.environ), list(sys.argv), list(sys.path), os.getcwd()
        self.imports(code)
        folder = self.empty_folder()
        logs = logging.root.handlers[:], logging.root.level
        logging.root.handlers[:] = []
        logging.root.setLevel(logging.WARNING)
        os.chdir(folder)
        self.restore(threads)
        modules = set(sys.modules)
        try:
            yield
        finally:
            self.restore()
            os.chdir(surrounding[3])
            self.forget(modules, folder)
            logging.root.handlers[:] = logs[0]
            logging.root.setLevel(logs[1])
            os.environ.clear()
            os.environ.update(surrounding[0])
            sys.argv[:], sys.path[:] = surrounding[1:3]

    def empty_folder(self) -> Path:
        """Return a new folder, or the last one if that was left empty."""
        if self.folder is None or not is_empty(self.folder):
            self.folder = Path(tempfile.mkdtemp()).resolve()
            weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        return self.folder

    def forget(self, before: set[str], folder: Path) -> None:
        """Drop the modules that a program wrote itself."""
        new = sys.modules.keys() - before
        tops = {top: sys.modules.get(top) for top in {n.partition(".")[0] for n in new}}
        own = {top for top, module in tops.items() if is_written(module, folder)}
        for name in new:
            if name.partition(".")[0] in own:
                del sys.modules[name]


def is_written(module: object, folder: Path) -> bool:
    """Say whether a module came from a folder, or from no file and no importer."""
    if file := getattr(module, "__file__", None):
        return folder in Path(file).resolve().parents
    return getattr(module, "__spec__", None) is None


def is_empty(folder: Path) -> bool:
    """Say whether there is such a folder, with nothing in it."""
    return folder.is_dir() and not any(folder.iterdir())


def imported(code: str) -> list[str]:
    """Return the names of the modules that a program imports."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError):
        return []
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.append(node.module)
    return names
