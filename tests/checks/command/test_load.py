"""What a command line names is imported and built, or refused in a sentence."""

import functools
import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from headway.checks.command.load import explain_target, load_target
from tests.checks.support.asking import refused

CODE = """
from torch import nn
import torch.nn.functional as F

class Attend(nn.Module):
    def __init__(self, d_in, d_out=3, *, bias=False):
        super().__init__()
        self.given = d_in, d_out, bias

    class Inner(nn.Module):
        pass

class Careful(nn.Module):
    def __init__(self, width):
        raise ValueError("width must be even.")

class Free(nn.Module):
    def __init__(self, d_in, **others):
        super().__init__()
        self.given = d_in, others

class Alone(nn.Module):
    def __init__(self):
        super().__init__()

built = Attend(7)
number = 5

def make(d_in, heads=2):
    return Attend(d_in, heads)

def make_one():
    return Attend(11)

def attend(q, k, v, causal=False, scale=1.0):
    return v

def of_tokens(x, num_heads, scale=1.0):
    return x

class A:
    class B(Attend):
        pass
"""


def build(
    target: str, options: dict[str, Any], arguments: dict[str, Any] | None = None
) -> Any:
    with load_target(target, options, arguments or {}) as found:
        return found


@pytest.fixture(autouse=True)
def _imports() -> Iterator[None]:
    """Forget what was imported; where from, the code itself forgets."""
    path, modules = [*sys.path], {*sys.modules}
    yield
    assert sys.path == path
    for name in {*sys.modules} - modules:
        del sys.modules[name]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "code_here.py").write_text(CODE)
    return tmp_path


@pytest.fixture
def make(folder: Path) -> Callable[..., Any]:
    def make_it(
        name: str, options: dict[str, Any] | None = None, **arguments: Any
    ) -> Any:
        return build(f"code_here.py:{name}", options or {}, arguments)

    return make_it


# Classes


def test_a_class_is_built_with_what_is_given_and_what_it_takes_of_what_is_told(
    make: Callable[..., Any],
) -> None:
    options = {"d_in": 12, "num_heads": 4}
    assert make("Attend", options).given == (12, 3, False)
    assert make("Attend", options, d_out=20, bias=True).given == (12, 20, True)
    assert make("Attend", options, d_in=13).given == (13, 3, False)
    assert type(make("Alone", options)).__name__ == "Alone"
    assert make("Free", {"d_in": 5}, anything="goes").given == (5, {"anything": "goes"})


def test_a_class_in_a_class_is_found_by_its_whole_name(
    make: Callable[..., Any],
) -> None:
    assert type(make("A.B", d_in=5)).__qualname__ == "A.B"
    assert type(make("Attend.Inner")).__qualname__ == "Attend.Inner"


def test_an_argument_that_is_missing_is_named(make: Callable[..., Any]) -> None:
    with refused("Attend must be given --d-in; it also takes --bias."):
        make("Attend", d_out=5)


def test_an_argument_that_is_unknown_is_named_with_those_that_are_not(
    make: Callable[..., Any],
) -> None:
    with refused("Attend must be given --d-in, --d-out, --bias; got --n-heads."):
        make("Attend", d_in=12, n_heads=4)
    with refused("Alone must be given no option; got --d-in."):
        make("Alone", d_in=12)


def test_what_cannot_be_built_says_why(make: Callable[..., Any]) -> None:
    with refused(
        "Careful could not be built: ValueError: width must be even at code_here.py:15."
    ):
        make("Careful", width=3)


# What is built already


def test_what_is_built_already_is_taken_as_it_is(make: Callable[..., Any]) -> None:
    assert make("built", {"d_in": 12}).given == (7, 3, False)
    assert make("number") == 5
    with refused("built is built already; got --d-out."):
        make("built", d_out=3, bias=True)


# Functions


def test_a_function_that_makes_a_module_is_called(make: Callable[..., Any]) -> None:
    assert make("make", {"d_in": 12}).given == (12, 2, False)
    assert make("make", d_in=12, heads=5).given == (12, 5, False)
    assert make("make_one").given == (11, 3, False)


def test_a_function_that_attends_is_not_called(make: Callable[..., Any]) -> None:
    assert make("attend", {"d_in": 12}).__name__ == "attend"
    assert make("of_tokens", {"d_in": 12}).__name__ == "of_tokens"


def test_a_function_that_attends_keeps_its_options(make: Callable[..., Any]) -> None:
    kept = make("attend", {"causal": True, "d_in": 12}, scale=0.5)
    assert isinstance(kept, functools.partial)
    assert kept.keywords == {"causal": True, "scale": 0.5}
    assert make("of_tokens", {"num_heads": 4}).keywords == {"num_heads": 4}
    with refused("attend must be given --q, --k, --v, --causal, --scale; got --bias."):
        make("attend", bias=True)


