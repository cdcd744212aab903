"""The property that compares with the equation."""

import math
import re
from dataclasses import replace

import torch
from torch import nn

from headway.checks.attention.evidence import Evidence
from headway.checks.attention.evidence.design import Design, Rotation
from headway.checks.attention.evidence.find_designs import (
    ANGLES_IN_USE,
    standard_slopes,
)
from headway.checks.attention.evidence.influence import side_of_window
from headway.checks.attention.evidence.norms import fault_of_norms
from headway.checks.attention.evidence.tables import called_functions, lengths_differ
from headway.checks.attention.evidence.weights import Projections
from headway.checks.attention.oracle import (
    Match,
    consequences,
    explain,
    match,
    without_surroundings,
)
from headway.checks.attention.oracle.long_texts import in_long_texts
from headway.checks.attention.oracle.mistakes import left_out, other_speeds
from headway.checks.attention.oracle.rotation import base_of
from headway.checks.attention.properties.kept_mask import with_kept_mask
from headway.checks.core import book_sections as book
from headway.checks.core.names import read_names
from headway.checks.core.outcome import (
    Outcome,
    failed,
    not_applicable,
    note,
    passed,
    unexplained,
)

_DECLARED = (
    "scale", "normalize", "rotary_base", "window", "positions", "softcap", "sinks",
    "norms", "groups",
)  # fmt: skip
_BASES = (10_000, 500_000, 1_000_000)
_NEAR = 1e-3
_OF_IMAGES = "Networks of images often do so; declare scale=1 if it is meant."
_OF_PYTORCH = (torch, torch.nn.functional, torch.fft, torch.linalg)
_NORMS_AND_SINKS = re.compile("norm|sink", re.IGNORECASE)
_SLOPES = re.compile("alibi|slope", re.IGNORECASE)
_BESIDES = re.compile(
    r"(leaky_|p)?relu6?|elu|selu|gelu|silu|swish|softplus|tanh|feature_map|phi"
    r"|activation(_fn)?|act(_fn)?|nonlinearity|normalize|(rms|layer|group)_?norm"
    r"|topk|kthvalue|cumsum|i?r?fft|pinv|projection_matrix|softmax_kernel|nb_features|(num_)?landmarks",
    re.IGNORECASE,
)


def equals(evidence: Evidence) -> Outcome:
    """Ask that the result is what the equation gives; if not, name what explains it."""
    outcome = _equals(evidence)
    options = evidence.subject.options
    if outcome.verdict == "failed" and evidence.subject.T == 1 and evidence.one_length:
        return not_applicable("It takes one token only, which attends to itself.")
    told = [
        f"{name}={value!r}"
        for name in _DECLARED
        if (value := getattr(options, name)) is not None
    ]
    if outcome.verdict != "failed" or not told:
        return outcome
    said = f"{outcome.sentence} Declared: {', '.join(told)}."
    explains = outcome.explains
    if outcome.mistakes and options.layout is None:  # which says more than that
        explains = (*explains, "facts")
    return outcome._replace(sentence=said, explains=explains)


def _equals(evidence: Evidence) -> Outcome:
    weights = evidence.weights
    if not weights.candidates:
        return _of_small_layers(evidence)
    nearest = match(evidence)
    if nearest.weights is not None and nearest.difference <= evidence.tolerance:
        return _fits(replace(evidence, bare=()), nearest, nearest.weights)
    ways = without_surroundings(evidence)
    for one in ways:
        near = match(one)
        if near.weights is not None and near.difference <= one.tolerance:
            return _fits(one, near, near.weights)
    likeliest = ways[0] if ways and evidence.designs[0] == Design() else evidence
    for one in (evidence, *ways[:2]):  # it takes long
        if found := explain(one, pairs=one is likeliest):
            without = "" if one is evidence else _without(one)
            sentence = found.sentence.removesuffix(".") + without + "."
            if evidence.subject.call.of_image and [*found.ids] == ["no-scale"]:
                return note(f"{sentence} {_OF_IMAGES}", nearest.difference)
            return failed(
                sentence,
                nearest.difference,
                section=found.section,
                explains=consequences(found.mistakes),
                mistakes=found.ids,
            )
    return _unexplained(evidence, nearest.difference)


def _of_small_layers(evidence: Evidence) -> Outcome:
    """Ask whether all heads share a layer for a part of a token, if none is for all."""
    small = evidence.weights.small
    shared = replace(evidence, weights=replace(evidence.weights, candidates=small))
    near = match(shared)
    found = None
    if near.difference > evidence.tolerance and small:
        found = explain(shared, pairs=False)
    if near.weights is not None and (found or near.difference <= evidence.tolerance):
        name = near.weights.names.partition(",")[0]
        besides = f" {found.sentence}" if found else ""
        return failed(
            f"All heads share {name}, and each sees only its own part of a token."
            f"{besides}",
            section=book.HEADS,
            mistakes=("heads-share-layer", *(found.ids if found else ())),
        )
    heads = evidence.subject.options.num_heads
    fitting = f" that fit num_heads={heads}" if heads else ""
    return not_applicable(
        f"No weights of queries, keys and values were found{fitting}."
    )


