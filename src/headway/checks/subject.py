"""A copy of somebody's attention code, ready to be asked questions."""

import copy
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn

from headway.checks import vocabulary
from headway.checks.calling import Call, Calling, Target, ways

_DROPOUT = re.compile(r"(^|_)drop(out)?(_p|_prob|_rate)?$")
_PRIMES = (7, 5, 11, 13, 3, 2)


@dataclass(frozen=True)
class Told:
    """What the reader said; `None` is to be found out."""

    d_in: int | None = None
    context_length: int | None = None
    num_heads: int | None = None
    causal: bool | None = None
    positions: bool | None = None
    call: Calling | None = None
    weights: Mapping[str, str] | None = None


@dataclass
class Subject:
    """Attention code with weights of its own, and sizes to ask it with.

    Attributes:
        name: What it is called.
        target: A copy of the module, or the function.
        call: The way in which it wants to be called.
        d_in: Width of the tokens.
        dtype: The most precise type that it takes.
        device: Where its weights are.
        told: What the reader said.
        B: Number of texts in a batch.
        T: Number of tokens in a text.
        causal: Whether it is meant to hide the future.
        positions: Whether it is meant to tell tokens by where they stand.
    """

    name: str
    target: Target
    call: Call
    d_in: int
    dtype: torch.dtype
    device: torch.device
    told: Told
    B: int = 3
    T: int = 7
    causal: bool = False
    positions: bool = False
    extra: dict[str, Any] = field(default_factory=dict)

    def __call__(self, x: Tensor, *, luck: int | None = 1, **extra: Any) -> Tensor:
        """Ask for one row for each token, with the same luck in each call."""
        if luck is not None:
            torch.manual_seed(luck)
        result = self.call(self.target, x, {**self.extra, **extra})
        if result.shape[:-1] != x.shape[:-1]:
            raise TypeError(
                f"it returned shape {tuple(result.shape)} for {tuple(x.shape)}"
            )
        return result

    @property
    def module(self) -> nn.Module | None:
        """The module, or `None` if it is a function."""
        return self.target if isinstance(self.target, nn.Module) else None

    @property
    def context_length(self) -> int | None:
        """The largest number of tokens, as told or found."""
        return self.told.context_length or vocabulary.context_length(self.target)

    def tokens(
        self, B: int | None = None, T: int | None = None, *, seed: int = 0
    ) -> Tensor:
        """Draw tokens of about unit size, the same for the same seed."""
        generator = torch.Generator().manual_seed(seed)
        shape = (B or self.B, T or self.T, self.d_in)
        drawn = torch.randn(shape, generator=generator, dtype=torch.float64)
        return drawn.to(self.device, self.dtype)

    @contextmanager
    def training(self, dropout: float) -> Iterator[None]:
        """Switch to training for a while, with another rate of dropout everywhere."""
        before = [(part, name, getattr(part, name)) for part, name in self._rates()]
        extra = dict(self.extra)
        for part, name, _ in before:
            setattr(part, name, dropout)
        if self._rate_argument():
            self.extra[self._rate_argument()] = dropout
        if self.module is not None:
            self.module.train()
        try:
            yield
        finally:
            if self.module is not None:
                self.module.eval()
            for part, name, rate in before:
                setattr(part, name, rate)
            self.extra = extra

    @property
    def drops(self) -> bool:
        """Whether a rate of dropout was found that can be changed."""
        return bool(self._rates() or self._rate_argument())

    def _rates(self) -> list[tuple[nn.Module, str]]:
        found: list[tuple[nn.Module, str]] = []
        for part in self.module.modules() if self.module is not None else ():
            if isinstance(part, nn.modules.dropout._DropoutNd):
                found.append((part, "p"))
            found += [
                (part, name)
                for name, value in vars(part).items()
                if isinstance(value, float) and _DROPOUT.search(name)
            ]
        return found

    def _rate_argument(self) -> str:
        if self.module is not None:
            return ""
        names = [n for n in vocabulary.arguments(self.target) if _DROPOUT.search(n)]
        return names[0] if names else ""


def find(target: Target, told: Told) -> Subject:
    """Copy the code, redraw its weights, and find out how it is called.

    Raises:
        ValueError: If it cannot be called in any way that is known.
    """
    name = getattr(target, "__name__", type(target).__name__)
    if isinstance(target, type):
        raise ValueError(
            "module_or_function must be built already; "
            f"got the class module_or_function={name}."
        )
    if not callable(target):
        raise ValueError(
            "module_or_function must be a module or a function; "
            f"got module_or_function={target!r}."
        )
    errors: list[str] = []
    for dtype in (torch.float64, torch.float32):
        copied = _copy(target, dtype)
        if isinstance(copied, Exception):
            errors.append(f"copying it raised {explain(copied)}")
            continue
        for call in ways(copied, told.call, told.num_heads):
            d_in = told.d_in or vocabulary.width(target)
            width = call.cut.d_in if call.cut else d_in
            if width is None:
                raise ValueError(f"d_in must be told for {name}; got d_in=None.")
            subject = Subject(name, copied, call, width, dtype, _device(copied), told)
            if (error := _settle(subject)) is None:
                return subject
            errors.append(f"{call.words} raised {error}")
    raise ValueError(
        f"call must say how {name} takes tokens of shape (texts, tokens, d_in); "
        f"got call={told.call!r}, and {errors[0]}."
    )


def explain(error: Exception) -> str:
    """Put an error into one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:157]}{'...' * (len(text) > 157)}"


def _settle(subject: Subject) -> str | None:
    """Choose sizes that it takes; return the first error if it takes none."""
    longest = subject.context_length or max(_PRIMES)
    taken = {subject.d_in, subject.told.num_heads}
    sizes = [n for n in _PRIMES if n <= longest and n not in taken] or [longest]
    T = sizes[0]
    B = next(n for n in (3, 2, 5) if n not in {T, subject.d_in})
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


def _copy(target: Target, dtype: torch.dtype) -> Target | Exception:
    if not isinstance(target, nn.Module):
        return target
    try:
        module = copy.deepcopy(target).to(dtype).eval()
    except Exception as raised:  # whatever a reader's code may raise
        return raised
    redraw(module)
    return module


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


def in_type(subject: Subject, dtype: torch.dtype) -> Subject:
    """Copy a subject into another type, with the same weights, rounded."""
    target = subject.target
    if isinstance(target, nn.Module):
        target = copy.deepcopy(target).to(dtype)
    return replace(subject, target=target, dtype=dtype, extra=dict(subject.extra))


def _device(target: Target) -> torch.device:
    if isinstance(target, nn.Module):
        for tensor in [*target.parameters(), *target.buffers()]:
            return tensor.device
    return torch.device("cpu")
