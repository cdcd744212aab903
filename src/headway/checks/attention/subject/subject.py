"""A copy of somebody's attention code, ready to be called."""

import functools
import itertools
import math
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import torch
from torch import Tensor, nn

from headway.checks.attention.subject.calls import POOLED, Call
from headway.checks.core import intent
from headway.checks.core.copies import duplicate
from headway.checks.core.dropout import (
    WithoutDropout,
    rate_argument,
    rate_attributes,
)
from headway.checks.core.errors import at_the_border
from headway.checks.core.signature import CallOption, Target

_TWO_TEXTS = re.compile(r"\(x, (x\b|torch\.cat)")
_MOST_KEPT = 10**5  # numbers of tokens that are drawn once and kept


@dataclass(frozen=True)
class Options:
    """What is declared; what is `None` is to be found out."""

    d_in: int | None = None
    context_length: int | None = None
    num_heads: int | None = None
    causal: bool | None = None
    call: CallOption | None = None
    weights: Mapping[str, str] | None = None
    scale: float | None = None
    normalize: str | None = None
    rotary_base: float | None = None
    window: int | Literal["none"] | None = None
    cached: CallOption | None = None
    caches: bool | None = None
    positions: Literal["none", "rotary", "bias", "absolute"] | None = None
    layout: str | None = None
    masks: Mapping[str, str] | Literal["none"] | None = None
    softcap: float | Literal["none"] | None = None
    sinks: str | None = None
    norms: Literal["none", "after projection", "after rotation"] | None = None
    groups: int | None = None
    half_precision: bool | None = None


