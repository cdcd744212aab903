"""Properties of numbers: gradients, precision, and size."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from headway.checks.attention.evidence import Evidence
from headway.checks.attention.evidence.masks import example_table
from headway.checks.attention.evidence.tables import tables_in_use
from headway.checks.attention.oracle import match
from headway.checks.attention.oracle.computing import compute
from headway.checks.attention.oracle.recipe import Recipe
from headway.checks.attention.subject import Subject
from headway.checks.core.errors import describe, suppress_theirs, theirs
from headway.checks.core.outcome import Outcome, failed, not_applicable, note, passed
from headway.checks.core.tolerance import largest, max_difference

_LONG = (64, 32, 16)  # tokens of a long text
_FACTORS = (100, 10_000)
_ROUNDINGS = 32
_FAR, _EXACT = 300, 256  # positions; bfloat16 has each of the first ones
_UNEVEN = 0.25  # of a radian; cosines of 16 bits move an angle by a hundredth
_TIMES = 3  # as far off as the plain formula, and some luck


def gradients(evidence: Evidence) -> Outcome:
    """Ask that finite gradients reach the tokens and every matrix of weights."""
    if evidence.subject.T == 1:
        return not_applicable("With one token, no weight depends on a query or a key.")
    subject = replace(evidence.subject.copy(), copy_each_call=False)
    module = subject.module
    x = evidence.x.clone().requires_grad_()
    try:
        output, *others = subject.all_rows(x)
    except NotImplementedError as raised:  # as kernels do that have no way back
        return not_applicable(f"It could not be differentiated: {describe(raised)}")
    if not output.requires_grad:
        if module is None:
            return not_applicable("The function does not take part in differentiation.")
        return failed(
            "The result has no gradient: detach() or no_grad() is inside.",
            mistakes=["gradient-detached"],
        )
    try:
        sum((one.square().sum() for one in others), output.square().sum()).backward()
    except (NotImplementedError, RuntimeError) as raised:
        return not_applicable(f"It could not be differentiated: {describe(raised)}")
    found: dict[str, Tensor | None] = {"the tokens": x.grad}
    if module is not None:
        found |= {name: p.grad for name, p in _matrices(module)}
    for name, gradient in found.items():
        if gradient is None or not bool(gradient.any()):
            if _reached_if_long(evidence, name):
                continue
            return failed(f"No gradient reaches {name}: it is never used, or cut off.")
        if not bool(gradient.isfinite().all()):
            return failed(f"The gradient of {name} is not finite.")
    for name, parameter in module.named_parameters() if module is not None else ():
        if parameter.grad is None and parameter.requires_grad and parameter.is_leaf:
            if _reached_if_long(evidence, name):
                continue
            return failed(f"No gradient reaches {name}: it is never used, or cut off.")
    return passed(f"Finite gradients reach all of {len(found)} tensors.", len(found))


@torch.enable_grad()
def _reached_if_long(evidence: Evidence, name: str) -> bool:
    """Ask whether a weight is used in long texts alone, as those of summaries are."""
    for long in _LONG if not evidence.one_length else ():
        subject = replace(evidence.subject.copy(), copy_each_call=False)
        with suppress_theirs():  # it may be too long
            subject(subject.tokens(T=long)).square().sum().backward()
            named = subject.module.named_parameters() if subject.module else ()
            gradient = next((one.grad for found, one in named if found == name), None)
            return gradient is not None and bool(gradient.any())
    return False


def _matrices(module: nn.Module) -> list[tuple[str, nn.Parameter]]:
    return [
        (name, parameter)
        for name, parameter in module.named_parameters()
        if parameter.ndim >= 2 and parameter.requires_grad and parameter.is_leaf
    ]


def large(evidence: Evidence) -> Outcome:
    """Ask that large tokens give finite numbers, in 32 bits as well."""
    subjects = [evidence.subject]
    if evidence.subject.dtype.itemsize > 2:
        subjects.append(evidence.subject.copy(torch.float32))
    factors: tuple[int, ...] = _FACTORS
    if evidence.subject.dtype == torch.float16:
        factors = (4,)  # scores beyond 65,504 are infinite by any formula
    for subject in subjects:
        for factor in factors:
            with torch.no_grad():
                output = subject(factor * subject.tokens())
            if not bool(output.isfinite().all()):
                return failed(
                    f"With tokens {factor:,} times as large, in "
                    f"{_short(subject.dtype)}, a row is not finite: the largest score "
                    "is not subtracted before the exponential, or a mask is added.",
                    factor,
                )
    largest_factor = factors[-1]
    return passed(
        f"Rows stay finite with tokens {largest_factor:,} times as large.",
        largest_factor,
    )


def half(evidence: Evidence) -> Outcome:
    """Ask that the type is kept, and that 16 bits give what 64 give, rounded.

    Much code is never run in 16 bits. Where it raises in them, that is a note unless
    they are meant. A wrong number is a failure, meant or not.
    """
    widest = evidence.subject.dtype
    if widest.itemsize == 2:
        return _of_sixteen_bits(evidence)
    noted: Outcome | None = None
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        for outcome in _wrong_in(evidence, dtype):
            if outcome.verdict == "failed":
                return outcome
            noted = noted or outcome
    if noted := noted or _of_angles(evidence):
        return noted
    if evidence.repeats.random:
        return passed("Types are kept, and 16 bits are accepted.")
    return passed("Types are kept; 16 bits give what 64 give, rounded.")


def _wrong_in(evidence: Evidence, dtype: torch.dtype) -> Iterator[Outcome]:
    """Give what is wrong in a type, or should be known of it."""
    name, widest = _short(dtype), evidence.subject.dtype
    try:
        subject = evidence.subject.copy(dtype)
        if not subject.copy_each_call:  # numbers of 64 bits may be kept from a call
            subject = replace(subject, target=evidence.fresh.copy(dtype).target)
        with torch.no_grad():
            output = subject(subject.tokens())
    except theirs() as raised:
        if dtype == torch.float16 and "not implemented" in str(raised):
            return
        only = f"It works only in {_short(widest)}: in"
        where = "In" if widest == torch.float64 else only
        said = f"{where} {name} it raised {describe(raised)}."
        yield _judged(evidence, dtype, said)
        return
    compared = not evidence.repeats.random  # else there is nothing to compare with
    if output.dtype != dtype:
        yield failed(
            f"Given {name} it returns {_short(output.dtype)}: a type is fixed."
        )
    elif compared and (worst := _roundings(subject, output, widest)) > _ROUNDINGS:
        yield failed(
            f"In {name} it is off by {worst:.3g} roundings: numbers are lost, or a "
            "constant does not fit.",
            worst,
        )
    else:
        yield from _with_masks(evidence, subject)


def _of_angles(evidence: Evidence) -> Outcome | None:
    """Ask that a rotation turns from each token to the next by the same, in 16 bits.

    Where positions or angles are computed in the type of the tokens, far positions
    share one.
    """
    rotation, subject = evidence.designs[0].rotation, evidence.subject
    long = min(subject.context_length or _FAR, _FAR)
    if rotation is None or evidence.wide or evidence.one_length or long <= _EXACT:
        return None
    try:
        exact, rounded = (
            _first_uneven(replace(subject.copy(dtype), B=1, T=long))
            for dtype in (subject.dtype, torch.bfloat16)
        )
    except theirs():
        return None
    if exact is not None or rounded is None:
        return None
    return _judged(
        evidence,
        torch.bfloat16,
        f"In bfloat16, from position {rounded} on, its rotation does not turn by as "
        "much from each token to the next: positions or angles are rounded. Compute "
        "them in float32.",
        ["positions-in-16-bits"],
    )


def _first_uneven(subject: Subject) -> int | None:
    """Give the first position from which on a step is not as wide as most are."""
    first: list[int] = []
    for table in tables_in_use(subject):
        steps = table.angles.diff(dim=0)
        usual = steps.median(dim=0).values
        off = (steps - usual + torch.pi) % (2 * torch.pi) - torch.pi
        first += (off.abs().amax(dim=1) > _UNEVEN).nonzero().flatten().tolist()[:1]
    return min(first, default=None)


def _judged(
    evidence: Evidence,
    dtype: torch.dtype,
    said: str,
    mistakes: Sequence[str] = (),
) -> Outcome:
    """Judge an error in a type; much code is never meant to run in 16 bits."""
    if dtype.itemsize > 2 or evidence.subject.meant_for_half:
        return failed(said, mistakes=mistakes)
    return note(f"{said} Say half_precision=True if it is meant to run in 16 bits.")


def _roundings(subject: Subject, output: Tensor, widest: torch.dtype) -> float:
    """Count by how many roundings of its type an output is off."""
    exact = subject.copy(widest)
    with torch.no_grad():
        expected = exact(subject.tokens().to(widest))
    worst = max_difference(output, expected) / (largest(expected) or 1.0)
    return worst / torch.finfo(subject.dtype).eps


def _of_sixteen_bits(evidence: Evidence) -> Outcome:
    """Measure the error of a kernel by that of the plain formula in the same type."""
    subject = evidence.subject
    packing = subject.call.packing
    near = match(evidence)
    if packing is None or near.weights is None or packing.axes < 3:
        return not_applicable(f"It works only in {_short(subject.dtype)}.")
    expected = compute(evidence.x, near.weights, evidence.causal, Recipe(), near.design)
    query, key, value = packing.unpack(evidence.x)
    scores = query @ key.mT / query.shape[-1] ** 0.5
    if evidence.causal:
        future = torch.ones(scores.shape[-2:], device=scores.device).triu(1).bool()
        scores = scores.masked_fill(future, -torch.inf)
    plain = packing.merge(scores.softmax(dim=-1) @ value)
    rounding = torch.finfo(subject.dtype).eps * largest(expected)
    allowed = max(max_difference(plain, expected), rounding)
    times = max_difference(evidence.output, expected) / allowed
    if times <= _TIMES:
        return passed(
            f"Only in {_short(subject.dtype)}, and as exact as the plain formula.",
            times,
        )
    return failed(
        f"In {_short(subject.dtype)} its error is {times:.3g} times that of the plain "
        "formula in the same type: sums lose more than they must, or it computes "
        "something else.",
        times,
    )


def _with_masks(evidence: Evidence, subject: Subject) -> Iterator[Outcome]:
    """Ask in a type that masks work in it: a fill may not fit."""
    for mask in evidence.masks.obeyed:
        dtype = subject.dtype
        if mask.dtype != evidence.subject.dtype:
            continue
        x = subject.tokens()
        table = example_table(mask, subject.B, subject.T).clone().to(x.device)
        try:
            with torch.no_grad():
                rows = subject(x, **mask(table, dtype))
        except theirs() as raised:
            error = describe(raised)
            said = f"With {mask.argument}, in {_short(dtype)} it raised {error}."
            # A mask of another type than the tokens is the caller's to change.
            of_types = "expected scalar type" in error or "same dtype" in error
            yield note(said) if of_types else _judged(evidence, dtype, said)
            continue
        with torch.no_grad():
            expected = evidence.subject.copy()(
                x.to(mask.dtype), **mask(table, mask.dtype)
            )
        known = expected.isfinite()
        if not bool(rows[known].isfinite().all()):
            yield failed(
                f"With {mask.argument}, a row is not finite in {_short(dtype)}: what "
                "hidden scores are filled with does not fit."
            )


def _short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
