"""What happens when code is called again."""

from collections.abc import Iterator
from contextlib import suppress

import torch
from torch import Tensor, nn

from headway.checks.outcomes import Outcome, apart, error, failed, noise, passed
from headway.checks.subject import Subject, explain, in_type


def randomness(subject: Subject) -> Outcome:
    """Ask three times in eval, with other luck each time: the answers must agree."""
    x = subject.tokens()
    with torch.no_grad():
        answers = [subject(x, luck=luck) for luck in (1, 2, 3)]
    others = [one for one in answers if apart(one, answers[0]) > noise(answers[0])]
    if not others:
        return passed("In eval the same input gets the same answer.", 1)
    return failed(
        "In eval the same input gets different answers: dropout is still on. Some "
        "functions for it do not know of eval: hand them a rate of 0.0 there.",
        len(others) + 1,
    )


def leaves_nothing(original: Subject) -> Outcome:
    """Ask that a call changes nothing: no input, no weights, no later answer."""
    try:
        return _leaves_nothing(original)
    except Exception as raised:  # whatever a reader's code may raise
        return failed(f"After other calls it raised {explain(raised)}.")


def _leaves_nothing(original: Subject) -> Outcome:
    subject = in_type(original, original.dtype)
    module = nn.Module() if subject.module is None else subject.module
    before = _stored(module)
    x = subject.tokens()
    with torch.no_grad():
        first = subject(x)
    before = _stored(module) | before  # with what the first call has made
    given = x.clone()
    subject.call(subject.target, given, subject.extra)
    if not torch.equal(given, x):
        return failed("It changes its input in place.", error(given, x))
    for name, tensor in module.state_dict().items():
        if name in before and not torch.equal(tensor, before[name]):
            return failed(f"A call changes {name}.", error(tensor, before[name]))
    if kept := [*_graphs(module)]:
        return failed(f"A call keeps {kept[0]}, and with it all that made it.")
    return _compare(subject, x, first)


def _stored(module: nn.Module) -> dict[str, Tensor]:
    stored = module.state_dict().items()  # quantized layers hold more than tensors
    return {name: one.clone() for name, one in stored if isinstance(one, Tensor)}


def _compare(subject: Subject, x: Tensor, first: Tensor) -> Outcome:
    """Call with other sizes in between; another property asks whether they work."""
    with torch.no_grad():
        B, T = subject.B, subject.T
        for shape in ((B, max(T - 2, 1)), (1, T), (B, T)):
            with suppress(Exception):
                subject(subject.tokens(*shape, seed=6))
        worst = apart(subject(x), first)
    if worst <= noise(first):
        return passed("A call changes no later one, no input and no weight.", 0)
    return failed(
        "The same input gets another answer after other calls: something is kept, such "
        "as a cache or a mask of the first call.",
        worst,
    )


def _graphs(module: nn.Module) -> Iterator[str]:
    """Name the attributes that hold a tensor with its history."""
    for place, part in module.named_modules():
        weights = [one for one, _ in part.named_parameters(recurse=False)]
        for name, value in vars(part).items():
            if any(one.startswith(f"{name}_") for one in weights):
                continue  # made of these weights anew, as pruning does
            held = [*value.values()] if isinstance(value, dict) else value
            for one in held if isinstance(held, (list, tuple)) else [held]:
                if isinstance(one, Tensor) and one.grad_fn is not None:
                    yield f"{place}.{name}".strip(".")