@dataclass(frozen=True)
class Subject:
    """Attention code with weights of its own, and sizes to call it with.

    Attributes:
        name: What it is called.
        target: A copy of the module, or the function.
        call: The way in which it wants to be called.
        d_in: Width of the tokens.
        dtype: The most precise type that it takes.
        device: Where its weights are.
        options: What is declared.
        B: Number of texts in a batch.
        T: Number of tokens in a text.
        copy_each_call: Whether to call a new copy each time, because a call changes it.
        extra: Further arguments of each call.
        undropped: Whether to leave out what functions of torch drop in eval.
        refused: Whether no call of the declared layout works, so that this one was
            found without it.
        came_in_half: Whether all parameters had 16 bits before they were copied.
    """

    name: str
    target: Target
    call: Call
    d_in: int
    dtype: torch.dtype
    device: torch.device
    options: Options
    B: int = 3
    T: int = 7
    copy_each_call: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)
    undropped: bool = False
    refused: bool = False
    came_in_half: bool = False

    def __call__(self, x: Tensor, /, *, seed: int = 1, **extra: Any) -> Tensor:
        """Call the code with tokens, and with the same random numbers each time.

        Args:
            x: Tokens of shape (B, T, d_in).
            seed: What random numbers are drawn from.
            extra: Further arguments, such as a mask.

        Returns:
            One row for each token, of shape (B, T, width).

        Raises:
            TypeError: If it returns something else.
        """
        return self.as_it_is(x.clone(), seed=seed, **extra)

    @at_the_border
    def as_it_is(self, x: Tensor, /, *, seed: int = 1, **extra: Any) -> Tensor:
        """Call the code with these very tokens, wherever they lie in memory.

        Args:
            x: Tokens of shape (B, T, d_in).
            seed: What random numbers are drawn from.
            extra: Further arguments, such as a mask.

        Raises:
            TypeError: If it returns something else than one row for each token.
        """
        self.draw_from(seed)
        target = (
            duplicate(self.target, self.dtype) if self.copy_each_call else self.target
        )
        with self.dropping_as_told():
            result = self.call(target, x, {**self.extra, **extra})
        if result.shape[:-1] != x.shape[:-1]:
            raise TypeError(
                f"it returned shape {tuple(result.shape)} for {tuple(x.shape)}"
            )
        return result

    def all_rows(self, x: Tensor) -> list[Tensor]:
        """Call it, and give its rows, and those of a second text if it takes two.

        Features of pairs of tokens are among them.

        Args:
            x: Tokens of shape (B, T, d_in).

        Raises:
            TypeError: If it returns something else than one row for each token.
        """
        rows, *others = self.all_results(x)
        memory = bool(self.call.filling.memory)
        several = memory or _TWO_TEXTS.search(self.call.text)
        pairs = (*x.shape[:2], x.shape[1])
        return [
            rows,
            *(one for one in others if several and _are_rows(one, x, memory)),
            *(one for one in others if one.ndim == 4 and one.shape[:3] == pairs),
        ]

    def all_results(self, x: Tensor) -> list[Tensor]:
        """Call it, and give its rows, and what a module returns behind the first.

        Args:
            x: Tokens of shape (B, T, d_in).

        Raises:
            TypeError: If it returns something else than one row for each token.
        """
        if self.module is None or isinstance(self.module, torch.jit.ScriptModule):
            return [self(x)]  # which take no hooks
        results: list[Any] = []
        hook = self.module.register_forward_hook(lambda *given: results.append(given))
        try:
            rows = self(x)
        finally:
            hook.remove()
        given = [one[2] for one in results[-1:] if isinstance(one[2], (tuple, list))]
        others = [one for several in given for one in several[1:]]
        kinds = [isinstance(one, Tensor) and one.requires_grad for one in others]
        return [rows, *itertools.compress(others, kinds)]

    def dropping_as_told(self) -> AbstractContextManager[Any]:
        """Leave out what functions of torch drop, if they are to drop nothing."""
        return WithoutDropout() if self.undropped else nullcontext()

    def draw_from(self, seed: int) -> None:
        """Seed the generators in use; `torch.manual_seed` takes longer than a call."""
        torch.default_generator.manual_seed(seed)
        if self.device.type == "cuda":
            torch.cuda.manual_seed_all(seed)

    @property
    def module(self) -> nn.Module | None:
        """The module, or `None` if it is a function."""
        return self.target if isinstance(self.target, nn.Module) else None

    @property
    def is_pooled(self) -> bool:
        """Whether it gives one row for each text, which all of its tokens then have."""
        return self.call.text.endswith(POOLED)

    @property
    def context_length(self) -> int | None:
        """The largest number of tokens, as given or found."""
        return self.options.context_length or intent.context_length(self.target)

    @property
    def num_heads(self) -> int | None:
        """The number of heads, as given or found."""
        return self.options.num_heads or intent.num_heads(self.target)

    @property
    def has_window(self) -> bool:
        """Whether it is meant to see only the nearest keys, as declared or named."""
        told = self.options.window
        return intent.has_window(self.target) if told is None else told != "none"

    @property
    def meant_for_half(self) -> bool:
        """Whether it is meant to run in 16 bits, as declared, or as it came."""
        told = self.options.half_precision
        return self.came_in_half if told is None else told

    def tokens(
        self, B: int | None = None, T: int | None = None, *, seed: int = 0
    ) -> Tensor:
        """Draw tokens of about unit size, the same for the same seed."""
        shape = (B or self.B, T or self.T, self.d_in)
        draw = _drawn if math.prod(shape) > _MOST_KEPT else _drawn_once
        return draw(shape, seed).clone().to(self.device, self.dtype)

    @property
    def has_dropout(self) -> bool:
        """Whether a rate of dropout was found that can be changed."""
        return bool(rate_attributes(self.target) or self._rate_argument())

    def copy(self, dtype: torch.dtype | None = None) -> "Subject":
        """Copy it, into another type if one is given, with the weights rounded."""
        dtype = dtype or self.dtype
        return replace(self, target=duplicate(self.target, dtype), dtype=dtype)

    def with_dropout(self, rate: float) -> "Subject":
        """Copy it, with this rate of dropout everywhere."""
        changed = self.copy()
        for part, name in rate_attributes(changed.target):
            setattr(part, name, rate)
        if argument := self._rate_argument():
            changed = replace(changed, extra={**self.extra, argument: rate})
        return changed

    def in_training(self, dropout: float) -> "Subject":
        """Copy it in training mode, with this rate of dropout everywhere."""
        changed = replace(self.with_dropout(dropout), undropped=False)
        if changed.module is not None:
            changed.module.train()
        return changed

    def _rate_argument(self) -> str | None:
        if self.module is not None or self.options.call is not None:
            return None
        return rate_argument(self.target)


def _are_rows(result: Tensor, x: Tensor, memory: bool) -> bool:
    """Ask whether a result is one row for each token; a square is of weights.

    Args:
        result: A part of what was returned.
        x: The tokens.
        memory: Whether other tokens, of another number, were handed over.
    """
    if result.ndim != 3:
        return False
    if memory:
        return result.shape[2] == x.shape[2]
    return result.shape[:2] == x.shape[:2] and result.shape[2] != result.shape[1]


def _drawn(shape: tuple[int, int, int], seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


_drawn_once = functools.lru_cache(maxsize=32)(_drawn)
