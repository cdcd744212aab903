"""A class is judged: a verdict on each file of each student."""

import argparse
import csv
import json
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from headway.practice.grading import command, edition, papers
from headway.practice.grading import students as class_module
from headway.practice.grading.protected import Server
from headway.practice.grading.students import (
    as_json,
    files_of,
    judge_class,
    students_of,
    table,
)
from headway.practice.judging.copies import CAN_COPY
from headway.practice.task.library import Library
from headway.practice.task.refused import RefusedError

pytestmark = [
    pytest.mark.skipif(not CAN_COPY, reason="processes cannot be copied here"),
    pytest.mark.xdist_group("grading"),
]


@pytest.fixture
def folder(tmp_path: Path, library: Library) -> Path:
    """Give the folder of a class of three."""
    double, half = library["double"].source, library["half"].source
    files = {
        "ada/01_double.py": double.solution,
        "ada/02_half.py": half.stub,
        "bob/practice/double.py": double.filled_with("return x * 3"),
        "cleo/half.py": half.solution,
        "cleo/notes.py": "",
        "nobody/readme.txt": "",
    }
    for name, text in files.items():
        path = tmp_path / "class" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "class" / "link").symlink_to(tmp_path / "class" / "ada")
    return tmp_path / "class"


@pytest.fixture
def _served(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the server that is there judge here, and go on; to start one takes long."""
    one = SimpleNamespace(
        process_of_answer=server.process_of_answer, close=lambda: None
    )
    monkeypatch.setattr(class_module, "Server", lambda: one)
    monkeypatch.setattr(command, "judge_class", partial(judge_class, jobs=1))


def known(library: Library, **more: object) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    command.add_options(parser)
    given = parser.parse_args([])
    values = {"set": library.folder, "way": None, "json": False, "seed": 3}
    for name, value in {"all": None, **values, **more}.items():
        setattr(given, name, value)
    return given


def test_a_class_is_judged(
    folder: Path, library: Library, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    places = {
        "gradescope": tmp_path / "gradescope",
        "classroom": tmp_path / "classroom",
        "nbgrader": tmp_path / "grades.csv",
    }
    assert command.run(known(library, all=folder, **places)) == 1
    shown = capsys.readouterr().out.splitlines()
    assert shown[2:5] == [
        "ada   +.  1 of 2",
        "bob   -   0 of 2",
        "cleo   +  1 of 2",
    ]
    ada = json.loads((tmp_path / "gradescope" / "ada.json").read_text())
    # What Gradescope's specification asks for.
    assert (ada["score"], ada["visibility"]) == (1, "visible")
    points = [(one["score"], one["max_score"]) for one in ada["tests"]]
    assert points == [(1, 1), (0, 1)]
    assert ada["tests"][0]["status"] == "passed"
    bob = json.loads((tmp_path / "classroom" / "bob.json").read_text())
    # What the reporter of GitHub Classroom adds up.
    assert (bob["status"], bob["max_score"]) == ("fail", 2)
    assert sum(one["score"] for one in bob["tests"]) == 0
    assert "three times as much" in bob["tests"][0]["message"]
    assert bob["tests"][1]["message"] == "half  no file"
    rows = [*csv.DictReader((tmp_path / "grades.csv").read_text().splitlines())]
    assert [(one["student_id"], one["score"], one["max_score"]) for one in rows] == [
        ("ada", "1.0", "2.0"),
        ("bob", "0.0", "2.0"),
        ("cleo", "1.0", "2.0"),
    ]
    assert [*rows[0]][:4] == ["assignment", "duedate", "timestamp", "student_id"]


@pytest.mark.usefixtures("_served")
def test_one_student_gives_one_file(
    folder: Path, library: Library, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (folder / "cleo" / "double.py").write_text(library["double"].source.solution)
    place = tmp_path / "results.json"
    given = known(library, all=folder / "cleo", gradescope=place, json=True)
    assert command.run(given) == 0
    assert json.loads(place.read_text())["score"] == 2
    assert json.loads(capsys.readouterr().out)["cleo"]["half"]["ok"]
    # Without results, a folder of one's own is judged elsewhere.
    assert command.run(known(library, all=folder / "cleo")) is None


@pytest.mark.usefixtures("_served")
def test_without_jobs_it_is_judged_here(folder: Path, library: Library) -> None:
    students = students_of(folder, [*library.values()])
    told: list[str] = []
    found = judge_class(library, students, seed=3, jobs=1, told=told.append)
    assert told == ["double", "half"]
    assert found["ada"]["double"].ok
    assert json.loads(as_json(found))["bob"]["double"]["state"] == "failed"
    assert table(found, [library["half"]]).splitlines()[2] == "ada   .  0 of 1"


@pytest.mark.usefixtures("_served")
def test_an_exercise_without_answers_is_passed_over(
    folder: Path, library: Library
) -> None:
    students = students_of(folder / "cleo", [*library.values()])
    found = judge_class(library, students, seed=3)
    assert found["cleo"]["half"].ok
    assert [*found["cleo"]] == ["half"]


def test_files_have_the_name_of_an_exercise(folder: Path, library: Library) -> None:
    tasks = [*library.values()]
    assert [*files_of(folder / "cleo", tasks)] == ["half"]
    assert [*students_of(folder, tasks)] == ["ada", "bob", "cleo"]
    for empty in (folder / "nobody", folder / "missing"):
        assert students_of(empty, tasks) == {}
        assert command.run(known(library, all=empty)) is None
        with pytest.raises(RefusedError, match="a folder of files for each student"):
            command.run(known(library, all=empty, key=folder / "key.md"))


def test_papers(library: Library, tmp_path: Path) -> None:
    places = {name: tmp_path / name for name in ("students", "key", "sheet", "edition")}
    assert command.run(known(library, **places)) == 0
    students = tmp_path / "students"
    names = ["01_double.py", "02_half.py", "README.md", "hints.md"]
    assert sorted(one.name for one in students.iterdir()) == names
    given = "".join(one.read_text() for one in students.iterdir())
    assert "raise NotImplementedError" in given
    assert "Multiply by a number" in given
    for answer in ("x * 2", "x + x", "Exercise(", "three times"):
        assert answer not in given
    key = (tmp_path / "key").read_text()
    for answer in (
        "```python\ny = x * 2\nreturn y\n```",
        "```python\nreturn x + x\n```",
        "- it is squared",
    ):
        assert answer in key
    sheet = (tmp_path / "sheet").read_text()
    assert "each number twice as large" in sheet
    assert "x * 2" not in sheet
    with pytest.raises(RefusedError, match="--students must be given a new folder"):
        papers.write_for_students([], students)
    with pytest.raises(RefusedError, match="--students must be given a new folder"):
        papers.write_for_students([], tmp_path / "key")


def test_a_sheet_says_how_long_it_takes(tmp_path: Path) -> None:
    from tests.practice.small import HALF, small_set

    half = HALF.replace("    covers=", "    stars=2,\n    minutes=5,\n    covers=")
    library = small_set(tmp_path / "other", half=half)
    assert command.run(known(library, way="core", sheet=tmp_path / "sheet")) == 0
    assert "## 2. Half as much (**, 5 minutes)" in (tmp_path / "sheet").read_text()


@pytest.mark.usefixtures("_served")
def test_an_edition_is_compared(
    folder: Path, library: Library, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    place = tmp_path / "edition.json"
    edition.write(library, place, 7)
    assert edition.differs(library, place) == (7, "")
    assert command.run(known(library, all=folder / "cleo", edition=place)) == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines()[2:3] == ["cleo  +  1 of 1"]
    assert captured.err == ""
    path = library["double"].path
    path.with_suffix(".mistakes").write_text("# it is lost\n- x * 2\n+ x\n")
    said = "Not as in the edition: the exercise double."
    assert edition.differs(library, place) == (7, said)
    path.with_suffix(".mistakes").unlink()
    path.write_text(path.read_text() + "\n# changed\n")
    found = json.loads(place.read_text()) | {"judge": "", "torch": "1.0"}
    found["exercises"] |= dict.fromkeys("abc", "")
    place.write_text(json.dumps(found))
    seed, sentence = edition.differs(library, place)
    assert seed == 7
    assert sentence.startswith(
        "Not as in the edition: the exercise a, the exercise b, the exercise c, "
        "1 more, the judge, PyTorch (1.0 then, "
    )
    command.run(known(library, all=folder / "ada", edition=place, json=True))
    captured = capsys.readouterr()
    assert captured.err.strip() == sentence
    assert json.loads(captured.out)["ada"]["double"]["seed"] == 7
    place.write_text("[]")
    with pytest.raises(RefusedError, match="--edition must be a file that"):
        edition.differs(library, place)


def test_what_cannot_be_done_is_refused(library: Library, tmp_path: Path) -> None:
    assert command.run(known(library)) is None
    with pytest.raises(RefusedError, match="--nbgrader must be given with --all"):
        command.run(known(library, nbgrader=tmp_path / "grades.csv"))
    with pytest.raises(RefusedError, match="must be written where one can be written"):
        command.run(known(library, key=tmp_path / "missing" / "key.md", seed=None))