def test_a_function_without_a_signature_is_taken_as_it_is() -> None:
    name = "torch.nn.functional:scaled_dot_product_attention"
    attend = build(name, {"d_in": 12}, {})
    assert attend is nn.functional.scaled_dot_product_attention
    with refused("scaled_dot_product_attention must be given no option; got --scale."):
        build(name, {}, {"scale": 0.5})


# Modules and files


def test_a_module_of_a_package_is_imported() -> None:
    given = {"embed_dim": 12, "num_heads": 4}
    module = build("torch.nn:MultiheadAttention", {}, given)
    assert isinstance(module, nn.MultiheadAttention)
    assert (module.embed_dim, module.num_heads) == (12, 4)
    assert build("torch:nn.Identity", {}, {}).training


def test_a_module_may_lie_in_the_working_directory(folder: Path) -> None:
    assert build("code_here:built", {}, {}).given == (7, 3, False)


def test_a_file_may_lie_anywhere_and_import_its_neighbours(folder: Path) -> None:
    place = folder / "some" / "where"
    place.mkdir(parents=True)
    (place / "neighbour.py").write_text("width = 17")
    (place / "file.py").write_text("import neighbour\nmade = [neighbour.width]")
    relative = os.path.relpath(place / "file.py")
    assert build(f"{relative}:made", {}, {}) == [17]
    assert build(f"{place / 'file.py'}:made", {}, {}) == [17]


def test_a_file_may_have_the_name_of_a_module_that_is_loaded(folder: Path) -> None:
    (folder / "torch.py").write_text("import sys\nname = __name__\nfile = __file__")
    assert build("torch.py:name", {}, {}) == "checked_torch"
    assert build("torch.py:file", {}, {}) == "torch.py"
    assert sys.modules["torch"] is torch


def test_a_file_finds_itself_among_the_modules(folder: Path) -> None:
    """As dataclasses do, and whatever looks up its own module."""
    text = """
        from __future__ import annotations
        from dataclasses import dataclass

        @dataclass
        class Config:
            width: int = 5

        config = Config()
    """
    (folder / "configured.py").write_text(textwrap.dedent(text))
    assert build("configured.py:config", {}, {}).width == 5


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("class A\n", "SyntaxError: expected ':' (broken.py, line 1)"),
        ("import nowhere", "ModuleNotFoundError: No module named 'nowhere'"),
        ("from torch import nowhere", "ImportError: cannot import name 'nowhere'"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("raise SystemExit(0)", "SystemExit: 0"),
    ],
)
def test_a_file_that_cannot_be_imported_says_why(
    folder: Path, text: str, error: str
) -> None:
    (folder / "broken.py").write_text(text)
    sentence = f"broken.py could not be imported: {error}"
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}") as caught:
        build("broken.py:A", {}, {})
    assert str(caught.value).endswith(".")


def test_a_file_that_is_not_there_is_named(folder: Path) -> None:
    with refused(
        "lost.py could not be imported: FileNotFoundError: [Errno 2] No such file or "
        "directory: 'lost.py'."
    ):
        build("lost.py:A", {}, {})
    with refused(
        "gone.module could not be imported: ModuleNotFoundError: No module named "
        "'gone'."
    ):
        build("gone.module:A", {}, {})


@pytest.mark.parametrize("target", ["code_here:", ":A", "", "A"])
def test_a_target_has_two_parts(folder: Path, target: str) -> None:
    with refused(
        f"target must be file.py:Name or package.module:Name; got {target!r}."
    ):
        build(target, {}, {})


def test_a_name_that_is_missing_is_named(make: Callable[..., Any]) -> None:
    with refused(
        "code_here.py must have Atend; got no 'Atend' in it: did you mean Attend?"
    ):
        make("Atend")
    with refused("code_here.py must have A.C; got no 'C' in it."):
        make("A.C")


