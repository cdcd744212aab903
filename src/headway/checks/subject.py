"""A copy of somebody's attention code, ready to be asked questions."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn

from headway.checks import vocabulary
from headway.checks.calling import Call, Calling, Target
from headway.checks.copying import duplicate
from headway.checks.names import arguments

_DROPOUT = re.compile(r"(^|_)p?drop(out)?(_p|_prob|_rate)?$")


@dataclass(frozen=True)
class Told:
    """What the reader said; `None` is to be found out."""

    d_in: int | None = None
    context_length: int | None = None
    num_heads: int | None = None
    causal: bool | None = None
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
        fresh: Whether to call a new copy each time, because a call leaves something.
        extra: Further arguments of each call.
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
    fresh: bool = False
    extra: dict[str, Any] = field(default_factory=dict)

    def __call__(self, x: Tensor, *, luck: int = 1, **extra: Any) -> Tensor:
        """Ask for one row for each token, with the same luck in each call."""
        torch.manual_seed(luck)
        target = duplicate(self.target, self.dtype) if self.fresh else self.target
        result = self.call(target, x.clone(), {**self.extra, **extra})
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
        with self.rates(dropout):
            if self.module is not None:
                self.module.train()
            try:
                yield
            finally:
                if self.module is not None:
                    self.module.eval()

    @contextmanager
    def rates(self, dropout: float) -> Iterator[None]:
        """Set another rate of dropout everywhere for a while."""
        before = [(part, name, getattr(part, name)) for part, name in self._rates()]
        extra = dict(self.extra)
        self.set_rates(dropout)
        try:
            yield
        finally:
            for part, name, rate in before:
                setattr(part, name, rate)
            self.extra = extra

    def set_rates(self, dropout: float) -> None:
        """Set every rate of dropout that was found."""
        for part, name in self._rates():
            setattr(part, name, dropout)
        if self._rate_argument():
            self.extra[self._rate_argument()] = dropout

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
                if _is_rate(value)
                and (_DROPOUT.search(name) or _in_dropout(part, name))
            ]
        return found

    def _rate_argument(self) -> str:
        if self.module is not None or self.told.call is not None:
            return ""
        known = arguments(self.target)
        rates = [n for n, one in known.items() if _is_rate(one.default)]
        return next((name for name in rates if _DROPOUT.search(name)), "")


def _in_dropout(part: nn.Module, name: str) -> bool:
    """Ask whether a number is the rate of a layer that drops, by another library."""
    return name == "rate" and "dropout" in type(part).__name__.lower()


def _is_rate(value: Any) -> bool:
    """Ask whether a value is a number; a layer that drops, or a flag, is none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def in_type(subject: Subject, dtype: torch.dtype) -> Subject:
    """Copy a subject into another type, with the same weights, rounded."""
    target = duplicate(subject.target, dtype)
    return replace(subject, target=target, dtype=dtype, extra=dict(subject.extra))


def explain(error: BaseException) -> str:
    """Put an error into one line."""
    text = " ".join(str(error).split()).rstrip(".")
    return f"{type(error).__name__}: {text[:157]}{'...' * (len(text) > 157)}"
