"""Properties of sizes: of batches, texts and contexts."""

import math

import torch

from headway.checks.attention.evidence import Evidence
from headway.checks.attention.evidence.held_values import held_values
from headway.checks.attention.subject import Subject
from headway.checks.core.errors import describe, suppress_theirs, theirs
from headway.checks.core.outcome import Outcome, failed, not_applicable, note, passed
from headway.checks.core.property import OF_TYPES
from headway.checks.core.tolerance import max_difference, tolerance

_LONG = 600  # more than eight bits can count, and than the contexts of old models
_LONG_IF_WIDE = 300
_TEXTS = 8  # more than are asked for
_TOO_FEW = "selected index k out of range"  # what topk says if there are fewer than k
_ONE_NUMBER = "Expected more than 1 value per channel"  # what norms say
_TOO_LONG = 4096  # a table of all pairs would take long


def sizes(evidence: Evidence) -> Outcome:
    """Call with batches and texts of several sizes, one token and one text included."""
    subject = evidence.subject
    T = subject.T
    lengths = [] if evidence.one_length else [(subject.B, 1), (1, 1), (2, 2), (5, 3)]
    tried = [shape for shape in [(3, T), (1, T), *lengths] if shape[1] <= T]
    for B, t in tried:
        try:
            with torch.no_grad():
                subject(subject.tokens(B, t))
        except theirs() as raised:
            if most := _most_texts(evidence, raised):
                return note(
                    f"It takes {most} texts at once: with {B} it raised "
                    f"{describe(raised)}."
                )
            if _ONE_NUMBER in str(raised) or OF_TYPES.search(str(raised)):
                continue  # a norm over tokens has one number, and refuses it
            shape = (B, t, subject.d_in)
            if _TOO_FEW in str(raised) and (least := _least(evidence)) > t:
                return note(
                    f"It takes texts of {least} tokens or more: with {_tokens(t)} it "
                    f"raised {describe(raised)}."
                )
            return failed(
                f"With tokens of shape {shape} it raised {describe(raised)}: "
                f"{_reason(raised)}."
            )
    if evidence.one_length:
        return _of_one_length(evidence)
    return passed(
        f"It gives {evidence.output.shape[-1]} numbers for the {subject.d_in} of a "
        f"token, in {len(tried)} sizes of batch and text.",
        len(tried),
    )


@torch.no_grad()
def _most_texts(evidence: Evidence, raised: Exception) -> int | None:
    """Give the number of texts that are taken at most, if it is a limit.

    All fewer are taken, and no more: what confuses the axis with another one takes
    none but some.
    """
    subject = evidence.subject

    def is_taken(count: int) -> bool:
        try:
            subject(subject.tokens(count, subject.T))
        except theirs():
            return False
        return True

    taken = [is_taken(count) for count in range(1, _TEXTS + 1)]
    most = sum(taken)
    limited = most > 2 and taken == sorted(taken, reverse=True) and most < _TEXTS
    return most if limited and _TOO_FEW not in str(raised) else None


@torch.no_grad()
def _least(evidence: Evidence) -> int:
    """Give the least number of tokens from which on a text is taken."""
    subject = evidence.subject

    def is_taken(t: int) -> bool:
        try:
            subject(subject.tokens(subject.B, t))
        except theirs():
            return False
        return True

    lengths = range(subject.T - 1, 0, -1)
    return next((t + 1 for t in lengths if not is_taken(t)), 1)


def _reason(raised: Exception) -> str:
    """Say what an error about sizes probably means."""
    if "view size is not compatible" in str(raised):
        return "use reshape() where view() finds numbers in a different order in memory"
    return "two axes are confused, or a size is fixed"


def _of_one_length(evidence: Evidence) -> Outcome:
    """Judge code that refuses texts of any other length."""
    T, raised = evidence.subject.T, evidence.one_length
    if T == 1:
        return failed(
            f"It takes texts of one token only: with two it raised {raised}. Nothing "
            "else was checked, since one token attends only to itself."
        )
    of_image = "pixel" in evidence.subject.call.filling.meaning
    if "invalid for input of size" in raised and not (of_image or _is_told(evidence)):
        return failed(
            f"It takes texts of {T} tokens only, and raised {raised} with a different "
            "number: a size is fixed in a view."
        )
    return note(
        f"It takes texts of {T} tokens only: with more or fewer it raised {raised}."
    )


@torch.no_grad()
def _is_told(evidence: Evidence) -> bool:
    """Ask whether a fixed size is one of an image, a window or a number of frames.

    An attribute has it, as the length of a side or as both, or multiples are taken, as
    where the height of an image is filled in. The longest text is none of these.
    """
    subject = evidence.subject
    if subject.context_length == subject.T:
        return False
    for _, value in held_values(subject.target):
        sides = value if isinstance(value, (tuple, list)) else [value]
        if not all(type(side) is int and side > 1 for side in sides) or not sides:
            continue
        if subject.T in (math.prod(sides), sides[0] ** 2):
            return True
    try:
        subject(subject.tokens(subject.B, 2 * subject.T))
    except theirs():
        return False
    return True


