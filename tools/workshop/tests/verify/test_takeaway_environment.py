import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from pytest_proofread.digests import digest
from workshop.verify import takeaway_environment as environment
from workshop.verify.takeaway_environment import (
    PIP,
    CannotInstallError,
    build_wheel,
    install,
    requirements,
)

Command = tuple[str | Path, ...]

PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "tiny"
version = "1"
[project.optional-dependencies]
more = ["absent"]
"""
NEEDS = "Requires-Python: >=3.11\nRequires-Dist: numpy\n"
EXTRA = 'Requires-Dist: ruff; extra == "dev"\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "tiny").mkdir(parents=True)
    (folder / "pyproject.toml").write_text(PROJECT)
    (folder / "tiny/__init__.py").write_text("print('one')\n")
    return folder


def wheel(path: Path, needs: str = NEEDS, code: str = "") -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tiny.py", code)
        archive.writestr("tiny-1.dist-info/METADATA", f"Name: tiny\n{needs}\nWords.\n")
    return path


@pytest.mark.slow
def test_a_real_wheel_in_a_real_environment(project: Path, tmp_path: Path) -> None:
    folder = tmp_path / "reader"
    for word in ("one", "two"):
        (project / "tiny/__init__.py").write_text(f"print({word!r})\n")
        (tmp_path / word).mkdir()
        made = build_wheel(project, tmp_path / word)
        python = install(made, folder, None)
        program = "import tiny, sys; print(tiny.__file__); import pytest"
        done = subprocess.run(
            [python, "-I", "-c", program], capture_output=True, text=True
        )
        assert done.stdout.splitlines()[0] == word
        assert Path(done.stdout.splitlines()[1]).is_relative_to(folder)
        assert "No module named 'pytest'" in done.stderr


def test_what_a_wheel_requires_without_its_extras(tmp_path: Path) -> None:
    assert requirements(wheel(tmp_path / "a.whl", NEEDS + EXTRA)) == NEEDS.splitlines()


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> list[Command]:
    """The commands that would have been run; a venv is an empty folder."""
    commands: list[Command] = []

    def call(*command: str | Path) -> None:
        commands.append(command)
        if "venv" in command:
            Path(command[-1]).mkdir()

    monkeypatch.setattr(environment, "call", call)
    return commands


def test_an_environment_is_made_once(tmp_path: Path, called: list[Command]) -> None:
    folder, made = tmp_path / "reader", wheel(tmp_path / "a.whl")
    pins = tmp_path / "constraints.txt"
    pins.write_text("numpy==1\n")
    pip = (
        *PIP,
        "--python",
        folder / "bin/python",
        "install",
        "--quiet",
        "--no-compile",
    )
    venv = (sys.executable, "-m", "venv", "--without-pip", folder)
    python = install(made, folder, pins, ["--pre"])
    assert python == folder / "bin/python"
    assert called == [venv, (*pip, "--constraint", pins, "--pre", made)]
    called.clear()
    (folder / "kept").touch()
    assert install(made, folder, pins, ["--pre"]) == python
    assert called == []

    # Another wheel with the same needs; extras are no needs.
    other = wheel(tmp_path / "b.whl", NEEDS + EXTRA, "print()")
    install(other, folder, pins, ["--pre"])
    assert called == [(*pip, "--no-deps", "--force-reinstall", other)]
    assert (folder / "kept").exists()


@pytest.mark.parametrize("changed", ["needs", "pins", "options", "python", "no pins"])
def test_an_environment_is_made_anew(
    tmp_path: Path,
    called: list[Command],
    monkeypatch: pytest.MonkeyPatch,
    changed: str,
) -> None:
    folder, made = tmp_path / "reader", wheel(tmp_path / "a.whl")
    pins = tmp_path / "constraints.txt"
    pins.write_text("numpy==1\n")
    install(made, folder, pins)
    (folder / "old").touch()
    called.clear()
    if changed == "needs":
        wheel(made, "Requires-Dist: torch\n")
    if changed == "pins":
        pins.write_text("numpy==2\n")
    if changed == "python":
        monkeypatch.setattr(environment.platform, "python_version", lambda: "4.0")
    limits = None if changed == "no pins" else pins
    install(made, folder, limits, ["--pre"] if changed == "options" else [])
    assert [command[2] for command in called] == ["venv", "pip"]
    assert ("--constraint" in called[1]) == (changed != "no pins")
    assert not (folder / "old").exists()


def test_an_environment_that_failed_is_made_anew(
    tmp_path: Path, called: list[Command], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, made = tmp_path / "reader", wheel(tmp_path / "a.whl")
    install(made, folder, None)
    wheel(made, code="print()")

    def fail(*command: str | Path) -> None:
        raise CannotInstallError

    call = environment.call
    monkeypatch.setattr(environment, "call", fail)
    with pytest.raises(CannotInstallError):
        install(made, folder, None)
    monkeypatch.setattr(environment, "call", call)
    called.clear()
    install(made, folder, None)
    assert [command[2] for command in called] == ["venv", "pip"]


def test_what_cannot_be_built_is_said(tmp_path: Path) -> None:
    with pytest.raises(CannotInstallError) as error:
        build_wheel(tmp_path / "absent", tmp_path)
    first, second = str(error.value).splitlines()[:2]
    assert first.startswith("`pip --disable-pip-version-check wheel --quiet --no-deps ")
    assert first.endswith(f"{tmp_path / 'absent'}` must succeed; it says:")
    assert "absent" in second


def test_what_is_only_printed_is_said_too() -> None:
    program = "print('why'); raise SystemExit(2)"
    with pytest.raises(CannotInstallError) as error:
        environment.call(sys.executable, "-c", program)
    assert str(error.value) == f"`{program}` must succeed; it says:\nwhy"


def test_a_digest_knows_where_a_text_ends() -> None:
    assert digest("ab", "c") != digest("a", "bc") != digest("abc")
    assert digest("a", "b") == digest("a", b"b")
