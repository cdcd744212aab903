"""Every exercise of the book is proved: nothing of its page is read for that."""

import contextlib
import io
from pathlib import Path

import pytest
import torch

import headway
from headway.practice.proof.prove import prove
from headway.practice.task.library import Task, book
from workshop.changed_modules.kept import Kept

PROVE = Path(headway.__file__).parent / "practice/proof/prove.py"
# A wrong answer raises what it raises for a reader, who has no shape checks.
pytestmark = pytest.mark.refusal
each = pytest.mark.parametrize("task", [*book().values()], ids=lambda task: task.name)


@each
def test_it_is_proved(task: Task, kept: Kept) -> None:
    own = Path(__file__)
    program = task.path.read_text("utf-8")
    texts = [own, task.path]
    if kept.passed_on_main(programs=[program], files=[PROVE], texts=texts):
        pytest.skip("the checks of the main branch have proved it as it is")
    proof = kept(
        f"proof-{task.name}",
        lambda: prove(task),
        programs=[program],
        files=[PROVE],
        parts=[own.read_text("utf-8")],
    )
    assert proof.ok, str(proof)


@each
@pytest.mark.slow
def test_its_example_prints_the_same_whatever_is_drawn(task: Task) -> None:
    """A right answer would else fail, now and then, by rounding alone."""
    program = compile(task.source.solution, task.name, "exec")
    printed = set()
    for seed in range(100):
        torch.default_generator.manual_seed(seed)
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(program, {"__name__": "__main__"})  # noqa: S102
        printed.add(out.getvalue())
    assert len(printed) == 1
