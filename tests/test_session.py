"""What holds for a whole run of the tests: which of them count for the coverage."""

from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import coverage
import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def conftest(pytestconfig: pytest.Config) -> Any:
    return pytestconfig.pluginmanager.get_plugin(str(ROOT / "tests/conftest.py"))


class Tracer:
    """A tracer that notes what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def stop(self) -> None:
        self.told.append("stop")

    def start(self) -> None:
        self.told.append("start")


@pytest.mark.parametrize("ends", [None, KeyboardInterrupt])
@pytest.mark.parametrize(
    ("file", "told"),
    [
        ("tests/properties/test_masks.py", ["stop", "start"]),
        ("tests/checks/test_right.py", ["stop", "start"]),
        ("tests/checks/test_check.py", []),
        ("tools/workshop/tests/book/test_one.py", []),
    ],
)
def test_some_tests_run_without_the_tracer(
    conftest: Any,
    monkeypatch: pytest.MonkeyPatch,
    ends: type[BaseException] | None,
    file: str,
    told: list[str],
) -> None:
    tracer = Tracer()
    monkeypatch.setattr(coverage.Coverage, "current", lambda: tracer)
    hook = conftest.pytest_runtest_protocol(SimpleNamespace(path=ROOT / file))
    next(hook)
    assert tracer.told == told[:1]
    with suppress(StopIteration, KeyboardInterrupt):
        hook.throw(ends) if ends else hook.send(True)
    assert tracer.told == told


def test_what_runs_without_the_tracer_exists(conftest: Any) -> None:
    for one in conftest.UNTRACED:
        assert (ROOT / "tests" / one).exists()
