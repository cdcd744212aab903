"""The property of a cache: any calls make one text."""

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from headway.checks.attention.evidence import Evidence
from headway.checks.attention.evidence.masks import example_table
from headway.checks.attention.properties.cache_causes import Run, cause
from headway.checks.attention.subject.caches import Way, ways_to_cache
from headway.checks.attention.subject.cross_calls import as_cross_attention
from headway.checks.core.cache_positions import cause_of_positions
from headway.checks.core.errors import at_the_border, describe, suppress_theirs, theirs
from headway.checks.core.limit import limited
from headway.checks.core.names import keys_of_dictionaries
from headway.checks.core.outcome import (
    Cause,
    Outcome,
    failed,
    not_applicable,
    note,
    passed,
    unexplained,
)
from headway.checks.core.signature import Target
from headway.checks.core.tolerance import max_difference, same_order_tolerance

Cut = tuple[int, ...]
Given = Callable[[int, int], Mapping[str, Any]]  # for the tokens between two places
_HELD = (tuple, list, dict)  # what a call gives back, and is surely a cache
# Under which names keys are kept that are of the text of an encoder.
_ANOTHER_TEXT = re.compile("enc_?dec|encoder|cross")


def cached(evidence: Evidence) -> Outcome:
    """Ask that a text in several calls, with a cache, gets what one call gives."""
    T = evidence.subject.T
    if T < 3:
        return not_applicable("Its texts are too short to be cut.")
    error, ignored, broken = "", "", ""
    with torch.no_grad(), evidence.fresh.dropping_as_told():
        for way in ways_to_cache(evidence.fresh):
            try:
                target = evidence.fresh.copy().target
                rows, past = _continue(target, evidence, way, (T - 2, 1, 1))
            except theirs() as raised:  # it takes no such cache
                error = error or f"With {way.shown} it raised {describe(raised)}."
                if not broken and _gives_a_cache(evidence, way):
                    broken = (
                        f"With {way.shown} a call returns its keys and values, and a "
                        f"later call that gets them raised {describe(raised)}."
                    )
                continue
            if not _sees_the_past(evidence, rows):
                if way.handed_on and isinstance(past, _HELD):
                    ignored = way.shown
                error = error or (
                    f"With {way.shown} a later call does not see the past: only the "
                    "newest tokens are read."
                )
            elif evidence.subject.options.caches is False:
                return failed(
                    f"With {way.shown} a later call sees the past. Declared: "
                    "caches=False."
                )
            else:
                return _of_all_cuts(evidence, way, rows)
    if ignored:
        return failed(
            f"With {ignored}, a call returns its keys and values, but a later call "
            "that gets them does not see the past.",
            mistakes=["cache-not-read"],
        )
    if broken and evidence.subject.options.caches is not False:
        return failed(broken, mistakes=["cache-not-taken-back"])
    return _without_a_cache(evidence, error)


def _without_a_cache(evidence: Evidence, error: str) -> Outcome:
    """Say that no cache was found, which fails if one is declared."""
    options = evidence.subject.options
    if options.cached is not None:
        return failed(error)
    sentence = error or "It takes no cache."
    if options.caches:
        return failed(
            f"{sentence} Declared: caches=True; say by cached= how it is used."
        )
    if options.caches is False or not error:
        return not_applicable(sentence)
    return not_applicable(f"{sentence} Say by cached= how it takes its cache.")


def _in_calls(evidence: Evidence, way: Way, cut: Cut) -> Tensor:
    """Call with one part of each text after the other."""
    return _continue(evidence.fresh.copy().target, evidence, way, cut)[0]


def _gives_a_cache(evidence: Evidence, way: Way) -> bool:
    """Say whether a first call, without a past, gives one for the next."""
    if not way.handed_on:
        return False
    target, cut = evidence.fresh.copy().target, (evidence.subject.T - 2,)
    with suppress_theirs():
        return isinstance(_continue(target, evidence, way, cut)[1], _HELD)
    return False


def _nothing(start: int, end: int) -> Mapping[str, Any]:
    return {}


@at_the_border
def _continue(
    target: Target,
    evidence: Evidence,
    way: Way,
    cut: Cut,
    *,
    given: Given = _nothing,
) -> tuple[Tensor, Any]:
    past, start, rows = way.begin(), 0, []
    for count in cut:
        tokens = evidence.x[:, start : start + count].clone()
        with limited():
            extra = given(start, start + count)
            part, past = way.step(target, tokens, past, start, **extra)
        if part.shape[:2] != tokens.shape[:2]:
            raise TypeError(f"it returned shape {tuple(part.shape)}")
        rows.append(part)
        start += count
    return torch.cat(rows, dim=1), past


