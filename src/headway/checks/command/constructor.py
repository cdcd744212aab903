"""Build what a command line names, with arguments that are said in many ways."""

import ast
import dataclasses
import difflib
import functools
import inspect
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from torch import nn

from headway.checks.core.cannot_check import CannotCheckError
from headway.checks.core.errors import at_the_border, describe, place, theirs
from headway.checks.core.intent import synonyms
from headway.checks.core.limit import limited
from headway.checks.core.signature import arguments as arguments_of
from headway.checks.core.source import body_of

Parameters = Mapping[str, inspect.Parameter]
_OPTIONS = ("d_in", "num_heads", "context_length", "causal", "vocab_size")
_CONFIGS = ("config", "cfg", "conf", "args", "params", "hparams", "opt", "settings")


class Settings(dict[str, Any]):
    """A configuration whose fields are read as attributes or as items."""

    def __getattr__(self, name: str) -> Any:
        """Read a field.

        Raises:
            AttributeError: If it is not there.
        """
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"its config has no {name}") from None


def build(
    name: str,
    found: Any,
    options: Mapping[str, Any],
    arguments: Mapping[str, Any],
    by_place: Sequence[Any] = (),
) -> Any:
    """Build what was found if it is a class or a function that makes what to check.

    Args:
        name: What it is called.
        found: The class, the function, or what is built already.
        options: The options of the check, which are handed on where they are taken.
        arguments: Arguments of the constructor, by name.
        by_place: Arguments of the constructor, in its order.

    Raises:
        ValueError: If arguments are missing, or not taken, or it cannot be built.
    """
    if isinstance(found, nn.Module) or not callable(found):
        if arguments or by_place:
            given = [*map(option, arguments), *map(repr, by_place)]
            raise CannotCheckError(f"{name} is built already; got {given[0]}.")
        return found
    known = arguments_of(found)
    arguments = {**_placed(name, known, by_place), **arguments}
    fields = _Fields.of(found, known, arguments)
    values = _given(name, known, options, arguments, fields)
    built_in = inspect.isbuiltin(found)
    if isinstance(found, type) or (not built_in and _makes_target(known, values)):
        return _call(name, found, known, values)
    return functools.partial(found, **values) if values else found


def option(key: str) -> str:
    """Write the name of an argument as a command line has it."""
    return f"--{key.replace('_', '-')}"


def describe_arguments(name: str, found: Any) -> str:
    """List what a constructor or a function takes, one argument a line."""
    known = arguments_of(found) if callable(found) else {}
    if isinstance(found, nn.Module) or not known:
        return f"{name} takes no arguments of its own.\n"
    fields = _Fields.of(found, known, {})
    rows = [_row(key, one.default) for key, one in _plain(known) if key != fields.name]
    rows += [_row(key, fields.defaults.get(key, _EMPTY)) for key in fields.every]
    width = max((len(left) for left, _ in rows), default=0)
    lines = [f"  {left:{width}}  {right}" for left, right in rows]
    return "\n".join([f"arguments of {name}:", *lines, ""])


_EMPTY = inspect.Parameter.empty
# Annotations from here say nothing of the fields of a config.
_NO_CLASSES = ("builtins", "typing", "types", "argparse")


def _row(key: str, default: Any) -> tuple[str, str]:
    left = option(key)
    if isinstance(default, bool):
        left += f", --no-{left[2:]}"
    needed = default is _EMPTY
    return left, "must be given" if needed else f"{default!r} if it is not given"


def _plain(known: Parameters) -> Iterator[tuple[str, inspect.Parameter]]:
    """Give the arguments that can be given by name."""
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    yield from ((name, one) for name, one in known.items() if one.kind not in kinds)


def _placed(name: str, known: Parameters, words: Sequence[Any]) -> dict[str, Any]:
    """Give arguments that come by place the names that they have."""
    names = [n for n, one in _plain(known) if one.kind is not one.KEYWORD_ONLY]
    if len(words) > len(names):
        shown = ", ".join(map(option, names)) or "no option"
        raise CannotCheckError(
            f"{name} must be given {shown}; got {words[len(names)]!r}."
        )
    return dict(zip(names, words, strict=False))


@dataclasses.dataclass(frozen=True)
class _Fields:
    """The fields of a configuration that a constructor takes.

    Attributes:
        name: The argument; empty if there is none.
        make: Makes the configuration of its fields.
        needed: The fields that code reads or must be given.
        defaults: The fields that have a value if none is given.
    """

    name: str = ""
    make: Callable[..., Any] = Settings
    needed: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def every(self) -> list[str]:
        """All fields that are known."""
        return [*dict.fromkeys([*self.needed, *self.defaults])]

    @classmethod
    def of(
        cls, found: Any, known: Parameters, arguments: Mapping[str, Any]
    ) -> "_Fields":
        """Find the configuration that a constructor takes, if it takes one."""
        name = next((n for n, one in _plain(known) if n.lower() in _CONFIGS), "")
        kind = _annotated(found, name)
        if not name:
            for key, _ in _plain(known):
                if dataclasses.is_dataclass(_annotated(found, key)):
                    name, kind = key, _annotated(found, key)
        given = arguments.get(name)
        if not name or not (given is None or isinstance(given, dict)):
            return cls()
        read = _fields_read(found, name)
        if getattr(kind, "__module__", "builtins") in _NO_CLASSES:
            attributes = _fields_read(found, name, items=False)
            kind = _dataclass_beside(found, read) if read == attributes else None
        if kind is None:
            return cls(name, Settings, tuple(read))
        inside = {n: one.default for n, one in _plain(arguments_of(kind))}
        needed = tuple(n for n, default in inside.items() if default is _EMPTY)
        others = {n: one for n, one in inside.items() if n not in needed}
        return cls(name, kind, needed, others)


