"""How a model keeps what it has read, from call to call."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from headway.checks.errors import at_the_border, describe, theirs
from headway.checks.limit import limited
from headway.checks.model.calls import CallOption, logits_of
from headway.checks.model.subject import Subject
from headway.decoding.kv_cache import KeyValueCache
from headway.decoding.sliding_window import RingCache
from headway.models.small_gpt import LanguageModel

Step = Callable[[Subject, Tensor, Any, int], tuple[Any, Any]]


@dataclass(frozen=True)
class Protocol:
    """One way to hand a model a text in pieces.

    Attributes:
        text: The call, as a report shows it.
        step: Calls with a piece, what was kept, and how many tokens came before; gives
            the result, and what to keep.
        begin: Makes what is kept before the first piece.
    """

    text: str
    step: Step
    begin: Callable[[Subject], Any] = lambda subject: None

    @at_the_border
    def read(self, subject: Subject, ids: Tensor, sizes: Sequence[int]) -> Tensor:
        """Hand over a text in pieces of these sizes, and join the logits."""
        subject = subject.copy()
        past, start, rows = self.begin(subject), 0, []
        for size in sizes:
            piece = ids[:, start : start + size].clone()
            with torch.no_grad(), limited():
                result, past = self.step(subject, piece, past, start)
            rows.append(logits_of(result, piece, subject.vocab_size))
            start += size
        return torch.cat(rows, dim=1)


def find_protocol(subject: Subject) -> tuple[Protocol | None, str]:
    """Find out how a model takes a text in pieces.

    Returns:
        The way, and why there is none.
    """
    option = subject.options.cached
    found = _of_option(option) if option is not None else _by_names(subject)
    if found is None:
        return None, "No argument for a cache was found; cached= says how to use one."
    try:
        found.read(subject, subject.ids(T=3), (2, 1))
    except theirs() as raised:
        return None, f"{found.text} raised {describe(raised)}; cached= says how."
    return found, ""


def _by_names(subject: Subject) -> Protocol | None:
    names = subject.call.names
    if isinstance(subject.target, LanguageModel):
        return Protocol("m(ids, caches=caches)", _with_caches, _new_caches)
    if "past" in names:
        return Protocol(f"m(ids, {names['past']}=...)", _with_past)
    if "start" in names:
        return Protocol(f"m(ids, {names['start']}=...)", _with_start)
    return None


def _of_option(option: CallOption) -> Protocol:
    if isinstance(option, str):
        return _of_expression(option)
    return _of_function(option)


def _of_function(function: Callable[..., Any]) -> Protocol:
    @at_the_border
    def hand_over(s: Subject, ids: Tensor, past: Any, start: int) -> Any:
        return function(s.target, ids, past, start)

    return Protocol(getattr(function, "__name__", "cached"), hand_over)


@at_the_border
def _of_expression(text: str) -> Protocol:
    code = compile(text.strip(), "<cached>", "eval")

    @at_the_border
    def evaluate(s: Subject, ids: Tensor, past: Any, start: int) -> Any:
        names = {"m": s.target, "ids": ids, "x": ids, "torch": torch}
        kept = {"past": past, "start": start}
        return eval(code, names | kept)  # noqa: S307  # it is the reader's expression

    return Protocol(text.strip(), evaluate)


@at_the_border
def _with_past(s: Subject, ids: Tensor, past: Any, start: int) -> tuple[Any, Any]:
    keep = {"keep": True} if "keep" in s.call.names else {}
    result = s.call(s.target, ids, {"past": past, **keep})
    kept = _kept(result, s.call.names["past"])
    if kept is None:
        raise TypeError("it returned no cache")
    return result, kept


def _kept(result: Any, name: str) -> Any:
    """Find the cache in what a model returned."""
    if isinstance(result, Mapping):
        return result.get(name)
    if isinstance(result, tuple):
        rest = [one for one in result[1:] if one is not None]
        return rest[-1] if rest else None
    return getattr(result, name, None)


def _with_start(s: Subject, ids: Tensor, past: Any, start: int) -> tuple[Any, Any]:
    return s.call(s.target, ids, {"start": start}), None


def _with_caches(s: Subject, ids: Tensor, past: Any, start: int) -> tuple[Any, Any]:
    return s.call(s.target, ids, {"past": past}), past


def _new_caches(subject: Subject) -> list[Any]:
    model: Any = subject.target
    windows = [getattr(block.attention, "window", None) for block in model.blocks]
    return [KeyValueCache() if one is None else RingCache(one) for one in windows]
