"""Whether two results are the same, and how they differ."""

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import torch
from torch import Tensor

NEAR = 1e-9
# How near numbers of few bits must be to be called right, but for their type.
_NEAR_IN = {torch.float32: 1e-4, torch.float16: 1e-2, torch.bfloat16: 1e-1}
_BITS = {torch.float64: 64, torch.float32: 32, torch.float16: 16, torch.bfloat16: 16}
_MADE_BY = {torch.bool: ".bool()", torch.int64: ".long()"}
_MOST = (0, 8, 5, 4, 3, 2)  # numbers of one axis that are shown; 0 is all
_32_BITS = 1e-6  # what numbers of 32 bits are off by at most, of the largest


def same(one: Any, other: Any, near: float = NEAR) -> bool:
    """Compare two results: of one kind, of one shape, and equal but for rounding."""
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        told = _same_tensors(one, other, near)
        if told is not None:
            return told
    elif isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        both = zip(one, other, strict=False)
        return len(one) == len(other) and all(same(a, b, near) for a, b in both)
    elif isinstance(one, Mapping) and isinstance(other, Mapping):
        names = one.keys() == other.keys()
        return names and all(same(one[name], other[name], near) for name in other)
    return difference(one, other, near) is None


def _same_tensors(mine: Tensor, right: Tensor, near: float) -> bool | None:
    """Compare two tensors in few steps, or give `None` where it takes more.

    An answer is compared with all known mistakes, and most of these differ.
    """
    if mine.shape != right.shape or mine.dtype != right.dtype:
        return False
    if not right.is_floating_point() or right.numel() == 0:
        return None
    mine, right = mine.detach(), right.detach()
    farthest = float((mine - right).abs().max())
    if farthest <= near:
        return True
    if not math.isfinite(farthest):
        return None
    return farthest <= near * max(1.0, float(right.abs().max()))


def difference(mine: Any, right: Any, near: float = NEAR) -> str | None:
    """Say how a result differs from the right one, or `None` if it does not.

    Args:
        mine: What the answer gave.
        right: What it must give: a tensor, a number, a text, or a sequence of these;
            or a mapping, from what each result is, in words, to the result.
        near: How far apart numbers may be, as a part of the largest.
    """
    if isinstance(right, Tensor):
        return _of_tensors(mine, right, near)
    if isinstance(right, Mapping):
        if not isinstance(mine, Mapping):
            names = ", ".join(map(str, right))
            return f"it gives {kind(mine)}, but must give {names}"
        if mine.keys() != right.keys():
            return f"it gives {shown(mine)}, but must give {shown(right)}"
        for name, value in right.items():
            if (found := difference(mine[name], value, near)) is not None:
                if isinstance(value, (str, int)) and type(mine[name]) is type(value):
                    found = f"{mine[name]}, but must be {value}"
                return f"{name}: {found}"
        return None
    if isinstance(right, (list, tuple)):
        if not isinstance(mine, (list, tuple)) or len(mine) != len(right):
            return f"it gives {kind(mine)}, but must give {kind(right)}"
        for place, (a, b) in enumerate(zip(mine, right, strict=True), start=1):
            if (found := difference(a, b, near)) is not None:
                return f"of {len(right)} results, number {place}: {found}"
        return None
    if isinstance(right, float):
        if isinstance(mine, Tensor) and mine.ndim == 0:
            mine = mine.item()
        if isinstance(mine, (int, float)) and not isinstance(mine, bool):
            return _of_tensors(
                torch.tensor(float(mine), dtype=torch.float64),
                torch.tensor(right, dtype=torch.float64),
                near,
            )
    if type(mine) is type(right) and bool(mine == right):
        return None
    if isinstance(mine, Tensor) and mine.ndim == 0 and isinstance(right, (bool, int)):
        return difference(mine.item(), right)
    given = kind(mine) if mine is None else shown(mine)
    return f"it gives {given}, but must give {shown(right)}"


def _of_tensors(mine: Any, right: Tensor, near: float) -> str | None:
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
    limit = near * max(1.0, float(finite.max()) if len(finite) else 0.0)
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