def _function(found: Any) -> Any:
    """Give the code that takes the arguments."""
    if isinstance(found, type):
        return inspect.getattr_static(found, "__init__")
    return found


@at_the_border
def _annotated(found: Any, name: str) -> Any:
    """Give the class that an argument is annotated with, if it can be told."""
    try:
        return typing.get_type_hints(_function(found)).get(name)
    except theirs():  # a name in it may stand nowhere, and all else may happen
        return None


def _dataclass_beside(found: Any, read: Sequence[str]) -> Any:
    """Find the one dataclass of the same file that has all fields that are read."""
    beside = [
        one
        for one in getattr(_function(found), "__globals__", {}).values()
        if isinstance(one, type)
        and dataclasses.is_dataclass(one)
        and {*read} <= {field.name for field in dataclasses.fields(one)}
    ]
    return beside[0] if read and len(beside) == 1 else None


def _fields_read(found: Any, name: str, *, items: bool = True) -> list[str]:
    """List the fields that a constructor reads: `config.width`, `config["width"]`.

    Without source, none is known before it is missed.
    """
    body = body_of(inspect.unwrap(_function(found)))
    reads = [
        (node.lineno, node.col_offset, node.end_col_offset, field)
        for node in (ast.walk(body) if body else ())
        if isinstance(node, ast.Attribute | ast.Subscript)
        and isinstance(node.ctx, ast.Load)
        and isinstance(node.value, ast.Name)
        and node.value.id == name
        and (field := _field(node, items=items))
    ]
    return [*dict.fromkeys(field for *_, field in sorted(reads))]


def _field(node: ast.Attribute | ast.Subscript, *, items: bool) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    field = getattr(node.slice, "value", None)
    return field if items and isinstance(field, str) else ""


def _given(
    name: str,
    known: Parameters,
    options: Mapping[str, Any],
    arguments: Mapping[str, Any],
    fields: _Fields,
) -> dict[str, Any]:
    """Give each argument of a constructor what was said of it, in whatever words."""
    plain = [n for n, _ in _plain(known) if n != fields.name]
    values: dict[str, Any] = {}
    inside = dict(arguments.get(fields.name) or {}) if fields.name else {}
    said = {n: one for n, one in {**options, **arguments}.items() if n != fields.name}
    for key, value in said.items():
        free = [n for n in plain if n not in arguments]
        if here := key if key in plain else _known_as(key, free):
            values[here] = value
        elif there := _field_for(key, fields, options):
            inside.setdefault(there, value)
        elif key in arguments:
            if not any(one.kind is one.VAR_KEYWORD for one in known.values()):
                raise CannotCheckError(_unknown(name, key, [*plain, *fields.every]))
            values[key] = value
    if fields.name and (inside or known[fields.name].default is _EMPTY):
        _refuse_missing_fields(name, fields, inside)
        values[fields.name] = fields.make(**inside)
    return values


def _field_for(key: str, fields: _Fields, options: Mapping[str, Any]) -> str:
    """Find the field that is meant; a configuration without a class takes any."""
    if not fields.name or key in fields.every:
        return key if fields.name else ""
    if found := _known_as(key, fields.every):
        return found
    return key if fields.make is Settings and key not in options else ""


def _known_as(key: str, names: Sequence[str]) -> str:
    """Find the first name that means the same, such as `d_model` for `d_in`."""
    for one in _OPTIONS:
        alike = [one, *synonyms(one)]
        if key in alike:
            return next((name for name in names if name in alike), "")
    return ""


def _refuse_missing_fields(
    name: str, fields: _Fields, inside: Mapping[str, Any]
) -> None:
    missing = [one for one in fields.needed if one not in inside]
    if missing:
        raise CannotCheckError(
            f"{name} must be given {_listed(missing)} for its {fields.name}; got "
            f"{_listed([*inside]) or 'none of them'}. A function in the file that "
            "builds it will do as well: file.py:make."
        )


def _listed(keys: Sequence[str]) -> str:
    return ", ".join(map(option, keys))


def _unknown(name: str, key: str, names: Sequence[str]) -> str:
    near = difflib.get_close_matches(key, names, 1, 0.7)
    hint = f": did you mean {option(near[0])}?" if near else "."
    listed = _listed(names) or "no option"
    return f"{name} must be given {listed}; got {option(key)}{hint}"


def _makes_target(known: Parameters, values: Mapping[str, Any]) -> bool:
    """Ask whether a function is to be called for what is to be checked."""
    return next(iter(known), "") in values or not _needed(known)


def _needed(known: Parameters) -> list[str]:
    return [name for name, one in _plain(known) if one.default is one.empty]


def _call(
    name: str, make: Callable[..., Any], known: Parameters, values: Mapping[str, Any]
) -> Any:
    missing = [key for key in _needed(known) if key not in values]
    if missing:
        others = [key for key, _ in _plain(known) if key not in {*missing, *values}]
        also = f"; it also takes {_listed(others)}" if others else ""
        raise CannotCheckError(f"{name} must be given {_listed(missing)}{also}.")
    try:
        with limited():
            return make(**values)
    except (Exception, SystemExit) as raised:  # whatever a reader's code may raise
        raise CannotCheckError(
            f"{name} could not be built: {describe(raised)}{place(raised)}."
        ) from raised