def _expected(rows_at_the_end: Callable[[int], Tensor], cut: Cut) -> Tensor:
    """Give what each part gets at the end of a text without a cache."""
    ends = [sum(cut[: n + 1]) for n in range(len(cut))]
    return torch.cat(
        [
            rows_at_the_end(end)[:, end - count :]
            for end, count in zip(ends, cut, strict=True)
        ],
        dim=1,
    )


def _sees_the_past(evidence: Evidence, rows: Tensor) -> bool:
    alone = evidence.subject(evidence.x[:, -1:])
    return max_difference(alone, rows[:, -1:]) > evidence.tolerance


@at_the_border
def _of_all_cuts(evidence: Evidence, way: Way, by_ones: Tensor) -> Outcome:
    """Cut the text in every way; what is refused is named and no failure.

    Args:
        evidence: What is known of the code.
        way: How it takes a cache.
        by_ones: The rows of the text whose last two tokens come one by one.
    """
    T = evidence.subject.T
    half = T // 2
    cuts = [(T,), (T - 2, 1, 1), (1,) * T, (half, T - half), (half, 1, T - half - 1)]
    refused: list[Cut] = []
    worst = 0.0

    @functools.cache
    def whole(end: int) -> Tensor:
        return evidence.subject(evidence.x[:, :end])

    for cut in cuts:
        try:
            rows = _in_calls(evidence, way, cut)
        except theirs():
            refused.append(cut)
            continue
        off = (rows - _expected(whole, cut)).abs().amax(dim=(0, 2))
        if not bool((off <= evidence.tolerance).all()):
            return _differs(evidence, way, cut, off)
        worst = max(worst, float(off.max()))
    if (difference := _of_a_second_text(evidence, way)) > evidence.tolerance:
        return failed(
            "A text with a new cache gets different rows after another text: the "
            "caches are one, such as a default that all calls share.",
            difference,
            mistakes=["cache-shared-by-calls"],
        )
    with suppress_theirs():  # it may want another mask behind a cache
        if name := _mask_ignored(evidence, way, by_ones[:, -2:]):
            return failed(
                f"With {way.shown}, {name} hides nothing behind a cache, and is obeyed "
                "without one.",
                mistakes=["mask-ignored-behind-cache"],
            )
    if way.without_positions is not None:
        with suppress_theirs():  # they must be given
            cut = (T - 2, 1, 1)
            rows = _in_calls(evidence, way.without_positions, cut)
            worst = max_difference(rows, _expected(whole, cut))
            if worst > evidence.tolerance:
                return _counted_otherwise(evidence, way.without_positions)
    but = f", but refuses {_shown(refused[0])}" if refused else ""
    counted = len(cuts) - len(refused)
    return passed(
        f"With {way.shown}, {counted} ways to cut a text give the same{but}.", worst
    )


def _mask_ignored(evidence: Evidence, way: Way, rows: Tensor) -> str:
    """Name an argument whose mask acts without a cache, and does nothing behind one.

    Args:
        evidence: What is known of the code.
        way: How it takes a cache.
        rows: The last two rows, in calls of one token each, without a mask.
    """
    masks, T = evidence.masks, evidence.subject.T
    mask = masks.of_keys or masks.of_texts or masks.of_pairs
    if way.told or mask is None or mask.of_lengths or mask.dtype != evidence.x.dtype:
        return ""
    x, subject = evidence.x, evidence.subject
    table = example_table(mask, subject.B, T).to(x.device)
    if mask.instead:  # it has to hide the future of a whole text
        table, mask = table.tril(), replace(mask, instead=False)

    def given(start: int, end: int) -> Mapping[str, Any]:
        return mask(table[:, start:end, :end].clone(), x.dtype)

    def at_once(end: int) -> Tensor:
        return subject(x[:, :end], **given(0, end))[:, -1:]

    target = evidence.fresh.copy().target
    hidden, _ = _continue(target, evidence, way, (T - 2, 1, 1), given=given)
    alike = same_order_tolerance(rows)
    if not max_difference(hidden[:, -2:], rows) <= alike:
        return ""
    expected = torch.cat([at_once(T - 1), at_once(T)], dim=1)
    return mask.argument if max_difference(expected, rows) > alike else ""


