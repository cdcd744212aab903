from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from headway.practice.grading.protected import Server, judge_protected
from headway.practice.judging.judge import KnownResults
from headway.practice.judging.verdict import Verdict
from headway.practice.task.library import Library
from tests.support.processes import PATIENCE


@pytest.fixture(scope="package")
def server() -> Iterator[Server]:
    """Give a server that forks for each answer of these tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SECRET_TOKEN", "not for answers")
        one = Server()
    with one:
        yield one


@pytest.fixture
def judged(
    server: Server, library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Verdict]:
    """Judge an answer to `double`, of which the lines are given."""
    monkeypatch.setenv("SECRET_TOKEN", "not for answers")

    def judge(*lines: str, limit: float = PATIENCE, name: str = "double") -> Verdict:
        task = library[name]
        text = task.source.filled_with("\n".join(lines))
        path = tmp_path / f"{name}.py"
        path.write_text(text, encoding="utf-8")
        return judge_protected(server, path, KnownResults(task, 3), limit=limit)

    return judge
