"""A target is checked when something changes that it reaches, and not else."""

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from headway.checks.command.changed import concerned
from headway.checks.command.configuration import ConfiguredTarget
from tests.checks.support.asking import refused

FILES = {
    "pyproject.toml": "",
    "README.md": "",
    "own.py": "from torch import nn",
    "uses.py": "import shared.masks",
    "lazy.py": "def build():\n    from shared import masks",
    "shared/masks.py": "from .sizes import width",
    "shared/sizes.py": "width = 17",
    "shared/other.py": "",
    "package/__init__.py": "from package import names",
    "package/names.py": "",
    "package/inner/__init__.py": "",
    "package/inner/attention.py": "from ...package.inner import parts\nimport gone",
    "package/inner/parts.py": "",
    "broken.py": "import shared.masks\n(",
    "book.ipynb": "{}",
    "src/layer.py": "import helper",
    "src/helper.py": "",
}
TARGETS = [
    "own.py:A",
    "uses.py:A",
    "lazy.py",
    "package/inner/attention.py:A",
    "package.inner.attention:A",
    "broken.py:A",
    "book.ipynb:A",
    "src/layer.py:A",
    "torch.nn:Linear",
    "not_here.at_all:A",
]
ANY = {"book.ipynb:A", "not_here.at_all:A"}
USE_MASKS = {"uses.py:A", "lazy.py"}
IN_PACKAGE = {"package/inner/attention.py:A", "package.inner.attention:A"}


def git(*words: str) -> None:
    identity = ("-c", "user.name=A", "-c", "user.email=a@b.c")
    subprocess.run(["git", *identity, *words], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LC_ALL", "C")  # git says in English what is wrong
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "first")
    return tmp_path


def chosen(revision: str = "HEAD") -> set[str]:
    targets = [ConfiguredTarget(name, {}, {}) for name in TARGETS]
    return {one.name for one in concerned(targets, revision)}


@pytest.mark.parametrize(
    ("file", "more"),
    [
        ("README.md", set()),
        ("own.py", {"own.py:A"}),
        ("uses.py", {"uses.py:A"}),
        ("shared/masks.py", USE_MASKS),
        ("shared/sizes.py", USE_MASKS),
        ("shared/other.py", set()),
        ("package/__init__.py", IN_PACKAGE),
        ("package/names.py", IN_PACKAGE),
        ("package/inner/parts.py", IN_PACKAGE),
        ("broken.py", {"broken.py:A"}),
        ("src/helper.py", {"src/layer.py:A"}),
    ],
)
def test_a_change_concerns_what_reaches_it(
    file: str, more: set[str], repository: Path
) -> None:
    assert chosen() == set()
    with (repository / file).open("a") as text:
        text.write("# more\n")
    assert chosen() == ANY | more


def test_what_configures_targets_concerns_all(repository: Path) -> None:
    (repository / "pyproject.toml").write_text("[project]\n")
    assert chosen() == {*TARGETS}


def test_what_git_does_not_know_yet_is_a_change_and_so_is_what_is_gone(
    repository: Path,
) -> None:
    (repository / "src" / "helper.py").unlink()
    (repository / "shared" / "sizes").mkdir()
    (repository / "shared" / "sizes" / "__init__.py").write_text("width = 19")
    assert chosen() == ANY | USE_MASKS
    git("add", "-A")
    git("commit", "-qm", "second")
    assert chosen() == set()
    assert chosen("HEAD~1") == ANY | USE_MASKS


def test_it_does_not_matter_where_one_stands(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository / "shared" / "sizes.py").write_text("width = 19\n")
    monkeypatch.chdir(repository / "src")
    targets = [ConfiguredTarget(one, {}, {}) for one in ("layer.py:A", "../uses.py:A")]
    assert [one.name for one in concerned(targets, "HEAD")] == ["../uses.py:A"]


def test_an_environment_in_the_repository_is_none_of_it(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = repository / "venv" / "site-packages"
    installed.mkdir(parents=True)
    (installed / "theirs.py").write_text("")
    (repository / ".gitignore").write_text("")
    monkeypatch.syspath_prepend(str(installed))
    paths = sysconfig.get_paths() | {"purelib": str(installed)}
    monkeypatch.setattr(sysconfig, "get_paths", lambda: paths)
    targets = [ConfiguredTarget("theirs:A", {}, {})]
    assert concerned(targets, "HEAD") == []
    assert str(installed) in sys.path


@pytest.mark.refusal
def test_what_git_does_not_know_is_refused(repository: Path) -> None:
    with refused(
        "changed_since must be a revision of git's, such as HEAD~1 or main; git diff "
        "said: fatal: bad revision 'nowhere'."
    ):
        chosen("nowhere")


@pytest.mark.refusal
def test_no_git_is_told(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(repository))
    with refused("changed_since needs git; there is no such program."):
        chosen()
