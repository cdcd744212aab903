"""How much memory a check of a model takes, and the types in which it fits."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from headway.checks.core.cannot_check import CannotCheckError
from headway.checks.core.signature import Target

_COPIES = 5  # at once, at the most
_MANY = 50_000_000  # numbers; more of them are not widened to 64 bits
_ENOUGH = 10**9  # bytes; what takes less is not told
_MEMORY = Path("/proc/meminfo")  # as Linux tells it


def types_that_fit(
    target: Target, name: str, memory: float | None
) -> Sequence[torch.dtype]:
    """List the types in which a model can be checked, the most precise first.

    In its own 16 bits only what fits in no other type is checked.

    Args:
        target: The model.
        name: What it is called.
        memory: How many gigabytes may be used; `None` for all that are free.

    Raises:
        ValueError: If it fits in none.
    """
    if memory is not None and not memory > 0:
        raise CannotCheckError(
            f"memory must be a positive number of gigabytes; got memory={memory!r}."
        )
    stored = _stored(target)
    numbers = sum(one.numel() for one in stored)
    types = [torch.float64] if numbers <= _MANY else []
    types.append(torch.float32)
    types += {one.dtype for one in stored if one.dtype.itemsize == 2}
    place = stored[0].device if stored else torch.device("cpu")
    most = free_bytes(place) if memory is None else memory * 1e9
    fitting = [one for one in types if _bytes(numbers, one) <= most]
    wide = [one for one in fitting if one.itemsize > 2]
    if fitting:
        return wide or fitting
    least = min(types, key=lambda one: one.itemsize)
    told = f"and {most / 1e9:.1f} are free on {place}"
    raise CannotCheckError(
        f"memory must be {_bytes(numbers, least) / 1e9:.1f} gigabytes for {name}, for "
        f"{_copies(numbers, least)}; got memory={memory}"
        f"{f', {told}' if memory is None else ''}."
    )


def told_of_memory(target: Target, dtype: torch.dtype) -> str:
    """Say how much a check takes, if that is a gigabyte or more."""
    numbers = sum(one.numel() for one in _stored(target))
    taken = _bytes(numbers, dtype)
    if taken < _ENOUGH:
        return ""
    return f"{taken / 1e9:.1f} gigabytes at the most: {_copies(numbers, dtype)}"


def free_bytes(device: torch.device) -> float:
    """Give how many bytes are free on a device, or infinity if nobody tells."""
    if device.type == "cuda":
        return float(torch.cuda.mem_get_info(device)[0])
    if _MEMORY.exists() and (
        found := re.search(r"MemAvailable:\s*(\d+) kB", _MEMORY.read_text("utf-8"))
    ):
        return 1024.0 * int(found[1])
    if "SC_PHYS_PAGES" in getattr(os, "sysconf_names", ()):
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return float("inf")


def _copies(numbers: int, dtype: torch.dtype) -> str:
    shown = str(dtype).removeprefix("torch.")
    return f"{_COPIES} copies of {numbers / 1e6:.0f} million numbers in {shown}"


def _bytes(numbers: int, dtype: torch.dtype) -> int:
    return _COPIES * numbers * dtype.itemsize


def _stored(target: Target) -> list[Tensor]:
    """List the numbers of a model, those that are stored twice once."""
    if not isinstance(target, nn.Module):
        return []
    every = [*target.parameters(), *target.buffers()]
    return [one for one in every if one.is_floating_point()]
