"""What git does not keep is built: in time, whole, and the same everywhere."""

import re
from pathlib import Path

import pytest

from generators import GENERATED, HASHES, ROOT, built
from generators.__main__ import main
from workshop.generator_support import read_hashes


def test_what_is_there_has_the_hashes_that_are_listed() -> None:
    assert built.hashes() == read_hashes(HASHES), "run python -m generators"
    lines = HASHES.read_text("utf-8").splitlines()
    assert lines == sorted(lines, key=lambda line: line.split("  ")[1])
    assert len(lines) > 100


def test_git_ignores_what_is_built_and_nothing_else() -> None:
    ignored = re.findall(r"^/(\w+)/$", (GENERATED / ".gitignore").read_text(), re.M)
    assert ignored == [*built.BUILT]
    clean = (ROOT / "Makefile").read_text("utf-8").partition("\nclean:")[2]
    assert re.findall(r"generated/(\w+)", clean.partition("\n\n")[0]) == ignored


# ---- Building ----


class Made:
    """A generator that counts how often it is called."""

    def __init__(self) -> None:
        self.calls = 0
        self.files = {"a.md": "one\n", "b/c.md": "two\n"}

    def make(self, name: str) -> dict[str, str]:
        assert name == "small"
        self.calls += 1
        return self.files


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a project with one generator, which reads one file and one folder."""
    files = {
        "generators/small/__main__.py": "import helper\n",
        "src/helper.py": "x = 1\n",
        "data/words.txt": "words",
        "nav.yml": "nav",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(built, "ROOT", tmp_path)
    monkeypatch.setattr(built, "GENERATED", tmp_path / "generated")
    monkeypatch.setattr(built, "BUILT", {"small": ["data", "nav.yml"]})
    return tmp_path


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Made:
    made = Made()
    monkeypatch.setattr(built, "make", made.make)
    return made


def there(project: Path) -> dict[str, str]:
    folder = project / "generated/small"
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_text() for path in files}


def test_nothing_is_computed_again_until_something_changes(
    project: Path, made: Made
) -> None:
    built.build()
    assert there(project) == made.files
    times = {
        path: path.stat().st_mtime_ns for path in (project / "generated").rglob("*")
    }
    built.build()
    assert times == {path: path.stat().st_mtime_ns for path in times}
    assert made.calls == 1


@pytest.mark.parametrize(
    "name",
    ["generators/small/__main__.py", "src/helper.py", "data/words.txt", "nav.yml"],
)
def test_what_it_depends_on_has_it_computed_again(
    project: Path, made: Made, name: str
) -> None:
    built.build()
    made.files = {"a.md": "three\n"}
    (project / "src/other.py").write_text("of no account")
    built.build()
    assert made.calls == 1
    with (project / name).open("a") as file:
        file.write("\n# other\n")
    built.build()
    assert made.calls == 2
    assert there(project) == made.files


def test_what_was_lost_or_edited_is_put_right(project: Path, made: Made) -> None:
    built.build()
    folder = project / "generated/small"
    (folder / "a.md").unlink()
    (folder / "b/c.md").write_text("edited")
    (folder / "b/of_before.md").write_text("stale")
    built.build()
    assert there(project) == made.files
    assert made.calls == 1


def test_the_command_builds_and_takes_no_options(project: Path, made: Made) -> None:
    with pytest.raises(SystemExit):
        main(["--check"])
    assert there(project) == {}
    main([])
    assert there(project) == made.files
