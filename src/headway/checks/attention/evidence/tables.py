"""Tables of angles: what code rotates by, read off the numbers that a call uses."""

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from headway.checks.attention.subject import Subject
from headway.checks.core.errors import at_the_border
from headway.checks.core.table_watch import EXACT, TableWatch, is_constant

Layout = Literal["one of each", "twice", "neighbours", "complex"]
_TURNS = frozenset({"cos", "sin", "polar", "cos_", "sin_"})


class Angles(NamedTuple):
    """The angles of a table.

    Attributes:
        angles: The angle of each pair at each position, (positions, pairs).
        layout: How the table holds them: each once, all of them twice, each twice
            beside itself, or as complex numbers.
        length: How long a rotated vector is, if it was of length one.
    """

    angles: Tensor
    layout: Layout
    length: float = 1.0


def tables_in_use(subject: Subject) -> list[Angles]:
    """Find the tables of cosines and sines that a call uses, wherever they come from.

    Buffers, attributes, arguments of the call, or numbers made on the way: all of them
    are handed to some function of torch, and that is where they are seen.
    """
    exact = max(EXACT, 2 * torch.finfo(subject.dtype).eps)
    with TableWatch(subject.T) as watch, torch.no_grad():
        subject(subject.tokens())
    found: list[Angles] = []
    for one in _angles(watch.kept, exact):
        if not any(_alike(one, other) for other in found):
            found.append(one)
    return found


def without_lengths(tables: list[Angles]) -> list[Angles]:
    """Give each rotation once, as if it lengthened nothing."""
    return [
        one._replace(length=1.0)
        for n, one in enumerate(tables)
        if not any(_same(one.angles, other.angles) for other in tables[:n])
    ]


def lengths_differ(subject: Subject) -> bool:
    """Ask whether complex numbers that rotate have other lengths at later positions."""
    with TableWatch(subject.T) as watch, torch.no_grad():
        subject(subject.tokens())
    found = (one.abs() for one in watch.kept if one.is_complex())
    return any(is_constant(one[:1]) and not is_constant(one) for one in found)


def computes_angles(subject: Subject) -> bool:
    """Ask whether a call computes cosines or sines, of positions if names say so."""
    return not _TURNS.isdisjoint(called_functions(subject))


def called_functions(subject: Subject) -> set[str]:
    """Collect the names of the functions of torch that one call uses."""
    with _Names() as watch, torch.no_grad():
        subject(subject.tokens())
    return watch.called


class _Names(TorchFunctionMode):
    """Keep the names of the functions of torch that are called."""

    def __init__(self) -> None:
        super().__init__()
        self.called: set[str] = set()

    @at_the_border
    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Call the function, and keep its name."""
        self.called.add(getattr(func, "__name__", ""))
        return func(*args, **(kwargs or {}))


def _angles(kept: list[Tensor], exact: float) -> Iterator[Angles]:
    """Find cosines and sines: two tables whose squares sum to the same everywhere."""
    for table in kept:
        if table.is_complex() and is_constant(table.abs()):
            yield from _turning(table.angle(), "complex", float(table[0, 0].abs()))
    real = [_Squared(one) for one in kept if not one.is_complex()]
    for one, other in itertools.combinations(real, 2):
        if not one.completes(other, exact):
            continue
        first = one.table[0].mean() > other.table[0].mean()  # angles begin near zero
        cos, sin = (one.table, other.table) if first else (other.table, one.table)
        length = float(torch.hypot(cos[0, 0], sin[0, 0]))
        yield from _turning(torch.atan2(sin, cos), "one of each", length)


class _Squared:
    """A table with its squares; most pairs differ in a corner, which is compared first.

    Attributes:
        table: The table, (T, columns).
        squares: Its squares.
        corners: The first and the last of these.
    """

    def __init__(self, table: Tensor) -> None:
        self.table = table
        self.squares = table**2
        self.corners = self.squares.flatten()[[0, -1]].tolist() if table.numel() else []

    def completes(self, other: "_Squared", exact: float) -> bool:
        """Ask whether the sums of both squares are one number, and not zero."""
        if self.table.shape != other.table.shape or not self.corners:
            return False
        first, last = (
            math.sqrt(one + another)
            for one, another in zip(self.corners, other.corners, strict=True)
        )
        if abs(last - first) > 2 * exact * first:
            return False
        return is_constant((self.squares + other.squares).sqrt(), exact)


def _turning(angles: Tensor, layout: Layout, length: float) -> Iterator[Angles]:
    """Give angles that differ from position to position, each once."""
    if _same(angles[:1].expand_as(angles), angles):
        return
    n = angles.shape[1] // 2
    if layout == "one of each" and angles.shape[1] % 2 == 0:
        if _same(angles[:, :n], angles[:, n:]):
            angles, layout = angles[:, :n], "twice"
        elif _same(angles[:, ::2], angles[:, 1::2]):
            angles, layout = angles[:, ::2], "neighbours"
    yield Angles(angles, layout, 1.0 if abs(length - 1) <= EXACT else length)


def _alike(one: Angles, other: Angles) -> bool:
    """Ask whether two tables turn by the same angles, and lengthen as much."""
    near = abs(one.length - other.length) <= EXACT
    return near and _same(one.angles, other.angles)


def _same(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and bool(((one - other).abs() <= EXACT).all())
