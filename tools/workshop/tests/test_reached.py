"""A program reaches what can change what it does, and little else."""

import textwrap
from pathlib import Path

import pytest

from workshop.reached import Reached, from_here

FILES = {
    # A package that hands on names when they are asked for.
    "src/lazy/__init__.py": """
        from typing import TYPE_CHECKING

        version = "1"

        if TYPE_CHECKING:
            from lazy._names import *
            from lazy.c import C as D
        else:
            MODULES = {"D": "c"}

            def __getattr__(name):
                from importlib import import_module

                return getattr(import_module("lazy._names"), name)
        """,
    "src/lazy/_names.py": """
        "The names."

        from lazy.a import A
        from lazy.b import B, B as E
        from ._more import *

        __all__ = ["A", "B", "E", "F"]
        """,
    "src/lazy/_more.py": "from ._names import *\nfrom .deep.f import F\n",
    "src/lazy/a.py": "from . import under\nA = under.value\n",
    "src/lazy/b.py": "B = 1\n",
    "src/lazy/c.py": "class C: ...\n",
    "src/lazy/under.py": "value = 1\n",
    "src/lazy/unused.py": "",
    "src/lazy/deep/__init__.py": "",
    "src/lazy/deep/f.py": "def F():\n    from ..b import B\n",
    "src/lazy/tasks/one.py": "import lazy.c\n",
    # One that imports what it hands on.
    "src/eager/__init__.py": "from eager.x import X\nfrom eager import y as named\n",
    "src/eager/x.py": "X = 1\n",
    "src/eager/y.py": "import eager\n\n\ndef f():\n    return eager.X\n",
    "src/eager/z.py": "from lazy import B\n",
    "src/both/__init__.py": "from lazy import B\nfrom eager import X\n",
    # Modules that say what they hand on.
    "src/typed.py": """
        from typing import TYPE_CHECKING

        if TYPE_CHECKING:
            from alone import One
            from bare.inner.beside import *


        def f():
            inside = 1
        """,
    "src/late.py": """
        def __getattr__(name):
            raise AttributeError("typed.py")


        OTHER = "lazy.b"
        """,
    # Packages that read files, or start other processes.
    "src/reads/__init__.py": "",
    "src/reads/table.csv": "",
    "src/reads/data/more/numbers.bin": "",
    "src/reads/data/make.py": "",
    "src/reads/data/package/__init__.py": "",
    "src/reads/data/package/own.csv": "",
    "src/reads/data/.hidden": "",
    "src/reads/other/__init__.py": "",
    "src/reads/other/own.csv": "",
    "src/reads/starts.py": """
        import sys

        WORKER = "_worker.py"
        COMMAND = [sys.executable, "-m", "reads.other.main"]
        CODE = '''
            from eager.x import X
        '''
        """,
    "src/reads/_worker.py": "",
    "src/reads/other/main.py": "",
    # Packages without a file, modules alone, and what is no program.
    "src/bare/inner/module.py": "from . import beside\n",
    "src/bare/inner/beside.py": "",
    "src/above/__init__.py": "",
    "src/above/bare/module.py": "",
    "alone.py": "One = 1\nimport broken\n",
    "broken.py": "def",
    "notes.txt": "",
    "scripts/tool.py": "",
    "scripts/words.txt": "",
    "scripts/texts/words.txt": "",
    "scripts/more/extra.txt": "",
    "scripts/more/module.py": "",
    # What is installed has a version.
    "site-packages/theirs.py": "import alone\n",
}
LAZY = {"lazy/__init__", "lazy/_names"}
EAGER = {"eager/__init__", "eager/x", "eager/y"}
ALL_LAZY = {
    *LAZY,
    *("lazy/_more", "lazy/a", "lazy/b", "lazy/c", "lazy/under", "lazy/unused"),
    *("lazy/deep/__init__", "lazy/deep/f", "lazy/tasks/one"),
}
TASKS = {"lazy/tasks/one"}  # it lies below `lazy` and in no package
DATA = {
    "reads/table.csv",
    "reads/data/more/numbers.bin",
    "reads/data/make",
}

