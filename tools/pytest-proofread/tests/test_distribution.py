"""Another project can install the tool alone, and it brings what it needs."""

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from pytest_proofread.page.markdown import OUTPUT
from pytest_proofread.runner import imported

HERE = Path(__file__).parents[1]
SOURCE = HERE / "src/pytest_proofread"
PROJECT = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pytest_proofread")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder]
    subprocess.run(command, cwd=HERE, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(folder / "site")
    return folder / "site"


def files_of(folder: Path) -> set[Path]:
    found = (path for path in folder.rglob("*.*") if path.suffix != ".pyc")
    return {path.relative_to(folder) for path in found}


def test_it_holds_all_modules(installed: Path) -> None:
    assert files_of(installed / "pytest_proofread") == files_of(SOURCE)


@pytest.mark.slow
def test_pytest_finds_the_plugin_by_itself(installed: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    text = f"```python\nprint(3)\n```\n\n{OUTPUT}\n\n```text\n{{}}\n```\n"
    for number, status in ((3, 0), (4, 1)):
        page.write_text(text.format(number))
        done = subprocess.run(
            [sys.executable, "-P", "-m", "pytest", "--proofread", page.name],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(installed)},
            capture_output=True,
            text=True,
        )
        assert "proofread: 1 programs ran" in done.stdout
        assert done.returncode == status


def test_a_run_without_pages_loads_the_options_alone(tmp_path: Path) -> None:
    test = tmp_path / "test_modules.py"
    test.write_text(
        "import sys\n\n"
        "def test_it():\n"
        "    ours = [name for name in sys.modules if 'pytest_proofread' in name]\n"
        "    assert sorted(ours) == ['pytest_proofread', 'pytest_proofread.hooks', "
        "'pytest_proofread.options']\n"
        "    assert 'markdown' not in sys.modules\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-P", "-m", "pytest", "-q", "-p"]
    done = subprocess.run(
        [*command, "pytest_proofread.options", test.name],
        cwd=tmp_path,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout


def test_it_names_what_it_imports() -> None:
    named = {
        re.split(r"[<>=]", text)[0].lower()
        for text in PROJECT["project"]["dependencies"]
    }
    of = packages_distributions()
    needed = {
        distribution.lower().replace("_", "-")
        for path in SOURCE.rglob("*.py")
        for name in imported(path.read_text(encoding="utf-8"))
        if (top := name.partition(".")[0])
        not in {*sys.stdlib_module_names, "pytest_proofread"}
        for distribution in of[top]
    }
    # Started by its name, not imported.
    assert named == needed | {"pytest-codeblocks"}
