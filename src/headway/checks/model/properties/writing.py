"""Text that a model writes."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor

from headway.checks.errors import at_the_border, describe, theirs
from headway.checks.limit import limited
from headway.checks.model.evidence import Evidence
from headway.checks.model.masks import Mask
from headway.checks.model.subject import Subject, config_value
from headway.checks.model.tolerance import logits_tolerance
from headway.checks.outcome import Outcome, failed, not_applicable, passed
from headway.checks.subject.signature import arguments
from headway.models.small_gpt import LanguageModel, generate

_NEW = 5  # tokens to write
_COUNTS = ("max_new_tokens", "length", "max_tokens", "n", "num_tokens", "steps")


def greedy(evidence: Evidence) -> Outcome:
    """Ask that greedy writing takes the likeliest token, with a cache and without."""
    subject = evidence.masking.subject.copy()
    if not subject.causal:
        return not_applicable("It is meant to see both sides.")
    ways = [*_writers(subject, evidence.masking.form)]
    if not ways:
        return not_applicable("It has no generate that is known here.")
    ids = evidence.ids[:2, : max(subject.T // 2, 1)]
    worst, asked, reasons = 0, 0, []
    for told, write in ways:
        try:
            wrong = _unlike(subject, write, ids)
        except theirs() as raised:
            reasons.append(f"{told} raised {describe(raised)}.")
            continue
        asked += 1
        if wrong:
            return failed(
                f"{told} does not write the likeliest token by the logits of the whole "
                f"text, from new token {wrong} on.",
                wrong,
            )
        worst = max(worst, _NEW)
    if not asked:
        return not_applicable(reasons[0])
    return passed("It writes the likeliest token each time.", worst)


Writer = Callable[[Tensor], Tensor]


@at_the_border
def _unlike(subject: Subject, write: Writer, ids: Tensor) -> int:
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


def _writers(subject: Subject, form: Mask | None) -> Iterator[tuple[str, Writer]]:
    """Give the ways to write greedily, with a cache and without."""
    model: Any = subject.target
    if isinstance(model, LanguageModel):
        for cache in (True, False):
            yield (
                f"generate(use_cache={cache})",
                partial(generate, model, length=_NEW, temperature=0.0, use_cache=cache),
            )
        return
    method = getattr(model, "generate", None)
    if not callable(method):
        return
    known = arguments(method)
    count = next((one for one in _COUNTS if one in known), None)
    transformers = config_value(model, "generation_config") is not None
    if transformers:
        yield from _of_transformers(model, padded=form is not None)
    elif count is not None:
        options = _options(known)
        told = "".join(f", {name}={value}" for name, value in options.items())
        yield (
            f"generate(ids, {count}={_NEW}{told})",
            partial(method, **{count: _NEW}, **options),
        )


def _options(known: Any) -> dict[str, Any]:
    """Choose arguments that leave nothing to chance."""
    if "do_sample" in known:
        return {"do_sample": False}
    if "top_k" in known:
        return {"top_k": 1}
    return {"temperature": 0.0} if "temperature" in known else {}


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
