"""Training and eval, and one call after another."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import torch
from torch import Tensor, nn

from headway.checks.core.errors import describe, theirs
from headway.checks.core.outcome import Outcome, failed, not_applicable, note, passed
from headway.checks.core.tolerance import max_difference, same_order_tolerance
from headway.checks.model.model_evidence import ModelEvidence, between
from headway.checks.model.model_subject import ModelSubject
from headway.checks.model.repeating import is_random

# What compares one call with another.
_OF_TWO_CALLS = (
    "batch",
    "alone",
    "earlier-rows",
    "padding-right",
    "padding-left",
    "packing",
    "cache",
    "greedy",
    "eager",
    "compile",
    "half-precision",
    "training",
    "targets",
)


def finite(evidence: ModelEvidence) -> Outcome:
    """Ask that logits are numbers."""
    wrong = (~evidence.logits.isfinite()).any(dim=-1)
    if not wrong.any():
        return passed("All logits are numbers.")
    text, token = wrong.nonzero()[0].tolist()
    shown = evidence.logits[text, token]
    what = "nan" if shown.isnan().any() else "infinite"
    return failed(
        f"Logits at token {token + 1} are {what}: a row of attention may see no key, "
        "or a number is too large.",
        int(wrong.sum()),
    )


def state(evidence: ModelEvidence) -> Outcome:
    """Ask that a call changes no later one, no weight, and not its ids."""
    subject = replace(evidence.subject.copy(), fresh=False)
    module = subject.module or nn.Module()
    kept = dict(_attributes(module))
    first = subject(evidence.ids)
    before = _stored(module)
    ids = evidence.ids.clone()
    with torch.no_grad():
        subject.call(subject.target, ids, {})
    if not torch.equal(ids, evidence.ids):
        return failed(
            "It changes the ids that it is given.", mistakes=["input-changed-in-place"]
        )
    for name, tensor in _stored(module).items():
        if name in before and not torch.equal(tensor, before[name]):
            return failed(f"A call changes {name}.")
    for B, T in ((1, subject.T - 1), (2, max(subject.T // 2, 1)), (3, subject.T)):
        try:
            subject(subject.ids(B, T, seed=6))
        except theirs() as raised:
            return failed(f"After other calls it raised {describe(raised)}.")
    worst = max_difference(subject(evidence.ids), first)
    if worst <= same_order_tolerance(first):
        return passed("A call changes no later one, no ids and no weight.", worst)
    return failed(
        "The same ids get other logits after other calls: something is kept, such as "
        f"a cache or the mask of the first call{_what_else(module, kept)}.",
        worst,
        explains=_OF_TWO_CALLS,
    )


def _what_else(module: nn.Module, kept: Mapping[str, object]) -> str:
    """Name what a module holds now, if that is one thing and it was another before."""
    changed = [
        name for name, value in _attributes(module) if kept.get(name) is not value
    ]
    return f"; look at {changed[0]}" if len(changed) == 1 else ""


def _attributes(module: nn.Module) -> Iterator[tuple[str, object]]:
    """List what a module and its parts hold besides weights, by full names."""
    of_all = nn.Module().__dict__
    for place, part in module.named_modules():
        for name, value in {**part.__dict__, **part._buffers}.items():
            if name not in of_all:
                yield f"{place}.{name}".removeprefix("."), value


def _stored(module: nn.Module) -> dict[str, Tensor]:
    stored = module.state_dict().items()
    return {name: value.clone() for name, value in stored if isinstance(value, Tensor)}


def in_eval(evidence: ModelEvidence) -> Outcome:
    """Ask that eval gives the same for the same, whatever dropout has as a rate."""
    subject = evidence.subject.with_dropout(0.5)
    first, *others = [subject(evidence.ids, seed=seed) for seed in (1, 2, 3)]
    worst = max(max_difference(logits, first) for logits in others)
    if worst > same_order_tolerance(first):
        random = is_random(evidence.subject.with_dropout(0.0))
        reason = (
            "random numbers are drawn, such as by dropout at a rate of its own"
            if random
            else "dropout is still on"
        )
        return failed(
            f"In eval the same ids get different logits: {reason}.",
            worst,
            explains=_OF_TWO_CALLS,
            mistakes=[] if random else ["dropout-in-eval"],
        )
    if _draws(subject, evidence.ids):
        return note("In eval a call draws random numbers, and does not use them.")
    return passed("In eval the same ids get the same logits.", worst)


def _draws(subject: ModelSubject, ids: Tensor) -> bool:
    """Ask whether a call moves the generator of random numbers."""
    subject(ids, seed=1)
    after = torch.default_generator.get_state()
    torch.default_generator.manual_seed(1)
    return not torch.equal(after, torch.default_generator.get_state())


def in_training(evidence: ModelEvidence) -> Outcome:
    """Ask that training without dropout computes what eval does."""
    if evidence.subject.module is None:
        return not_applicable("A function has no training mode.")
    subject = evidence.subject.in_training(dropout=0.0)
    first, second = (subject(evidence.ids, seed=seed) for seed in (1, 2))
    worst = max_difference(first, evidence.logits)
    if worst <= evidence.tolerance:
        return passed("Without dropout, training computes what eval does.", worst)
    if max_difference(first, second) > evidence.tolerance:
        return not_applicable(
            "In training it draws random numbers, at a rate that no attribute holds."
        )
    mixes = between(subject, evidence.ids) > evidence.tolerance
    if mixes and not evidence.mixed:
        return failed(
            "In training texts of a batch move each other, but not in eval: "
            "something is computed over the batch.",
            worst,
        )
    return failed(
        "Without dropout, training computes something different from eval.", worst
    )
