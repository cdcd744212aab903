"""The same model computed by other code: eager, fused, compiled."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import nn

from headway.checks.core.errors import describe, theirs
from headway.checks.core.outcome import Outcome, failed, not_applicable, passed
from headway.checks.core.tolerance import max_difference
from headway.checks.model.model_evidence import ModelEvidence, moves
from headway.checks.model.model_subject import ModelSubject

_SWITCH = re.compile(r"(^|_)(flash|sdpa|fused)(_|$)")


def eager(evidence: ModelEvidence) -> Outcome:
    """Ask that attention by other code gives the same logits, and hides the future."""
    worst, same, reasons = 0.0, [], []
    for name, subject in _others(evidence.subject):
        try:
            far = max_difference(subject(evidence.ids), evidence.logits)
            seen = _who_sees_what(evidence, subject)
        except theirs() as raised:
            reasons.append(f"{name} raised {describe(raised)}.")
            continue
        if far > evidence.tolerance:
            return failed(f"With {name} the logits differ{seen}.", far)
        worst = max(worst, far)
        same.append(name)
    if same:
        return passed(f"{' and '.join(same)}: the same logits.", worst)
    reasons.append("No switch between ways to compute attention was found.")
    return not_applicable(reasons[0])


def _who_sees_what(evidence: ModelEvidence, subject: ModelSubject) -> str:
    """Say whether logits by other code see later tokens, if that is another answer."""
    cuts = (1, subject.T // 2, subject.T - 1)
    ahead = moves(subject, evidence.ids[:1], cuts)
    leaks = subject.causal and float(ahead.max()) > evidence.same_order_tolerance
    if leaks is evidence.leaks:
        return ""
    return " and see later tokens" if leaks else " and see no later tokens"


def _others(subject: ModelSubject) -> Iterator[tuple[str, ModelSubject]]:
    """Copy a model with each way to compute attention that it has."""
    model: Any = subject.target
    if hasattr(model, "set_attn_implementation"):
        for name in ("eager", "sdpa"):
            copied = subject.copy()
            switched: Any = copied.target
            try:
                switched.set_attn_implementation(name)
            except theirs():  # it says that it has no such way
                continue
            yield name, copied
        return
    for name in sorted(set(_switches(subject))):
        yield (
            f"{name} switched",
            subject.changed(partial(_switch, name=name)),
        )


def _switches(subject: ModelSubject) -> Iterator[str]:
    for part in subject.module.modules() if subject.module else ():
        for name, value in vars(part).items():
            if isinstance(value, bool) and _SWITCH.search(name):
                yield name


def _switch(module: nn.Module, name: str) -> None:
    for part in module.modules():
        if isinstance(vars(part).get(name), bool):
            setattr(part, name, not getattr(part, name))


def compiled(evidence: ModelEvidence) -> Outcome:
    """Ask that a compiled model gives the same logits, if it is to be compiled."""
    chosen = evidence.subject.options.compile
    if not chosen:
        return not_applicable("Ask for it with compile=True; it takes a minute.")
    copied = evidence.subject.copy()
    backend = chosen if isinstance(chosen, str) else "inductor"
    target = torch.compile(copied.target, backend=backend)
    subject = replace(copied, target=target)
    worst = max_difference(subject(evidence.ids), evidence.logits)
    if worst <= evidence.tolerance:
        return passed("Compiled, it gives the same logits.", worst)
    seen = _who_sees_what(evidence, subject)
    return failed(f"Compiled, the logits differ{seen}.", worst)
