"""Why code cannot be called, and what to say instead, in one sentence."""

import re
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from headway.checks.attention.subject.calls import (
    has_weights,
    needed_arguments,
    takes_three,
    three_of,
)
from headway.checks.attention.subject.fill_arguments import is_known
from headway.checks.attention.subject.subject import Options
from headway.checks.core import intent
from headway.checks.core.cannot_check import CannotCheckError
from headway.checks.core.copies import duplicate
from headway.checks.core.errors import at_the_border, describe, frames, place, theirs
from headway.checks.core.limit import limited
from headway.checks.core.names import used_names
from headway.checks.core.signature import Target, arguments, parts

_ATTENTION = re.compile(r"attn|attention", re.IGNORECASE)


class Failure(NamedTuple):
    """A call that did not work.

    Attributes:
        text: The call.
        shape: The shape of the tokens; `None` if it came to no call.
        error: What it raised, or in words what was wrong.
    """

    text: str
    shape: tuple[int, ...] | None
    error: Exception | str

    @property
    def said(self) -> str:
        """The error, in one line."""
        return self.error if isinstance(self.error, str) else describe(self.error)

    def __str__(self) -> str:
        """Say what raised what."""
        return f"{self.text} raised {self.said}"


def name_of(target: Target) -> str:
    """Give the name of a module's class, or of a function without its wrappers."""
    code = next(parts(target))
    return getattr(code, "__name__", type(code).__name__)


def what_is_called(target: Any) -> Target:
    """Give the code itself, or the method `forward` of an object that has one.

    Raises:
        ValueError: If it is a class, or a value.
    """
    if callable(target) and not isinstance(target, type):
        return target
    if not isinstance(target, type) and callable(getattr(target, "forward", None)):
        return target.forward
    shown = " ".join(repr(target).split())
    if len(shown) >= 80:
        shown = f"a {type(target).__name__}"
    raise CannotCheckError(
        "module_or_function must be a function, or a module that is built; "
        f"got module_or_function={shown}."
    )


def explain(target: Target, options: Options, failures: Sequence[Failure]) -> str:
    """Say why code could not be called, and what to say to the check."""
    name = name_of(target)
    if sentence := _of_ids(target, name):
        return sentence
    if not failures:
        return (
            f"d_in must be given for {name}, such as d_in=12, or --d-in 12; "
            "got d_in=None."
        )
    failure = _farthest(failures)
    if options.call is None:
        for explained in (_of_copies, _of_numpy, _of_unknown, _of_forward):
            if sentence := explained(target, name, failure):
                return sentence
    example = "m(x, x, x)[0]" if isinstance(target, nn.Module) else "f(q, k, v)[0]"
    such = "" if options.call is not None else f', such as call="{example}"'
    return (
        f"call must say how {name} takes tokens of shape (texts, tokens, d_in){such}; "
        f"got call={options.call!r}, and {failure}."
    )


def _farthest(failures: Sequence[Failure]) -> Failure:
    """Choose the failure of the likeliest call that came farthest.

    With a wrong width the first layer raises, and tells nothing of the code. What
    returned something came to its end.
    """
    first = failures[0]
    alike = [
        one
        for one in failures
        if one.text == first.text and (one.shape or ())[:2] == (first.shape or ())[:2]
    ]
    return max(
        alike,
        key=lambda one: (
            str(one.error).startswith("it returned"),
            [frame.lineno or 0 for frame in frames(one.error)][:1],
        ),
    )


def _of_copies(target: Target, name: str, failure: Failure) -> str:
    if failure.shape is not None:
        return ""
    hint = ""
    if any(one.__module__.startswith("keras") for one in type(target).__mro__):
        hint = (
            ": Keras finds a class again if it is decorated with "
            "@keras.saving.register_keras_serializable()"
        )
    return (
        f"{name} must be copied to be checked; got {failure.said}{place(failure.error)}"
        f"{hint}."
    )