def _fits(evidence: Evidence, near: Match, weights: Projections) -> Outcome:
    """Say what was found, unless something is inside that never acts."""
    if mistake := left_out(evidence.designs[0], near.design):
        learned = mistake.change == {"bias": "left out"}
        also = ", or all of the past falls into one bucket, as where queries and keys "
        also += "change places in it"
        return failed(
            f"It is exactly what comes out when {mistake.sentence}"
            f"{also if learned and evidence.causal else ''}.",
            near.difference,
            section=mistake.section,
            explains=consequences([mistake]),
            mistakes=[mistake.id],
        )
    if outcome := _not_as_promised(evidence, near):
        return outcome
    if found := in_long_texts(evidence, near):
        return failed(
            f"Short texts get what the equation gives; but {found.sentence}.",
            near.difference,
            section=found.section,
            mistakes=found.ids,
        )
    if said := _harmless(evidence, near, weights):
        return note(said, near.difference)
    inside = f"{_besides(weights, near.design)}{_without(evidence)}"
    return passed(f"It is what the equation gives in 64 bits{inside}.", near.difference)


def _not_as_promised(evidence: Evidence, near: Match) -> Outcome | None:
    """Hold what was read off the code's own tables and norms against their names."""
    found = near.design.rotation
    for design in evidence.designs if found is not None else ():
        if mistake := other_speeds(design, near.design):
            return failed(
                f"It is exactly what comes out when {mistake.sentence}.",
                near.difference,
                section=mistake.section,
                mistakes=[mistake.id],
            )
    if found is not None and (other := _of_all_heads(found, near.weights)):
        return failed(
            other,
            near.difference,
            section=book.ROTARY_SPEEDS,
            mistakes=["rotary-speeds-of-all-heads"],
        )
    steps = torch.zeros(0) if found is None else found.angles[-1] - found.angles[0]
    if len(steps) > 1 and torch.allclose(steps, steps[:1].expand_as(steps)):
        return failed(
            "All pairs of numbers are rotated at one speed.",
            near.difference,
            section=book.ROTARY_SPEEDS,
            mistakes=["one-rotary-speed"],
        )
    module = evidence.fresh.module
    if module is not None and (said := fault_of_norms(module)):
        sentence, fault = said
        return failed(
            f"Its norm {sentence}",
            near.difference,
            section=book.QK_NORM,
            mistakes=[fault],
        )
    return None


def _of_all_heads(rotation: Rotation, weights: Projections | None) -> str:
    """Say that speeds are those of all heads side by side, if their base tells it.

    Speeds of a head with a base b are those of all heads with the base b to the power
    of their number. Only bases that everybody uses tell that.
    """
    base = base_of(rotation)
    if weights is None or weights.heads == 1 or base is None:
        return ""
    wide, narrow = weights.query.shape[0], 2 * rotation.angles.shape[1]
    meant = base ** (wide / narrow)
    if math.isclose(base, 100, rel_tol=_NEAR):  # of images
        return ""
    if not any(math.isclose(meant, usual, rel_tol=_NEAR) for usual in _BASES):
        return ""
    return (
        f"The speeds of its rotation are those of {wide} numbers, as wide as all heads "
        f"are, and not of the {narrow} of a head: as if the base were {base:.3g}, and "
        f"not {meant:.6g}."
    )


def _harmless(evidence: Evidence, near: Match, weights: Projections) -> str:
    """Say what a reader should know of something that gives the equation."""
    window = evidence.designs[0].window
    if window is not None and near.design.window is None:
        return (
            f"A window of {window} is kept, and it hides nothing: it is never applied, "
            "or left to a mask that the caller gives."
        )
    if weights.interleaved:
        return (
            "It is what the equation gives if heads are merged in a different order "
            "than they are split: trained so, it does no harm, but weights of other "
            "code do not fit."
        )
    return _of_positions(evidence, near.design)


def _of_positions(evidence: Evidence, design: Design) -> str:
    """Say what is unusual in positions, slopes and norms, though it may be meant."""
    rotation, norm = design.rotation, design.query_norm
    if rotation is not None and _falls(rotation.angles):
        return (
            "It is what the equation gives, with rotary positions counted from the "
            "end: one text more or less, as with a cache, changes them all."
        )
    weighted = isinstance(norm, nn.Module) and bool([*norm.parameters()])
    if design.norms_after == "rotation" and weighted:
        return (
            "It is what the equation gives if the norms of queries and keys come "
            "after the rotation: their weights do not turn with it, so that scores "
            "depend on more than the distance."
        )
    return _of_slopes(evidence, design)


