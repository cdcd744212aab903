"""What an exercise says about itself, besides its text and its solution."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from headway._edits import Edit
from headway.practice.task.refused import RefusedError


@dataclass(frozen=True)
class Draw:
    """The sizes of one trial, and random numbers.

    The letters are those of the book: texts, heads, groups of keys, queries, keys,
    width of keys, width of values, width of the model, window.

    Attributes:
        generator: Where the numbers come from.
        axes: How many axes stand before those that a task names: one, the texts, or
            two, or none.
        loud: What `normal` multiplies its numbers by; scores grow with its square.
        case: Which of several things is drawn, where an exercise has a list of them.
    """

    generator: torch.Generator
    B: int = 3
    H: int = 6
    G: int = 2
    T: int = 5
    S: int = 7
    D: int = 10
    V: int = 11
    E: int = 13
    W: int = 4
    axes: int = 1
    loud: float = 1.0
    case: int = 0

    @property
    def lead(self) -> tuple[int, ...]:
        """The sizes of the axes before those that a task names."""
        return (2, self.B)[2 - self.axes :]

    def normal(self, *shape: int) -> Tensor:
        """Draw numbers around zero, in 64 bits."""
        drawn = torch.randn(shape, generator=self.generator, dtype=torch.float64)
        return self.loud * drawn

    def integers(self, end: int, *shape: int) -> Tensor:
        """Draw whole numbers from zero to `end`, without `end`."""
        return torch.randint(end, shape, generator=self.generator)

    def booleans(self, *shape: int) -> Tensor:
        """Draw a table of true and false."""
        return torch.rand(shape, generator=self.generator) < 0.5

    def order(self, n: int) -> Tensor:
        """Draw an order of n things."""
        return torch.randperm(n, generator=self.generator)


# As different as can be; all equal, where a wrong axis is no error; and loud, with one
# more axis in front for those who draw `lead`.
DIFFERENT: Mapping[str, int | float] = {}
EQUAL: Mapping[str, int | float] = dict.fromkeys("BHGTSDVEW", 4)
LOUD: Mapping[str, int | float] = {"loud": 30.0, "axes": 2}
# Sizes that a smallest case is looked for in, the smallest first.
SMALL: Sequence[Mapping[str, int]] = [
    dict(zip("BHGTSDVEW", sizes, strict=True))
    for sizes in (
        (1, 1, 1, 1, 1, 1, 1, 1, 1),
        (1, 1, 1, 1, 2, 1, 1, 1, 1),
        (1, 1, 1, 2, 2, 1, 1, 1, 1),
        (1, 1, 1, 1, 2, 2, 1, 2, 1),
        (1, 1, 1, 2, 2, 2, 1, 2, 1),
        (1, 1, 1, 2, 2, 2, 2, 2, 1),
        (1, 1, 1, 2, 3, 2, 1, 2, 2),
        (1, 1, 1, 3, 3, 2, 2, 2, 2),
        (2, 1, 1, 2, 2, 2, 2, 2, 1),
        (1, 2, 1, 2, 2, 2, 2, 4, 1),
        (2, 2, 2, 2, 3, 2, 2, 4, 2),
        (1, 4, 2, 3, 3, 2, 2, 8, 2),
        (2, 4, 2, 4, 5, 4, 4, 8, 3),
    )
]


@dataclass(frozen=True)
class Wrong(Edit):
    """A mistake that somebody could make, as an edit of the solution.

    Attributes:
        old: What stands in the solution, once.
        new: What stands in its place.
        sentence: What is then done, to be read after "This is exactly what comes out
            when", such as "the triangle is cut from the upper left corner".
        exhibit: The program of the museum that shows it, such as
            "triangles/#wrong-corner".
        hint: A first hint for who has made it.
        same_as: The sentence of another mistake that gives the same results.
        alone: Whether its sentence tells of the whole answer, so that it is not named
            together with another.
    """

    sentence: str
    exhibit: str = ""
    hint: str = ""
    same_as: str = ""
    alone: bool = False


@dataclass(frozen=True)
class Property:
    """Something that must hold of every right answer.

    Attributes:
        sentence: What must hold, to be read after "It must hold that".
        holds: Takes the answer and what was drawn for it, and looks.
    """

    sentence: str
    holds: Callable[..., bool]


@dataclass(frozen=True)
class Forbidden:
    """A way to the right result that a task forbids.

    Who misread the task is told so. It does not hold against malice: whoever wants to
    may go around it.

    Attributes:
        sentence: What is said of an answer that is right but for this.
        example: Lines for the hole that go this way, which prove that it is seen.
        names: Functions of PyTorch that must not be called, by their names without
            underscores at the ends: "matmul", which `@` calls as well; "getitem" for
            square brackets. None: all are looked at.
        when: Takes the arguments of such a call, its result, and what was drawn, and
            says whether this call is forbidden; without it, every one is.
    """

    sentence: str
    example: str
    names: Sequence[str] = ()
    when: Callable[[Sequence[Any], Any, Sequence[Any]], bool] | None = None

    def __post_init__(self) -> None:
        if not self.names and self.when is None:
            raise RefusedError(
                "names or when must say what is forbidden; got neither of them."
            )


def has_fractions(value: Any) -> bool:
    """Ask whether something is, or has, a tensor of floating-point numbers."""
    if isinstance(value, Mapping):
        return has_fractions([*value.values()])
    if isinstance(value, (list, tuple)):
        return any(map(has_fractions, value))
    return isinstance(value, Tensor) and value.is_floating_point()


def call(answer: Callable[..., Any], *drawn: Any) -> Any:
    """Call an answer with what was drawn."""
    return answer(*drawn)


@dataclass(frozen=True)
class Exercise:
    """How an answer is judged.

    Attributes:
        answer: The name that the reader's file must define.
        read: The page and the title of the section that explains it.
        hints: Three, each giving more away than the one before, none the line itself.
        draw: Draws the arguments of one trial.
        law: What holds of every right answer, told after success.
        wrong: The mistakes that are known, besides those in a file `NAME.mistakes`
            beside the exercise's.
        right: Other right answers: what may stand in the hole instead.
        forbids: Ways to the right result that the task forbids; the first trial is
            watched.
        ask: Takes the answer and what was drawn, and gives what is compared.
        properties: What must hold besides.
        trials: The sizes of each trial.
        small: Sizes of its own for a smallest case, looked at before the usual ones.
        covers: The exercises that this one contains.
        report: Takes the answer and gives a report of `headway.checks.check`, which
            names the mistake if no entry of `wrong` does.
        survivors: Mutants of the solution that no trial can tell from it, each with
            the reason why.
        stars: How hard it is, from 1 to 3, if it is a core exercise; 0 if not.
        minutes: How long it takes, in minutes; 0 if nobody has said.

    Raises:
        ValueError: If it has more stars, or fewer, or negative minutes.
    """

    answer: str
    read: tuple[str, str]
    hints: Sequence[str]
    draw: Callable[[Draw], tuple[Any, ...]]
    law: str
    right: Sequence[str]
    wrong: Sequence[Wrong] = ()
    forbids: Sequence[Forbidden] = ()
    ask: Callable[..., Any] = call
    properties: Sequence[Property] = ()
    trials: Sequence[Mapping[str, int | float]] = (DIFFERENT, EQUAL, LOUD)
    small: Sequence[Mapping[str, int | float]] = ()
    covers: Sequence[str] = ()
    report: Callable[[Any], Any] | None = None
    survivors: Mapping[str, str] = field(default_factory=dict)
    stars: int = 0
    minutes: int = 0

    def __post_init__(self) -> None:
        if self.minutes < 0:
            raise RefusedError(
                f"minutes must be 0 or more; got minutes={self.minutes}."
            )
        if self.stars not in range(4):
            raise RefusedError(
                "stars must be 1, 2 or 3, or 0 for an exercise that is not core; "
                f"got stars={self.stars}."
            )
