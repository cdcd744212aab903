"""`headway practice` without a terminal."""

import contextlib
import io
import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from headway import cli as headway_cli
from headway.practice import cli
from headway.practice.judging.worker import Worker
from headway.practice.terminal.folder import Folder, remembered_set
from headway.practice.terminal.session import Session
from tests.practice.small import CORE, HALF, TIMED, Here, small_set
from tests.practice.terminal.test_folder import on, write
from tests.support.processes import PATIENCE

pytestmark = pytest.mark.xdist_group("processes")
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(
    folder: Folder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Run:
    """Call it with words, in the folder of the small set."""
    monkeypatch.setattr(cli, "Worker", Here)
    monkeypatch.setattr(cli, "Copies", Here)

    def called(*words: str) -> tuple[int, str, str]:
        places = ("--folder", str(folder.path), "--set", str(folder.library.folder))
        status = headway_cli.main(["practice", *words, *places])
        return status, *capsys.readouterr()

    return called


def test_it_judges_once_and_ends(folder: Folder, run: Run) -> None:
    status, out, _ = run()
    assert status == 1
    assert "The hole is still open." in out
    write(folder, "double", "return x + x")
    status, out, _ = run("--once", "--seed", "5")
    assert status == 0
    assert "double  passed" in out
    assert run("2")[1].startswith("2 of 2  Half as much")
    assert run("--once")[1].startswith("2 of 2  Half as much")


@pytest.mark.slow
def test_it_judges_in_a_process_of_its_own(
    folder: Folder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "Worker", partial(Worker, limit=PATIENCE))
    write(folder, "double", "import os; print(os.getpid()); return x + x")
    places = ["--folder", str(folder.path), "--set", str(folder.library.folder)]
    assert cli.main(["--once", *places]) == 0
    out = capsys.readouterr().out
    assert "double  passed" in out
    assert f"| {os.getpid()}\n" not in out


def test_a_console_without_a_sign_shows_another(
    folder: Folder, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, "double", 'print("2 \N{RIGHTWARDS ARROW} 4"); return x + x')
    old = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    monkeypatch.setattr("sys.stdout", old)
    assert run("double", "--once")[0] == 0
    old.seek(0)
    assert "| 2 ? 4\n" in old.read()
    kept = io.StringIO()
    monkeypatch.setattr("sys.stdout", kept)
    assert run("double", "--once")[0] == 0
    assert "| 2 \N{RIGHTWARDS ARROW} 4\n" in kept.getvalue()


def test_a_failure_says_its_seed(folder: Folder, run: Run) -> None:
    write(folder, "double", "return x * 3")
    assert "hidden numbers from seed 5" in run("--seed", "5")[1]


def test_json_for_editors(folder: Folder, run: Run) -> None:
    write(folder, "double", "return x * 3")
    status, out, _ = run("double", "--json")
    assert status == 1
    assert json.loads(out)["mistakes"] == ["it is three times as much"]
    _, out, _ = run("list", "--json")
    assert json.loads(out)[0] == {
        "number": 1,
        "name": "double",
        "chapter": "first",
        "title": "Twice as much",
        "stars": 0,
        "minutes": 0,
        "solved": "",
        "state": "begun",
    }


def test_the_list(run: Run) -> None:
    assert run("list")[1].splitlines() == [
        "first",
        "  [ ]  1  double               Twice as much",
        "second",
        "  [ ]  2  half                 Half as much",
        "",
        "0 of 2 done; [x] is done, [~] is begun.",
    ]


@pytest.fixture
def run_core(folder: Folder, run: Run, tmp_path: Path) -> Run:
    """Call it with words, where the second of the two exercises is core."""
    folder.library = small_set(tmp_path / "core", half=CORE)
    return run


def test_the_list_shows_what_is_core(folder: Folder, run_core: Run) -> None:
    assert run_core("list")[1].splitlines() == [
        "first",
        "  [ ]  1  double                   Twice as much",
        "second",
        "  [ ]  2  half                 **  Half as much",
        "",
        "0 of 2 done, of the core 0 of 1; [x] is done, [~] is begun, * to *** is core,",
        "from easy to hard.",
    ]
    write(folder, "half", "return x / 2")
    run_core("half")
    assert run_core("list", "--core")[1].splitlines() == [
        "second",
        "  [x]  2  half                 **  Half as much",
        "",
        "1 of 1 core done; [x] is done, [~] is begun, * to *** is core, from easy to",
        "hard.",
    ]
    rows = json.loads(run_core("list", "--core", "--json")[1])
    assert [(row["name"], row["stars"]) for row in rows] == [("half", 2)]


def test_it_goes_through_the_core_alone(folder: Folder, run_core: Run) -> None:
    assert run_core()[1].startswith("1 of 2  Twice as much\n")
    out = run_core("--core")[1]
    assert out.startswith("1 of 1 in the core  Half as much  a core exercise, medium\n")
    assert "02_half.py  (0 of 1 core done)\n" in out
    write(folder, "half", "return x / 2")
    out = run_core("--core")[1]
    assert "(1 of 1 core done)\n" in out
    assert "solved: headway practice ending shows the ending; " in out
    # One that is not core is gone to by its name.
    out = run_core("double", "--core")[1]
    assert out.startswith("1 of 2, not in the core  Twice as much\n")


def test_the_core_is_gone_through_until_one_goes_back(run_core: Run) -> None:
    assert run_core("--core")[1].startswith("1 of 1 in the core  Half as much")
    assert run_core("list")[1].startswith("second\n")
    assert run_core("list", "--path", "all")[1].startswith("first\n")
    assert run_core("list")[1].startswith("second\n")  # to list is not to go
    run_core("--path", "all")
    assert run_core("list")[1].startswith("first\n")


def test_a_set_without_core_exercises_has_none_to_go_through(
    folder: Folder, run: Run
) -> None:
    status, _, err = run("--core")
    assert status == 2
    assert "--core must be given a set with core exercises" in err
    (folder.library.folder / "short.txt").write_text("\n")
    status, _, err = run("--path", "short")
    assert status == 2
    assert "--path must be given a path with exercises; got " in err
    (folder.library.folder / "optional.txt").write_text("half\n")
    status, _, err = run("--path", "long")
    assert status == 2
    assert err == "headway practice: --path must be one of all, short; got 'long'.\n"


def test_a_path_has_its_files_its_order_and_its_minutes(
    tmp_path: Path, folder: Folder, run: Run
) -> None:
    folder.library = small_set(tmp_path / "timed", half=TIMED)
    (folder.library.folder / "back.txt").write_text("half double\n")
    (folder.library.folder / "short.txt").write_text("half\n")
    folder.path = tmp_path / "new"
    out = run("--path", "short")[1]
    assert out.startswith(f"Made 1 exercises in {folder.path.as_posix()}.\n")
    assert "\n1 of 1 on the path short  Half as much\n" in out
    out = run("double")[1]
    assert out.startswith("Made the missing files: 01_double.py.\n")
    assert "\n1 of 2, not on the path short  Twice as much\n" in out
    assert run()[1].startswith("1 of 1 on the path short  Half as much")
    assert run("list")[1].splitlines() == [
        "second",
        "  [ ]  2  half                   5 min Half as much",
        "",
        "0 of 1 done, about 5 min left; [x] is done, [~] is begun.",
    ]
    assert run("list", "--path", "back")[1].splitlines()[:4] == [
        "second",
        "  [ ]  2  half                   5 min Half as much",
        "first",
        "  [ ]  1  double                   min Twice as much",
    ]
    write(folder, "half", "return x / 2")
    run("half")
    assert "\n1 of 1 done, about 0 min left;" in run("list")[1]


def test_long_paths_are_told_in_hours(tmp_path: Path, folder: Folder, run: Run) -> None:
    half = TIMED.replace("minutes=5", "minutes=135")
    folder.library = small_set(tmp_path / "timed", half=half)
    assert "about 2 h 15 min left" in run("list")[1]


def test_what_was_solved_and_changed_says_when(
    folder: Folder, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    on(monkeypatch, "2026-11-02")
    write(folder, "double", "return x + x")
    run("double")
    assert "[x]  1  double               Twice as much\nsecond" in run("list")[1]
    write(folder, "double", "return x")
    lines = run("list")[1].splitlines()
    assert lines[1:3] == [
        "  [~]  1  double               Twice as much",
        "           solved on 2026-11-02, changed since",
    ]
    assert lines[-1].startswith("1 of 2 done")
    run("reset", "double")
    lines = run("list")[1].splitlines()
    assert lines[1:3] == [
        "  [o]  1  double               Twice as much",
        "           solved on 2026-11-02, empty now",
    ]
    assert " ".join(lines[-2:]) == (
        "1 of 2 done, 1 of which does not pass now; [x] is done, [~] is begun, [o] was "
        "solved, and its file is empty now."
    )
    assert "(1 of 2 done, 1 of which does not pass now)\n" in run()[1]
    write(folder, "half", "return x / 2")
    run("half")
    run("reset", "half")
    assert run("list")[1].count("2 of 2 done, 2 of which do not pass now;") == 1


def test_review_empties_what_was_solved_long_ago(
    folder: Folder, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = "What you solve can be reviewed after a week: there is nothing yet.\n"
    assert run("review") == (0, nothing, "")
    for name, line, day in (
        ("half", "return x / 2", "2026-11-02"),
        ("double", "return x + x", "2026-11-03"),
    ):
        on(monkeypatch, day)
        write(folder, name, line)
        run(name)
    on(monkeypatch, "2026-11-09")
    status, out, _ = run("review")
    assert status == 0
    assert out == (
        "Emptied: half (solved on 2026-11-02). What you wrote is kept beside each "
        "file.\n"
    )
    assert "return x / 2" in (folder.path / "02_half.py.bak").read_text()
    assert "2 of 2  Half as much" in run()[1]
    assert "2 of 2 done" in run("list")[1]
    assert "return x + x" in folder.path_of(folder.library["double"]).read_text()


def test_the_ending_says_what_is_missing_or_is_written(
    folder: Folder, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "be solved: double, half.\n" in run("ending")[1]
    given = []

    def written(of: Folder, **options: object) -> str:
        given.append((of.path, options["begin"], options["seed"]))
        return "A text."

    monkeypatch.setattr(cli, "ending_text", written)
    assert run("ending", "Mr. ", "--seed", "5") == (0, "A text.\n", "")
    run("ending")
    assert given == [(folder.path, "Mr. ", 5), (folder.path, cli.BEGIN, None)]
    # That it takes a while is said where a program that reads the text is not told.
    for name, line in (("double", "return x + x"), ("half", "return x / 2")):
        write(folder, name, line)
        run(name)
    assert run("ending") == (0, "A text.\n", f"{cli.WAIT}\n")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert run("ending") == (0, f"{cli.WAIT}\nA text.\n", "")


def test_the_first_start_in_a_terminal_greets(
    folder: Folder, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = in_a_terminal(monkeypatch)
    folder.path = folder.path.with_name("new")
    run()
    first, *others = ran[0].notice.splitlines()
    assert first == f"Made 2 exercises in {folder.path.as_posix()}."
    assert others[0].startswith("Welcome!")
    run()
    assert ran[1].notice == ""


def test_pairs_are_printed(
    folder: Folder, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        cli, "pairs", lambda task: [f"{task.name}, and when it is late"]
    )
    words = ("--prove", str(folder.library.folder), "half")
    assert "When half, and when it is late.\n" in run(*words, "--pairs")[1]
    assert "it is late" not in run(*words)[1]


def test_review_in_a_terminal_goes_to_the_first(
    folder: Folder, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    on(monkeypatch, "2026-11-02")
    write(folder, "half", "return x / 2")
    run("half")
    run("double")
    on(monkeypatch, "2026-11-09")
    ran = in_a_terminal(monkeypatch)
    run("review")
    assert ran[0].notice.startswith("Emptied: half (solved on 2026-11-02).")
    assert ran[0].folder.current.name == "half"
    assert "there is nothing yet" in run("review")[1]
    assert len(ran) == 1


def test_all_files_are_judged(folder: Folder, run: Run, tmp_path: Path) -> None:
    assert run("--all") == (
        0,
        "0 of 2 done; nothing is begun: all 2 are open.\n",
        "",
    )
    write(folder, "half", "return x / 2")
    status, out, _ = run("--all")
    assert (status, out.splitlines()[0]) == (0, "passed  half")
    assert " ".join(out.split()).endswith(
        " 2 of 2 done, 1 of which by a checkpoint; now 1 are right, 0 are not, 1 are "
        "open."
    )
    write(folder, "double", "return x * 3")
    status, out, _ = run("--all")
    assert status == 1
    assert (
        out.splitlines()[0] == "FAILED  double               it is three times as much"
    )
    # Those of a path alone, and as files for other programs:
    (folder.library.folder / "short.txt").write_text("half\n")
    junit = tmp_path / "junit.xml"
    status, out, _ = run("--all", "--path", "short", "--json", "--junit", str(junit))
    assert status == 0
    assert [(row["name"], row["ok"]) for row in json.loads(out)] == [("half", True)]
    assert '<testsuite name="headway practice" tests="1"' in junit.read_text()
    assert "first" in run("list")[1]


def test_on_a_path_its_files_are_judged_and_what_else_was_begun(
    folder: Folder, run: Run
) -> None:
    (folder.library.folder / "short.txt").write_text("half\n")
    run("--path", "short")
    assert run("--all")[1] == (
        "0 of 1 on the path short done; nothing is begun: all 1 are open.\n"
    )
    write(folder, "double", "return x + x")
    status, out, _ = run("--all")
    assert (status, out.splitlines()[0]) == (0, "passed  double")
    assert out.endswith(
        "\n0 of 1 on the path short done; nothing is begun: all 1 are open. Of the "
        "other\nfiles 1 are right, 0 are not.\n"
    )


def test_a_folder_that_is_named_after_all_is_judged(
    folder: Folder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "Copies", Here)
    write(folder, "half", "return x / 3")
    words = ["--all", str(folder.path), "--set", str(folder.library.folder)]
    assert cli.main(words) == 1
    assert capsys.readouterr().out.startswith("FAILED  half")
    # Where processes cannot be copied, each file gets one of its own.
    monkeypatch.setattr(cli, "CAN_COPY", False)
    monkeypatch.setattr(cli, "Copies", None)
    monkeypatch.setattr(cli, "Worker", Here)
    assert cli.main(words) == 1
    empty = folder.path.parent / "empty"
    assert cli.main(["--all", "--folder", str(empty), *words[2:]]) == 2
    assert capsys.readouterr().err == (
        f"headway practice: --all must be given a folder of exercises; got {empty}.\n"
    )


def test_the_set_is_remembered_and_the_folder_found(
    folder: Folder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "Worker", Here)
    project = folder.path.parent
    names = sorted(path.name for path in folder.path.iterdir())

    def once(*words: str) -> str:
        cli.main([*words, "--once"])
        return capsys.readouterr().out

    for place, word in (
        (project, "half"),
        (project, "practice/02_half.py"),
        (folder.path, "02_half.py"),
        (folder.path, "02_half"),
        (project.parent, str(folder.path / "02_half.py")),
    ):
        monkeypatch.chdir(place)
        assert once(word).startswith("2 of 2  Half as much\n")
    monkeypatch.chdir(folder.path)
    assert once().startswith("2 of 2  Half as much\n")
    assert sorted(path.name for path in folder.path.iterdir()) == names
    # The book's exercises come back by a word.
    out = once("--set", "book", "--path", "evening")
    assert out.startswith("Made the missing files: 06_softmax.py, ")
    assert remembered_set(folder.path) is None
    for path in Path().glob("*.py"):
        path.unlink()
    assert once("--path", "evening").startswith("Made 12 exercises in this folder.\n")
    # A folder of that name is a set as any other.
    folder.library.folder.rename(folder.path / "book")
    assert "1 of 2  Twice as much\n" in once("double", "--set", "book")


def test_what_a_checkpoint_covers_is_said(folder: Folder, run: Run) -> None:
    write(folder, "half", "return x / 2")
    assert run("half")[0] == 0
    assert "[x]  1  double               Twice as much (covered)" in run("list")[1]


def test_hints_open_one_by_one(run: Run) -> None:
    assert run("hint")[1] == "double\nhint 1/3  What is twice one?\n"
    assert run("hint", "double")[1].splitlines()[-1] == "hint 2/3  Multiply."


def test_after_success_all_hints_are_open(folder: Folder, run: Run) -> None:
    write(folder, "double", "return x + x")
    run("double")
    assert len(run("hint", "double")[1].splitlines()) == 3


def test_the_solution_and_after_success_another(folder: Folder, run: Run) -> None:
    out = run("solution", "double")[1]
    assert "y = x * 2" in out
    assert "    return x + x" not in out
    write(folder, "double", "return 2 * x")
    run("double")
    assert "    return x + x" in run("solution", "double")[1]


def test_reset(folder: Folder, run: Run) -> None:
    write(folder, "double", "return 1")
    out = run("reset", "double")[1]
    assert "01_double.py is as it was at first." in out
    assert f"Your version is in {folder.path.as_posix()}" in out
    assert "Your version" not in run("reset", "double")[1]
    status, _, err = run("reset")
    assert (status, err) == (
        2,
        "headway practice: reset must be given the name of an exercise.\n",
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("duble",), "Did you mean double?"),
        (("7",), "got name='7'"),
        (("double", "half"), "NAME must follow hint, solution or reset; got 'double'."),
    ],
)
def test_what_cannot_be_done_is_said(run: Run, words: tuple[str], said: str) -> None:
    status, _, err = run(*words)
    assert status == 2
    assert said in err


def test_the_folder_is_made_once(
    tmp_path: Path,
    folder: Folder,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cli, "Worker", Here)
    words = ["--once", "--folder", str(tmp_path / "new")]
    words += ["--set", str(folder.library.folder)]
    assert cli.main(words) == 1
    assert "Made 2 exercises in " in capsys.readouterr().out
    assert cli.main(words) == 1
    assert "Made" not in capsys.readouterr().out
    assert cli.main([*words[:2], str(tmp_path / "other"), *words[3:], "--json"]) == 1
    out, err = capsys.readouterr()
    assert "Made" in err
    assert "Made" not in out


@pytest.mark.parametrize("word", ["list", "hint", "solution", "ending"])
def test_who_only_looks_is_given_no_files(folder: Folder, run: Run, word: str) -> None:
    folder.path = folder.path.with_name("new")
    status, out, _ = run(word)
    assert (status, "Made" in out) == (0, False)
    assert not folder.path.exists()


def test_a_long_sentence_without_keys_is_broken(
    tmp_path: Path, folder: Folder, run: Run
) -> None:
    for name, line in (("double", "return x + x"), ("half", "return x / 2")):
        write(folder, name, line)
        out = run(name)[1]
    assert "headway practice ending shows the ending; " in " ".join(out.split())
    assert all(len(one) <= 80 for one in out.splitlines()[2:])


def test_it_says_what_was_missing_and_what_could_not_be_read(
    folder: Folder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "Worker", Here)
    words = ["--once", "--folder", str(folder.path)]
    words += ["--set", str(folder.library.folder)]
    folder.path_of(folder.library["half"]).unlink()
    (folder.path / ".headway.json").write_text("{")
    assert cli.main(words) == 1
    out, err = capsys.readouterr()
    assert out.startswith("Made the missing files: 02_half.py.\n")
    assert "is kept in .headway.json.bak." in err


def test_a_set_is_proved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = small_set(tmp_path / "good")
    assert cli.main(["--prove", str(good.folder)]) == 0
    out = capsys.readouterr().out
    assert "ok      double                   3 of 3 wrong answers named" in out
    bad = small_set(tmp_path / "bad", half=HALF.replace('"x / 3"', '"x / 2.0"'))
    assert cli.main(["--prove", str(bad.folder)]) == 1
    assert "A mistake passes: it is a third." in capsys.readouterr().out
    # One of them alone:
    assert cli.main(["--prove", str(bad.folder), "double"]) == 0
    assert "half" not in capsys.readouterr().out


def test_what_a_class_needs_is_written(tmp_path: Path) -> None:
    library, sheet = small_set(tmp_path / "set"), tmp_path / "sheet.md"
    assert cli.main(["--set", str(library.folder), "--sheet", str(sheet)]) == 0
    assert "Half as much" in sheet.read_text(encoding="utf-8")


def test_an_interruption_has_its_status(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "list_text", interrupted)
    assert run("list")[0] == 130


@pytest.mark.parametrize(
    "words",
    [("list",), ("hint",), ("solution", "half"), ("--once",), ("--all",), ("--help",)],
)
def test_it_ends_quietly_if_nobody_reads_on(
    folder: Folder, run: Run, words: tuple[str, ...]
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as stream, contextlib.redirect_stdout(stream):
        status, _, err = run(*words)
    assert (status, err) == (141, "")


def in_a_terminal(monkeypatch: pytest.MonkeyPatch) -> list[Session]:
    """Pretend that there is a terminal; give the list of what will run in it."""
    ran: list[Session] = []
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setattr(cli.Session, "run", lambda self: ran.append(self))
    return ran


def test_a_terminal_gets_a_session(
    folder: Folder, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = in_a_terminal(monkeypatch)
    assert run()[0] == 0
    assert len(ran) == 1
    assert run("--once")[0] == 1


def test_both_spellings_lead_there(capsys: pytest.CaptureFixture[str]) -> None:
    for word in ("practice", "practise"):
        with pytest.raises(SystemExit):
            headway_cli.main([word, "--help"])
        assert capsys.readouterr().out.startswith("usage: headway practice")


def test_the_other_command_is_check(capsys: pytest.CaptureFixture[str]) -> None:
    assert headway_cli.main(["check", "--d-out", "3"]) == 2
    assert "target must be" in capsys.readouterr().err


def test_a_solved_exercise_is_not_left_by_itself(folder: Folder, run: Run) -> None:
    write(folder, "double", "return x + x")
    first, again = run("--once"), run("--once")
    assert first[0] == again[0] == 0
    assert "headway practice half goes on to the next exercise" in again[1]
