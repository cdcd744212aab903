"""Make a subject of what a reader hands over."""

import math
from dataclasses import replace

import torch
from torch import nn

from headway.checks import vocabulary
from headway.checks.calling import Call, Target, ways
from headway.checks.copying import duplicate, plain, refuse_empty
from headway.checks.names import parts
from headway.checks.subject import Subject, Told, explain

_LENGTHS = (7, 5, 11, 13, 9, 8, 6, 4, 3)


def find(target: Target, told: Told) -> Subject:
    """Copy the code, redraw its weights, and find out how it is called.

    Raises:
        ValueError: If it cannot be called in any way that is known.
    """
    if isinstance(target, type) or not callable(target):
        raise ValueError(
            "module_or_function must be a function, or a module that is built; "
            f"got module_or_function={_shown(target)}."
        )
    _refuse_numbers(told)
    target = plain(target)
    code = next(parts(target))
    name = getattr(code, "__name__", type(code).__name__)
    refuse_empty(target, name)
    errors: list[str] = []
    for dtype in (torch.float64, torch.float32):
        try:
            copied = _copy(target, dtype)
        except Exception as raised:  # whatever a reader's code may raise
            errors.append(f"copying it raised {explain(raised)}")
            continue
        for call in ways(copied, told.call, told.num_heads):
            for width in _widths(target, call, told):
                used, device = duplicate(copied, dtype), _device(copied)
                subject = Subject(name, used, call, width, dtype, device, told)
                if (error := _settle(subject)) is None:
                    return replace(subject, target=copied)  # which was never called
                errors.append(f"{call.words} raised {error}")
    if not errors:
        raise ValueError(f"d_in must be told for {name}; got d_in=None.")
    raise ValueError(
        f"call must say how {name} takes tokens of shape (texts, tokens, d_in); "
        f"got call={told.call!r}, and {errors[0]}."
    )


def _refuse_numbers(told: Told) -> None:
    for name in ("d_in", "context_length", "num_heads"):
        value = getattr(told, name)
        if value is not None and (not isinstance(value, int) or value < 1):
            raise ValueError(
                f"{name} must be a positive whole number; got {name}={value!r}."
            )


def _shown(target: object) -> str:
    """Put what is no code into one line."""
    text = " ".join(repr(target).split())
    return text if len(text) < 80 else f"a {type(target).__name__}"


def _widths(target: Target, call: Call, told: Told) -> list[int]:
    if call.cut is not None:
        return [call.cut.d_in]
    return [told.d_in] if told.d_in else vocabulary.widths(target)


def _settle(subject: Subject) -> str | None:
    """Choose sizes that it takes; return the first error if it takes none."""
    longest = subject.context_length or max(_LENGTHS)
    taken = _sizes_inside(subject)
    sizes = [n for n in _LENGTHS if n <= longest and n not in taken] or [longest]
    T = sizes[0]
    B = next((n for n in (3, 2, 5) if n not in {T, *taken}), 4)
    errors = []
    # The others are for code that is wrong in a size; a property will say so.
    for subject.B, subject.T in ((B, T), (1, T), (B, longest), (1, longest), (1, 1)):
        try:
            with torch.no_grad():
                result = subject(subject.tokens())
        except Exception as raised:  # whatever a reader's code may raise
            errors.append(explain(raised))
            continue
        if result.is_floating_point():
            return None
        errors.append(f"no error, but returned {result.dtype}")
    return errors[0]


def _sizes_inside(subject: Subject) -> set[int]:
    """List the widths that are known, of tokens, layers and heads."""
    cut = subject.call.cut
    if cut is not None:
        return {cut.d_in, cut.heads, cut.key_width, cut.value_width}
    heads = subject.told.num_heads or vocabulary.heads(subject.target) or 1
    stored = [] if subject.module is None else [*subject.module.parameters()]
    widths = {subject.d_in, *(size for one in stored for size in one.shape)}
    return {heads, *widths, *(n // heads for n in widths if not n % heads)}


def _copy(target: Target, dtype: torch.dtype) -> Target:
    copied = duplicate(target, dtype)
    if isinstance(copied, nn.Module):
        redraw(copied.eval())
    return copied


def redraw(module: nn.Module) -> None:
    """Draw new weights: new modules often have zeros, or heads that are equal."""
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for parameter in module.parameters():
            if not parameter.is_floating_point() or parameter.ndim == 0:
                continue
            drawn = torch.randn(
                parameter.shape, generator=generator, dtype=torch.float64
            )
            if parameter.ndim == 1:
                ones = bool((parameter == 1).all())
                drawn = 0.3 * drawn + float(ones)
            else:
                few = min if parameter.ndim == 2 else max
                drawn = drawn / math.sqrt(few(parameter.shape[-2:]))
            parameter.copy_(drawn)


def _device(target: Target) -> torch.device:
    if isinstance(target, nn.Module):
        for tensor in [*target.parameters(), *target.buffers()]:
            return tensor.device
    return torch.device("cpu")
