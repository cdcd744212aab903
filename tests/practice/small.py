"""A set of two small exercises, for the tests."""

from pathlib import Path

from headway.practice.judging.run_file import judge_file
from headway.practice.judging.verdict import Verdict
from headway.practice.judging.worker import Worker
from headway.practice.task.library import Library, Task

DOUBLE = '''
"""Twice as much

Write `double(x)`: each number twice as large.
"""

from headway.practice import Exercise, Wrong

# --- your file ---
import torch
from torch import Tensor


def double(x: Tensor) -> Tensor:
    """Double numbers of any shape."""
    # --- write ---
    y = x * 2
    return y
    # --- written ---


if __name__ == "__main__":
    # Of one and a half:
    print(double(torch.tensor([1.5])))
    # tensor([3.])
# --- end of your file ---


EXERCISE = Exercise(
    answer="double",
    read=("basics/masks/#what-breaks-it", "What breaks it"),
    hints=("What is twice one?", "Multiply.", "Multiply by a number; which one?"),
    draw=lambda d: (d.normal(d.T, d.D),),
    law="Twice a number is the number and itself.",
    right=["return x + x"],
    wrong=[
        Wrong("x * 2", "x * 3", "it is three times as much", hint="Count again."),
        Wrong("x * 2", "x**2", "it is squared", exhibit="pieces/#x"),
        Wrong("return y", "return y + 1", "one is added"),
    ],
    survivors={},
)
'''

HALF = '''
"""Half as much

Write `half(x)`: each number half as large.
"""

from headway.practice import Exercise, Forbidden, Property, Wrong

# --- your file ---
from torch import Tensor


def half(x: Tensor) -> Tensor:
    """Halve numbers of any shape."""
    # --- write ---
    return x / 2
    # --- written ---


if __name__ == "__main__":
    import torch

    print(half(torch.tensor(3.0)))
    # tensor(1.5000)
# --- end of your file ---


EXERCISE = Exercise(
    answer="half",
    read=("basics/masks/#what-breaks-it", "What breaks it"),
    hints=("What is half of one?", "Divide.", "Divide by a number; which one?"),
    draw=lambda d: (d.normal(d.T, d.D),),
    law="Half a number, twice, is the number.",
    right=["return 0.5 * x"],
    wrong=[Wrong("x / 2", "x / 3", "it is a third")],
    properties=[
        Property("half of nothing is nothing", lambda f, x: not f(0 * x).any())
    ],
    covers=("double",),
)
'''

# The same, of two stars: it is core, and the other is not.
CORE = HALF.replace("    covers=", "    stars=2,\n    covers=")
# The same, of five minutes, and containing nothing.
TIMED = HALF.replace('    covers=("double",),', "    minutes=5,")


class Here(Worker):
    """Judges without a process of its own."""

    def __init__(self, *, ahead: bool = False) -> None:
        self.ahead = ahead
        self._next = None

    def judge(self, library: Library, task: Task, path: Path, *, seed: int) -> Verdict:
        return judge_file(task, path, seed=seed)


def small_set(folder: Path, *, half: str = HALF) -> Library:
    """Write the set into a folder, and read it."""
    (folder / "first").mkdir(parents=True)
    (folder / "second").mkdir()
    (folder / "first" / "double.py").write_text(DOUBLE, encoding="utf-8")
    (folder / "second" / "half.py").write_text(half, encoding="utf-8")
    (folder / "contents.txt").write_text("first/double\nsecond/half\n")
    return Library(folder)
