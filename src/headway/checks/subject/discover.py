"""Make a subject of what a reader hands over."""

import math
from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import nn

from headway.checks.errors import describe
from headway.checks.subject import intent
from headway.checks.subject.calls import Call, possible_calls
from headway.checks.subject.copies import duplicate, refuse_empty, uncompiled
from headway.checks.subject.signature import Target, parts
from headway.checks.subject.subject import Options, Subject

_LENGTHS = (7, 5, 11, 13, 9, 8, 6, 4, 3)


def discover(target: Target, options: Options) -> Subject:
    """Copy the code, draw new weights, and find out how it is called.

    Raises:
        ValueError: If it cannot be called in any way that is known.
    """
    _refuse_what_is_no_code(target)
    _refuse_numbers(options)
    target = uncompiled(target)
    code = next(parts(target))
    name = getattr(code, "__name__", type(code).__name__)
    refuse_empty(target, name)
    errors: list[str] = []
    for dtype in (torch.float64, torch.float32):
        try:
            copied = _copy_with_new_weights(target, dtype)
        except Exception as raised:  # whatever a reader's code may raise
            errors.append(f"copying it raised {describe(raised)}")
            continue
        for call, d_in in _ways(copied, options):
            device = _device(copied)
            subject = Subject(name, copied, call, d_in, dtype, device, options)
            settled = _choose_sizes(subject)
            if isinstance(settled, Subject):
                return settled
            errors.append(f"{call.text} raised {settled}")
    if not errors:
        raise ValueError(f"d_in must be given for {name}; got d_in=None.")
    raise ValueError(
        f"call must say how {name} takes tokens of shape (texts, tokens, d_in); "
        f"got call={options.call!r}, and {errors[0]}."
    )


def _refuse_what_is_no_code(target: object) -> None:
    if callable(target) and not isinstance(target, type):
        return
    shown = " ".join(repr(target).split())
    if len(shown) >= 80:
        shown = f"a {type(target).__name__}"
    raise ValueError(
        "module_or_function must be a function, or a module that is built; "
        f"got module_or_function={shown}."
    )


def _refuse_numbers(options: Options) -> None:
    for name in ("d_in", "context_length", "num_heads"):
        value = getattr(options, name)
        if value is not None and (not isinstance(value, int) or value < 1):
            raise ValueError(
                f"{name} must be a positive whole number; got {name}={value!r}."
            )


def _ways(target: Target, options: Options) -> Iterator[tuple[Call, int]]:
    """Give the calls and the widths of tokens that may be right."""
    for call in possible_calls(target, options.call, options.num_heads):
        if call.packing is not None:
            yield call, call.packing.d_in
        elif options.d_in:
            yield call, options.d_in
        else:
            for width in intent.widths(target):
                yield call, width


def _choose_sizes(subject: Subject) -> Subject | str:
    """Give the subject sizes that it takes, or the first error if it takes none.

    Only copies are called, so that no call leaves anything in the subject.
    """
    tried = subject.copy()
    longest = subject.context_length or max(_LENGTHS)
    taken = _sizes_inside(subject)
    lengths = [n for n in _LENGTHS if n <= longest and n not in taken] or [longest]
    T = lengths[0]
    B = next((n for n in (3, 2, 5) if n not in {T, *taken}), 4)
    errors = []
    # The others are for code that is wrong in a size; a property will say so.
    for sizes in ((B, T), (1, T), (B, longest), (1, longest), (1, 1)):
        try:
            with torch.no_grad():
                result = tried(tried.tokens(*sizes))
        except Exception as raised:  # whatever a reader's code may raise
            errors.append(describe(raised))
            continue
        if result.is_floating_point():
            return replace(subject, B=sizes[0], T=sizes[1])
        errors.append(f"no error, but returned {result.dtype}")
    return errors[0]


def _sizes_inside(subject: Subject) -> set[int]:
    """List the widths that are known, of tokens, layers and heads."""
    packing = subject.call.packing
    if packing is not None:
        return {packing.d_in, packing.heads, packing.key_width, packing.value_width}
    heads = subject.num_heads or 1
    stored = [] if subject.module is None else [*subject.module.parameters()]
    widths = {subject.d_in, *(size for one in stored for size in one.shape)}
    return {heads, *widths, *(n // heads for n in widths if not n % heads)}


def _copy_with_new_weights(target: Target, dtype: torch.dtype) -> Target:
    copied = duplicate(target, dtype)
    if isinstance(copied, nn.Module):
        draw_weights(copied.eval())
    return copied


def draw_weights(module: nn.Module) -> None:
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
