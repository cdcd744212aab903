"""How a language model takes token ids, and gives logits."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from headway.checks.core.cannot_check import CannotCheckError
from headway.checks.core.errors import at_the_border
from headway.checks.core.limit import limited
from headway.checks.core.signature import CallOption, Target, arguments
from headway.checks.model.source_and_target import (
    SOURCES,
    calls_with_a_source,
    hides_the_future,
    needed_arguments,
)

# By what an argument is for: the names that it goes by.
_NAMES = {
    "mask": "attention_mask attn_mask mask padding_mask key_padding_mask pad_mask "
    "input_mask",
    "positions": "position_ids positions pos_ids token_positions position pos",
    "targets": "targets target labels y",
    "documents": "document_ids doc_ids documents document_id segment_ids sequence_ids "
    "seq_ids seq_idx",
    "ends": "cu_seqlens cu_seq_lens",
    "past": "past_key_values past_key_value past_kv past_kvs past layer_past kv_cache "
    "kv_caches cache caches cache_params mems",
    "keep": "use_cache caching",
    "start": "start_pos start_position position_offset offset",
}
_OF_CACHES = ("past", "keep", "start")
# Of a decoder that has an encoder beside it.
_OF_DECODER = {
    "mask": "decoder_attention_mask",
    "past": "past_key_values",
    "keep": "use_cache",
}


class LastOnlyError(TypeError):
    """A model gives the logits of the last token alone."""


@dataclass(frozen=True)
class ModelCall:
    """One way to call a model with ids of shape (B, T).

    Attributes:
        text: The call, as a report shows it.
        invoke: Calls the model with ids, and with further arguments by what they are.
        names: The name of each further argument that it takes, by what it is for.
        with_targets: Whether the ids are given as targets, too: some models give the
            logits of the last token alone without them.
        time_first: Whether it takes ids of shape (T, B).
        must_hide: Whether it is right only if it hides the future, as it has masks
            that somebody has guessed.
    """

    text: str
    invoke: Callable[..., Any]
    names: Mapping[str, str] = field(default_factory=dict)
    with_targets: bool = False
    time_first: bool = False
    must_hide: bool = False

    @limited()
    def __call__(self, target: Target, ids: Tensor, extra: Mapping[str, Any]) -> Any:
        """Call the model; `extra` are further arguments by what they are for."""
        if self.with_targets:
            extra = {"targets": ids.clone(), **extra}
        return self.invoke(target, ids, extra)


def possible_calls(
    target: Target, option: CallOption | None, named: Mapping[str, str]
) -> Iterator[ModelCall]:
    """Give the ways in which a model may want to be called, the likeliest first.

    Args:
        target: The model.
        option: How to call it, if somebody said so.
        named: The names of arguments that somebody said, by what they are for.
    """
    if option is None:
        yield from _common_calls(target, named)
    elif isinstance(option, str):
        yield of_expression(option)
    else:
        yield _of_function(option)


def _common_calls(target: Target, named: Mapping[str, str]) -> Iterator[ModelCall]:
    if "decoder_input_ids" in arguments(target):
        yield _of_decoder(target, named)
    names = {**argument_names(target), **named}
    blanks = _blanks(target, names)

    @at_the_border
    def invoke(m: Target, ids: Tensor, extra: Mapping[str, Any]) -> Any:
        by_name = {names[role]: value for role, value in extra.items()}
        return m(ids, **{**blanks, **by_name})

    shown = "".join(f", {name}={value}" for name, value in blanks.items())
    yield ModelCall(f"m(ids{shown})", invoke, names)
    if "targets" in names:
        text = f"m(ids, {names['targets']}=ids)"
        yield ModelCall(text, invoke, names, with_targets=True)
    cache = {role: one for role, one in names.items() if role in _OF_CACHES}
    for text in calls_with_a_source(target):
        yield replace(of_expression(text, cache), must_hide=True)


def _of_decoder(target: Target, named: Mapping[str, str]) -> ModelCall:
    """Ask the decoder of a model that writes one text where it has read another.

    Without ids for its decoder it takes those of the source, moved by one place.
    """
    known = arguments(target)
    names = {role: name for role, name in _OF_DECODER.items() if name in known}

    @at_the_border
    def invoke(m: Target, ids: Tensor, extra: Mapping[str, Any]) -> Any:
        by_name = {{**names, **named}[role]: value for role, value in extra.items()}
        source = ids.new_full((len(ids), 4), 3)
        return m(source, decoder_input_ids=ids, **by_name)

    text = f"m({SOURCES[0]}, decoder_input_ids=ids)"
    must_hide = hides_the_future(target)
    return ModelCall(text, invoke, {**names, **named}, must_hide=must_hide)


def argument_names(target: Target) -> dict[str, str]:
    """Find the arguments that a model takes besides ids, by what they are for."""
    arguments_besides_ids = [*arguments(target)][1:]
    names_by_role = {}
    for role, names in _NAMES.items():
        taken = [name for name in names.split() if name in arguments_besides_ids]
        if taken:
            names_by_role[role] = taken[0]
    return names_by_role


def _blanks(target: Target, names: Mapping[str, str]) -> dict[str, Any]:
    """Fill in the arguments that a model needs besides ids."""
    ids = [*arguments(target)][:1]
    needed = [name for name in needed_arguments(target) if name not in ids]
    return {name: 0 if name == names.get("start") else None for name in needed}


def _of_function(function: Callable[..., Any]) -> ModelCall:
    @at_the_border
    def hand_over(m: Target, ids: Tensor, extra: Mapping[str, Any]) -> Any:
        return function(m, ids, **extra)

    taken = [name for name in [*arguments(function)][2:] if name in _NAMES]
    shown = getattr(function, "__name__", "call")
    return ModelCall(shown, hand_over, {name: name for name in taken})


def of_expression(text: str, by_name: Mapping[str, str] | None = None) -> ModelCall:
    """Make a call of an expression of `m`, `ids` and what else it is given by name.

    Args:
        text: The expression.
        by_name: Further arguments, which are handed over by name where they are given:
            their names, by what they are for.
    """
    named = by_name or {}
    try:
        code = compile(text.strip(), "<call>", "eval")
    except SyntaxError as error:
        raise CannotCheckError(
            f"call must be an expression; got call={text!r}."
        ) from error
    used = [name for name in ("mask", "positions") if name in code.co_names]

    @at_the_border
    def evaluate(m: Target, ids: Tensor, extra: Mapping[str, Any]) -> Any:
        more = {named[role]: extra[role] for role in named if role in extra}
        called = partial(m, **more) if more else m
        names = {"m": called, "ids": ids, "x": ids, "torch": torch}
        extra_names = {"mask": None, "positions": None, **extra}
        return eval(code, names | extra_names)  # noqa: S307  # it is the reader's expression

    return ModelCall(text.strip(), evaluate, {**{name: name for name in used}, **named})


@at_the_border
def logits_of(result: Any, ids: Tensor, vocab_size: int) -> Tensor:
    """Find the logits in what a model returned, of shape (B, T, width).

    Raises:
        LastOnlyError: If there are logits of the last token alone.
        TypeError: If there are none.
    """
    B, T = ids.shape
    last = False
    candidates = []
    for tensor in tensors_of(result):
        if not tensor.is_floating_point():
            continue
        if tensor.ndim == 3 and tensor.shape[:2] == (B, T):
            candidates.append(tensor)
        elif tensor.ndim == 2 and tensor.shape[0] == B * T:
            candidates.append(tensor.unflatten(0, (B, T)))  # as a loss wants them
        elif tensor.shape[:-1] in ((B, 1), (B,)):
            last = True
    if candidates:
        return next((x for x in candidates if x.shape[-1] == vocab_size), candidates[0])
    if last:
        raise LastOnlyError("it gave logits of the last token alone")
    raise TypeError(f"it returned {_shown(result)}, and no logits for each token")


def tensors_of(result: Any) -> list[Tensor]:
    """List the tensors that a model returned, that called logits first."""
    if isinstance(result, Tensor):
        return [result]
    if isinstance(result, Mapping):
        parts = [result.get("logits"), *result.values()]
    elif isinstance(result, (tuple, list)):
        parts = [getattr(result, "logits", None), *result]
    else:
        parts = [getattr(result, "logits", None)]
    return [part for part in parts if isinstance(part, Tensor)]


def _shown(result: Any) -> str:
    if isinstance(result, Tensor):
        return f"a tensor of shape {tuple(result.shape)}"
    return type(result).__name__
