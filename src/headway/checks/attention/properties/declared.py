"""The property of declared facts: none of them is measurably false."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from headway.checks.attention.evidence import Evidence, redesigned
from headway.checks.attention.evidence.design import Design
from headway.checks.attention.evidence.influence import window_size
from headway.checks.attention.evidence.masks import find_masks
from headway.checks.attention.oracle import fits
from headway.checks.attention.subject import Subject
from headway.checks.core.errors import suppress_theirs
from headway.checks.core.outcome import Outcome, failed, not_applicable, passed
from headway.checks.core.tolerance import (
    max_difference,
    same_order_tolerance,
    tolerance,
)

_LONG = 64  # tokens, the longest text in which a window is measured
_EQUATION = "equation"
# What fails of itself where texts, tokens and heads are not where they are looked for.
_OF_LAYOUTS = (
    _EQUATION,
    "leak",
    "past",
    "equal-tokens",
    "order",
    "batch",
    "other-keys",
    "alone",
    "earlier-rows",
    "cache",
    "context-length",
    "sizes",
    "masks",
    "padding",
)


def hold(evidence: Evidence) -> Outcome:
    """Ask of each declared fact that no other property asks whether it is so."""
    options = evidence.subject.options
    held, explained = [], set()
    false: list[str] = []
    for name, (ask, explains) in _ASKED.items():
        value = getattr(options, name)
        if value is None:
            continue
        seen = ask(evidence, value)
        if seen:
            false.append(f"{name}={value!r} is declared, but {seen}.")
            explained |= {*explains}
        elif seen is not None:
            held.append(name)
    if false:
        return failed(" ".join(false), explains=explained)
    if not held:
        return not_applicable("Nothing is declared that this could check.")
    return passed(f"It behaves as declared for its {', '.join(held)}.", len(held))


def _layout(evidence: Evidence, layout: str) -> str | None:
    """Ask whether tokens meet, and if not, whether they do with two axes swapped."""
    subject = evidence.subject
    if subject.refused:
        return f"no such call works; {subject.call.shown} does"
    if evidence.subject.T < 2 or _meet(evidence.visible):
        return ""
    with suppress_theirs():
        if _tokens_meet(replace(subject, call=subject.call.turned()), evidence.x):
            return "tokens of a text do not meet; with two axes swapped they do"
    return None


def _meet(visible: Tensor) -> bool:
    others = ~torch.eye(len(visible), dtype=torch.bool, device=visible.device)
    return bool((visible & others).any())


@torch.no_grad()
def _tokens_meet(subject: Subject, x: Tensor) -> bool:
    """Ask whether the first token of the first text moves its last row, alone."""
    changed = x.clone()
    changed[0, 0] += 1.0
    one = subject(x)
    moved = (subject(changed) - one).abs().amax(dim=-1) > same_order_tolerance(one)
    return bool(moved[0, 1:].any()) and not bool(moved[1:].any())


@torch.no_grad()
def _window(evidence: Evidence, window: int | str) -> str | None:
    """Ask whether the last key of a window counts, and the one before it does not."""
    if isinstance(window, str):
        found = window_size(evidence.visible)
        return f"a row sees the latest {found} keys" if found else ""
    subject, T = evidence.subject, window + 1
    too_long = min(subject.context_length or _LONG, _LONG) < T
    if too_long or evidence.one_length:
        return None
    x = subject.tokens(1, T)
    changed = x.clone()
    changed[:, 0] = subject.tokens(1, 1, seed=1)[:, 0]
    rows = subject(x)
    far = (subject(changed) - rows).abs().amax(dim=(0, 2))
    moved = far > same_order_tolerance(rows)
    if bool(moved[window]):
        return f"the key {window} back from a query counts"
    if not bool(moved[window - 1]):
        return f"the key {window - 1} back from a query does not count"
    return ""


def _masks(evidence: Evidence, declared: Any) -> str | None:
    """Compare what True means with what was declared."""
    subject, masks = evidence.subject, evidence.masks
    if isinstance(declared, str):
        guessing = replace(subject, options=replace(subject.options, masks=None))
        with torch.no_grad():
            masks = find_masks(guessing, evidence.visible, together=evidence.together)
        taken = [f"{name} is one: {one}" for name, one in masks.meanings.items()]
        return taken[0] if taken else ""
    for name, told in declared.items():
        if name in masks.refused:
            return f"no form of {name} is taken: the first raised {masks.refused[name]}"
        seen = masks.meanings.get(name, told)
        if seen != told:
            return f"in {name} it is otherwise: {seen}"
    return None if masks.disobeyed else ""


@torch.no_grad()
def _positions(evidence: Evidence, positions: str) -> str | None:
    """Ask of positions that are added to tokens whether equal ones are told apart."""
    if positions == "absolute" and evidence.places.felt and not evidence.one_length:
        x = evidence.x[:, :1].expand(-1, evidence.subject.T, -1).contiguous()
        rows = evidence.subject(x)
        apart = max_difference(rows, rows[:, :1].expand_as(rows))
        if apart <= tolerance(rows):
            return "equal tokens get equal rows, so they act on scores alone"
    return _design("positions")(evidence, positions)


def _groups(evidence: Evidence, groups: int) -> str | None:
    """Compare with the shapes of the weights, if these are known."""
    found = {
        one.key.shape[0] * one.heads // one.query.shape[0]
        for one in evidence.weights.candidates
        if one.certain
    }
    if len(found) == 1 and groups not in found:
        return f"its weights have {found.pop()} heads of keys"
    return _design("groups")(evidence, groups)


Ask = Callable[[Evidence, Any], str | None]


def _design(name: str) -> Ask:
    """Ask whether the equation fits with a fact, or with what is guessed without it."""

    def ask(evidence: Evidence, value: Any) -> str | None:
        kept = tuple(one for one in evidence.designs if _KEEPS[name](one, value))
        if not kept or not evidence.weights.candidates or evidence.repeats.random:
            return None
        if fits(replace(evidence, designs=kept)):
            return ""
        options = replace(evidence.subject.options, **{name: None})
        if fits(redesigned(evidence, options)):
            return "the equation fits without that, and not with it"
        return None

    return ask


def _keeps_positions(design: Design, told: str) -> bool:
    if told == "rotary":
        return design.rotation is not None
    if told == "bias":
        return design.bias is not None
    return design.rotation is None and design.bias is None


# Whether a design is one that has what is declared.
_KEEPS: dict[str, Callable[[Design, Any], bool]] = {
    "scale": lambda design, told: design.scale == told,
    "normalize": lambda design, told: design.normalize == told,
    "rotary_base": lambda design, told: design.rotation is not None,
    "softcap": lambda design, told: (design.softcap or "none") == told,
    "sinks": lambda design, told: (design.sinks is None) == (told == "none"),
    "norms": lambda design, told: (
        design.query_norm is None
        if told == "none"
        else design.query_norm is not None and f"after {design.norms_after}" == told
    ),
    "positions": _keeps_positions,
    "groups": lambda design, told: True,
}
_OF_DESIGNS = (_EQUATION,)
# In the order of the report; of the future and of caches, other properties ask.
_ASKED: dict[str, tuple[Ask, tuple[str, ...]]] = {
    "layout": (_layout, _OF_LAYOUTS),
    "window": (_window, (_EQUATION, "past")),
    "positions": (_positions, _OF_DESIGNS),
    "masks": (_masks, ()),
    "groups": (_groups, _OF_DESIGNS),
    **{
        name: (_design(name), _OF_DESIGNS)
        for name in ("scale", "normalize", "rotary_base", "softcap", "sinks", "norms")
    },
}
