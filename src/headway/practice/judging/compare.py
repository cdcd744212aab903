"""Whether two results are the same, and how they differ."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

_NEAR = 1e-9
_32_BITS = 1e-6  # what numbers of 32 bits are off by at most, of the largest


def same(one: Any, other: Any) -> bool:
    """Compare two results: of one kind, of one shape, and equal but for rounding."""
    return difference(one, other) is None


def difference(mine: Any, right: Any) -> str | None:
    """Say how a result differs from the right one, or `None` if it does not.

    Args:
        mine: What the answer gave.
        right: What it must give: a tensor, a number, a text, or a sequence of these;
            or a mapping, from what each result is, in words, to the result.
    """
    if isinstance(right, Tensor):
        return _of_tensors(mine, right)
    if isinstance(right, Mapping):
        if not isinstance(mine, Mapping):
            names = ", ".join(map(str, right))
            return f"it gives {kind(mine)}, but must give {names}"
        if mine.keys() != right.keys():
            return f"it gives {shown(mine)}, but must give {shown(right)}"
        for name, value in right.items():
            if (found := difference(mine[name], value)) is not None:
                if isinstance(value, (str, int)) and type(mine[name]) is type(value):
                    found = f"{mine[name]}, but must be {value}"
                return f"{name}: {found}"
        return None
    if isinstance(right, (list, tuple)):
        if not isinstance(mine, (list, tuple)) or len(mine) != len(right):
            return f"it gives {kind(mine)}, but must give {kind(right)}"
        for place, (a, b) in enumerate(zip(mine, right, strict=True), start=1):
            if (found := difference(a, b)) is not None:
                return f"of {len(right)} results, number {place}: {found}"
        return None
    if isinstance(right, float):
        if isinstance(mine, Tensor) and mine.ndim == 0:
            mine = mine.item()
        if isinstance(mine, (int, float)) and not isinstance(mine, bool):
            return _of_tensors(
                torch.tensor(float(mine), dtype=torch.float64),
                torch.tensor(right, dtype=torch.float64),
            )
    if type(mine) is type(right) and bool(mine == right):
        return None
    if isinstance(mine, Tensor) and mine.ndim == 0 and isinstance(right, (bool, int)):
        return difference(mine.item(), right)
    given = kind(mine) if mine is None else shown(mine)
    return f"it gives {given}, but must give {shown(right)}"


def _of_tensors(mine: Any, right: Tensor) -> str | None:
    if not isinstance(mine, Tensor):
        hint = ": torch.stack makes one tensor of them" if _stacks(mine, right) else ""
        return f"it gives {kind(mine)}, but must give {kind(right)}{hint}"
    if mine.shape != right.shape:
        return f"its shape is {tuple(mine.shape)}, but must be {tuple(right.shape)}"
    if mine.dtype != right.dtype:
        return f"its type is {_dtype(mine)}, but must be {_dtype(right)}"
    mine, right = mine.detach(), right.detach()
    if not right.is_floating_point() and not right.is_complex():
        wrong = int((mine != right).sum())
        if wrong and right.numel() == 1:
            return f"it gives {shown(mine)}, but must give {shown(right)}"
        return f"{wrong} of {right.numel()} entries are wrong" if wrong else None
    equal = (mine == right) | (mine.isnan() & right.isnan())
    finite = right[right.isfinite()].abs()
    limit = _NEAR * max(1.0, float(finite.max()) if len(finite) else 0.0)
    far = ~equal & ~((mine - right).abs() <= limit)
    if not bool(far.any()):
        return None
    if bool((mine.isnan() & ~right.isnan()).any()):
        return "it gives nan"
    if len(finite) and bool(((mine - right).abs() <= _32_BITS * finite.max()).all()):
        return (
            "the numbers are right to six digits but not to nine, as when something "
            "is computed in 32 bits, or a small number is added"
        )
    worst = float((mine - right).abs()[far].nan_to_num(torch.inf, torch.inf).max())
    if right.numel() == 1:
        return f"the number is wrong, by {worst:.3g}"
    return (
        f"{int(far.sum())} of {right.numel()} numbers are wrong, "
        f"the farthest by {worst:.3g}"
    )


def _stacks(mine: Any, right: Tensor) -> bool:
    """Ask whether these are the right numbers, and not yet one tensor."""
    if not isinstance(mine, (list, tuple)) or not mine:
        return False
    if not all(isinstance(one, Tensor) and one.shape == mine[0].shape for one in mine):
        return False
    return same(torch.stack([*mine]), right)


def kind(value: Any) -> str:
    """Say of what kind a value is, without its numbers."""
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    if type(value).__module__ == "torch.return_types":
        return f"what torch.{_name(value)} gives, {len(value)} tensors"
    if isinstance(value, (list, tuple)):
        s = "" if len(value) == 1 else "s"
        return f"a {_name(value)} of {len(value)} value{s}"
    return "nothing (None)" if value is None else f"a value of type {_name(value)}"


def shown_apart(mine: Any, right: Any) -> tuple[str, str]:
    """Write two values that differ, with as many digits as it takes to see that.

    Of named results, the first that differs is written.
    """
    if isinstance(mine, Mapping) and isinstance(right, Mapping):
        both = [name for name in right if name in mine]
        differ = [name for name in both if not same(mine[name], right[name])]
        if mine.keys() == right.keys():  # what is right is not shown
            mine = {name: mine[name] for name in differ[:1]}
            right = {name: right[name] for name in differ[:1]}
    texts = shown(mine), shown(right)
    if texts[0] == texts[1] and kind(mine) != kind(right):  # as a list and a tensor
        return f"{kind(mine)}: {texts[0]}", f"{kind(right)}: {texts[1]}"
    for digits in (8, 12, 17):
        if texts[0] != texts[1]:
            break
        texts = shown(mine, digits), shown(right, digits)
    return texts


def shown(value: Any, digits: int = 4) -> str:
    """Write a value in one line, with few digits."""
    if isinstance(value, Tensor):
        numbers = value.detach()
        if numbers.is_floating_point() and digits < 17:
            numbers = numbers.double().round(decimals=digits) + 0.0
        return " ".join(str(numbers.tolist()).split())
    if isinstance(value, float):
        return f"{value:.{digits}g}"
    if isinstance(value, list):
        return "[" + ", ".join(shown(one, digits) for one in value) + "]"
    if isinstance(value, tuple):
        return "(" + ", ".join(shown(one, digits) for one in value) + ")"
    if isinstance(value, Mapping):
        pairs = [
            f"{name}: {one if isinstance(one, str) else shown(one, digits)}"
            for name, one in value.items()
        ]
        return ", ".join(pairs) or "nothing"
    if callable(value):
        return str(getattr(value, "__doc__", None) or getattr(value, "__name__", value))
    text = " ".join(repr(value).split())
    return text if len(text) <= 200 else f"{text[:197]}..."


def copied(value: Any) -> Any:
    """Copy what was drawn, so that an answer that changes it harms no other."""
    if isinstance(value, Tensor):
        return value.clone()
    if isinstance(value, (list, tuple)):
        return type(value)(map(copied, value))
    if isinstance(value, dict):
        return {name: copied(one) for name, one in value.items()}
    return value


def _dtype(value: Tensor) -> str:
    return str(value.dtype).removeprefix("torch.")


def _name(value: Any) -> str:
    return type(value).__name__
