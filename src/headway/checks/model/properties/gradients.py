"""Weights that the logits, or the loss, depend on."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from headway.checks.core.errors import describe, suppress_theirs, theirs
from headway.checks.core.names import read_names
from headway.checks.core.outcome import Outcome, failed, not_applicable, passed
from headway.checks.model.model_calls import tensors_of
from headway.checks.model.model_evidence import ModelEvidence
from headway.checks.model.model_subject import ModelSubject

_SHOWN = 3  # weights that are named


def arrive(evidence: ModelEvidence) -> Outcome:
    """Ask that a gradient reaches each weight that a call is meant to use.

    A weight is meant to be used if its layer was called, or if no code names it but
    that which makes it. What a branch leaves out, or a router, is named or not called.
    """
    subject = evidence.subject.copy()
    module = subject.module
    if module is None:
        return not_applicable("A function has no weights of its own.")
    ids = evidence.ids
    with torch.enable_grad(), _calls(module) as called:
        try:
            differentiable = _send_back(subject, ids, {})
        except theirs() as raised:  # such as a kernel that has no way back
            return not_applicable(
                f"It could not be differentiated: {describe(raised)}."
            )
        if not differentiable:
            return not_applicable("Its logits take no part in differentiation.")
        if "targets" in subject.call.names and [*_without(module)]:
            with suppress_theirs():  # some weights are of the loss alone
                _send_back(subject, ids, {"targets": ids.clone()})
    written = read_names(module)
    lost = [
        name for name in _without(module) if _is_meant(module, name, called, written)
    ]
    count = len([*module.parameters()])
    if not lost:
        return passed(f"Gradients reach all of {count} weights that are used.", count)
    shown = ", ".join(lost[:_SHOWN]) + f" and {len(lost) - _SHOWN} more" * (
        len(lost) > _SHOWN
    )
    return failed(f"No gradient reaches {shown}: never used, or cut off.", len(lost))


@contextmanager
def _calls(module: nn.Module) -> Iterator[set[nn.Module]]:
    """Collect the parts of a model that are called with anything."""
    called: set[nn.Module] = set()

    def note(part: nn.Module, given: tuple[Any, ...], named: dict[str, Any]) -> None:
        tensors = [x for x in (*given, *named.values()) if isinstance(x, Tensor)]
        if not tensors or any(x.numel() for x in tensors):  # a router may send nothing
            called.add(part)

    hooks = [
        part.register_forward_pre_hook(note, with_kwargs=True)
        for part in module.modules()
    ]
    try:
        yield called
    finally:
        for hook in hooks:
            hook.remove()


def _send_back(subject: ModelSubject, ids: Tensor, extra: dict[str, Tensor]) -> bool:
    """Differentiate all that a call returns; say whether that can be done."""
    torch.default_generator.manual_seed(1)
    given = ids.mT.contiguous() if subject.call.time_first else ids.clone()
    result = subject.call(subject.target, given, extra)
    parts = [one for one in tensors_of(result) if one.requires_grad]
    if parts:
        sum((one.float().square().sum() for one in parts), torch.zeros(())).backward()
    return bool(parts)


def _without(module: nn.Module) -> Iterator[str]:
    """Name the weights that no gradient reached, not even one of zero."""
    for name, weight in module.named_parameters():
        if weight.requires_grad and weight.numel() and weight.grad is None:
            yield name


def _is_meant(
    module: nn.Module, name: str, called: set[nn.Module], written: set[str]
) -> bool:
    """Ask whether a weight was to be used: in a layer that was called, or by nobody."""
    path = name.split(".")
    part, names = module, []
    for one in path[:-1]:
        part = part.get_submodule(one)
        names += [] if one.isdigit() else [one]
        is_list = isinstance(part, nn.ModuleList | nn.ModuleDict | nn.ParameterList)
        if part not in called and not is_list:
            return names[-1:] != [] and names[-1] not in written
    of_torch = type(part).__module__.startswith("torch.nn.")
    return of_torch or path[-1] not in written
