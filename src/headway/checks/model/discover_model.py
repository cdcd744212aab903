"""Make a subject of the model that a reader hands over."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

import torch
from torch import Tensor, nn

from headway.checks.core import intent
from headway.checks.core.cannot_check import CannotCheckError
from headway.checks.core.copies import refuse_empty, uncompiled
from headway.checks.core.errors import describe, theirs
from headway.checks.core.names import numbers_by_default
from headway.checks.core.progress import tell
from headway.checks.core.signature import Target, arguments
from headway.checks.core.tolerance import largest, max_difference
from headway.checks.model.memory import told_of_memory, types_that_fit
from headway.checks.model.model_calls import LastOnlyError, ModelCall, possible_calls
from headway.checks.model.model_subject import (
    ModelOptions,
    ModelSubject,
    config_value,
    positions_behind_padding,
    table_with_padding,
)
from headway.checks.model.source_and_target import takes_a_source
from headway.checks.model.visible_weights import copy_as, make_visible

_CONTEXT = (
    "max_position_embeddings n_positions n_ctx context_length block_size max_seq_len "
    "max_seq_length max_sequence_length sequence_len seq_len"
)
_OF_BOTH_SIDES = re.compile(
    r"MaskedLM|MLM|XLNet|bert(?!.*(LMHead|causal|decod|gen))", re.IGNORECASE
)
_POSITIONS = re.compile(r"^w?pos(ition(al)?)?(_?(emb|enc)|$)|^wpe$", re.IGNORECASE)
_PADDING = re.compile(r"(^|_)pad(ding)?_?(token_?)?(id|idx|index)$", re.IGNORECASE)
_LAYOUTS = ("batch first", "time first")
_LENGTHS = (11, 7, 5, 3, 2)
_APART = 0.05  # of the largest logit; rounding in 32 bits is a thousandth of that


def discover_model(target: Target, options: ModelOptions) -> ModelSubject:
    """Copy the model, and find out how it is called.

    Raises:
        ValueError: If it cannot be called in any way that is known.
    """
    _refuse(target, options)
    target = uncompiled(target)
    name = getattr(target, "__name__", type(target).__name__)
    refuse_empty(target, name)
    vocab_size = _vocabulary(target, name, options)
    errors: list[str] = []
    sees_all: ModelSubject | None = None
    for dtype in types_that_fit(target, name, options.memory):
        if told := told_of_memory(target, dtype):
            tell(f"which takes {told}")
        try:
            copied = copy_as(target, dtype)
        except theirs() as raised:
            errors.append(f"copying it raised {describe(raised)}")
            continue
        if isinstance(copied, nn.Module):
            copied.eval()
            make_visible(copied)
        for subject in _candidate_subjects(copied, name, vocab_size, dtype, options):
            working = _with_working_length(subject)
            if isinstance(working, ModelSubject) and _as_in_32_bits(working):
                if not (working.call.must_hide and _sees_the_last(working)):
                    return working
                sees_all = sees_all or working
                continue
            if isinstance(working, ModelSubject):
                errors.append(f"{subject.call.text} gave other logits in 64 bits")
                continue
            errors.append(f"{subject.call.text} raised {working}")
    if sees_all is not None:
        return sees_all
    raise CannotCheckError(
        f"call must say how {name} takes ids of shape (texts, tokens) and gives logits "
        'for each token, such as call="m(ids)[0]"; got '
        f"call={options.call!r}, and {errors[0]}."
    )


def _refuse(target: object, options: ModelOptions) -> None:
    if not callable(target) or isinstance(target, type):
        shown = " ".join(repr(target).split())[:80]
        raise CannotCheckError(
            f"model must be a function, or a module that is built; got model={shown}."
        )
    for name in ("vocab_size", "context_length"):
        value = getattr(options, name)
        if value is not None and (not isinstance(value, int) or value < 2):
            raise CannotCheckError(
                f"{name} must be a whole number of at least 2; got {name}={value!r}."
            )
    if options.layout not in (None, *_LAYOUTS):
        raise CannotCheckError(
            f"layout must be {' or '.join(_LAYOUTS)} for a whole model; "
            f"got layout={options.layout!r}."
        )
    if isinstance(options.masks, Mapping) and len(options.masks) != 1:
        raise CannotCheckError(
            "masks must have one argument for a whole model; "
            f"got masks={dict(options.masks)!r}."
        )


def _vocabulary(target: Target, name: str, options: ModelOptions) -> int:
    """Give the size of the vocabulary, as given or found."""
    declared = options.vocab_size
    rows = _rows(target)
    if declared is not None:
        if rows and declared > max(rows):
            raise CannotCheckError(
                f"vocab_size must be at most {max(rows)}, the rows of the embedding of "
                f"{name}; got vocab_size={declared}."
            )
        return declared
    has_decoder = "decoder_input_ids" in arguments(target)
    if takes_a_source(target) or has_decoder:  # which may have a vocabulary of its own
        rows.sort()
    guess = config_value(target, "vocab_size") or next(iter(rows), None)
    if not isinstance(guess, int) or guess < 2:
        raise CannotCheckError(
            f"vocab_size must be given for {name}, such as vocab_size=50257, or by "
            "--vocab 50257; got vocab_size=None."
        )
    return guess


def _rows(target: Target) -> list[int]:
    """List how many rows each table of embeddings has, those of other classes too."""
    parts = target.modules() if isinstance(target, nn.Module) else ()
    tables = [
        getattr(part, "weight", None)
        for part in parts
        if isinstance(part, nn.Embedding) or type(part).__name__ == "Embedding"
    ]
    return [len(one) for one in tables if isinstance(one, Tensor) and one.ndim == 2]


def _candidate_subjects(
    target: Target,
    name: str,
    vocab_size: int,
    dtype: torch.dtype,
    options: ModelOptions,
) -> Iterator[ModelSubject]:
    """Give a subject for each call that may be right, the likeliest first."""
    mask = options.mask
    if mask is None and isinstance(options.masks, Mapping):
        mask = next(iter(options.masks))
    said = {"mask": mask, "positions": options.positions}
    told = {role: one for role, one in said.items() if one is not None}
    causal = options.causal
    if causal is None:
        both = _OF_BOTH_SIDES.search(name) and intent.is_causal(target) is not True
        causal = not both
    context = options.context_length or _context(target)
    device = torch.device("cpu")
    if isinstance(target, nn.Module):
        device = next((one.device for one in target.parameters()), device)
    padding = _ids_of_padding(target)
    for call in possible_calls(target, options.call, told):
        if options.layout == "time first":
            call = _turned(call)
        yield ModelSubject(
            name,
            target,
            call,
            vocab_size,
            causal,
            dtype,
            device,
            options,
            context,
            padding=padding,
        )


def _ids_of_padding(target: Target) -> tuple[int, ...]:
    """List the ids that a model keeps for padding, or that its methods take for it."""
    held = vars(target) if isinstance(target, nn.Module) else {}
    told = {**held, **numbers_by_default(target)}
    found = [one for name, one in told.items() if _PADDING.search(name)]
    return tuple(one for one in found if type(one) is int and one >= 0)


def _context(target: Target) -> int | None:
    table = table_with_padding(target)
    if table is not None and (behind := positions_behind_padding(table)) > 1:
        return behind
    rows = _rows_of_positions(target)
    for name in _CONTEXT.split():
        value = config_value(target, name)
        if isinstance(value, int) and value > 1:
            return min(value, rows or value)
    return intent.context_length(target) or rows


def _rows_of_positions(target: Target) -> int | None:
    """Give how many positions a table of embeddings has, if one has such a name."""
    parts = target.named_modules() if isinstance(target, nn.Module) else ()
    rows = [
        part.num_embeddings
        for path, part in parts
        if isinstance(part, nn.Embedding) and _POSITIONS.search(path.rpartition(".")[2])
    ]
    return min(rows, default=None)


def _with_working_length(subject: ModelSubject) -> ModelSubject | str:
    """Give the subject a length that it takes, or the first error if it takes none."""
    tried = subject.copy()
    longest = subject.context_length or _LENGTHS[0]
    errors = []
    for T in [one for one in _LENGTHS if one <= longest]:
        try:
            tried(subject.ids(T=T))
        except LastOnlyError as raised:
            return describe(raised)
        except theirs() as raised:
            errors.append(describe(raised))
            continue
        return _with_axes_in_order(replace(subject, T=T))
    return errors[0]


def _as_in_32_bits(subject: ModelSubject) -> bool:
    """Ask whether a model computes in 64 bits what it computes in 32, up to rounding.

    Where a mask is made in 32 bits, a kernel may misread it beside numbers of 64.
    """
    if subject.dtype != torch.float64:
        return True
    ids = subject.ids()
    logits = subject.copy()(ids)
    try:
        narrow = subject.copy(torch.float32)
        rows, again = narrow(ids), narrow.copy()(ids)
    except theirs():
        return True
    random = max_difference(rows, again, equal_nan=True) > 0
    off = max_difference(rows, logits, equal_nan=True)
    return random or not off > _APART * largest(rows)


def _sees_the_last(subject: ModelSubject) -> bool:
    """Ask whether logits of earlier tokens move with the last one."""
    tried = subject.copy()
    ids = tried.ids()
    before, changed = tried(ids), ids.clone()
    changed[:, -1] = tried.other(ids[:, -1:])[:, 0]
    return bool((tried(changed) != before)[:, :-1].any())


def _with_axes_in_order(subject: ModelSubject) -> ModelSubject:
    """Find out which axis is the text: only in it do tokens see each other."""
    tried = subject.copy()
    ids = tried.ids()
    before, changed = tried(ids), ids.clone()
    changed[0, :-1] = tried.other(ids[0, :-1])
    moved = (tried(changed) != before).any(dim=-1)
    swapped = bool(moved[1:].any()) and not moved[0, -1]
    if subject.options.layout is not None:
        return replace(subject, swapped=swapped)
    return replace(subject, call=_turned(subject.call)) if swapped else subject


def _turned(call: ModelCall) -> ModelCall:
    return replace(call, text=call.text.replace("ids", "ids.mT"), time_first=True)
