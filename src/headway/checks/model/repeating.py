"""Models that answer otherwise when they are asked again.

What such a model does looks like a leak, or like texts that move each other. So all
else is asked of a model that repeats itself, and that it does not is told once.
"""

from dataclasses import replace

from headway.checks.core.errors import theirs
from headway.checks.core.tolerance import max_difference, same_order_tolerance
from headway.checks.model.model_subject import ModelSubject


def steady(subject: ModelSubject) -> ModelSubject:
    """Give a model that repeats itself, if it can be made to.

    One that keeps something is copied for each call, and one that drops in eval gets a
    rate of 0.
    """
    if subject.module is None:
        return subject
    if _keeps(subject.copy()):
        subject = replace(subject, fresh=True)
    if is_random(subject):
        quiet = subject.with_dropout(0.0)
        subject = subject if is_random(quiet) else quiet
    return subject


def is_random(subject: ModelSubject) -> bool:
    """Ask whether logits depend on random numbers."""
    ids = subject.ids()
    first, second = (subject(ids, seed=seed) for seed in (1, 2))
    return max_difference(first, second, equal_nan=True) > same_order_tolerance(first)


def _keeps(subject: ModelSubject) -> bool:
    """Ask whether a call changes what a later one gives."""
    ids = subject.ids()
    try:
        first, second = subject(ids), subject(ids)
        subject(subject.ids(1, subject.T - 1, seed=6))
        third = subject(ids)
    except theirs():  # the property tells it
        return True
    worst = max(
        max_difference(logits, first, equal_nan=True) for logits in (second, third)
    )
    return worst > same_order_tolerance(first)
