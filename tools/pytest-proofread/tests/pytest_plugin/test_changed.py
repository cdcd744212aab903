"""A key changes with whatever can change a result, and with nothing else."""

from pathlib import Path

import pytest

from pytest_proofread.output import compare
from pytest_proofread.page.markdown import programs
from pytest_proofread.pytest_plugin import changed
from pytest_proofread.pytest_plugin.changed import Keys

MODULES = {
    "ours/__init__.py": "",
    "ours/a.py": "from . import b\nfrom .deep import c\n",
    "ours/b.py": "x = 1\n",
    "ours/deep/__init__.py": "",
    "ours/deep/c.py": "from ..d import x\nfrom ours import e\n",
    "ours/d.py": "",
    "ours/e.py": "import ours.a\nimport torch\n",
    "ours/f.py": "",
    "ours/broken.py": "def",
    "alone.py": "",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in MODULES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(changed, "environment", lambda: ["theirs==1"])
    return tmp_path


def key(
    project: Path, code: str, rest: str = "", settings: tuple[str, ...] = ()
) -> str:
    (program,) = programs(f"```python\n{code}\n```\n{rest}")
    return Keys(project, settings).of(program)


USED = {
    "import ours.a": {"__init__", "a", "b", "deep/__init__", "deep/c", "d", "e"},
    "import ours.a as x, alone": {
        *("__init__", "a", "b", "deep/__init__", "deep/c", "d", "e", "../alone"),
    },
    "from ours import a": {"__init__", "a", "b", "deep/__init__", "deep/c", "d", "e"},
    "from ours.b import x": {"__init__", "b"},
    "import ours": {"__init__"},
    "def f():\n    import ours.f": {"__init__", "f"},
    "import ours.broken": {"__init__", "broken"},
    "import torch, nothing.of.this.name": set(),
    "def": set(),
    "from . import f": set(),
}


@pytest.mark.parametrize(("code", "used"), USED.items())
def test_the_modules_of_the_project_that_count(
    project: Path, code: str, used: set[str]
) -> None:
    before = key(project, code)
    assert key(project, code) == before
    counted = set()
    for name in MODULES:
        path = project / name
        path.write_text(MODULES[name] + "# new\n")
        if key(project, code) != before:
            counted.add(name)
        path.write_text(MODULES[name])
    assert counted == {
        "alone.py" if name == "../alone" else f"ours/{name}.py" for name in used
    }


def test_what_is_installed_counts_by_its_version(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = project / "lib" / "site-packages"
    installed.mkdir(parents=True)
    (installed / "theirs.py").write_text("x = 1\n")
    monkeypatch.syspath_prepend(installed)
    before = key(project, "import theirs")
    (installed / "theirs.py").write_text("x = 2\n")
    assert key(project, "import theirs") == before
    monkeypatch.setattr(changed, "environment", lambda: ["theirs==2"])
    assert key(project, "import theirs") != before


def test_what_else_counts(project: Path) -> None:
    output = "\n<!--pytest-codeblocks:expected-output-->\n```text\n{}\n```\n"
    keys = [
        key(project, "x = 1"),
        key(project, "x = 2"),
        key(project, "x = 1", output.format(1)),
        key(project, "x = 1", output.format(2)),
        key(project, "x = 1", settings=("exact",)),
        key(project, "x = 1", settings=("tokens",)),
    ]
    assert len({*keys}) == len(keys)


def test_the_environment_names_all_that_a_digit_may_hang_on() -> None:
    found = changed.environment()
    assert any(part.startswith("pytest==") for part in found)
    for module in (changed, compare):
        assert Path(module.__file__).read_text(encoding="utf-8") in found
