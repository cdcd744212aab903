"""Properties of which row sees which token."""

import re

import torch
from torch import Tensor

from headway.checks.attention.evidence import Evidence
from headway.checks.attention.evidence.batched_changes import (
    each_token_changed,
    influence,
    moved_rows,
)
from headway.checks.attention.evidence.influence import (
    faint_future,
    pattern_name,
    side_of_window,
    visible_tokens,
)
from headway.checks.attention.subject import Subject
from headway.checks.core.errors import theirs
from headway.checks.core.names import read_names
from headway.checks.core.outcome import (
    Cause,
    Outcome,
    failed,
    not_applicable,
    note,
    passed,
)
from headway.checks.core.signature import arguments
from headway.checks.core.tolerance import max_difference, same_order_tolerance

_CAUSAL = re.compile(r"(is_|use_)?causal(_mask)?|mask_future|future_mask")
_LARGE = 1e3
_DRAWS = 5  # of other tokens
_LONG = (9, 64)  # tokens; what differs there is a size that is fixed, or a branch
_REASONS = {
    "every token": Cause("no mask acts, or the result of hiding is dropped"),
    "itself and the future": Cause(
        "the triangle of the mask is flipped", "mask-flipped"
    ),
    "the future and not itself": Cause(
        "the mask is inverted: True means the opposite here", "mask-inverted"
    ),
    "the past, itself and the next token": Cause(
        "the triangle is shifted by one place", "mask-shows-next"
    ),
    "the past and not itself": Cause(
        "the triangle is shifted by one place", "mask-hides-itself"
    ),
    "the token before, itself and the future": Cause(
        "the triangle is flipped and shifted", "mask-flipped-and-shifted"
    ),
    "only itself": Cause("tokens never meet", "tokens-never-meet"),
}


def leak(evidence: Evidence) -> Outcome:
    """Change later tokens, softly and wildly, in eval and in training."""
    if not evidence.causal:
        return _behind_a_flag(evidence)
    if evidence.subject.T == 1:
        return not_applicable("A text of one token has no future.")
    subject = evidence.subject
    modes = {
        "in eval": _leak(evidence, subject),
        "in training": _leak(evidence, subject.in_training(dropout=0.0)),
    }
    if subject.has_dropout:
        dropping = subject.in_training(dropout=0.5)
        modes["in training with dropout"] = _leak(evidence, dropping)
    worst = max(modes, key=lambda mode: modes[mode])
    if not modes[worst]:
        return _leak_of_long_texts(evidence)
    where, found = "", _cause_of_leak(evidence)
    if not all(modes.values()):
        where = f" {worst}"
        if not modes["in eval"]:
            found = Cause(
                "In eval none does: the mask depends on the mode or on dropout.",
                "mask-hangs-on-mode",
            )
    random = not modes["in eval"] and not modes["in training"]  # by what was dropped
    return failed(
        f"A row moves{where} when a later token is changed. {found.sentence}".strip()
        + _declared(evidence),
        None if random else modes[worst],
        mistakes=found.mistakes,
    )


@torch.no_grad()
def _behind_a_flag(evidence: Evidence) -> Outcome:
    """Ask it with the argument that says that the future is hidden, if it has one.

    Beside a mask it may be a hint that does nothing alone, as in PyTorch's module.
    """
    subject, x = evidence.subject, evidence.x
    told = subject.options.causal is not None or subject.options.call is not None
    known = {} if told or subject.T == 1 else arguments(subject.target)
    flags = [
        name
        for name, one in known.items()
        if one.default is False and _CAUSAL.fullmatch(name)
    ]
    if not flags:
        return not_applicable("It is not meant to hide the future.")
    given = {flags[0]: True}

    def call(y: Tensor) -> Tensor:
        return subject(y, **given)

    try:
        limit = same_order_tolerance(call(x))
    except theirs():
        return not_applicable("It is not meant to hide the future.")
    moved = moved_rows(call, x, each_token_changed(x), together=evidence.together)
    seen = (moved > limit).any(dim=1).mT.cpu()
    if torch.equal(seen, torch.ones_like(seen).tril()):
        said = f"With {flags[0]}=True, no row moves when a later token is changed."
        return passed(said, 0)
    name = pattern_name(seen)
    if name == "every token" and evidence.masks.arguments:
        return not_applicable("It is not meant to hide the future.")
    cause = Cause(*_REASONS[name]) if name in _REASONS else Cause("")
    why = f": {cause.sentence}" if cause.sentence else ""
    return failed(
        f"With {flags[0]}=True, a row sees {name or 'what no triangle shows'}{why}.",
        mistakes=cause.mistakes,
    )


