"""One item of pytest for each property."""

import functools
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from headway.checks.attention.run import check
from headway.checks.attention_or_model import is_model, properties_of
from headway.checks.core.cannot_check import CannotCheckError
from headway.checks.core.choosing import chosen
from headway.checks.core.expected import property_of, refuse
from headway.checks.core.report import Report
from headway.checks.model import check_model

if TYPE_CHECKING:
    import pytest


def parametrize_checks(
    module_or_function: Callable[..., Any], *, model: bool = False, **options: Any
) -> "pytest.MarkDecorator":
    """Make one pytest test for each property, named by its id.

    It decorates a function that takes an argument `check`, and calls it. The code is
    checked once, when the first of these tests runs. A property that cannot be asked is
    skipped, and one that is `expected` to fail is an `xfail`, a strict one; what an
    expected mistake explains is an `xfail` too.

    Args:
        module_or_function: What is to be checked.
        model: Whether it is a whole model; one that is told a `vocab_size` is.
        options: The options of `check`, or of `check_model`, `expected`, `only`
            and `skip` among them.

    Returns:
        A decorator.

    Raises:
        ValueError: If `expected`, `only` or `skip` name a property that there is not,
            or none is left to ask.

    Examples:
        >>> from torch.nn.functional import scaled_dot_product_attention
        >>> @parametrize_checks(scaled_dot_product_attention)
        ... def test_attention(check):
        ...     check()
    """
    import pytest  # where it is called there is one, and elsewhere nobody needs it

    expected = options.get("expected") or {}
    model = model or is_model(module_or_function, options)
    properties = properties_of(model=model)
    refuse(expected, properties)
    asked = chosen(properties, options.get("only"), options.get("skip"))
    ask = check_model if model else check
    run = _once(functools.partial(ask, module_or_function, **options))
    marks = {
        property_of(key): [
            pytest.mark.xfail(reason=why, strict=True, raises=AssertionError)
        ]
        for key, why in expected.items()
    }
    return pytest.mark.parametrize(
        "check",
        [
            pytest.param(functools.partial(_ask, run, one), id=one, marks=given)
            for one in (each.id for each in asked)
            for given in [marks.get(one, [])]
        ],
    )


def _once(run: Callable[[], Report]) -> Callable[[], Report]:
    """Run a check when it is first asked for, and keep what comes out, be it an error.

    An interruption is kept by nobody.
    """

    @functools.cache
    def kept() -> tuple[Report | Exception, TracebackType | None]:
        try:
            return run(), None
        except Exception as error:
            return error, error.__traceback__

    def report() -> Report:
        outcome, traceback = kept()
        if isinstance(outcome, Exception):
            raise outcome.with_traceback(traceback)
        return outcome

    return report


def _ask(run: Callable[[], Report], asked: str) -> None:
    """Fail, skip or pass as one row says."""
    import pytest

    __tracebackhide__ = True
    try:
        report = run()
    except CannotCheckError as error:  # it could not be checked
        pytest.fail(str(error), pytrace=False)
    [row] = [one for one in report.rows if one.id == asked]
    if row.verdict == "expected" and row.explained_by:
        pytest.xfail(row.advice)
    if row.verdict == "expected":
        raise AssertionError(str(row))
    if row.verdict == "failed":  # no error that an expectation would excuse
        pytest.fail(f"{report.subject}\n{row}", pytrace=False)
    if row.verdict == "not applicable":
        pytest.skip(row.sentence)
