"""Distances that fall into other buckets of a learned bias than they should."""

from dataclasses import replace

import torch

from headway.checks.attention.oracle.comparing import Comparison, Place, difference
from headway.checks.attention.oracle.computing import compute
from headway.checks.attention.oracle.recipe import Recipe

_RIGHT = Recipe()


def other_buckets(comparison: Comparison, place: Place) -> str:
    """Say which distances fall into other buckets, if that explains the output.

    A row that sees no future depends on no distance that is larger than its place, so
    that the bucket of each distance is found by itself, the smallest first.
    """
    buckets = comparison.design(place).buckets
    fits = comparison.rows(place, _RIGHT) is not None
    if buckets is None or not place.causal or not fits:
        return ""
    right = [int(one) for one in buckets.numbers[:, 0]]
    found = right[:1]
    for distance in range(1, len(right)):
        others = [one for one in range(len(buckets.values)) if one != right[distance]]
        fitting = (
            one
            for one in (right[distance], *others)
            if _fits(comparison, place, [*found, one])
        )
        bucket = next(fitting, None)
        if bucket is None:
            return ""
        found.append(bucket)
    wrong = [n for n, one in enumerate(found) if one != right[n]]
    return _told(wrong, found, right) if wrong else ""


def _fits(comparison: Comparison, place: Place, numbers: list[int]) -> bool:
    """Ask whether the last row that these distances reach is the one of the code."""
    design, T = comparison.design(place), len(numbers)
    assert design.buckets is not None  # noqa: S101  # for the types alone
    places = torch.arange(T)
    apart = (places[:, None] - places).clamp(min=0)
    buckets = replace(design.buckets, numbers=torch.tensor(numbers)[apart])
    design = replace(design, bias=buckets.bias)
    evidence = comparison.evidence
    rows = compute(evidence.x[:, :T], comparison.weights(place), True, _RIGHT, design)
    off = difference(rows[:, -1:], evidence.output[:, T - 1 : T].double())
    return off <= comparison.tolerance


def _told(wrong: list[int], found: list[int], right: list[int]) -> str:
    first = wrong[0]
    rest = len(wrong) - 1
    more = f", and {rest} larger {'one' if rest == 1 else 'ones'} into others as well"
    return (
        f"distance {first} falls into bucket {found[first]} of the bias, and not into "
        f"bucket {right[first]}{more if rest else ''}"
    )