def fitted(mine: Any, right: Any) -> tuple[Any, str, float]:
    """Turn a result into the types and shapes of the right one.

    No number is lost by that, and none gets another place but where two axes are
    exchanged and all is right without that.

    Returns:
        The result; what its type or shape is and should be, or "" if it is right; and
        how near the right one numbers of its type must be.
    """
    if isinstance(right, Tensor):
        return _fitted_tensor(mine, right)
    if isinstance(right, Mapping):
        if not isinstance(mine, Mapping) or mine.keys() != right.keys():
            return mine, "", NEAR
        found = {name: fitted(mine[name], right[name]) for name in right}
        said = [f"{name} is {one}" for name, (_, one, _) in found.items() if one]
        values: Any = {name: value for name, (value, _, _) in found.items()}
        return values, *_first(said, [near for _, _, near in found.values()])
    if isinstance(right, (list, tuple)):
        if not isinstance(mine, (list, tuple)) or len(mine) != len(right):
            return mine, "", NEAR
        parts = [fitted(a, b) for a, b in zip(mine, right, strict=True)]
        of = f"of {len(right)} results, number"
        said = [f"{of} {n} is {one}" for n, (_, one, _) in enumerate(parts, 1) if one]
        values = [value for value, _, _ in parts]
        return values, *_first(said, [near for _, _, near in parts])
    if type(right) is int and isinstance(mine, float) and mine.is_integer():
        return int(mine), "a float, and must be an int: int(...) makes it one", NEAR
    return mine, "", NEAR


def _fitted_tensor(mine: Any, right: Tensor) -> tuple[Any, str, float]:
    if not isinstance(mine, Tensor) or mine.is_complex():
        return mine, "", NEAR
    near = _NEAR_IN.get(mine.dtype, NEAR) if mine.dtype != right.dtype else NEAR
    again, told = _of_shape(mine.detach(), right, near)
    if mine.dtype == right.dtype or again.shape != right.shape:
        return (again if told else mine), told, NEAR
    cast = again.to(right.dtype)
    if not right.is_floating_point() and not bool((cast == again).all()):
        return mine, "", NEAR
    told = ", and ".join(filter(None, [told, _of_type(mine.dtype, right.dtype)]))
    return cast, told, near


def _of_shape(mine: Tensor, right: Tensor, near: float) -> tuple[Tensor, str]:
    """Give a result the shape of the right one, if only axes of one are too many.

    Axes that are exchanged are put right if all numbers are right then.
    """
    shapes = [[n for n in one.shape if n != 1] for one in (mine, right)]
    if mine.shape != right.shape and shapes[0] == shapes[1]:
        of, to = tuple(mine.shape), tuple(right.shape)
        return mine.reshape(right.shape), f"of shape {of}, and must be of shape {to}"
    if mine.ndim == right.ndim and not same(mine.to(right.dtype), right, near):
        for one, other in combinations(range(mine.ndim), 2):
            again = mine.transpose(one, other)
            if same(again.to(right.dtype), right, near):
                told = f"with axes {one} and {other} exchanged"
                return again, f"{told}: .transpose({one}, {other}) puts them right"
    return mine, ""


def _first(said: list[str], near: list[float]) -> tuple[str, float]:
    return next(iter(said), ""), max([NEAR, *near])


def _of_type(mine: torch.dtype, right: torch.dtype) -> str:
    """Say what a type is, and what makes the right one of it."""
    if mine in _BITS and right in _BITS:
        told = f"in {_BITS[mine]} bits ({_bare(mine)})"
    else:
        told = f"of type {_bare(mine)}"
    if right is torch.float64:
        return f"{told}; make it with dtype=x.dtype"
    by = f": {_MADE_BY[right]} makes it so" if right in _MADE_BY else ""
    return f"{told}, and must be {_bare(right)}{by}"


