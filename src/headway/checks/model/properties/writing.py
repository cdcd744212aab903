"""Text that a model writes."""

import inspect
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor

from headway.checks.core.errors import at_the_border, describe, theirs
from headway.checks.core.limit import limited
from headway.checks.core.outcome import Outcome, failed, not_applicable, passed
from headway.checks.core.signature import arguments
from headway.checks.model.logits_tolerance import logits_tolerance
from headway.checks.model.model_evidence import ModelEvidence
from headway.checks.model.model_subject import ModelSubject, config_value
from headway.checks.model.padding_masks import PaddingMask
from headway.checks.model.visible_weights import untie

_NEW = 5  # tokens to write
_SEEDS = range(3)
_CERTAIN = {"do_sample": False, "top_k": 1, "temperature": 0.0}
_COUNTS = ("max_new_tokens", "length", "max_tokens", "n", "num_tokens", "steps")


def greedy(evidence: ModelEvidence) -> Outcome:
    """Ask that greedy writing takes the likeliest token, with a cache and without."""
    subject = evidence.masking.subject.changed(untie)
    if not subject.causal:
        return not_applicable("It is meant to see both sides.")
    ways = [*_writers(subject, evidence.masking.form)]
    if not ways:
        return not_applicable("It has no generate that is known here.")
    ids = evidence.ids[:2, : max(subject.T // 2, 1)]
    worst, asked, reasons = 0, 0, []
    for shown, write in ways:
        try:
            wrong = _unlike(subject, write, ids)
        except theirs() as raised:
            reasons.append(f"{shown} raised {describe(raised)}.")
            continue
        if wrong and _is_left_to_chance(write, ids):
            reasons.append(
                f"{shown} leaves it to chance which token comes, and takes no "
                "argument that would not."
            )
            continue
        asked += 1
        if wrong:
            return failed(
                f"{shown} does not write the likeliest token by the logits of the "
                f"whole text, from new token {wrong} on.",
                wrong,
            )
        worst = max(worst, _NEW)
    if not asked:
        return not_applicable(reasons[0])
    return passed("It writes the likeliest token each time.", worst)


Writer = Callable[[Tensor], Tensor]


@at_the_border
def _unlike(subject: ModelSubject, write: Writer, ids: Tensor) -> int:
    """Give the number of the first new token that is not the likeliest, or 0.

    Where two are all but equally likely, either is right.
    """
    with torch.no_grad(), limited():
        text = write(ids.clone())
    if text.shape[-1] == _NEW:
        text = torch.cat([ids, text], dim=-1)
    if text.shape != (len(ids), ids.shape[-1] + _NEW):
        raise TypeError(f"it wrote shape {tuple(text.shape)}")
    for step in range(_NEW):
        end = ids.shape[-1] + step
        logits = subject(text[:, :end])[:, -1]
        chosen = logits.gather(-1, text[:, end : end + 1])[:, 0]
        if bool((logits.amax(-1) - chosen > logits_tolerance(logits)).any()):
            return step + 1
    return 0


@at_the_border
def _is_left_to_chance(write: Writer, ids: Tensor) -> bool:
    """Ask whether other random numbers write another text, if nothing forbids it."""
    if isinstance(write, partial) and write.keywords.keys() & _CERTAIN.keys():
        return False
    texts = []
    with torch.no_grad(), limited():
        for seed in _SEEDS:
            torch.manual_seed(seed)
            texts.append(write(ids.clone()))
    return any(not torch.equal(one, texts[0]) for one in texts)


def _writers(
    subject: ModelSubject, form: PaddingMask | None
) -> Iterator[tuple[str, Writer]]:
    """Give the ways to write greedily, with a cache and without."""
    model: Any = subject.target
    generate = _method(model) or _function_beside(model)
    if generate is None:
        return
    if config_value(model, "generation_config") is not None:
        yield from _of_transformers(model, padded=form is not None)
        return
    known = arguments(generate)
    count = next((name for name in _COUNTS if name in known), None)
    if count is None:
        return
    options = {count: _NEW, **_options(known)}
    if "use_cache" in known:
        for cache in (True, False):
            yield (
                f"generate(use_cache={cache})",
                partial(generate, **options, use_cache=cache),
            )
    else:
        shown = ", ".join(f"{name}={value}" for name, value in options.items())
        yield f"generate(ids, {shown})", partial(generate, **options)


def _method(model: Any) -> Callable[..., Any] | None:
    method = getattr(model, "generate", None)
    return method if callable(method) else None


def _function_beside(model: Any) -> Callable[..., Any] | None:
    """Find a function `generate` of models, in the module of the class of this one.

    One that cannot be told to leave nothing to chance is none.
    """
    for kind in type(model).__mro__:
        function = getattr(sys.modules.get(kind.__module__), "generate", None)
        if inspect.isfunction(function):
            generate = partial(function, model)
            return generate if _options(arguments(generate)) else None
    return None


def _options(known: Any) -> dict[str, Any]:
    """Choose arguments that leave nothing to chance."""
    found = next((name for name in _CERTAIN if name in known), None)
    return {} if found is None else {found: _CERTAIN[found]}


def _of_transformers(model: Any, *, padded: bool) -> Iterator[tuple[str, Writer]]:
    """Write with models of this library: any number of tokens, none of which ends."""
    model.generation_config.eos_token_id = None
    model.generation_config.pad_token_id = 0

    def write(ids: Tensor, cache: bool, padding: int) -> Tensor:
        before = ids.new_zeros(len(ids), padding)
        real = torch.cat([before, torch.ones_like(ids)], dim=1)
        text = model.generate(
            torch.cat([before, ids], dim=1),
            attention_mask=real,
            max_new_tokens=_NEW,
            do_sample=False,
            use_cache=cache,
        )
        return text[:, padding:]

    for cache in (True, False):
        yield f"generate(use_cache={cache})", partial(write, cache=cache, padding=0)
    if padded:
        yield "generate of padded texts", partial(write, cache=True, padding=2)
