"""A worker lists the tensors of a program, if it is asked for them."""

from pytest_proofread.pytest_plugin.lookahead import current_interpreter
from pytest_proofread.runner import Job
from workshop.run.watched_shapes import WATCH


def test_shapes_are_listed_if_they_are_asked_for() -> None:
    code = "import torch\na = torch.ones(2, 3)"
    with current_interpreter() as worker:
        assert worker.run(Job(code, watch=WATCH)).seen == [("a", "(2, 3)")]
        assert worker.run(Job(code)).seen == []
        refused = worker.run(Job(f"{code}\n1 / 0", watch=WATCH))
    assert refused.seen == [("a", "(2, 3)")]
