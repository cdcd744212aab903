"""Properties of numbers: gradients, precision, and size."""

from dataclasses import replace

import torch
from torch import Tensor, nn

from headway.checks.examined import Examined
from headway.checks.outcomes import Outcome, error, failed, largest, passed, unasked
from headway.checks.subject import explain, in_type

_LOUD = (100, 10_000)
_HALF = torch.bfloat16


def gradients(it: Examined) -> Outcome:
    """Ask that finite gradients reach the tokens and every matrix of weights."""
    subject = replace(in_type(it.subject, it.subject.dtype), fresh=False)
    module = subject.module
    x = it.x.clone().requires_grad_()
    rows = subject(x)
    if not rows.requires_grad:
        if module is None:
            return unasked("The function does not take part in differentiation.")
        return failed("The result has no gradient: detach() or no_grad() is inside.")
    try:
        rows.square().sum().backward()
    except (NotImplementedError, RuntimeError) as raised:
        return unasked(f"It could not be differentiated: {explain(raised)}")
    found: dict[str, Tensor | None] = {"the tokens": x.grad}
    if module is not None:
        found |= {name: p.grad for name, p in _matrices(module)}
    for name, gradient in found.items():
        if gradient is None or not bool(gradient.any()):
            return failed(f"No gradient reaches {name}: it is never used, or cut off.")
        if not bool(gradient.isfinite().all()):
            return failed(f"The gradient of {name} is not finite.")
    return passed(f"Finite gradients reach all of {len(found)} tensors.", len(found))


def _matrices(module: nn.Module) -> list[tuple[str, nn.Parameter]]:
    return [
        (name, parameter)
        for name, parameter in module.named_parameters()
        if parameter.ndim >= 2 and parameter.requires_grad and parameter.is_leaf
    ]


def large(it: Examined) -> Outcome:
    """Ask that loud tokens give finite numbers, in 32 bits as well."""
    single = in_type(it.subject, torch.float32)
    for subject in (it.subject, single):
        for volume in _LOUD:
            with torch.no_grad():
                rows = subject(volume * subject.tokens())
            if not bool(rows.isfinite().all()):
                return failed(
                    f"With tokens {volume:,.0f} times as loud, in "
                    f"{_name(subject.dtype)}, a row is not finite: the largest score "
                    "is not subtracted before the exponential, or a mask is added.",
                    volume,
                )
    return passed(
        f"Rows stay finite with tokens {_LOUD[-1]:,.0f} times as loud.", _LOUD[-1]
    )


def half(it: Examined) -> Outcome:
    """Ask that the type is kept, and that 16 bits give what 64 give, rounded."""
    for dtype in (torch.float32, _HALF, torch.float16):
        try:
            subject = in_type(it.subject, dtype)
            with torch.no_grad():
                rows = subject(subject.tokens())
        except Exception as raised:  # whatever a reader's code may raise
            if dtype == torch.float16 and "not implemented" in str(raised):
                continue
            if it.subject.dtype != torch.float64:
                return unasked(f"It works in {_name(it.subject.dtype)} alone.")
            return failed(f"In {_name(dtype)} it raised {explain(raised)}.")
        if rows.dtype != dtype:
            return failed(
                f"Of {_name(dtype)} it makes {_name(rows.dtype)}: a type is fixed."
            )
        exact = in_type(subject, it.subject.dtype)
        with torch.no_grad():
            want = exact(subject.tokens().to(exact.dtype))
        worst = error(rows, want) / largest(want) / torch.finfo(dtype).eps
        if worst > 32:
            return failed(
                f"In {_name(dtype)} it is off by {worst:.3g} roundings: numbers are "
                "lost, or a constant does not fit.",
                worst,
            )
    return passed("Types are kept; 16 bits give what 64 give, rounded.")


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
