import subprocess
import sys

import pytest

from workshop import __main__ as command


def test_the_help_lists_each_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--help"]) == 0
    shown = capsys.readouterr().out
    for name, (_, about) in command.COMMANDS.items():
        assert f"  {name} " in shown
        assert about in shown


@pytest.mark.parametrize("name", command.COMMANDS)
def test_each_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        command.main([name, "--help"])
    assert exit_.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: workshop {name} ")


@pytest.mark.parametrize(
    ("given", "said"), [(["bulid"], "got bulid"), ([], "got none")]
)
def test_another_command_is_refused_in_one_sentence(
    given: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(given) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last == f"workshop: COMMAND must be one of these; {said}."


def test_windows_is_refused_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert command.main(["site", "--help"]) == 2
    assert capsys.readouterr().err == (
        "workshop: it must be run on Linux or macOS; got sys.platform='win32'.\n"
    )


def test_pytest_starts_where_the_modules_of_posix_are_missing() -> None:
    program = (
        "import sys\n"
        "for name in ('fcntl', 'pty', 'resource', 'termios', 'tty'):\n"
        "    sys.modules[name] = None\n"
        "import workshop.__main__, pytest_proofread.pytest_plugin.plugin"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_it_is_a_program() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "workshop", "--help"], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: workshop COMMAND")
