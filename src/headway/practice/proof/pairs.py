"""The pairs of mistakes that a reader may be told of, to be read by who wrote them."""

from collections.abc import Iterator, Sequence
from itertools import chain

from headway.practice.judging.judge import KnownResults, Result, explain
from headway.practice.task.library import Task


def pairs(task: Task, containing: Sequence[str] = ()) -> Iterator[str]:
    """Give the pairs of mistakes of an exercise that may be named, as they are read.

    Args:
        task: The exercise.
        containing: Texts that must all stand in the two sentences.

    Yields:
        Two sentences, as they stand behind "This is exactly what comes out when".
    """
    known = KnownResults(task, 0)
    for both, program in chain(*known.pairs):
        sentence = ", and when ".join(one.sentence for one in both)
        if not all(text in sentence for text in containing):
            continue
        results = [known.result(program, n) for n in range(len(known.trials))]
        given = [one if one is not None else Result() for one in results]
        if None in results or _right(known, given) or explain(known, given) != both:
            continue
        yield sentence


def _right(known: KnownResults, results: list[Result]) -> bool:
    both = zip(results, known.trials, strict=True)
    return all(one.same_as(trial.right) for one, trial in both)
