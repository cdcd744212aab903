"""An error of other people's code is put into one line."""

from headway.checks.errors import describe


def test_an_error_is_put_into_one_line() -> None:
    assert describe(KeyError("a")) == "KeyError: 'a'"
    assert describe(RuntimeError("two\n  lines.")) == "RuntimeError: two lines"
    assert describe(ValueError("x" * 157)) == "ValueError: " + "x" * 157
    assert describe(ValueError("x" * 158)) == "ValueError: " + "x" * 157 + "..."
