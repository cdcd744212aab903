"""A program reaches what can change what it does."""

from pathlib import Path

import pytest

from pytest_proofread.reached import Reached

FILES = {
    "src/eager/__init__.py": "from eager.x import X\nfrom . import y as named\n",
    "src/eager/x.py": "X = 1\n",
    "src/eager/y.py": "from .x import X\n",
    "src/eager/z.py": "import eager.deep.w",
    "src/eager/table.csv": "1\n",
    "src/eager/deep/w.py": "",
    "src/eager/deep/data/numbers.txt": "1\n",
    "src/eager/.hidden": "",
    "src/typed/__init__.py": """
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typed.one import One


def __getattr__(name):
    from importlib import import_module

    return getattr(import_module("typed.one"), name)
""",
    "src/typed/one.py": "One = 1\n",
    "src/alone.py": "One = 1\n",
    "at_root.py": "import alone\n",
    "notes.txt": "",
    "lib/site-packages/theirs.py": "import alone\n",
}
BESIDE = {"eager/table.csv", "eager/deep/data/numbers.txt"}
EAGER = {"eager/__init__.py", "eager/x.py", "eager/y.py", *BESIDE}
TYPED = {"typed/__init__.py", "typed/one.py"}
REACHED = {
    "import typed": TYPED,
    "from typed import One": TYPED,
    "import eager as e": EAGER,
    "def f():\n    from eager.z import *": {*EAGER, "eager/z.py", "eager/deep/w.py"},
    "run(['-m', 'eager.z'])": {*EAGER, "eager/z.py", "eager/deep/w.py"},
    "run('''\n  import typed\n''')": TYPED,
    "import alone": {"alone.py", *BESIDE},
    "import at_root": {"alone.py", "../at_root.py", *BESIDE},
    "import theirs": set(),
    "'alone'": set(),
    "from . import alone": set(),
    "import": set(),
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)
    return tmp_path


@pytest.mark.parametrize(("code", "files"), REACHED.items())
def test_what_is_reached(project: Path, code: str, files: set[str]) -> None:
    path = [project / "src", project, project / "lib/site-packages", "/usr/lib"]
    found = Reached(project, path).of(code)
    expected = {(project / "src" / name).resolve() for name in files}
    assert found == expected


def test_parts_name_what_is_in_which_file(project: Path) -> None:
    reached = Reached(project, [project / "src"])
    files = {project / "src/alone.py", project / "src/eager/x.py"}
    parts = ["src/alone.py", b"One = 1\n", "src/eager/x.py", b"X = 1\n"]
    assert reached.parts(files) == parts
