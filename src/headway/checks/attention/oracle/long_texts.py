"""The equation in texts that are longer than those that everything else is asked of."""

from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor

from headway.checks.attention.evidence import Evidence
from headway.checks.attention.evidence.design import Design
from headway.checks.attention.evidence.find_designs import find_designs
from headway.checks.attention.oracle.search import Match, explain, match
from headway.checks.core import book_sections as book
from headway.checks.core.book_sections import Section
from headway.checks.core.errors import theirs
from headway.checks.core.tolerance import max_difference

_LENGTHS = (9, 64)  # more than most windows and buckets have
_OF_POSITIONS = 300  # more than eight bits can count
_MOST_TO_EXPLAIN = 64  # tokens
_SHORT_TYPES = (torch.bfloat16, torch.float16)
_TURN = 2 * torch.pi
_APART = 0.05  # of a radian, for tables of any type


class Found(NamedTuple):
    """What becomes wrong in long texts.

    Attributes:
        sentence: What does, in words.
        section: What to read about it.
        ids: The short names of the mistakes that the sentence names.
    """

    sentence: str
    section: Section
    ids: tuple[str, ...]


def in_long_texts(evidence: Evidence, near: Match) -> Found | None:
    """Say what becomes wrong in long texts, where short ones get the equation.

    Args:
        evidence: What short texts showed.
        near: The weights and the design that give the output of these.
    """
    if evidence.wide or evidence.one_length or evidence.bare:
        return None
    for long in _longer(evidence, near.design):
        if found := _in_a_text_of(long, evidence, near):
            return found
    return None


def _longer(evidence: Evidence, design: Design) -> list[int]:
    """List the lengths to ask; the longest shows only how positions are counted."""
    T, lengths = evidence.subject.T, [*_LENGTHS]
    if design.rotation is not None or design.bias is not None:
        lengths.append(_OF_POSITIONS)
    limit = evidence.fresh.context_length or _OF_POSITIONS
    return sorted({min(long, limit) for long in lengths if min(long, limit) > T})


@torch.no_grad()
def _in_a_text_of(long: int, short: Evidence, near: Match) -> Found | None:
    subject = replace(short.subject, B=1, T=long)
    x = subject.tokens(seed=4)
    try:
        output = subject(x)
    except theirs():  # a refusal, or whatever a reader's code may raise
        return None
    assert near.weights is not None  # noqa: S101  # for the types alone
    weights = replace(short.weights, candidates=(near.weights,))
    seen = torch.ones(long, long, dtype=torch.bool)
    seen = seen.tril() if short.causal else seen
    designs = _either_way(find_designs(subject, weights, seen))
    if (window := near.design.window) is not None:  # what short texts showed counts
        designs = tuple(
            one if one.window is None else replace(one, window=window)
            for one in designs
        )
    evidence = replace(
        short, subject=subject, x=x, output=output, weights=weights, designs=designs
    )
    if place := _first_alike(short, designs[0]):
        return _counted_in_16_bits(long, place)
    if match(evidence).difference <= evidence.tolerance:
        return None
    return _named(evidence)


def _either_way(designs: tuple[Design, ...]) -> tuple[Design, ...]:
    """Add designs whose cosines and sines were taken for each other.

    Of a text that does not begin at position zero the two may look alike.
    """
    other = [
        replace(
            one,
            rotation=replace(one.rotation, angles=_TURN / 4 - one.rotation.angles),
        )
        for one in designs
        if one.rotation is not None
    ]
    return (*designs, *other)


def _named(evidence: Evidence) -> Found | None:
    """Name the mistake that acts in long texts alone, if it is a known one."""
    long = evidence.subject.T
    if long <= _MOST_TO_EXPLAIN:
        found = explain(evidence, pairs=False)
        if found is None:
            return None
        what = found.sentence.removeprefix("It is exactly what comes out when ")
        what = what[0].lower() + what[1:].removesuffix(".")
        return Found(f"in a text of {long} tokens, {what}", found.section, found.ids)
    for dtype in _SHORT_TYPES:
        rounded = tuple(_rounded(one, dtype) for one in evidence.designs)
        near = match(replace(evidence, designs=rounded))
        if near.difference > evidence.tolerance:
            continue
        if near.design.bias is None:
            return _counted_in_16_bits(long, _first_rounded(torch.arange(long)))
        return Found(
            f"in a text of {long} tokens, the bias of positions is rounded to 16 bits, "
            "so that neighbours far away share one",
            book.BIAS,
            ("position-bias-in-16-bits",),
        )
    return None


def _rounded(design: Design, dtype: torch.dtype) -> Design:
    """Let positions be counted in a type, or a bias be of it."""
    if design.bias is not None:
        bias = design.bias.to(dtype).double()
        design = replace(design, bias=bias, buckets=None)
    if design.rotation is not None:
        angles = design.rotation.angles.double()
        places = torch.arange(len(angles)).to(dtype).double()
        turned = angles[0] + places[:, None] * (angles[1] - angles[0])
        design = replace(design, rotation=replace(design.rotation, angles=turned))
    return design


def _counted_in_16_bits(long: int, place: int) -> Found:
    return Found(
        f"in a text of {long} tokens, positions are counted in 16 bits: from position "
        f"{place} on, neighbours share an angle",
        book.ROTARY_SPEEDS,
        ("positions-in-16-bits",),
    )


def _first_rounded(places: Tensor) -> int:
    """Give the first position that bfloat16 does not have."""
    return int((places.bfloat16().double() != places).nonzero()[0])


def _first_alike(short: Evidence, design: Design) -> int | None:
    """Give the first position whose angles are those of a position in 16 bits."""
    if design.rotation is None or short.subject.T < 3:
        return None
    angles = design.rotation.angles.double()
    steps = angles[1] - angles[0]
    places = torch.arange(len(angles), dtype=torch.float64)
    few = slice(short.subject.T)
    if _apart(angles[few], angles[0], places[few], steps) > _APART:
        return None  # they are no positions of a text
    if _apart(angles, angles[0], places, steps) <= _APART:
        return None
    if _apart(angles, angles[0], places.bfloat16().double(), steps) <= _APART:
        return _first_rounded(places)
    return None


def _apart(angles: Tensor, first: Tensor, places: Tensor, steps: Tensor) -> float:
    """Give how far angles are from those of positions, but for whole turns."""
    off = angles - first - places.to(angles)[:, None] * steps
    return max_difference((off + torch.pi) % _TURN, torch.full_like(off, torch.pi))
