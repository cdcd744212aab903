"""What a model that writes one text does with the other, which it reads."""

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor

from headway.checks.core.errors import suppress_theirs, theirs
from headway.checks.core.signature import SAYS_WHAT_IS_SEEN, arguments
from headway.checks.core.tolerance import max_difference, same_order_tolerance
from headway.checks.model.logits_tolerance import logits_tolerance
from headway.checks.model.model_calls import of_expression
from headway.checks.model.model_subject import ModelSubject
from headway.checks.model.source_and_target import SOURCES, is_of_target

Effect = Literal["obeyed", "nothing", "seen"]
_S, _REAL = 7, 5  # tokens of a source, and how many of them are no padding
_PLACE = re.compile(
    r"^(src|source|enc(oder)?)_?pad(ding)?(_?token)?(_?(id|idx|index))?$"
)
_LENGTHS = re.compile(r"^(src|source|enc(oder)?|input)_?(seq_?)?len(gth)?s?$")
# How a mask is made of which tokens are real, (B, S).
_FORMS: tuple[Callable[[Tensor], Tensor], ...] = (
    lambda real: real.long(),
    lambda real: real,
    lambda real: ~real,
    lambda real: real[:, None],
    lambda real: ~real[:, None],
    lambda real: real[:, None, None],
    lambda real: ~real[:, None, None],
    lambda real: _added(real),
    lambda real: _added(real)[:, None],
    lambda real: _added(real)[:, None, None],
)


def _added(real: Tensor) -> Tensor:
    dtype = torch.get_default_dtype()
    lowest = torch.finfo(dtype).min
    return (
        torch.zeros(real.shape, dtype=dtype).to(real.device).masked_fill(~real, lowest)
    )


@dataclass(frozen=True)
class SourceCall:
    """A call with a source that is chosen, and with masks of it.

    Attributes:
        subject: The model; `source` and `source_mask` are further arguments.
        masks: The names of the arguments that get the mask.
        padding: The id that the model itself takes for padding of the source, by the
            name of its attribute.
    """

    subject: ModelSubject
    masks: tuple[str, ...]
    padding: Mapping[str, int]

    def __call__(self, ids: Tensor, source: Tensor, mask: Tensor | None) -> Tensor:
        """Give logits for ids, beside a source, (B, S)."""
        given = source.mT.contiguous() if self.subject.call.time_first else source
        return self.subject(ids, source=given, source_mask=mask)


def source_call(subject: ModelSubject) -> SourceCall | None:
    """Let the source of a call be chosen; `None` if the call has none.

    Args:
        subject: The model, whose call is written out with a source.
    """
    text = subject.call.text.replace("ids.mT", "ids")
    place = next((one for one in SOURCES if one in text), None)
    if place is None:
        return None
    tree = ast.parse(text.replace(place, "source"), mode="eval")
    called = tree.body
    if not isinstance(called, ast.Call):
        return None
    masks = _masks_of_source(subject)
    kept = [one for one in called.keywords if one.arg not in masks]
    named = [ast.keyword(one, ast.Name("source_mask")) for one in masks]
    called.keywords = kept + named
    call = replace(of_expression(ast.unparse(tree)), time_first=subject.call.time_first)
    values = vars(subject.module) if subject.module is not None else {}
    padding = {
        name: one
        for name, one in values.items()
        if _PLACE.search(name) and type(one) is int and one >= 0
    }
    return SourceCall(replace(subject, call=call), masks, padding)


def _masks_of_source(subject: ModelSubject) -> tuple[str, ...]:
    """Name the masks of the source: those of padding if a name says so, or lengths."""
    names = [
        name
        for name in arguments(subject.target)
        if ("mask" in name or SAYS_WHAT_IS_SEEN.search(name))
        and "head" not in name
        and not is_of_target(name)
    ]
    named = [one for one in names if "pad" in one] or names
    lengths = filter(_LENGTHS.search, arguments(subject.target))
    return tuple(named or lengths)


def is_read(asked: SourceCall, ids: Tensor) -> bool:
    """Ask whether logits move with the source."""
    source = _source(asked, ids)
    with suppress_theirs():  # it may take sources of one length alone
        before = _unmasked(asked, ids, source)
        after = _unmasked(asked, ids, asked.subject.other(source))
        return max_difference(before, after) > same_order_tolerance(before)
    return True


def effect_of_mask(asked: SourceCall, ids: Tensor) -> Effect | None:
    """Hide the last tokens of the source; say what that does.

    It is obeyed if the others get what they get without the last ones. What is not
    obeyed counts if a mask that hides nothing does nothing, and may be left out.

    Returns:
        `None` if no form is known that the model takes.
    """
    source, effects = _source(asked, ids), []
    real = torch.ones_like(source, dtype=torch.bool)
    padded = real.clone()
    padded[:, _REAL:] = False
    lengths = bool(asked.masks) and _LENGTHS.search(asked.masks[0]) is not None
    forms = (lambda real: real.sum(dim=-1),) if lengths else _FORMS
    for form in forms if asked.masks else ():
        try:
            hidden = asked(ids, source, form(padded))
            short = asked(ids, source[:, :_REAL], form(real[:, :_REAL]))
            near = logits_tolerance(short)
            if max_difference(hidden, short) <= near:
                return "obeyed"
            plain = asked(ids, source, None)
            if not max_difference(asked(ids, source, form(real)), plain) <= near:
                continue
        except theirs():  # it takes no such mask, or needs one
            continue
        effects.append("nothing" if max_difference(hidden, plain) <= near else "seen")
    if not effects:
        return None
    return "seen" if "seen" in effects else "nothing"


def moved_by_padding(asked: SourceCall, ids: Tensor) -> str:
    """Pad a source with the id that the model names: name it if that moves logits."""
    for name, value in asked.padding.items():
        source = _source(asked, ids)
        source[:, _REAL:] = value
        with suppress_theirs():
            padded = _unmasked(asked, ids, source)
            short = _unmasked(asked, ids, source[:, :_REAL])
            if max_difference(padded, short) > logits_tolerance(short):
                return f"{name}={value}"
    return ""


def _source(asked: SourceCall, ids: Tensor) -> Tensor:
    source = asked.subject.ids(len(ids), _S, seed=6)
    used = torch.tensor([*asked.padding.values()], device=source.device)
    return torch.where(torch.isin(source, used), asked.subject.other(source), source)


def _unmasked(asked: SourceCall, ids: Tensor, source: Tensor) -> Tensor:
    """Call without a mask of the source, or with the first that hides nothing."""
    real = torch.ones_like(source, dtype=torch.bool)
    first: Exception | None = None
    for mask in (None, *(form(real) for form in _FORMS)):
        try:
            return asked(ids, source, mask)
        except theirs() as raised:
            first = first or raised
    assert first is not None  # noqa: S101  # each form raised
    raise first
