"""The property of gradients: they are what small differences of the input give."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from headway.checks.attention.evidence import Evidence
from headway.checks.attention.subject import Subject
from headway.checks.core.errors import at_the_border
from headway.checks.core.outcome import Outcome, failed, not_applicable, passed
from headway.checks.core.tolerance import max_difference

# Large enough for code that rounds to 32 bits inside, and small enough to stay on one
# side of a bend, such as that of ReLU.
_STEPS = (1e-3, 1e-5)
_OFF = 1e-2


def gradients_fit(evidence: Evidence) -> Outcome:
    """Compare a directional derivative with differences, of tokens and of weights."""
    if evidence.subject.dtype != torch.float64:
        return not_applicable("Differences need 64 bits.")
    subject = replace(evidence.subject.copy(), copy_each_call=False)
    x = evidence.x.clone().requires_grad_()
    direction = torch.linspace(-1, 1, evidence.output.numel()).to(evidence.output)
    direction = direction.view_as(evidence.output)
    try:
        output = subject(x)
        (output * direction).sum().backward()
    except (NotImplementedError, RuntimeError):  # the property before it says why
        return not_applicable("It could not be differentiated.")
    known = [("the tokens", x), *_weights(subject)]
    reached = [(name, one) for name, one in known if one.grad is not None]
    every = [one for _, one in reached]
    single = reached if _off(subject, x, every, direction) > _OFF else []
    for name, one in single:
        off = _off(subject, x, [one], direction)
        if off > _OFF:
            with torch.no_grad():
                again = max_difference(subject(x), output)
            if again > evidence.tolerance:
                return not_applicable(
                    "A second call with the same tokens gives other rows, so "
                    "differences tell nothing."
                )
            return failed(
                f"The gradient of {name} is not what a small difference of it gives: "
                "part of the way is detached, or a backward pass is wrong.",
                round(off, 3),
            )
    return passed(
        f"The gradients of {len(reached)} tensors are what differences give.",
        len(reached),
    )


def _weights(subject: Subject) -> Iterator[tuple[str, Tensor]]:
    module = subject.module
    for name, one in module.named_parameters() if module is not None else ():
        if one.requires_grad and one.is_leaf:
            yield name, one


@torch.no_grad()
def _off(
    subject: Subject, x: Tensor, changed: Sequence[Tensor], direction: Tensor
) -> float:
    """Give how far a derivative is from differences, relative to the gradient.

    What differences of two sizes do not agree on, nobody can say. A wrong gradient is
    wrong whatever the step is, so the nearest counts.

    Args:
        subject: The code.
        x: The tokens.
        changed: The tokens and weights that change, with their gradients.
        direction: What the rows are multiplied by before all are added up.
    """
    generator = torch.Generator().manual_seed(13)
    ways = [
        torch.randn(one.shape, generator=generator, dtype=torch.float64).to(one)
        for one in changed
    ]
    gradients = [one.grad for one in changed if one.grad is not None]
    derivative = sum(
        float((one * way).sum()) for one, way in zip(gradients, ways, strict=True)
    )
    norm = sum(float(one.square().sum()) for one in gradients) ** 0.5
    nearest = math.inf
    for first in _STEPS:
        small, large = (
            _difference(subject, x, changed, [step * way for way in ways], direction)
            / step
            for step in (first, 2 * first)
        )
        doubt = 4 * abs(large - small)
        size = max(abs(derivative), abs(small), norm, 1e-3)
        nearest = min(nearest, max(abs(small - derivative) - doubt, 0.0) / size)
        if nearest <= _OFF:
            break
    return nearest


@at_the_border
def _difference(
    subject: Subject,
    x: Tensor,
    changed: Sequence[Tensor],
    steps: Sequence[Tensor],
    direction: Tensor,
) -> float:
    """Give half of what a sum over all rows changes from one side to the other."""
    sums = []
    before = [one.detach().clone() for one in changed]
    for sign in (1, -1):
        for one, old, step in zip(changed, before, steps, strict=True):
            one.copy_(old + sign * step)
        sums.append(float((subject(x) * direction).sum()))
    for one, old in zip(changed, before, strict=True):
        one.copy_(old)
    return (sums[0] - sums[1]) / 2