def _counted_otherwise(evidence: Evidence, way: Way) -> Outcome:
    """Say where code that counts positions itself puts new tokens."""
    without = f"With {way.shown}, and with no positions passed, new tokens"
    found = _of_positions(evidence, way)
    if found is None:
        return unexplained(
            f"{without} get different rows than with positions that go on from the "
            "cache, and no other position explains it."
        )
    sentence = f"{without} {found.sentence}."
    if "cache-positions-from-zero" in found.mistakes:
        return note(sentence)  # as where code leaves it to the caller
    return failed(sentence, mistakes=found.mistakes)


def _of_positions(evidence: Evidence, way: Way, who: str = "") -> Cause | None:
    """Measure where new tokens stand, if not where the cache ends."""
    subject = evidence.fresh

    def tokens(length: int) -> Tensor:
        return subject.tokens(max(subject.B, 2), length)

    def at_once(length: int) -> Tensor:
        return subject.copy()(tokens(length))

    def in_pieces(past: int) -> Tensor:
        told = replace(evidence, x=tokens(past + 1))
        return _in_calls(told, way, (past, 1))

    with suppress_theirs():  # such as a text that is too long
        found = cause_of_positions(at_once, in_pieces, subject.context_length)
        return found and Cause(f"{who}{found.sentence}", found.mistake)
    return None


def _differs(evidence: Evidence, way: Way, cut: Cut, off: Tensor) -> Outcome:
    """Say where rows with a cache are others, and what that tells."""
    with suppress_theirs():
        if named := _of_another_text(evidence, way):
            return note(
                f"With {way.shown}, later calls see the tokens of the first call and "
                f"no others: {named!r} says that they are those of another text."
            )
    row = int((~(off <= evidence.tolerance)).nonzero()[0])
    figure = float(off.max())
    where = f"With {way.shown}, in calls of {_shown(cut)} tokens, row {row + 1} is not "
    found = None
    with suppress_theirs():
        found = _of_positions(evidence, way, "new tokens ") or cause(
            _runs(evidence, way), evidence.subject, evidence.x
        )
    reason = found.sentence if found else _reason(evidence, cut, row)
    return failed(
        f"{where}what one call without a cache gives: {reason}.",
        figure,
        mistakes=found.mistakes if found else (),
    )


def _of_another_text(evidence: Evidence, way: Way) -> str:
    """Name what a cache keeps of the first call alone, for cross-attention."""
    kept = keys_of_dictionaries(evidence.subject.target)
    named = sorted(filter(_ANOTHER_TEXT.search, kept))
    first = evidence.subject.T - 2
    asking = as_cross_attention(evidence.subject, evidence.x[:, :first])
    if way.told or not named or asking is None:
        return ""
    rows = _in_calls(evidence, way, (first, 1, 1))[:, first:]
    expected = asking(evidence.x)[:, first:]
    return named[0] if max_difference(expected, rows) <= evidence.tolerance else ""


def _runs(evidence: Evidence, way: Way) -> Run:
    """Give rows for other tokens, with a cache."""

    def run(x: Tensor, cut: Cut) -> Tensor:
        return _in_calls(replace(evidence, x=x), way, cut)

    return run


def _reason(evidence: Evidence, cut: Cut, row: int) -> str:
    if row < cut[0]:
        first = "the first call" if len(cut) == 1 else "already the first call"
        with_a_cache = " with a cache" if len(cut) == 1 else ""
        if evidence.positions and row:
            return (
                f"{first}{with_a_cache} computes something else, with no past "
                "yet: the first row is right, so look at the positions of keys, such "
                "as keys that are turned twice"
            )
        return f"{first}{with_a_cache} computes something else"
    if max(cut[1:]) > 1:  # what was cut finer was right
        return (
            "one token at a time is right, and several at once are not, as when the "
            "mask begins at the first key instead of ending at the last"
        )
    if row > cut[0]:
        return "the first step is right, and a later one lacks some of the past"
    if evidence.positions:
        return (
            "all of the past is seen and its values are there, so look at positions, "
            "such as new tokens that are counted from zero again or keys that are "
            "turned twice, and at whether keys and values stay beside each other"
        )
    return "keys of the past are not what they were"


def _shown(cut: Sequence[int]) -> str:
    *counts, last = (str(count) for count in cut)
    return f"{', '.join(counts)} and {last}" if counts else last


def _of_a_second_text(evidence: Evidence, way: Way) -> float:
    """Compare a second text, with a new cache, with one that comes first."""
    if not way.handed_on and way.begin() is None:
        return 0.0  # the module keeps the cache, and how it forgets is not known
    cut = (evidence.subject.T - 2, 1, 1)
    target = evidence.fresh.copy().target
    first, second = (_continue(target, evidence, way, cut)[0] for _ in range(2))
    return max_difference(second, first)