def comparable(mine: Any, right: Any) -> bool:
    """Ask whether two results can be compared number by number.

    What else differs is told in words that need no more explanation.
    """
    if isinstance(right, Tensor):
        return (
            isinstance(mine, Tensor)
            and mine.shape == right.shape
            and mine.dtype == right.dtype
        )
    if isinstance(right, Mapping):
        return (
            isinstance(mine, Mapping)
            and mine.keys() == right.keys()
            and all(
                mine[name] == value
                if isinstance(value, str)
                else comparable(mine[name], value)
                for name, value in right.items()
            )
        )
    if isinstance(right, (list, tuple)):
        return (
            isinstance(mine, (list, tuple))
            and len(mine) == len(right)
            and all(comparable(a, b) for a, b in zip(mine, right, strict=True))
        )
    if isinstance(right, (int, float)):
        plain = isinstance(mine, Tensor) and mine.ndim == 0
        return plain or isinstance(mine, (int, float))
    return isinstance(mine, type(right))


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


def shown_apart(mine: Any, right: Any, longest: int = 240) -> tuple[str, str]:
    """Write two values that differ, with as many digits as it takes to see that.

    Of named results, the first that differs is written. Long tensors are cut inside,
    unless what differs is left out then.
    """
    if isinstance(mine, Mapping) and isinstance(right, Mapping):
        both = [name for name in right if name in mine]
        differ = [name for name in both if not same(mine[name], right[name])]
        if mine.keys() == right.keys():  # what is right is not shown
            mine = {name: mine[name] for name in differ[:1]}
            right = {name: right[name] for name in differ[:1]}
    for most in _MOST:
        texts = shown(mine, most=most), shown(right, most=most)
        if texts[0] != texts[1] and max(map(len, texts)) <= longest:
            return texts
    texts = shown(mine), shown(right)
    if texts[0] == texts[1] and kind(mine) != kind(right):  # as a list and a tensor
        return f"{kind(mine)}: {texts[0]}", f"{kind(right)}: {texts[1]}"
    for digits in (8, 12, 17):
        if texts[0] != texts[1]:
            break
        texts = shown(mine, digits), shown(right, digits)
    return _cut(texts[0], longest), _cut(texts[1], longest)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def shown_in(values: Sequence[Any], longest: int) -> list[str]:
    """Write some values that fit into one line, cut inside where they are long."""
    texts: list[str] = []
    for most in _MOST:
        texts = [shown(one, most=most) for one in values]
        if sum(map(len, texts)) <= longest:
            break
    return texts


def shown(value: Any, digits: int = 4, most: int = 0) -> str:
    """Write a value in one line, with few digits.

    Args:
        value: What to write.
        digits: How many digits after the point.
        most: How many numbers of one axis, and how many values of a list; 0 writes all.
    """
    if isinstance(value, Tensor):
        numbers = value.detach()
        if numbers.is_floating_point() and digits < 17:
            numbers = numbers.double().round(decimals=digits) + 0.0
        return _written(numbers.tolist(), most)
    if isinstance(value, float):
        return f"{value:.{digits}g}"
    if isinstance(value, list):
        return "[" + ", ".join(_few(value, digits, most)) + "]"
    if isinstance(value, tuple):
        return "(" + ", ".join(_few(value, digits, most)) + ")"
    if isinstance(value, Mapping):
        pairs = [
            f"{name}: {one if isinstance(one, str) else shown(one, digits, most)}"
            for name, one in value.items()
        ]
        return ", ".join(pairs) or "nothing"
    if callable(value):
        return str(getattr(value, "__doc__", None) or getattr(value, "__name__", value))
    text = " ".join(repr(value).split())
    return text if len(text) <= 200 else f"{text[:197]}..."


def _few(values: Sequence[Any], digits: int, most: int) -> list[str]:
    texts = [shown(one, digits, most) for one in values]
    return [*texts[: most - 1], "...", texts[-1]] if 0 < most < len(texts) else texts


def _written(numbers: Any, most: int) -> str:
    """Write what `tolist` gave, with at most so many numbers of each axis."""
    if not isinstance(numbers, list):
        return str(numbers)
    texts = [_written(one, most) for one in numbers]
    if 0 < most < len(texts):
        texts = [*texts[: most - 1], "...", texts[-1]]
    return "[" + ", ".join(texts) + "]"


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
    return _bare(value.dtype)


def _bare(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _name(value: Any) -> str:
    return type(value).__name__
