"""The property of gradients: they are what small differences of the input give."""

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from headway.checks.evidence import Evidence
from headway.checks.outcome import Outcome, failed, not_applicable, passed
from headway.checks.subject import Subject

_STEP = 1e-3  # large enough for code that rounds to 32 bits inside
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
    for name, one in reached:
        off = _off(subject, x, one, direction)
        if off > _OFF:
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
def _off(subject: Subject, x: Tensor, one: Tensor, direction: Tensor) -> float:
    """Give how far a derivative is from differences, relative to the gradient.

    What differences of two sizes do not agree on, nobody can say.

    Args:
        subject: The code.
        x: The tokens.
        one: The tokens or a weight, with a gradient.
        direction: What the rows are multiplied by before all are added up.
    """
    gradient = one.grad
    assert gradient is not None  # noqa: S101  # for the types alone
    generator = torch.Generator().manual_seed(13)
    drawn = torch.randn(one.shape, generator=generator, dtype=torch.float64)
    way = drawn.to(one)
    small, large = (
        _difference(subject, x, one, step * way, direction) / step
        for step in (_STEP, 2 * _STEP)
    )
    derivative = float((gradient * way).sum())
    doubt = 4 * abs(large - small)
    size = max(abs(derivative), abs(small), float(gradient.norm()), 1e-3)
    return max(abs(small - derivative) - doubt, 0.0) / size


def _difference(
    subject: Subject, x: Tensor, one: Tensor, step: Tensor, direction: Tensor
) -> float:
    """Give half of what a sum over all rows changes from one side to the other."""
    sums = []
    before = one.detach().clone()
    for sign in (1, -1):
        one.copy_(before + sign * step)
        sums.append(float((subject(x) * direction).sum()))
        one.copy_(before)
    return (sums[0] - sums[1]) / 2
