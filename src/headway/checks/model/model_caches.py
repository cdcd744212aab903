"""How a model keeps what it has read, from call to call."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from headway.checks.core.errors import at_the_border, describe, theirs
from headway.checks.core.layer_cache import LayerCache
from headway.checks.core.limit import limited
from headway.checks.core.signature import CallOption
from headway.checks.model.model_calls import logits_of
from headway.checks.model.model_subject import ModelSubject

Step = Callable[[ModelSubject, Tensor, Any, int], tuple[Any, Any]]


@dataclass(frozen=True)
class CacheProtocol:
    """One way to hand a model a text in pieces.

    Attributes:
        text: The call, as a report shows it.
        step: Calls with a piece, what was kept, and how many tokens came before; gives
            the result, and what to keep.
        begin: Makes what is kept before the first piece.
    """

    text: str
    step: Step
    begin: Callable[[ModelSubject], Any] = lambda subject: None

    @at_the_border
    def read(self, subject: ModelSubject, ids: Tensor, sizes: Sequence[int]) -> Tensor:
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


def find_protocol(subject: ModelSubject) -> tuple[CacheProtocol | None, str]:
    """Find out how a model takes a text in pieces.

    Returns:
        The way, and why there is none.
    """
    option = subject.options.cached
    protocols = [*_by_names(subject)] if option is None else [_of_option(option)]
    reason = "No argument for a cache was found; cached= says how to use one."
    for tried, protocol in enumerate(protocols):
        try:
            protocol.read(subject, subject.ids(T=3), (2, 1))
        except theirs() as raised:
            if not tried:
                reason = f"{protocol.text} raised {describe(raised)}; cached= says how."
        else:
            return protocol, ""
    return None, reason


def _by_names(subject: ModelSubject) -> Iterator[CacheProtocol]:
    """Give the ways that the names of arguments tell, the likeliest first."""
    names = subject.call.names
    if "past" in names:
        past = names["past"]
        yield CacheProtocol(f"m(ids, {past}=...)", _with_past)
        if past.endswith("caches") and "start" not in names and _layers(subject):
            yield CacheProtocol(f"m(ids, {past}={past})", _with_caches, _new_caches)
    elif "start" in names:
        yield CacheProtocol(f"m(ids, {names['start']}=...)", _with_start)


def _of_option(option: CallOption) -> CacheProtocol:
    if isinstance(option, str):
        return _of_expression(option)
    return _of_function(option)


def _of_function(function: Callable[..., Any]) -> CacheProtocol:
    @at_the_border
    def hand_over(s: ModelSubject, ids: Tensor, past: Any, start: int) -> Any:
        return function(s.target, ids, past, start)

    return CacheProtocol(getattr(function, "__name__", "cached"), hand_over)


@at_the_border
def _of_expression(text: str) -> CacheProtocol:
    code = compile(text.strip(), "<cached>", "eval")

    @at_the_border
    def evaluate(s: ModelSubject, ids: Tensor, past: Any, start: int) -> Any:
        names = {"m": s.target, "ids": ids, "x": ids, "torch": torch}
        kept = {"past": past, "start": start}
        return eval(code, names | kept)  # noqa: S307  # it is the reader's expression

    return CacheProtocol(text.strip(), evaluate)


@at_the_border
def _with_past(s: ModelSubject, ids: Tensor, past: Any, start: int) -> tuple[Any, Any]:
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
        rest = [part for part in result[1:] if part is not None]
        return rest[-1] if rest else None
    return getattr(result, name, None)


def _with_start(s: ModelSubject, ids: Tensor, past: Any, start: int) -> tuple[Any, Any]:
    return s.call(s.target, ids, {"start": start}), None


def _with_caches(
    s: ModelSubject, ids: Tensor, past: Any, start: int
) -> tuple[Any, Any]:
    keep = {"keep": True} if "keep" in s.call.names else {}
    return s.call(s.target, ids, {"past": past, **keep}), past


def _new_caches(subject: ModelSubject) -> list[LayerCache]:
    """Make a cache for each layer, which forgets what the window of the layer hides."""
    return [LayerCache(_window(layer)) for layer in _layers(subject)]


def _layers(subject: ModelSubject) -> list[nn.Module]:
    """List the layers of a model: what stands in its first list of modules."""
    parts = subject.module.modules() if subject.module is not None else ()
    return [*next((part for part in parts if isinstance(part, nn.ModuleList)), ())]


def _window(layer: nn.Module) -> int | None:
    sizes = (getattr(part, "window", None) for part in layer.modules())
    return next((size for size in sizes if type(size) is int), None)
