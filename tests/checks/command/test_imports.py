"""Files, notebooks and modules are imported as their readers run them."""

import inspect
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headway.checks.command.imports import Notebook, import_place, search_path
from headway.checks.command.target_name import split


@pytest.fixture(autouse=True)
def _imports() -> Iterator[None]:
    path, modules = [*sys.path], {*sys.modules}
    yield
    assert sys.path == path
    for name in {*sys.modules} - modules:
        del sys.modules[name]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def found(where: str) -> Any:
    with search_path(where):
        return import_place(where)


def write(folder: Path, place: str, text: str) -> None:
    (folder / place).parent.mkdir(parents=True, exist_ok=True)
    (folder / place).write_text(text)


@pytest.mark.parametrize("folder", ["", "models/", "/", "C:/dir/", "C:\\dir\\", "C:"])
@pytest.mark.parametrize("file", ["mine.py", "mine.ipynb"])
def test_a_target_is_cut_at_the_colon_of_its_name(folder: str, file: str) -> None:
    place = f"{folder}{file}"
    assert split(place) == (place, "")
    assert split(f"{place}:Attend") == (place, "Attend")
    assert split(f"{place}:Block.Attend") == (place, "Block.Attend")
    assert split("torch.nn:Linear") == ("torch.nn", "Linear")
    assert split("torch.nn") == ("torch.nn", "")


# From the root of a repository


def test_a_file_may_import_from_the_working_directory(folder: Path) -> None:
    write(folder, "models_here/layers/sizes.py", "width = 17")
    write(
        folder,
        "models_here/layers/attention.py",
        "from models_here.layers.sizes import width",
    )
    assert found("models_here/layers/attention.py").width == 17


def test_a_file_may_import_relatively_without_a_package(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, "some_models/layers/sizes.py", "width = 17")
    text = "from .sizes import width"
    write(folder, "some_models/layers/attention.py", text)
    assert found("some_models/layers/attention.py").width == 17
    assert sys.modules["some_models.layers.attention"].width == 17


def test_so_it_may_in_its_own_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, "other_models/sizes.py", "width = 19")
    write(folder, "other_models/attention_19.py", "from .sizes import width")
    monkeypatch.chdir(folder / "other_models")
    assert found("attention_19.py").width == 19


# What a file does when it is imported


def test_a_script_that_trains_is_told_how_not_to(folder: Path) -> None:
    write(folder, "train_it.py", "import math\nwords = {}['corpus']")
    with pytest.raises(ValueError, match=r"^train_it\.py could not") as caught:
        found("train_it.py")
    assert str(caught.value) == (
        "train_it.py could not be imported: KeyError: 'corpus' at train_it.py:2. It is "
        "run when it is imported: what trains belongs under if __name__ == "
        '"__main__".'
    )
    write(folder, "read_it.py", "open('input.txt')")
    with pytest.raises(ValueError, match="belongs under if __name__"):
        found("read_it.py")


@pytest.mark.parametrize("text", ["import nowhere_at_all", "class A"])
def test_what_speaks_for_itself_has_no_hint(folder: Path, text: str) -> None:
    write(folder, "unclear.py", text)
    with pytest.raises(ValueError, match="could not be imported") as caught:
        found("unclear.py")
    assert "__main__" not in str(caught.value)


# Notebooks


CELLS = [
    ("markdown", ["# Attention\n", "class A:\n"]),
    ("code", ["%matplotlib inline\n", "!pip install all\n", "import math"]),
    ("code", ["%%bash\n", "class here means nothing"]),
    ("code", ["text = open('not here').read()\n", "after = 3"]),
    ("code", ["class = 5"]),
    ("code", ["class A:\n", "    def area(self):\n", "        return math.pi\n"]),
    ("code", ["a: int = 7\n", "while True:\n", "    pass\n", "1 / 0"]),
    ("code", "async def wait(): ...\nfrom math import tau"),
]


@pytest.fixture
def notebook(folder: Path) -> Notebook:
    cells = [{"cell_type": kind, "source": source} for kind, source in CELLS]
    write(folder, "mine.ipynb", json.dumps({"cells": cells}))
    module = found("mine.ipynb")
    assert isinstance(module, Notebook)
    return module


def test_a_notebook_gives_what_its_cells_define(notebook: Any) -> None:
    assert notebook.A().area() > 3
    assert (notebook.after, notebook.a) == (3, 7)
    assert notebook.tau > 6
    assert callable(notebook.wait)
    assert notebook.A.__module__ == "mine"
    assert "return math.pi" in inspect.getsource(notebook.A.area)


def test_cells_that_fail_are_remembered(notebook: Notebook) -> None:
    first, second = notebook.errors
    assert first.startswith("mine.ipynb, cell 3 raised FileNotFoundError: ")
    assert second.startswith("mine.ipynb, cell 4 raised SyntaxError: ")


def test_a_notebook_that_is_none_says_why(folder: Path) -> None:
    write(folder, "empty.ipynb", "{}")
    with pytest.raises(
        ValueError, match=r"^empty\.ipynb could not .*KeyError: 'cells'"
    ):
        found("empty.ipynb")
