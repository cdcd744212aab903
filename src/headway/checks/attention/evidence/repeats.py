"""What happens when code is called again."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.modules.module import register_module_parameter_registration_hook

from headway.checks.attention.subject import Subject
from headway.checks.core.errors import describe, suppress_theirs, theirs
from headway.checks.core.outcome import Outcome, failed, note, passed
from headway.checks.core.tolerance import max_difference, same_order_tolerance

_CACHE = re.compile(r"cache|past", re.IGNORECASE)


class Repeats(NamedTuple):
    """What happens when code is called again.

    Attributes:
        state: Whether a call leaves something behind.
        randomness: Whether eval is random with the rates of dropout that it has.
        random: Whether it is random even without dropout.
    """

    state: Outcome
    randomness: Outcome
    random: bool


def repeat(subject: Subject) -> tuple[Subject, Repeats]:
    """Call the code again, so that one mistake does not hide the others.

    Returns:
        The subject for all further calls, and what was seen: what keeps something is
        called in fresh copies, and what drops in eval drops nothing.
    """
    state = leaves_nothing(subject)
    if state.verdict != "passed":
        subject = replace(subject, copy_each_call=True)
    # A module may drop in eval even if it was built without dropout.
    dropping = subject if subject.module is None else subject.with_dropout(0.5)
    randomness = is_deterministic(dropping)
    random = 0
    if randomness.verdict == "failed":
        subject = subject.with_dropout(0.0)
        if random := _different(subject):
            subject = replace(subject, undropped=True)
            random = _different(subject)
    if random and (layer := _made_anew(subject)):
        randomness = failed(
            f"In eval the same input gets different answers: {layer} is made anew in "
            "every call, so its weights are random and never learn. Make it once, "
            "before any call.",
            random + 1,
            mistakes=["layer-made-in-call"],
        )
    elif random:
        randomness = failed(
            "In eval the same input gets different answers, without any dropout as "
            "well: random numbers are drawn in each call.",
            random + 1,
        )
    return subject, Repeats(state, randomness, random > 0)


@torch.no_grad()
def _made_anew(subject: Subject) -> str:
    """Name a layer that a later call makes, though an earlier one has made its own."""
    called = subject.copy()
    x, made = called.tokens(), list[str]()
    called.call(called.target, x, called.extra)

    def remember(module: nn.Module, name: str, parameter: nn.Parameter) -> None:
        made.append(type(module).__name__)

    hook = register_module_parameter_registration_hook(remember)
    try:
        called.call(called.target, x, called.extra)
    finally:
        hook.remove()
    return made[0] if made else ""


def is_deterministic(subject: Subject) -> Outcome:
    """Call three times in eval, with another seed each time: the results must agree."""
    different = _different(subject)
    if not different and _draws(subject):
        return failed(
            "In eval it draws random numbers. They change nothing in its rows, but all "
            "that is drawn after a call.",
            1,
        )
    if not different:
        return passed("In eval the same input gets the same answer.", 1)
    return failed(
        "In eval the same input gets different answers: dropout is still on. Some "
        "functions for it do not know of eval: hand them a rate of 0.0 there.",
        different + 1,
        mistakes=["dropout-in-eval"],
    )


def _different(subject: Subject) -> int:
    """Count the calls with another seed that give something else."""
    x = subject.tokens()
    with torch.no_grad():
        first, *others = [subject(x, seed=seed) for seed in (1, 2, 3)]
    limit = same_order_tolerance(first)
    return sum(max_difference(y, first, equal_nan=True) > limit for y in others)


def _draws(subject: Subject) -> bool:
    """Ask whether a call moves the generator of random numbers on."""
    subject.draw_from(1)
    before = torch.get_rng_state()
    with torch.no_grad():
        subject(subject.tokens(), seed=1)
    return not torch.equal(torch.get_rng_state(), before)


def leaves_nothing(subject: Subject) -> Outcome:
    """Ask that a call changes nothing: no input, no weights, no later answer."""
    try:
        return _leaves_nothing(subject.copy())
    except theirs() as raised:
        return failed(f"After other calls it raised {describe(raised)}.")


def _leaves_nothing(subject: Subject) -> Outcome:
    module = nn.Module() if subject.module is None else subject.module
    before = _stored(module)
    x = subject.tokens()
    with torch.no_grad():
        first = subject(x)
    before = _stored(module) | before  # with what the first call has made
    given = x.clone()
    subject.call(subject.target, given, subject.extra)
    if not torch.equal(given, x):
        return failed(
            "It changes its input in place.",
            max_difference(given, x),
            mistakes=["input-changed-in-place"],
        )
    asked = _asks_for_cache(subject)
    written = []
    for name, tensor in module.state_dict().items():
        if name in before and not torch.equal(tensor, before[name]):
            if not (asked or _CACHE.search(name)):
                difference = max_difference(tensor, before[name])
                return failed(f"A call changes {name}.", difference)
            written.append(name)
    kept = [*_graphs(module)]
    compared = _compare(subject, x, first)
    if compared.verdict == "failed":
        if not asked:
            return compared
        return note("A later call goes on from the cache of an earlier, as was asked.")
    return _tell_of(written, kept) or compared


def _asks_for_cache(subject: Subject) -> bool:
    """Ask whether the reader's own words hand over a cache, or say how one is used."""
    option = subject.options.call
    named = isinstance(option, str) and _CACHE.search(option) is not None
    return named or subject.options.cached is not None


def _tell_of(written: Sequence[str], kept: Sequence[str]) -> Outcome | None:
    """Note what stays behind a call and changes no later one."""
    if written:
        return note(
            f"A call writes into {written[0]}, a cache by its name, and no later call "
            "is changed by it."
        )
    if kept:
        return note(
            f"A call keeps {kept[0]} with its history, so the memory of a whole graph "
            f"stays in use. For pictures, {kept[0]}.detach() is enough."
        )
    return None


def _stored(module: nn.Module) -> dict[str, Tensor]:
    stored = module.state_dict().items()  # quantized layers hold more than tensors
    return {name: one.clone() for name, one in stored if isinstance(one, Tensor)}


def _compare(subject: Subject, x: Tensor, first: Tensor) -> Outcome:
    """Call with other sizes in between; another property asks whether they work."""
    with torch.no_grad():
        B, T = subject.B, subject.T
        for shape in ((B, max(T - 2, 1)), (1, T), (B, T)):
            with suppress_theirs():
                subject(subject.tokens(*shape, seed=6))
        worst = max_difference(subject(x), first, equal_nan=True)
    if worst <= same_order_tolerance(first):
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
        for name, value in {**vars(part), **part._buffers}.items():
            if name in ("_parameters", "_buffers", "_modules"):
                continue  # told by their own names
            if any(one.startswith(f"{name}_") for one in weights):
                continue  # made of these weights anew, as pruning does
            held = [*value.values()] if isinstance(value, dict) else value
            for one in held if isinstance(held, (list, tuple)) else [held]:
                if isinstance(one, Tensor) and one.grad_fn is not None:
                    yield f"{place}.{name}".strip(".")