def _declared(evidence: Evidence) -> str:
    """Name what is declared of the future, if it is."""
    causal = evidence.subject.options.causal
    return "" if causal is None else f" Declared: causal={causal}."


@torch.no_grad()
def _leak_of_long_texts(evidence: Evidence) -> Outcome:
    """Change the last token of texts that are longer than the usual ones."""
    subject = evidence.subject
    limit = evidence.fresh.context_length or max(_LONG)
    for long in _LONG if not evidence.one_length else ():
        if not subject.T < long <= limit or evidence.wide:
            continue
        x = subject.tokens(1, long)
        changed = x.clone()
        changed[:, -1] = subject.tokens(1, 1, seed=1)[:, 0]
        try:
            one, other = subject(x), subject(changed)
        except theirs():  # a refusal, or whatever a reader's code may raise
            break
        if not (one.isfinite().all() and other.isfinite().all()):
            break  # which another property tells
        moved = max_difference(one[:, :-1], other[:, :-1])
        if moved > same_order_tolerance(one):
            return failed(
                f"In a text of {long} tokens a row moves when the last one is changed, "
                f"and in one of {subject.T} none does: long texts are not masked."
                + _declared(evidence),
                moved,
                mistakes=["long-texts-unmasked"],
            )
    return passed("No row moves when a later token is changed.", 0)


def _leak(evidence: Evidence, subject: Subject) -> float:
    """Give how far a row moves by what comes after it, at the scale where it does."""
    tokens = evidence.x[:1] if evidence.wide else evidence.x
    for before, after in ((1.0, 1.0), (1.0, _LARGE), (_LARGE, 1.0)):
        x, other = before * tokens, after * subject.tokens(seed=1)[: len(tokens)]
        moved = _moved(subject, x, other, together=evidence.together)
        if moved:
            return moved
    return 0.0


@torch.no_grad()
def _moved(subject: Subject, x: Tensor, other: Tensor, *, together: bool) -> float:
    """Give how far a row moves when all after it is exchanged; rounding is nothing."""
    places = range(1, subject.T)
    versions = [torch.cat([x[:, :s], other[:, s:]], dim=1) for s in places]
    moved = moved_rows(subject, x, versions, together=together)
    worst = max(float(rows[:, :s].max()) for s, rows in zip(places, moved, strict=True))
    return worst if worst > same_order_tolerance(subject(x)) else 0.0


def _cause_of_leak(evidence: Evidence) -> Cause:
    """Say why rows see the future."""
    name = pattern_name(evidence.visible)
    if name == "every token" and faint_future(evidence.influence):
        return Cause(
            "Later tokens count a little: hidden scores are not low enough, as with a "
            "fill of -10.",
            "mask-fills-too-high",
        )
    if name == "itself and the past":
        return Cause(
            "Large tokens get through, so hidden scores are not low enough.",
            "mask-fills-too-high",
        )
    if found := _cause_of_pattern(evidence):
        return found
    wrong = (evidence.visible & ~evidence.allowed).nonzero()
    if not len(wrong):
        return Cause("")
    t, s = (int(n) + 1 for n in wrong[0])
    return Cause(
        f"Row {t} sees token {s}: look at the axis of the softmax, and at how heads "
        "are split and merged."
    )


