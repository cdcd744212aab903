"""Properties of how a row mixes what it sees."""

import re
from collections.abc import Callable, Iterator

import torch
from torch import nn

from headway.checks.attention.evidence import Evidence
from headway.checks.attention.evidence.influence import side_of_window
from headway.checks.attention.evidence.positions import order_matters
from headway.checks.attention.evidence.tables import computes_angles
from headway.checks.attention.subject import Subject
from headway.checks.core.errors import at_the_border, theirs
from headway.checks.core.names import used_names
from headway.checks.core.outcome import Outcome, failed, not_applicable, passed
from headway.checks.core.tolerance import max_difference

_DECAY = re.compile(
    r"decay|retention|forget|logsigmoid|^i?r?fft$|(time|token)_?shift"
    r"|(associative|parallel|selective)_?scan",
    re.IGNORECASE,
)
_KEYS = re.compile(r"(^|[._])(mem(ory)?|null|register|prefix|persistent)(_|\.|$)")
_LONGER = (64, 256, 1024)  # tokens
_RESTS = 0.85  # of a change, where texts were a quarter as long
_TOO_FEW = "selected index k out of range"  # topk says it; another property tells it


def order(evidence: Evidence) -> Outcome:
    """Ask that the order of what a row sees matters only if positions are inside."""
    places, told = evidence.places, evidence.subject.options.positions
    if not places.felt:
        if told not in (None, "none") and evidence.subject.T > 2:
            return failed(
                "The order of the tokens that a row sees does not matter: positions "
                "are never used, or do not reach the keys. Declared: "
                f"positions={told!r}.",
                places.order,
            )
        if places.kept and evidence.subject.T > 2:
            return failed(
                f"It has {places.kept}, but the order of the tokens that a row sees "
                "does not matter: positions are never used, or do not reach the keys.",
                places.order,
            )
        if (
            places.named
            and evidence.subject.T > 2
            and computes_angles(evidence.subject)
        ):
            return failed(
                "It computes cosines and sines, as for positions, but the order of the "
                "tokens that a row sees does not matter: positions never reach the "
                "keys, as where all of them are turned by one angle.",
                places.order,
            )
        return passed(
            "The order of the tokens that a row sees does not matter.", places.order
        )
    sides = side_of_window(evidence.visible) is not None and not evidence.causal
    if evidence.positions or evidence.window or sides:
        return not_applicable("Positions are inside, so the order matters.")
    if decay := _decay(evidence):
        return not_applicable(f"It has {decay}, so the order matters.")
    if layer := evidence.weights.layer:
        return not_applicable(f"It has several layers, and this holds of one: {layer}.")
    if evidence.subject.call.of_image and not bool(evidence.visible.all()):
        return not_applicable("Its tokens are pixels, of which each sees some places.")
    if reason := _excused(evidence, _order_matters):
        return not_applicable(reason)
    return failed(
        "The order of the tokens that a row sees matters, but no positions are inside: "
        "look at how heads are split and merged. "
        + (
            "Declared: positions='none'."
            if told
            else "If positions are meant, let a name say so."
        ),
        places.order,
    )


