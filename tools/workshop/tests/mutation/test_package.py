"""Copies of a package are mutated, and a mutant that no check catches is reported."""

import os
import select
from collections.abc import Iterator
from pathlib import Path

import pytest

from workshop.mutation import package

LIST = """\
package = "src/shop"
limit = 3600.0

[[check]]
name = "the book"
arguments = ["--proofread", "page.md"]

[[check]]
name = "tests"
arguments = ["{test}"]
"""
MODULE = """\
def total(price, count):
    if count < 0:
        return 0
    return price * count
"""
PAGE = "```python\nfrom shop._prices import total\n\nassert total(1, 2) == 2\n```\n"
TEST = "from shop._prices import total\n\n\ndef test():\n    assert total(3, 2) == 6\n"


def mutant(old: str, new: str, why: str) -> str:
    """Return an entry of a list."""
    entry = {"old": old, "new": new, "why": why}
    lines = [f'{name} = "{value}"\n' for name, value in entry.items()]
    return '\n[[mutant."_prices.py"]]\n' + "".join(lines)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "src" / "shop"
    (folder / "__pycache__").mkdir(parents=True)
    (folder / "__init__.py").write_text("", encoding="utf-8")
    (folder / "_prices.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "page.md").write_text(PAGE, encoding="utf-8")
    (tmp_path / "test_prices.py").write_text(TEST, encoding="utf-8")
    settings = (
        '[tool.pytest.ini_options]\naddopts = ["-p", "pytest_proofread.options"]\n'
    )
    (tmp_path / "pyproject.toml").write_text(settings, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    # Plugins of others have no part in this, and cost time.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "src"))
    return tmp_path


def tried(project: Path, *entries: str, options: tuple[str, ...] = ()) -> int:
    """Try some package."""
    path = project / "list.toml"
    path.write_text(LIST + "".join(entries), encoding="utf-8")
    return package.main([str(path), *options])


HALF = mutant("price * count", "price + count", "a sum is no product")
LESS = mutant("count < 0", "count < 3", "two would cost nothing")
NONE = mutant("count < 0", "count < -1", "who returns one would get money")


def test_each_mutant_is_caught_by_the_first_check_that_can(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    only = mutant("price * count", "2", "a third of what it costs")
    assert tried(project, LESS, only) == 0
    assert capsys.readouterr().out == (
        "the book     _prices.py: two would cost nothing\n"
        "tests        _prices.py: a third of what it costs\n"
        "\n"
        "mutants of the package                number   by the book      by tests\n"
        "_prices.py                                 2             1             1\n"
        "all                                        2             1             1\n"
    )
    assert (project / "src/shop/_prices.py").read_text(encoding="utf-8") == MODULE


def test_a_survivor_is_reported_with_its_reason(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        tried(project, HALF, NONE, options=("--only", "money", "--at-once", "1")) == 1
    )
    out = capsys.readouterr().out
    assert out.startswith("NOT CAUGHT   _prices.py: who returns one would get money\n")
    assert out.endswith(
        "all                                        1             0             0\n"
        "src/shop/_prices.py: not caught: who returns one would get money\n"
        "    - count < 0\n"
        "    + count < -1\n"
    )


@pytest.mark.parametrize(("old", "times"), [("cuont", 0), ("count", 3)])
def test_it_must_be_clear_what_is_replaced(
    project: Path, capsys: pytest.CaptureFixture[str], old: str, times: int
) -> None:
    assert tried(project, HALF, mutant(old, "1", "a typing error")) == 1
    assert capsys.readouterr().err == (
        f"old must stand once in _prices.py; got {times} of '{old}'.\n"
    )


def test_a_mutant_must_have_a_reason(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tried(project, HALF.replace("why", "where")) == 1
    assert capsys.readouterr().err == (
        "a mutant must have old, new, why, file; got {"
        "'old': 'price * count', 'new': 'price + count', "
        "'where': 'a sum is no product', 'file': '_prices.py'}.\n"
    )


def test_a_module_must_have_tests_if_these_are_asked(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "test_prices.py").unlink()
    assert tried(project, LESS) == 1
    assert capsys.readouterr().err == (
        "the tests of _prices.py must exist; got test_prices.py.\n"
    )


def test_a_check_that_fails_anyway_proves_nothing(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "test_prices.py").write_text(
        "def test():\n    assert 0\n", encoding="utf-8"
    )
    assert tried(project, LESS) == 1
    assert capsys.readouterr().err == (
        "checks must pass on the package as it is; got tests: pytest test_prices.py.\n"
    )


def test_what_is_imported_must_be_the_copy(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # The folder of the project comes first, before any PYTHONPATH.
    (project / "shop").mkdir()
    (project / "shop" / "__init__.py").write_text("", encoding="utf-8")
    assert tried(project, LESS) == 1
    assert capsys.readouterr().err == (
        "what is imported must be the copy of src/shop; "
        f"got {project / 'shop' / '__init__.py'}.\n"
    )


def test_the_copy_comes_first_and_what_was_known_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)
    assert package.environment(tmp_path / "shop")["PYTHONPATH"] == str(tmp_path)
    monkeypatch.setenv("PYTHONPATH", "known")
    path = package.environment(tmp_path / "shop")["PYTHONPATH"]
    assert path.startswith(str(tmp_path))
    assert path.endswith("known")


def test_what_was_compiled_before_is_not_copied(project: Path) -> None:
    folder = project / "src" / "shop"
    with package.copied(folder) as copy:
        assert {file.name for file in copy.iterdir()} == {"__init__.py", "_prices.py"}


def test_what_is_preloaded_is_shared_and_each_process_has_the_rest_to_itself(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "loaded.py").write_text("import os\n\nPROCESS = os.getpid()\n")
    test = """
import os, sys
import loaded
import shop

def test():
    assert loaded.PROCESS == os.getppid()
    assert os.getsid(0) == os.getpid()
    assert sys.path[0] == os.getcwd()
    assert shop.__file__.startswith(os.environ["PYTHONPATH"].split(os.pathsep)[0])
    assert not hasattr(loaded, "mine")
    loaded.mine = True
"""
    (project / "test_shared.py").write_text(test, "utf-8")
    path = f"{os.environ['PYTHONPATH']}{os.pathsep}{project}"
    monkeypatch.setenv("PYTHONPATH", path)
    with package.Servers(1, ["loaded"]) as servers:
        for _ in range(2):
            folder = project / "src" / "shop"
            assert not servers.fail(["test_shared.py"], folder, 3600.0)


def test_a_test_may_start_processes_of_python(project: Path) -> None:
    (project / "test_spawns.py").write_text(
        "import math, multiprocessing\n\n\ndef test():\n"
        "    context = multiprocessing.get_context('spawn')\n"
        "    child = context.Process(target=math.sqrt, args=[2])\n"
        "    child.start()\n"
        "    child.join()\n"
        "    assert child.exitcode == 0\n",
        encoding="utf-8",
    )
    with package.Servers(1, []) as servers:
        assert not servers.fail(["test_spawns.py"], project / "src" / "shop", 3600.0)


@pytest.mark.slow
def test_what_hangs_is_stopped_with_all_that_it_started(project: Path) -> None:
    folder = project / "src" / "shop"
    (project / "test_hang.py").write_text(
        "import os, subprocess\n\n\ndef test():\n"
        "    writer = os.open('pipe', os.O_WRONLY)\n"
        "    child = subprocess.Popen(['sleep', '3600'], stdout=writer)\n"
        "    os.write(writer, b'a')\n"
        "    child.wait()\n",
        encoding="utf-8",
    )
    os.mkfifo("pipe")
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    with package.Servers(1, []) as servers:
        for limit in longer():
            assert servers.fail(["test_hang.py"], folder, limit)
            if select.select([reader], [], [], 0.0)[0] and os.read(reader, 1) == b"a":
                break
        # Whoever could write into the pipe is gone.
        assert select.select([reader], [], [], 600.0)[0]
        assert os.read(reader, 1) == b""
        assert not servers.fail(["test_prices.py"], folder, 3600.0)
    os.close(reader)


def longer() -> Iterator[float]:
    """Yield limits, in seconds, until one is long enough for a test to begin."""
    return (4.0**n for n in range(7))
