"""Properties of training and use, and of one call after another."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from headway.checks.examined import Examined, Outcome, error, failed, passed, unasked

_RATE = 0.5
_CALLS = 64
_COPIES = 32


def in_eval(it: Examined) -> Outcome:
    """Ask twice in eval, with other luck: nothing random may be left."""
    subject = it.subject
    with torch.no_grad():
        answers = [subject(it.x, luck=luck) for luck in (1, 2, 3)]
        worst = max(error(answer, answers[0]) for answer in answers)
    if worst <= it.noise:
        return passed("In eval the same input gets the same answer.", worst)
    return failed(
        "In eval the same input gets different answers: dropout is still on. The "
        "function for it does not know of eval: pass it 0.0 unless training.",
        worst,
    )


def in_training(it: Examined) -> Outcome:
    """Ask in training, without dropout: it must be what is used later."""
    if it.subject.module is None:
        return unasked("A function has no training mode.")
    with it.subject.training(dropout=0.0), torch.no_grad():
        worst = error(it.subject(it.x), it.rows)
    if worst <= it.tolerance:
        return passed("Without dropout, training computes what eval computes.", worst)
    return failed(
        "Without dropout, training computes something else than eval: a flag is bound "
        "to self.training, or dropout has a rate of its own.",
        worst,
    )


def dropout(it: Examined) -> Outcome:
    """Ask that dropout acts in training, and that its mean is the answer of eval."""
    subject = it.subject
    if not subject.drops:
        return unasked("No rate of dropout was found.")
    with subject.training(dropout=0.0), torch.no_grad():
        want = subject(it.x)
    with subject.training(dropout=_RATE), torch.no_grad():
        means = torch.stack([_mean(it, luck) for luck in range(_CALLS)])
    if error(means, means[:1].expand_as(means)) <= it.noise:
        return failed(
            "It has a rate of dropout, and in training nothing is dropped.", 0
        )
    spread = means.std(dim=0) / math.sqrt(_CALLS)
    allowed = 7 * spread + it.tolerance
    strays = (means.mean(dim=0) - want).abs()
    worst = float((strays / allowed).max()) * 7
    if worst <= 7:
        return passed("Dropout acts in training, and keeps the mean.", worst)
    return failed(
        "Dropout moves the mean, by that many standard errors: it acts on scores, or "
        "what is kept does not grow by 1 / (1 - p).",
        worst,
    )


def _mean(it: Examined, luck: int) -> Tensor:
    many = it.x.repeat(_COPIES, 1, 1)
    rows = it.subject(many, luck=luck)
    return rows.unflatten(0, (_COPIES, -1)).mean(dim=0)


def again(it: Examined) -> Outcome:
    """Ask that a call changes nothing: no input, no weights, no later answer."""
    subject, x = it.subject, it.x.clone()
    module = nn.Module() if subject.module is None else subject.module
    before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    with torch.no_grad():
        first = subject(it.x)
    subject(x)
    if not torch.equal(x, it.x):
        return failed("It changes its input in place.", error(x, it.x))
    for name, tensor in module.state_dict().items():
        if name in before and not torch.equal(tensor, before[name]):
            return failed(f"A call changes {name}.", error(tensor, before[name]))
    if kept := [*_graphs(module)]:
        return failed(f"A call keeps {kept[0]}, and with it all that made it.")
    with torch.no_grad():
        subject(subject.tokens(subject.B, max(subject.T - 2, 1), seed=6))
        subject(subject.tokens(1, subject.T, seed=7))
        worst = error(subject(it.x), first)
    if worst <= it.noise:
        return passed("A call changes no later one, no input and no weight.", worst)
    return failed(
        "The same input gets another answer after other calls: something is kept, such "
        "as a cache or a mask of the first call.",
        worst,
    )


def _graphs(module: nn.Module) -> Iterator[str]:
    """Name the attributes that hold a tensor with its history."""
    for place, part in module.named_modules():
        for name, value in vars(part).items():
            if isinstance(value, torch.Tensor) and value.grad_fn is not None:
                yield f"{place}.{name}".strip(".")
