"""What stands around attention, taken off in a copy: norms, residual, other weights."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from headway.checks.attention.evidence.find_designs import norms_inside
from headway.checks.attention.evidence.weights import Weights, bias_of
from headway.checks.attention.subject import Subject
from headway.checks.core.errors import at_the_border, suppress_theirs
from headway.checks.core.tolerance import largest, max_difference, tolerance

Neutral = Callable[[Tensor], Tensor] | None  # None: weights stay as they are
_NORM = re.compile(r"norm|^ln_?\d*$|^rms", re.IGNORECASE)
_NEVER = -1e4
_GATE = re.compile(r"gate|gating", re.IGNORECASE)


class Bare(NamedTuple):
    """Attention without what stands around it.

    Attributes:
        subject: A copy where it is taken off.
        output: What attention alone gives for the tokens of the evidence.
        removed: The names of what was taken off, for the report.
        weights: Those of attention alone, if they are not all that names tell.
    """

    subject: Subject
    output: Tensor
    removed: tuple[str, ...]
    weights: Weights | None = None


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
    for neutral in (None, _zeros, _same_heads, _ones, _low):
        with suppress_theirs():
            found += [
                one
                for one in _taken_off(subject, weights, x, neutral)
                if not any(torch.equal(one.output, other.output) for other in found)
            ]
    with suppress_theirs():
        found += _without_last_layer(subject, weights, x)
    return tuple(found)


@torch.no_grad()
@at_the_border
def _without_last_layer(subject: Subject, weights: Weights, x: Tensor) -> list[Bare]:
    """Take off a last layer that does not join the heads, but adds to what they found.

    Then it may be zero, and attention is by what values move the result.
    """
    last, values = (weights.named.get(role, ()) for role in ("out", "value"))
    if not last or not values:
        return []
    copied, removed = _copy_without(subject, weights, None)
    before = copied(x)
    _zero(copied, last)
    if max_difference(copied(x), before) <= tolerance(before):
        return []  # it is never used
    without = copied.copy()
    _zero(without, values)
    output = copied(x) - without(x)
    if largest(output) <= tolerance(copied(x)):
        return []
    alone = [
        replace(
            one,
            out=None,
            biases={role: b for role, b in one.biases.items() if role != "out"},
        )
        for one in weights.candidates
    ]
    fitting = replace(weights, candidates=tuple(one for one in alone if one.fits))
    return [Bare(copied, output, (*last, *removed), fitting)]


def _zero(subject: Subject, names: Sequence[str]) -> None:
    """Set weights and their biases to zero."""
    for name, parameter in _parameters(subject).items():
        if name in names or name in map(bias_of, names):
            parameter.zero_()


@torch.no_grad()
@at_the_border
def _taken_off(
    subject: Subject, weights: Weights, x: Tensor, neutral: Neutral
) -> list[Bare]:
    copied, removed = _copy_without(subject, weights, neutral)
    output = copied(x)
    rest = _without_values(copied, weights)(x)
    if rest.shape == x.shape and _is_residual(rest, x, output):
        removed.append("the residual connection")
        output, rest = output - x, rest - x
    if not removed or largest(output - rest) <= tolerance(output):
        return []
    found = [Bare(copied, output, tuple(removed))]
    if neutral is _zeros or any(_GATE.search(name) for name in removed):
        # The sigmoid of zero is a half, before the last layer or after it.
        known = [one.biases["out"] for one in weights.candidates if "out" in one.biases]
        opened = 2 * (output - rest) + (known[0] if known else 0)
        found.append(Bare(copied, opened, tuple(removed)))
    return found


def _copy_without(
    subject: Subject, weights: Weights, neutral: Neutral
) -> tuple[Subject, list[str]]:
    """Copy the code without norms, and with other weights where they do nothing."""
    copied = subject.copy()
    module = copied.module or nn.Identity()
    removed = [*_without_norms(module)]
    inside = {id(p) for norm in norms_inside(module) for p in norm.parameters()}
    for name, parameter in _parameters(copied).items():
        if neutral is None or id(parameter) in inside or "sink" in name.lower():
            continue
        if name in weights.without_role:
            parameter.copy_(neutral(parameter))
            removed.append(name)
    return copied, removed


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


def _zeros(weight: Tensor) -> Tensor:
    return torch.zeros_like(weight)


def _same_heads(weight: Tensor) -> Tensor:
    """Give the identity for what mixes heads, or is one layer more."""
    square = weight.squeeze()
    if square.ndim == 2 and square.shape[0] == square.shape[1]:
        return torch.eye(len(square)).to(weight).view_as(weight)
    return torch.zeros_like(weight)


def _ones(weight: Tensor) -> Tensor:
    """Give ones for what scales each number."""
    few = weight.squeeze().ndim < 2
    return torch.ones_like(weight) if few else torch.zeros_like(weight)


def _low(weight: Tensor) -> Tensor:
    """Give low scores for what may be the score of a sink: so it takes nothing."""
    few = weight.squeeze().ndim < 2
    return torch.full_like(weight, _NEVER) if few else torch.zeros_like(weight)


def _without_values(subject: Subject, weights: Weights) -> Subject:
    """Copy the code with values of zero: what it gives then is no attention.

    The bias of the last layer stays, since the equation has it.
    """
    without = subject.copy()
    stays = {*weights.without_role, *map(bias_of, weights.named.get("out", ()))}
    for name, parameter in _parameters(without).items():
        if name not in stays:
            parameter.zero_()
    return without


def _parameters(subject: Subject) -> dict[str, nn.Parameter]:
    return {} if subject.module is None else dict(subject.module.named_parameters())


def _is_residual(rest: Tensor, x: Tensor, output: Tensor) -> bool:
    """Ask whether tokens stand in what is left, but for a constant."""
    left = rest - x
    return max_difference(left, left[:1, :1].expand_as(left)) <= tolerance(output)
