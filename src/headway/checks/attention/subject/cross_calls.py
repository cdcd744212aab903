"""Calls with other tokens for keys and values than for queries."""

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from torch import Tensor

from headway.checks.attention.subject.calls import (
    FilledIn,
    call_with_names,
    three_of,
)
from headway.checks.attention.subject.subject import Subject
from headway.checks.core.errors import at_the_border
from headway.checks.core.signature import CallOption, Target, arguments

_CONTEXT = re.compile(
    r"(^|_)(context|memory|cond)$|^encoder_(hidden_states|output|out)$"
    r"|^key_?value(_states|s)?$|^kv(_input)?$|^cross(_states)?$",
    re.IGNORECASE,
)


def as_cross_attention(subject: Subject, *others: Tensor) -> Subject | None:
    """Make a subject whose queries ask other tokens; `None` if it takes none.

    Args:
        subject: The code.
        others: The tokens for keys and values, or for keys, and for values.
    """
    call = subject.call
    if call.time_first:
        others = tuple(one.transpose(0, 1) for one in others)
    if call.packing is not None:
        return _of_function(subject, others)
    option = written_call(subject)
    if isinstance(option, str):
        return _as_told(subject, option, others)
    if option is not None:
        return None
    if memory := call.filling.memory:
        return replace(subject, extra={**subject.extra, memory: others[0]})
    if isinstance(call.invoke, FilledIn) and (
        places := _places(subject.target, call.invoke)
    ):
        return _called(subject, replace(call.invoke, **places), others)
    for name, one in arguments(subject.target).items():
        if _CONTEXT.search(name) and one.default is None:
            if isinstance(call.invoke, FilledIn) and call.invoke.filling.values:
                # What is filled in, such as a mask, has to fit as many keys.
                named = {**call.invoke.names, name: 1}
                return _called(subject, replace(call.invoke, names=named), others)
            extra = {**subject.extra, name: others[0]}
            return replace(subject, extra=extra)
    return None


def written_call(subject: Subject) -> CallOption | None:
    """Give the call that the reader wrote, or that was written for other widths."""
    if subject.options.call is None and "torch.cat" in subject.call.text:
        return subject.call.text
    return subject.options.call


def hands_over_values(subject: Subject) -> bool:
    """Ask whether a call hands over values apart from keys."""
    call, option = subject.call, written_call(subject)
    if call.packing is not None:
        return True
    if isinstance(option, str):
        words = _with_others(option)
        return words is not None and re.search(r"\bz\b", words) is not None
    if isinstance(call.invoke, FilledIn):
        found = _places(subject.target, call.invoke)
        return found is not None and 2 in {*found["places"], *found["names"].values()}
    return False


def names_another_text(subject: Subject) -> bool:
    """Ask whether an argument is for another text by its name, and not for keys."""
    if subject.call.packing is not None or written_call(subject) is not None:
        return False
    known = arguments(subject.target)
    return not three_of(known, guess=False) and any(map(_CONTEXT.search, known))


def _called(
    subject: Subject, invoke: Callable[..., Any], others: Sequence[Tensor]
) -> Subject:
    """Hand over other tokens after those of the queries."""

    @at_the_border
    def ask(target: Target, x: Tensor, **extra: Any) -> Any:
        return invoke(target, x, others[0], others[-1], **extra)

    return replace(subject, call=replace(subject.call, invoke=ask))


def _places(target: Target, invoke: FilledIn) -> Mapping[str, Any] | None:
    """Say which argument gets which of queries, keys and values."""
    known = [*arguments(target)]
    by_place = known[: len(invoke.places)]
    named = [*by_place, *invoke.names]
    roles = three_of(arguments(target))
    if set(roles) != set(named):
        first = [bool(_CONTEXT.search(name)) for name in named] == [True, False]
        roles = {name: min(n, 1) ^ first for n, name in enumerate(named)}
    if len(named) < 2:
        return None
    return {
        "places": [roles[name] for name in by_place],
        "names": {name: roles[name] for name in invoke.names},
    }


def _of_function(subject: Subject, others: Sequence[Tensor]) -> Subject | None:
    """Take keys and values out of other tokens."""
    call = subject.call
    assert call.packing is not None  # noqa: S101  # for the types alone
    if call.packing.axes == 2:
        return None
    key = call.packing.unpack(others[0])[1]
    value = call.packing.unpack(others[-1])[2]

    @at_the_border
    def ask(target: Target, query: Tensor, _: Tensor, __: Tensor, **extra: Any) -> Any:
        return call.invoke(target, query, key, value, **extra)

    return replace(subject, call=replace(call, invoke=ask))


def _as_told(subject: Subject, option: str, others: Sequence[Tensor]) -> Subject | None:
    """Read which tokens are keys and values in what the reader wrote."""
    words = _with_others(option)
    if words is None:
        return None
    known = {"y": others[0], "z": others[-1]}

    @at_the_border
    def ask(target: Target, x: Tensor, mask: Any = None) -> Any:
        return call_with_names(words, target, known | {"x": x, "mask": mask})

    return replace(subject, call=replace(subject.call, invoke=ask))


def _with_others(option: str) -> str | None:
    """Put `y` and `z` where a call takes tokens again: m(x, x, x) is m(x, y, z)."""
    tree = ast.parse(option.strip(), mode="eval")
    names = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name)}
    if "y" in names:
        return option
    for called in ast.walk(tree):
        if not isinstance(called, ast.Call):
            continue
        given = [*called.args, *(one.value for one in called.keywords)]
        tokens = [found for one in given if (found := _tokens_in(one))]
        if len(tokens) in (2, 3):
            for places, letter in zip(tokens[1:], "yz", strict=False):
                for one in places:
                    one.id = letter
            return ast.unparse(tree)
    return None


def _tokens_in(given: ast.expr) -> list[ast.Name]:
    """Find the tokens in an argument that is nothing else, or some of their numbers."""
    if isinstance(given, ast.Subscript) and not isinstance(given.value, ast.Name):
        inside = [*ast.walk(given)]
        tokens = [one for one in inside if isinstance(one, ast.Name) and one.id == "x"]
        return tokens if "torch.cat" in ast.unparse(given) else []
    if isinstance(given, ast.Subscript):
        given = given.value
    return [given] if isinstance(given, ast.Name) and given.id == "x" else []