def _of_numpy(target: Target, name: str, failure: Failure) -> str:
    if not re.search(r"numpy|ndarray", failure.said) and not _uses_numpy(target):
        return ""
    shown = ["q", "k", "v"] if takes_three(target) else ["x"]
    arrays = ", ".join(f"{one}.numpy()" for one in shown)
    return (
        f"{name} must take PyTorch tensors and return one, but it is written for "
        f'NumPy; got {failure.said}. With call="torch.as_tensor(f({arrays}))", all is '
        "checked except gradients."
    )


def _uses_numpy(target: Target) -> bool:
    """Ask whether code names NumPy and not PyTorch."""
    code = next(parts(target))
    kind = code if hasattr(code, "__module__") else type(code)
    beside = vars(sys.modules.get(kind.__module__ or "", re))
    used = {
        getattr(beside.get(one), "__name__", "").partition(".")[0]
        for one in used_names(target)
    }
    return "numpy" in used and "torch" not in used


def _of_unknown(target: Target, name: str, failure: Failure) -> str:
    """Name the arguments that were filled in without knowing what they want."""
    needed = needed_arguments(target)
    three = three_of(arguments(target), guess=False)
    others = [one for one in needed if one not in (three or needed[:1])]
    if not others or all(map(_is_plain, others)):
        return ""
    shown = ["q", "k", "v"] if three and not has_weights(target) else ["x"]
    letter = "m" if isinstance(target, nn.Module) else "f"
    call = f"{letter}({', '.join([*shown, *(f'{one}=...' for one in others)])})"
    return (
        f"call must say what {name} gets for {', '.join(others)}, such as "
        f'call="{call}"; got call=None, and {failure}{place(failure.error)}.'
    )


def _is_plain(name: str) -> bool:
    """Ask whether what is filled in for an argument is hardly ever the fault."""
    return is_known(name) and not re.search(r"cos|sin|freq|rope|rot|cache|past", name)


def _of_forward(target: Target, name: str, failure: Failure) -> str:
    """Say where code raised that was called as its arguments ask for."""
    where = place(failure.error)
    if not where or failure.shape is None or not needed_arguments(target):
        return ""
    image = ""
    if isinstance(target, nn.Module) and any(map(_is_of_images, target.modules())):
        image = (
            ', such as call="m(x.mT.unflatten(2, (-1, 3))).flatten(2).mT" for images'
        )
    return (
        f"{name} must take tokens of shape {failure.shape}, called as {failure.text}; "
        f"got {failure.said}{where}. If it takes another width, say d_in; if it wants "
        f"another call, say call{image}."
    )


def _is_of_images(part: nn.Module) -> bool:
    return isinstance(part, nn.Conv2d)


def _of_ids(target: Target, name: str) -> str:
    """Say how to check a model that takes token ids, or its attention alone."""
    if not isinstance(target, nn.Module):
        return ""
    tables = [part for part in target.modules() if isinstance(part, nn.Embedding)]
    if not tables or not _takes_ids(target, min(t.num_embeddings for t in tables)):
        return ""
    vocabulary = max(table.num_embeddings for table in tables)
    sentence = (
        f"{name} must take tokens of shape (texts, tokens, d_in), and it takes token "
        f"ids: check all of it by check_model(model, vocab_size={vocabulary}), or by "
        f"headway check file.py:{name} --vocab {vocabulary}"
    )
    for path, part in target.named_modules():
        own = f"{path.rpartition('.')[2]} {type(part).__name__}"
        if path and _ATTENTION.search(own):
            inside = re.sub(r"\.(\d+)", r"[\1]", f"m.{path}")
            width = next(iter(intent.widths(part)), tables[0].embedding_dim)
            call = f'call="{inside}(x)", d_in={width}'
            return f"{sentence}; or its attention alone by {call}."
    return f"{sentence}."


@at_the_border
def _takes_ids(target: nn.Module, vocabulary: int) -> bool:
    """Call a copy with token ids."""
    ids = (torch.arange(10) % vocabulary).reshape(2, 5)
    try:
        with torch.no_grad():
            copied = duplicate(target, torch.float32)
            with limited():
                result = copied(ids)
    except theirs():
        return False
    parts = result.values() if isinstance(result, dict) else result
    several = isinstance(parts, (list, tuple)) or isinstance(result, dict)
    return any(isinstance(one, Tensor) for one in (parts if several else [result]))