def alone(evidence: Evidence) -> Outcome:
    """Ask that a text gets the same in a batch as alone."""
    everything = torch.ones(evidence.x.shape[:2], dtype=torch.bool)
    worst = evidence.difference_alone(evidence.output, evidence.x, everything)
    if worst <= evidence.tolerance:
        for count in sorted({2, 5, 8, min(evidence.subject.num_heads or 2, 16)}):
            try:
                difference = _among(evidence, count)
            except theirs() as raised:
                if _most_texts(evidence, raised):
                    break  # another property tells it
                raise
            if difference > evidence.tolerance:
                return failed(
                    f"A text gets different rows among {count} texts than among "
                    f"{evidence.subject.B}: the number of texts is used as a size.",
                    difference,
                )
            worst = max(worst, difference)
        return passed("A text gets the same alone as in a batch.", worst)
    return failed(
        "A text gets different rows alone than in a batch: texts are mixed, or the "
        "result depends on the size of the batch.",
        worst,
    )


@torch.no_grad()
def _among(evidence: Evidence, count: int) -> float:
    """Repeat texts till there are so many, and compare what each gets."""
    times = -(-count // len(evidence.x))
    rows = evidence.subject(evidence.x.repeat(times, 1, 1)[:count])
    return max_difference(rows, evidence.output.repeat(times, 1, 1)[:count])


def longer(evidence: Evidence) -> Outcome:
    """Ask that the rows of a text stay when it goes on, for a long while too."""
    if not evidence.causal:
        return not_applicable(
            "Without hiding the future, all rows change when a text goes on."
        )
    subject, x, output = evidence.subject, evidence.x, evidence.output
    T = subject.T
    if evidence.one_length:
        return not_applicable(f"It takes texts of {_tokens(T)} only.")
    with torch.no_grad():
        worst = max(
            (max_difference(subject(x[:, :t]), output[:, :t]) for t in range(1, T)),
            default=0.0,
        )
    long, difference = _when_long(evidence)
    if long > T and difference is None:
        return failed(
            f"A text of {long} tokens is refused after shorter ones, and taken before "
            "them: something of the first call is kept, such as its mask."
        )
    worst = max(worst, difference or 0.0)
    if worst <= evidence.tolerance:
        return passed(f"No row changes when its text goes on, to {long} tokens.", worst)
    return failed(
        "The first rows of a text change when it goes on: a mask is cut from the wrong "
        "corner, or something is divided by the number of tokens.",
        worst,
    )


@torch.no_grad()
def _when_long(evidence: Evidence) -> tuple[int, float | None]:
    """Compare with a long text; one that is refused is no failure, and is cut.

    Returns:
        The number of its tokens, and the difference; None if only code that was never
        called takes so many.
    """
    subject = evidence.subject
    T = subject.T
    for long in _lengths(evidence):
        x = subject.tokens(1, long, seed=4)
        try:
            rows = subject(x)[:, :T]
        except theirs():
            with suppress_theirs():  # a refusal
                evidence.fresh.copy()(x)
                return long, None
        else:
            return long, max_difference(subject(x[:, :T]), rows)
    return T, None


def _lengths(evidence: Evidence) -> list[int]:
    """List the lengths to try, the longest first."""
    subject = evidence.subject
    T = subject.T
    longest = _LONG_IF_WIDE if evidence.wide else _LONG
    limit = min(evidence.fresh.context_length or longest, longest)
    lengths = {min(n, limit) for n in (longest, 300, 64, 2 * T, T + 1)}
    return sorted((n for n in lengths if n > T), reverse=True)


def _tokens(count: int) -> str:
    return "one token" if count == 1 else f"{count} tokens"


def context(evidence: Evidence) -> Outcome:
    """Ask that a text longer than the context is refused, or treated rightly."""
    subject = evidence.subject
    limit = evidence.fresh.context_length
    if limit is None:
        return not_applicable("No context length was given or found.")
    if limit > _TOO_LONG:
        return not_applicable(f"A text of {limit + 1} tokens would take too long.")
    if evidence.wide and limit > _LONG_IF_WIDE:
        with suppress_theirs():  # it may know no such numbers
            narrow = subject.copy(torch.float32)
            narrow(narrow.tokens())
            subject = narrow
    x = subject.tokens(1, limit + 1, seed=5)
    try:
        with torch.no_grad():
            rows = subject(x)
    except theirs() as raised:  # a refusal
        refused = f"It refuses {limit + 1} tokens: {describe(raised)}"
        early = None if evidence.one_length else _too_short(evidence, subject, limit)
        return early or passed(refused, limit + 1)
    if not bool(rows.isfinite().all()):
        return failed(f"With {limit + 1} tokens it gives nan.", limit + 1)
    if evidence.causal:
        with torch.no_grad():
            worst = max_difference(subject(x[:, :limit]), rows[:, :limit])
        if worst > tolerance(rows):
            return failed(
                f"It takes {limit + 1} tokens, one more than its context, and then the "
                "future gets through: refuse them.",
                worst,
            )
    return passed(
        f"It takes {limit + 1} tokens, one more than its context, correctly.", 0
    )


def _too_short(evidence: Evidence, subject: Subject, limit: int) -> Outcome | None:
    """Judge code that refuses texts as long as its context."""
    try:
        with torch.no_grad():
            subject(subject.tokens(1, limit, seed=5))
    except theirs() as raised:
        said = (
            f"It refuses {limit} tokens, which its context should hold: "
            f"{describe(raised)}. A table or a mask ends early."
        )
        told = evidence.subject.options.context_length is not None
        return failed(said, limit) if told else note(said, limit)
    return None
