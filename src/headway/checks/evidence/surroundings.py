"""What stands around attention, taken off in a copy: norms, residual, other weights."""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from headway.checks.evidence.designs import norms_inside
from headway.checks.evidence.weights import Weights
from headway.checks.subject import Subject
from headway.checks.tolerance import largest, max_difference, tolerance

_NORM = re.compile(r"norm|^ln_?\d*$|^rms", re.IGNORECASE)
_GATE = re.compile(r"gate|gating", re.IGNORECASE)


class Bare(NamedTuple):
    """Attention without what stands around it.

    Attributes:
        subject: A copy where it is taken off.
        output: What attention alone gives for the tokens of the evidence.
        removed: The names of what was taken off, for the report.
    """

    subject: Subject
    output: Tensor
    removed: tuple[str, ...]


class _Through(nn.Module):
    """Hand on the first argument, whatever the others are."""

    def forward(self, x: Tensor, *others: Any, **named: Any) -> Tensor:
        """Give the tensor as it is."""
        return x


def bare(subject: Subject, weights: Weights, x: Tensor) -> tuple[Bare, ...]:
    """Take off what stands around attention, in each way that may be right.

    Norms hand on what they are given, weights that the equation does not have are set
    to a value at which they do nothing, and what a call adds to attention is taken off
    its result. It is empty if nothing stands around.

    Args:
        subject: The code.
        weights: Which of its parameters make queries, keys and values.
        x: Tokens, (B, T, d_in).
    """
    if subject.module is None or not weights.candidates:
        return ()
    found: list[Bare] = []
    for neutral in (_keep, _set_neutral):
        with suppress(Exception):  # whatever a reader's code may raise
            found += _taken_off(subject, weights, x, neutral)
    return tuple(found)


def _taken_off(
    subject: Subject, weights: Weights, x: Tensor, neutral: Any
) -> Iterator[Bare]:
    copied = subject.copy()
    module = copied.module
    assert module is not None  # noqa: S101  # it is asked before
    removed = [*_without_norms(module), *neutral(module, weights.without_role)]
    with torch.no_grad():
        output = copied(x)
        rest = _rest(copied, weights, x)
    if rest is not None and largest(rest) > tolerance(output):
        removed.append("the residual connection")
        output = output - rest
    if removed and largest(output) > 0:
        yield Bare(copied, output, tuple(removed))
        if any(_GATE.search(name) for name in removed):  # the sigmoid of zero
            yield Bare(copied, 2 * output, tuple(removed))


def _without_norms(module: nn.Module) -> Iterator[str]:
    """Let norms hand on what they are given, but not those of queries and keys."""
    inside = {id(one) for norm in norms_inside(module) for one in norm.modules()}
    for place, part in [*module.named_modules()]:
        if not place or id(part) in inside or [*part.children()]:
            continue
        name = place.rpartition(".")[2]
        if _NORM.search(type(part).__name__) or _NORM.search(name):
            owner = module.get_submodule(place.rpartition(".")[0])
            setattr(owner, name, _Through())
            yield place


def _keep(module: nn.Module, unknown: Iterable[str]) -> Iterator[str]:
    """Leave all other weights as they are."""
    return iter(())


def _set_neutral(module: nn.Module, unknown: Iterable[str]) -> Iterator[str]:
    """Set weights that the equation does not have to where they do nothing."""
    stored = dict(module.named_parameters())
    with torch.no_grad():
        for name in unknown:
            if name in stored and not re.search("sink", name):
                stored[name].copy_(_neutral(stored[name]))
                yield name


def _neutral(weight: Tensor) -> Tensor:
    """Give zeros; of what mixes heads with each other, the identity."""
    square = weight.squeeze()
    if square.ndim == 2 and square.shape[0] == square.shape[1]:
        return torch.eye(len(square)).to(weight).view_as(weight)
    return torch.zeros_like(weight)


def _rest(subject: Subject, weights: Weights, x: Tensor) -> Tensor | None:
    """Give what a call adds to attention, if that is the tokens, as a residual does.

    Without values and biases attention gives zero, and what is left is the rest.
    """
    without = subject.copy()
    module = without.module
    assert module is not None  # noqa: S101  # it is asked before
    for name, parameter in module.named_parameters():
        if name not in weights.without_role:
            parameter.zero_()
    rest = without(x)
    if rest.shape != x.shape or max_difference(rest, x) > tolerance(x):
        return None
    return rest
