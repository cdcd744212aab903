"""Masks of the other tokens that queries ask."""

import re

import torch
from torch import Tensor

from headway.checks.attention.evidence import Evidence
from headway.checks.attention.evidence.batched_changes import (
    each_token_changed,
    moved_rows,
)
from headway.checks.attention.evidence.masks import (
    Mask,
    example_table,
    forms_of,
    may_be_masks,
)
from headway.checks.attention.subject.cross_calls import (
    as_cross_attention,
    written_call,
)
from headway.checks.core.errors import theirs
from headway.checks.core.outcome import Outcome, failed, unexplained
from headway.checks.core.signature import arguments
from headway.checks.core.tolerance import max_difference, same_order_tolerance

# Where one argument is for the other tokens, the rest are for those of the queries.
_OF_OTHERS = re.compile(
    r"context|memory|^enc|encod|cross|cond|source|^src|(^|_)kv(_|$)|key_?value|other",
    re.IGNORECASE,
)


def masks_of_others(evidence: Evidence, y: Tensor) -> Outcome | None:
    """Ask that a mask that is taken with other tokens hides those that it says.

    Args:
        evidence: What calls showed.
        y: The other tokens, (B, S, d_in).
    """
    found = {name: _effects(evidence, name, y) for name in _names(evidence)}
    for name, effects in found.items():
        if name.endswith("key_padding_mask") and {*effects} == {"nothing"}:
            return _wrong(evidence, name, effects)
    if any("obeyed" in effects for effects in found.values()):
        return None  # another one may be for what else is handed over
    judged = (_wrong(evidence, name, effects) for name, effects in found.items())
    return next((wrong for wrong in judged if wrong), None)


def _effects(evidence: Evidence, name: str, y: Tensor) -> list[str]:
    """Try the forms of a mask, till one is obeyed."""
    effects: list[str] = []
    for form in forms_of(name, None):
        try:
            effects.append(_effect(evidence, form, y))
        except theirs():  # it takes no such mask
            continue
        if effects[-1] == "obeyed":
            break
    return effects


def _names(evidence: Evidence) -> list[str]:
    """List the arguments that may be masks of the other tokens."""
    subject = evidence.subject
    if written_call(subject) is not None or subject.options.masks is not None:
        return []
    every = may_be_masks(arguments(subject.target))
    of_others = [name for name in every if _OF_OTHERS.search(name)]
    return of_others or every


def _effect(evidence: Evidence, form: Mask, y: Tensor) -> str:
    """Say in a word what a form of mask does to what queries see of other tokens."""
    subject, x = evidence.subject, evidence.x
    (T, S), device = (x.shape[1], y.shape[1]), x.device
    table = example_table(form, 1, max(T, S))[:, :T, :S]
    if not form.hides_keys:  # the diagonal of a text is no place of another
        t, s = torch.arange(T)[:, None], torch.arange(S)
        table = ((t + 2 * s) % 3 != 1)[None]

    def call(others: Tensor) -> Tensor:
        ask = as_cross_attention(subject, others)
        assert ask is not None  # noqa: S101  # it was called before
        given = form(table.expand(len(others), -1, -1).clone().to(device), x.dtype)
        return ask(x.repeat(len(others) // len(x), 1, 1), **given)

    rows, plain = call(y), as_cross_attention(subject, y)
    assert plain is not None  # noqa: S101  # it was called before
    limit = same_order_tolerance(rows)
    if max_difference(rows, plain(x), equal_nan=True) <= limit:
        return "nothing"
    moved = moved_rows(call, y, each_token_changed(y), together=evidence.together)
    seen = (moved > limit).any(dim=1).mT.cpu()
    shown = table[0].expand_as(seen)
    meanings = [shown] if form.type == "float" else [shown, ~shown]
    return "obeyed" if any(torch.equal(seen, one) for one in meanings) else "unknown"


def _wrong(evidence: Evidence, name: str, effects: list[str]) -> Outcome | None:
    """Judge a mask by what all of its forms do."""
    if not effects:
        return None
    if {*effects} == {"nothing"}:
        return failed(
            f"With other tokens for keys and values, {name} changes nothing.",
            mistakes=["mask-ignored"],
        )
    if name in evidence.masks.meanings or _OF_OTHERS.search(name):
        return unexplained(
            f"With other tokens for keys and values, {name} acts, and queries see what "
            "no meaning of True explains."
        )
    return None