def equal_tokens(evidence: Evidence) -> Outcome:
    """Ask that equal tokens get equal rows, however many there are."""
    if evidence.one_length:
        return not_applicable("It takes texts of one length only.")
    worst = _depends_on_number(evidence, evidence.subject)
    if worst <= evidence.tolerance:
        return passed("Equal tokens get equal rows, however many there are.", worst)
    if evidence.positions and not evidence.places.on_scores:
        return not_applicable("Positions are inside, so equal tokens are told apart.")
    meant = evidence.designs[0]
    if meant.sinks is not None or meant.normalize != "softmax":
        return not_applicable("The weights of a row are not meant to sum to one.")
    module = evidence.subject.module
    stored = [name for name, _ in module.named_parameters()] if module else []
    keys = [name for name in stored if _KEYS.search(name)]
    if keys:
        return not_applicable(f"It has keys of its own beside the text: {keys[0]}.")
    if decay := _decay(evidence):
        return not_applicable(f"It has {decay}, so weights need not sum to one.")
    if reason := _excused(evidence, _depends_on_number):
        return not_applicable(reason)
    if (beside := _counts_beside(evidence)) and _settles(evidence):
        return not_applicable(
            f"It has {beside} beside the text, which counts less in longer texts."
        )
    if evidence.positions:
        name = evidence.places.named
        return failed(
            f"With equal tokens, a row depends on how many there are: {name} should "
            "act on queries and keys only, but values are turned too, or the weights "
            "of a row do not sum to one.",
            worst,
        )
    return failed(
        "With equal tokens, a row depends on how many there are: the weights of a row "
        "do not sum to one. A mask after the softmax, a softmax over another axis, a "
        "sum that is not divided, or heads that are merged wrongly.",
        worst,
    )


@torch.no_grad()
@at_the_border
def _depends_on_number(evidence: Evidence, subject: Subject) -> float:
    x = evidence.x[:, :1].expand(-1, subject.T, -1).contiguous()
    rows = subject(x)
    try:
        fewer = subject(x[:, :1])
    except theirs() as raised:
        if _TOO_FEW not in str(raised):
            raise
        fewer = subject(x[:, :-1])[:, :1]
    return max_difference(rows, fewer.expand_as(rows))


def _decay(evidence: Evidence) -> str:
    """Name what makes tokens count less the farther they are, if a name tells of it."""
    for part in _parts(evidence.subject.module):
        if isinstance(part[1], nn.RNNBase):
            return type(part[1]).__name__
    used = used_names(evidence.subject.target, called=True)
    return min((one for one in used if _DECAY.search(one)), default="")


def _counts_beside(evidence: Evidence) -> str:
    """Name what may count beside the tokens: keys of its own, or a padded border."""
    if evidence.window and not evidence.subject.has_window:
        return "a border"
    module = evidence.subject.module
    stored = dict(module.named_parameters()) if module is not None else {}
    found = evidence.weights.without_role
    names = found if evidence.weights.candidates else tuple(stored)
    own = [one for one in names if stored[one].ndim > 1]
    plain = [path for path, part in _parts(module) if _is_plain(part)]
    return next((one for one in own if one.rpartition(".")[0] not in plain), "")


def _is_plain(part: nn.Module) -> bool:
    return type(part).__module__.startswith("torch.nn")


def _parts(module: nn.Module | None) -> Iterator[tuple[str, nn.Module]]:
    yield from module.named_modules() if module is not None else ()


@torch.no_grad()
def _settles(evidence: Evidence) -> bool:
    """Ask whether rows of equal tokens come to rest where texts get longer."""
    subject, x = evidence.subject, evidence.x[:1, :1]
    try:
        rows = [subject(x.expand(-1, T, -1).contiguous())[0] for T in _LONGER]
    except theirs():
        return False
    for place in (0, 0.5, 1):
        first, second, third = (one[round(place * (len(one) - 1))] for one in rows)
        before, after = max_difference(first, second), max_difference(second, third)
        sizes = [float(one.norm()) for one in (second, third)]
        rests = after <= max(_RESTS * before, evidence.tolerance)
        if not rests or sizes[1] < _RESTS * sizes[0]:
            return False
    return True


@torch.no_grad()
def _order_matters(evidence: Evidence, subject: Subject) -> float:
    return order_matters(subject, evidence.x, subject(evidence.x), evidence.causal)


def _excused(
    evidence: Evidence, measure: Callable[[Evidence, Subject], float]
) -> str | None:
    """Name a weight of the code's own without which the property holds."""
    if not evidence.weights.without_role:
        return None
    for bare in evidence.bare:
        own = [one for one in bare.removed if one in evidence.weights.without_role]
        if own and measure(evidence, bare.subject) <= evidence.tolerance:
            return f"It has weights of its own that change this: {own[0]}."
    return None
