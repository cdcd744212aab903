"""How a model keeps what it has read, from call to call."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from headway.checks.core.errors import (
    at_the_border,
    describe,
    suppress_theirs,
    theirs,
)
from headway.checks.core.layer_cache import LayerCache
from headway.checks.core.limit import limited
from headway.checks.core.signature import CallOption
from headway.checks.core.tolerance import max_difference
from headway.checks.model.logits_tolerance import logits_tolerance
from headway.checks.model.model_calls import logits_of
from headway.checks.model.model_subject import ModelSubject

Step = Callable[[ModelSubject, Tensor, Any, int], tuple[Any, Any]]


@dataclass(frozen=True)
class CacheProtocol:
    """One way to hand a model a text in pieces.

    Attributes:
        text: The call, as a report shows it.
        inside: Whether the model has to keep it, and may keep nothing.
        step: Calls with a piece, what was kept, and how many tokens came before; gives
            the result, and what to keep.
        begin: Makes what is kept before the first piece.
    """

    text: str
    step: Step
    inside: bool = False
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


class ProtocolSearch(NamedTuple):
    """What a search for a way to use a cache found.

    Attributes:
        protocol: The way, or `None`.
        reason: Why there is none.
        breaks: Whether a call gives a cache, and one that gets it raises.
    """

    protocol: CacheProtocol | None
    reason: str = ""
    breaks: bool = False


def find_protocol(subject: ModelSubject) -> ProtocolSearch:
    """Find out how a model takes a text in pieces."""
    option = subject.options.cached
    protocols = [*_by_names(subject)] if option is None else [_of_option(option)]
    reason = "No argument for a cache was found; cached= says how to use one."
    breaks = False
    for tried, protocol in enumerate(protocols):
        try:
            rows = protocol.read(subject, subject.ids(T=3), (2, 1))
            if protocol.inside and _is_alone(subject, rows):
                continue
        except theirs() as raised:
            if not tried:
                error = describe(raised)
                reason = f"{protocol.text} raised {error}; cached= says how."
                if breaks := option is None and _gives_a_cache(protocol, subject):
                    reason = (
                        f"{protocol.text} gives a cache, and a call that gets it "
                        f"raised {error}. If it is used differently, cached= says how."
                    )
        else:
            return ProtocolSearch(protocol)
    return ProtocolSearch(None, reason, breaks)


def _gives_a_cache(protocol: CacheProtocol, subject: ModelSubject) -> bool:
    """Say whether a first call gives what is surely a cache: pairs of tensors."""
    with suppress_theirs(), torch.no_grad(), limited():
        kept = protocol.step(subject.copy(), subject.ids(T=2), None, 0)[1]
        if isinstance(kept, Sequence) and kept:
            layers = kept if isinstance(kept[0], Sequence) else [kept]
            return all(_is_pair(layer) for layer in layers)
    return False


def _is_pair(layer: Any) -> bool:
    """Say whether these are keys and values, rather than weights of two layers."""
    if not isinstance(layer, Sequence) or len(layer) != 2:
        return False
    return all(
        isinstance(part, Tensor) and part.ndim > 2 and part.shape[-1] != part.shape[-2]
        for part in layer
    )


def _by_names(subject: ModelSubject) -> Iterator[CacheProtocol]:
    """Give the ways that the names of arguments tell, the likeliest first."""
    names = subject.call.names
    if "past" in names:
        past = names["past"]
        start = f", {names['start']}=..." if "start" in names else ""
        yield CacheProtocol(f"m(ids, {past}=...{start})", _with_past)
        if past.endswith("caches") and "start" not in names and _layers(subject):
            text = f"m(ids, {past}={past})"
            yield CacheProtocol(text, _with_caches, begin=_new_caches)
    elif "start" in names:
        yield CacheProtocol(f"m(ids, {names['start']}=...)", _with_start)
    elif "keep" in names:
        yield CacheProtocol(f"m(ids, {names['keep']}=True)", _keeping, inside=True)


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
    told: dict[str, Any] = {"keep": True} if "keep" in s.call.names else {}
    if "start" in s.call.names:
        told["start"] = start
    result = s.call(s.target, ids, {"past": past, **told})
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


def _keeping(s: ModelSubject, ids: Tensor, past: Any, start: int) -> tuple[Any, Any]:
    return s.call(s.target, ids, {"keep": True}), None


def _is_alone(subject: ModelSubject, rows: Tensor) -> bool:
    """Ask whether the last of three tokens got what it gets without the others."""
    alone = subject(subject.ids(T=3)[:, 2:])
    return max_difference(rows[:, 2:], alone) <= logits_tolerance(alone)


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
