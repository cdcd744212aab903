"""A command ends quietly if nobody reads on."""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import NoReturn

import pytest

from headway._pipes import NOBODY_READS, quiet_if_closed


@contextmanager
def unread() -> Iterator[None]:
    """Print into a pipe whose reader is gone before anything is written."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as stream, redirect_stdout(stream):
        yield


def raises(error: BaseException) -> NoReturn:
    raise error


def prints(text: str) -> int:
    print(text)
    return 3


def test_where_somebody_reads_the_status_is_that_of_the_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert quiet_if_closed(lambda: prints("read")) == 3
    assert capsys.readouterr().out == "read\n"


def test_where_there_is_no_output_the_status_is_that_of_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert quiet_if_closed(lambda: prints("nowhere")) == 3


@pytest.mark.parametrize("length", [1, 100_000])  # the buffer takes it, or does not
def test_it_ends_if_nobody_reads_on(length: int) -> None:
    with unread():
        assert quiet_if_closed(lambda: prints("x" * length)) == NOBODY_READS
        print("what is written later goes nowhere", flush=True)


def test_it_ends_quietly_where_python_would_have_ended() -> None:
    def shows_help() -> NoReturn:
        print("help")
        raise SystemExit(0)

    with unread():
        assert quiet_if_closed(shows_help) == NOBODY_READS


def test_windows_says_that_the_argument_is_invalid(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    invalid = OSError(errno.EINVAL, "Invalid argument")
    with unread():
        assert quiet_if_closed(lambda: raises(invalid)) == NOBODY_READS


@pytest.mark.parametrize(
    "error",
    [OSError(errno.EINVAL, "no pipe"), OSError(errno.ENOSPC, "full"), SystemExit(5)],
)
def test_other_errors_are_raised(error: BaseException) -> None:
    with pytest.raises(type(error)) as raised:
        quiet_if_closed(lambda: raises(error))
    assert raised.value is error