def _cause_of_pattern(evidence: Evidence) -> Cause | None:
    name = pattern_name(evidence.visible)
    if name not in _REASONS:
        return None
    reason, mistake = _REASONS[name]
    return Cause(f"A row sees {name}: {reason}.", mistake)


def past(evidence: Evidence) -> Outcome:
    """Ask that each token moves every row that may see it."""
    if evidence.subject.T == 1:
        return not_applicable("A text of one token sees only itself.")
    window = evidence.window
    if window and not bool(evidence.visible.triu(1).any()):
        if not evidence.subject.has_window:
            return note(
                f"A row sees the latest {window} tokens, as with a window, and no name "
                f"tells of one. Declare window={window} if it is meant so.",
                window,
            )
        return passed(f"A row sees the latest {window} tokens: a window.", window)
    side = side_of_window(evidence.visible)
    if side and evidence.subject.has_window and not evidence.causal:
        return note(
            f"A row sees {side} tokens on both sides: the window reaches into the "
            "future as well. Say causal=True if that is wrong."
        )
    unseen = evidence.allowed & ~evidence.visible
    count = int(unseen.sum())
    if not count:
        return passed("Every token moves every row that may see it.", 0)
    t, s = (int(n) + 1 for n in unseen.nonzero()[0])
    found = _cause_of_pattern(evidence)
    meets = pattern_name(evidence.visible) != "only itself"
    if meets and evidence.subject.call.of_image and not evidence.causal:
        return not_applicable(
            "Its tokens are pixels of an image, and a pixel need not see all others."
        )
    reason = f" {found.sentence}" if found else ""
    places = f"so in {count} of {int(evidence.allowed.sum())} places."
    if found is None and "topk" in read_names(evidence.subject.target):
        return note(
            f"Row {t} does not see token {s}; {places} It uses topk: if that chooses "
            "keys by their scores, it is meant to be so.",
            count,
        )
    if found is None and _is_chosen(evidence, unseen):
        return note(
            f"Row {t} does not see token {s}; {places} With other tokens it does: "
            "some weights are exactly zero, as where ReLU makes them.",
            count,
        )
    return failed(
        f"Row {t} does not see token {s}, which it may see; {places}"
        f"{reason}{_declared(evidence)}",
        count,
        mistakes=found.mistakes if found else (),
    )


@torch.no_grad()
def _is_chosen(evidence: Evidence, unseen: Tensor) -> bool:
    """Ask whether what a row sees depends on the tokens, so that all may be seen."""
    subject = evidence.subject
    for seed in range(1, _DRAWS):
        x = subject.tokens(seed=seed)
        moved = influence(subject, x, together=evidence.together)
        seen = visible_tokens(moved, same_order_tolerance(subject(x)))
        unseen = unseen & ~seen
        if not bool(unseen.any()):
            return True
    return False


def texts(evidence: Evidence) -> Outcome:
    """Ask that the texts of a batch do not move each other."""
    own_text = torch.eye(evidence.subject.B, dtype=torch.bool)[:, None, :, None]
    worst = float(evidence.influence.masked_fill(own_text, 0.0).max())
    if worst <= evidence.same_order_tolerance:
        return passed("No text moves another of its batch.", 0)
    within = evidence.influence.masked_fill(~own_text, 0.0)
    own_token = torch.eye(evidence.subject.T, dtype=torch.bool)[None, :, None, :]
    tokens_meet = (
        within.masked_fill(own_token, 0.0).max() > evidence.same_order_tolerance
    )
    if tokens_meet:
        return failed(
            "A change in one text moves another. A mean over the batch, a softmax over "
            "it, or a reshape mixes them.",
            worst,
        )
    return failed(
        "A change in one text moves another. Tokens see only those of the same place "
        "in other texts: the axes of texts and tokens are swapped (batch_first?). If "
        'tokens are meant to come first, declare layout="time first".',
        worst,
        mistakes=["texts-and-tokens-swapped"],
    )