USED = {
    # Packages that hand on.
    "from lazy import A": {*LAZY, "lazy/a", "lazy/under"},
    "from lazy import B": {*LAZY, "lazy/b"},
    "from lazy import E as e": {*LAZY, "lazy/b"},
    "from lazy import D": {"lazy/__init__", "lazy/c"},
    "from lazy import F": {
        *LAZY,
        *("lazy/_more", "lazy/deep/__init__", "lazy/deep/f", "lazy/b"),
    },
    "from lazy import version": {"lazy/__init__"},
    "from lazy import MODULES": {"lazy/__init__"},
    "from lazy.c import C": {"lazy/__init__", "lazy/c"},
    "from lazy._names import B": {*LAZY, "lazy/b"},
    "from lazy import deep": {"lazy/__init__", "lazy/deep/__init__"},
    "from lazy import deep\ndeep.f.F()": {
        *("lazy/__init__", "lazy/deep/__init__", "lazy/deep/f", "lazy/b"),
    },
    "import lazy": {"lazy/__init__"},
    "import lazy\nlazy.B.c()": {*LAZY, "lazy/b"},
    "import lazy as l\nl.version + l.D.x": {"lazy/__init__", "lazy/c"},
    "import lazy.b": {"lazy/__init__", "lazy/b"},
    "import lazy.b as b\nb.B": {"lazy/__init__", "lazy/b"},
    "import lazy.c\nlazy.b.B": {"lazy/__init__", "lazy/b", "lazy/c"},
    # Nobody can say what of it.
    "import lazy\nprint(lazy)": ALL_LAZY,
    "import lazy\nlazy.nothing": ALL_LAZY,
    "from lazy import nothing": ALL_LAZY,
    "from lazy import *": ALL_LAZY,
    "name = 'lazy._names'": {*ALL_LAZY - {"lazy/c", "lazy/unused"} - TASKS},
    # Packages that import.
    "from eager.x import X": EAGER,
    "from eager import X": EAGER,
    "import eager": EAGER,
    "from eager import named\nnamed.f()": EAGER,
    "from eager import z": {*EAGER, "eager/z", *LAZY, "lazy/b"},
    "from both import X": {"both/__init__", *EAGER, *LAZY, "lazy/b"},
    # Modules that say what they hand on.
    "from typed import One": {"typed", "../alone", "../broken"},
    "from typed import f": {"typed"},
    "from typed import inside": {"typed", "../alone", "../broken", "bare/inner/beside"},
    "import typed\nprint(typed)": {
        *("typed", "../alone", "../broken", "bare/inner/beside"),
    },
    "import late": {"late", "lazy/__init__", "lazy/b"},
    # What is read, and started.
    "import reads": set(),
    "import reads.other": {"reads/other/__init__", "reads/other/own.csv"},
    "import reads.starts": {
        *("reads/starts", "reads/_worker", "reads/other/__init__"),
        *("reads/other/own.csv", "reads/other/main", *EAGER),
    },
    # The rest.
    "import bare.inner.module": {"bare/inner/module", "bare/inner/beside"},
    "from bare import inner\ninner.beside": {"bare/inner/beside"},
    "import above.bare.module": {"above/__init__", "above/bare/module"},
    "import alone": {"../alone", "../broken"},
    "def f():\n    import alone as a": {"../alone", "../broken"},
    "import tool": {
        "../scripts/tool",
        *(f"../scripts/{t}words.txt" for t in ("", "texts/")),
    },
    "import torch, nothing.of.this.name, theirs": set(),
    "from . import alone": set(),
    "def": set(),
    "text = 'alone.py'": set(),
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(textwrap.dedent(text))
    return tmp_path


def reached(project: Path, code: str, file: Path | None = None) -> set[str]:
    folders = ["src", ".", "scripts", "site-packages"]
    found = Reached(project, [project / one for one in folders]).of(code, file)
    return {one.relative_to(project).as_posix() for one in found}


def full(name: str) -> str:
    """Return the name of a file from what stands above for it."""
    path = name.removeprefix("../") if name.startswith("../") else f"src/{name}"
    return path if "." in Path(path).name else f"{path}.py"


@pytest.mark.parametrize(("code", "used"), USED.items())
def test_what_is_reached(project: Path, code: str, used: set[str]) -> None:
    expected = {full(name) for name in used}
    if "lazy/__init__" in used:
        expected |= {full(name) for name in TASKS}
    if "reads" in code:
        expected |= {full(name) for name in {"reads/__init__", *DATA}}
    assert reached(project, code) == expected


def test_a_program_with_a_file_is_in_its_packages(project: Path) -> None:
    file = project / "src/eager/new.py"
    assert reached(project, "from .z import B", file) == {
        full(name) for name in {*EAGER, "eager/z", *LAZY, "lazy/b", *TASKS}
    }


def test_the_packages_of_a_program_count(project: Path) -> None:
    assert reached(project, "", project / "src/eager/new.py") == {
        full(name) for name in EAGER
    }


def test_what_is_in_the_current_folder(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    monkeypatch.setattr("sys.path", [str(project / "src/bare/inner"), "/"])
    found = from_here(Path("scripts"))
    code = "import tool, alone, late, beside"
    modules = {one for one in found.of(code) if one.suffix == ".py"}
    names = {"scripts/tool", "alone", "broken", "src/late", "src/bare/inner/beside"}
    names |= {full(name)[:-3] for name in ("lazy/__init__", "lazy/b", *TASKS)}
    assert modules == {project / f"{name}.py" for name in names}


def test_parts_name_what_is_in_which_file(project: Path) -> None:
    found = Reached(project, [project])
    assert found.parts(found.of("import alone")) == [
        *("alone.py", b"One = 1\nimport broken\n"),
        *("broken.py", b"def"),
    ]