def _of_slopes(evidence: Evidence, design: Design) -> str:
    """Say that slopes are kept that are neither learned nor the usual ones."""
    learned = any(_SLOPES.search(one) for one in evidence.weights.without_role)
    if design.source != "ALiBi" or design.bias is None or learned:
        return ""
    slopes = (design.bias[:, 1, 0] - design.bias[:, 0, 0]).abs()
    usual = standard_slopes(len(slopes))
    if torch.allclose(slopes, usual, rtol=1e-3):
        return ""
    here, there = (", ".join(f"{x:.3g}" for x in one) for one in (slopes, usual))
    return (
        f"It is what the equation gives with the slopes that are kept, {here}; the "
        f"usual ones of so many heads are the powers {there}, and weights of other "
        "code do not fit."
    )


def _without(evidence: Evidence) -> str:
    """Say what was taken off before the equation was asked."""
    found = [*dict.fromkeys(name for one in evidence.bare for name in one.removed)]
    if not found:
        return ""
    more = f" and {len(found) - 2} more" if len(found) > 2 else ""
    return f", without {', '.join(found[:2])}{more}"


def _besides(weights: Projections, design: Design) -> str:
    """Say what is inside besides the equation."""
    found = [design.source] if design.source else []
    groups = weights.key.shape[0] * weights.heads // weights.query.shape[0]
    if groups < weights.heads:
        found.append(f"{groups} {'group' if groups == 1 else 'groups'} of keys")
    if weights.averaged:
        found.append("the same values for all heads, and their mean")
    return f", with {'; '.join(found)}" if found else ""


def _unexplained(evidence: Evidence, difference: float) -> Outcome:
    """Say that nothing known explains the output, as loudly as that is certain."""
    if reason := _beyond_the_equation(evidence):
        return not_applicable(reason)
    finite = evidence.output.isfinite().double().mean()
    if finite < 0.5:
        return failed("Most of its numbers are nan or infinite.")
    if not math.isfinite(difference):
        return not_applicable("The shapes of its weights do not fit the equation.")
    used = sorted(read_names(evidence.subject.target))
    if found := [one for one in used if _BESIDES.fullmatch(one)]:
        besides = next((one for one in found if _acts(evidence, one)), None)
        if besides is not None and evidence.designs[0].softcap is None:
            return unexplained(
                f"It is not what the equation gives. It uses {besides}, which the "
                "equation does not have.",
                difference,
            )
    if evidence.designs[0].rotation is not None and lengths_differ(evidence.subject):
        return note(
            "It is not what the equation gives: the complex numbers that rotate do not "
            "have lengths of one, so that vectors grow or shrink with their position.",
            difference,
        )
    if source := evidence.designs[0].source:
        judge = failed if _is_seen_whole(evidence) else unexplained
        return judge(
            f"It is not what the equation gives, with {source}, and no mistake known "
            "here explains it.",
            difference,
        )
    if kept := with_kept_mask(evidence):
        return kept
    return failed(
        "It is not what the equation gives, and no mistake known here explains it.",
        difference,
    )


def _acts(evidence: Evidence, name: str) -> bool:
    """Ask whether a function of this name is called, if it is one of PyTorch.

    It may stand in a branch that is not taken. Of other names nobody knows.
    """
    if not any(hasattr(one, name) for one in _OF_PYTORCH):
        return True
    called = called_functions(evidence.subject.copy())
    return any(one.rstrip("_").endswith(name) for one in called)


def _is_seen_whole(evidence: Evidence) -> bool:
    """Ask whether all that is inside was read off the code, and nothing only guessed.

    Then a difference is no design that is not known here.
    """
    weights, design = evidence.weights, evidence.designs[0]
    rotation = design.rotation
    if rotation is not None and rotation.source != ANGLES_IN_USE:
        return False
    if design.bias is not None or evidence.bare:
        return False
    return all(_NORMS_AND_SINKS.search(one) for one in weights.without_role)


def _beyond_the_equation(evidence: Evidence) -> str:
    """Say what is inside that the equation does not have."""
    if evidence.subject.is_pooled:
        return "It gives one row for each text, and the equation one for each token."
    weights, design = evidence.weights, evidence.designs[0]
    if evidence.subject.call.of_image and not bool(evidence.visible.all()):
        return "A pixel sees some places alone, and the equation has all."
    side = side_of_window(evidence.visible)
    if side is not None and design.window is None and not evidence.causal:
        return f"A row sees {side} tokens on both sides, and the equation all of them."
    if evidence.window and design.window is None:
        return "A window is inside, which the equation does not have."
    if evidence.positions and design.rotation is None and design.bias is None:
        return "Positions are inside, which the equation does not have."
    if weights.without_role and design == Design():
        name = weights.without_role[0]
        return f"It has weights that the equation does not have: {name}."
    if weights.layer:
        return f"It has several layers, and the equation is of one: {weights.layer}."
    if not any(one.certain for one in weights.candidates):
        return "No names tell which of its weights make queries, keys and values."
    return ""


def _falls(angles: torch.Tensor) -> bool:
    """Ask whether positions fall to zero; angles of tables are known but for turns."""
    if len(angles) < 2 or float(angles[-1].abs().max()) > 1e-6:
        return False
    steps = (angles.diff(dim=0) + math.pi) % (2 * math.pi) - math.pi
    return bool((steps < 0).all())