# Packages


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package in a package, whose files import each other."""
    inner = tmp_path / "outer_package" / "inner"
    inner.mkdir(parents=True)
    (inner.parent / "__init__.py").write_text("")
    (inner.parent / "sizes.py").write_text("width = 17")
    (inner / "__init__.py").write_text("from .file import made\nown = made + 1")
    (inner / "file.py").write_text("from ..sizes import width\nmade = width")
    return inner


def test_a_file_in_a_package_may_import_relatively(package: Path) -> None:
    assert build(f"{package / 'file.py'}:made", {}) == 17
    assert sys.modules["outer_package.inner.file"].made == 17
    assert build(f"{package / '__init__.py'}:own", {}) == 18


def test_a_package_with_the_name_of_another_is_refused(
    package: Path, tmp_path: Path
) -> None:
    assert build(f"{package / 'file.py'}:made", {}) == 17
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    shutil.copytree(package.parent, moved / "outer_package")
    file = moved / "outer_package" / "inner" / "file.py"
    with refused(
        f"{file} could not be imported: ImportError: another package is called "
        "outer_package."
    ):
        build(f"{file}:made", {})


def test_what_lies_beside_a_file_may_be_imported_when_it_is_called(
    folder: Path,
) -> None:
    (folder / "later.py").write_text("width = 19")
    (folder / "lazy.py").write_text(
        "def attend(x):\n    import later\n    return x * later.width"
    )
    with load_target("lazy.py:attend", {}, {}) as attend:
        assert attend(2) == 38


def test_a_file_that_cannot_be_imported_leaves_no_module(folder: Path) -> None:
    (folder / "halfway.py").write_text("one = 1\n1 / 0")
    with pytest.raises(ValueError, match=r"halfway\.py could not be imported"):
        build("halfway.py:one", {})
    assert "halfway" not in sys.modules


# Without a name


def test_the_only_module_of_a_file_needs_no_name(folder: Path) -> None:
    (folder / "single.py").write_text(
        "from torch import nn\n"
        "from code_here import Attend\n"
        "class Only(nn.Module):\n"
        "    def __init__(self, width, depth=3):\n"
        "        super().__init__()\n"
        "        assert width % 2 == 0\n"
        "        self.given = width, depth\n"
        "def helper(x):\n"
        "    return x\n"
    )
    for target in ("single.py", "single.py:", "single:Only"):
        with load_target(target, {}, {"width": 4}) as found:
            assert found.given == (4, 3)
    with load_target("single.py", {}, {}, [6, 5]) as found:
        assert found.given == (6, 5)
    with refused(
        "Only could not be built: AssertionError: assert width % 2 == 0 at single.py:6."
    ):
        build("single.py", {}, {"width": 3})


def test_the_only_function_of_three_needs_no_name(folder: Path) -> None:
    text = "def attend(q, k, v):\n    return v\ndef other(x):\n    return x\n"
    (folder / "function.py").write_text(text)
    assert build("function.py", {}).__name__ == "attend"


def test_where_several_may_be_meant_they_are_listed(folder: Path) -> None:
    with refused(
        "target must be one of code_here.py:Attend, code_here.py:Careful, "
        "code_here.py:Free, code_here.py:Alone, code_here.py:built, "
        "code_here.py:attend; got 'code_here.py'."
    ):
        build("code_here.py", {})
    classes = "\n".join(f"class A{n}(nn.Module): pass" for n in range(15))
    (folder / "many.py").write_text(f"from torch import nn\n{classes}")
    with pytest.raises(ValueError, match=r"many\.py:A11 or 3 more; got 'many\.py'\.$"):
        build("many.py", {})


def test_a_file_without_attention_says_so(folder: Path) -> None:
    (folder / "nothing.py").write_text("five = 5")
    with refused(
        "nothing.py must have a module, or a function of queries, keys and values; got "
        "none."
    ):
        build("nothing.py", {})


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("attnd", ": did you mean attend?"),
        ("BUILT", ": did you mean built?"),
        ("Zzzzz", ", which has Attend, Careful, Free, Alone, built, attend."),
        ("A.Zzz", "."),
    ],
)
def test_a_name_that_is_missing_has_neighbours(
    name: str, hint: str, make: Callable[..., Any]
) -> None:
    with pytest.raises(ValueError, match=re.escape(f"in it{hint}") + "$"):
        make(name)


def test_a_module_that_has_nothing_says_so(folder: Path) -> None:
    (folder / "nothing.py").write_text("")
    with refused("nothing.py must have A; got no 'A' in it."):
        build("nothing.py:A", {})


def test_a_notebook_that_failed_says_why(folder: Path) -> None:
    cell = {"cell_type": "code", "source": "from nowhere_at_all import A"}
    (folder / "failing.ipynb").write_text(json.dumps({"cells": [cell]}))
    error = (
        "failing.ipynb, cell 1 raised ModuleNotFoundError: No module named "
        "'nowhere_at_all'"
    )
    with refused(f"failing.ipynb must have A; got no 'A' in it, and {error}."):
        build("failing.ipynb:A", {})
    with refused(
        "failing.ipynb must have a module, or a function of queries, keys and values; "
        f"got none, and {error}."
    ):
        build("failing.ipynb", {})


def test_what_a_target_takes_can_be_listed(folder: Path) -> None:
    assert explain_target("code_here.py:Free") == (
        "arguments of Free:\n  --d-in  must be given\n"
    )
    assert explain_target("code_here.py:built").startswith("built takes no arguments")
