"""A text in pieces, and text that a model writes."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from headway.checks.errors import describe
from headway.checks.model.evidence import Evidence
from headway.checks.model.subject import Subject, config_value
from headway.checks.outcome import Outcome, failed, not_applicable, note, passed
from headway.checks.subject.signature import arguments
from headway.checks.tolerance import max_difference
from headway.models.small_gpt import LanguageModel, generate

_NEW = 5  # tokens to write
_COUNTS = ("max_new_tokens", "length", "max_tokens", "n", "num_tokens", "steps")


def every_cut(evidence: Evidence) -> Outcome:
    """Ask that a text in pieces gets what it gets at once, however it is cut."""
    protocol, reason = evidence.protocol
    if protocol is None:
        told = evidence.subject.options.cached is not None
        return failed(reason) if told else not_applicable(reason)
    apart: dict[tuple[int, ...], float] = {}
    refused = ""
    for sizes in cuts(evidence.subject.T):
        try:
            rows = protocol.read(evidence.subject, evidence.ids, sizes)
        except Exception as raised:  # whatever a reader's code may raise
            refused = refused or f"Pieces of {_shown(sizes)} raised {describe(raised)}."
            continue
        apart[sizes] = max_difference(rows, evidence.logits)
    wrong = {one: far for one, far in apart.items() if far > evidence.tolerance}
    if wrong:
        return failed(_cut(wrong, apart), max(wrong.values()))
    worst = max(apart.values())
    if refused:
        return note(f"Other pieces agree. {refused}", worst)
    return passed("A text in pieces gets what it gets at once.", worst)


def cuts(T: int) -> list[tuple[int, ...]]:
    """List ways to cut a text: single tokens, a long first piece, several long ones."""
    half = T // 2
    found = [
        (1,) * T,
        (T - 1, 1),
        (half, *(1,) * (T - half)),
        (1, T - 1),
        (half, T - half),
        (*(2,) * half, *(1,) * (T % 2)),
        (T,),
    ]
    return [*dict.fromkeys(tuple(n for n in one if n) for one in found)]


def _cut(
    wrong: dict[tuple[int, ...], float], apart: dict[tuple[int, ...], float]
) -> str:
    """Say which pieces go wrong, and so what is probably the matter."""
    first = min(wrong, key=len)
    if len(first) == 1:
        return "With an empty cache the whole text gets other logits than without one."
    chunks = {one for one in apart if any(n > 1 for n in one[1:])}
    if set(wrong) == chunks:
        return (
            "Pieces of several tokens behind a cache get other logits, single tokens "
            "do not: the mask of such a piece is not aligned with the last key, or "
            "its first token misses the one before."
        )
    if chunks and not chunks & set(wrong):
        return (
            "Single tokens behind a cache get other logits, longer pieces do not: a "
            "branch for one token does something else."
        )
    return (
        f"In pieces of {_shown(first)} a text gets other logits than at once: "
        "positions begin anew, or the cache keeps the wrong keys."
    )


def _shown(sizes: Sequence[int]) -> str:
    if len(sizes) > 4:
        return f"{', '.join(map(str, sizes[:3]))} ... tokens"
    return f"{', '.join(map(str, sizes))} tokens"


def writes(evidence: Evidence) -> Outcome:
    """Ask that greedy writing takes the likeliest token, with a cache and without."""
    subject = evidence.subject.copy()
    if not subject.causal:
        return not_applicable("It is meant to see both sides.")
    ways = [*_writers(subject)]
    if not ways:
        return not_applicable("It has no generate that is known here.")
    ids = evidence.ids[:2, : max(subject.T // 2, 1)]
    worst, asked, reasons = 0, 0, []
    for told, write in ways:
        try:
            wrong = _unlike(subject, write, ids, evidence.tolerance)
        except Exception as raised:  # whatever a reader's code may raise
            reasons.append(f"{told} raised {describe(raised)}.")
            continue
        asked += 1
        if wrong:
            return failed(
                f"{told} does not write the likeliest token, as logits of the whole "
                f"text have it, from new token {wrong} on.",
                wrong,
            )
        worst = max(worst, _NEW)
    if not asked:
        return not_applicable(reasons[0])
    return passed("It writes the likeliest token each time.", worst)


Writer = Callable[[Tensor], Tensor]


def _unlike(subject: Subject, write: Writer, ids: Tensor, limit: float) -> int:
    """Give the number of the first new token that is not the likeliest, or 0.

    Where two are all but equally likely, either is right.
    """
    with torch.no_grad():
        text = write(ids.clone())
    if text.shape[-1] == _NEW:
        text = torch.cat([ids, text], dim=-1)
    if text.shape != (len(ids), ids.shape[-1] + _NEW):
        raise TypeError(f"it wrote shape {tuple(text.shape)}")
    for step in range(_NEW):
        end = ids.shape[-1] + step
        logits = subject(text[:, :end])[:, -1]
        chosen = logits.gather(-1, text[:, end : end + 1])[:, 0]
        if bool((logits.amax(dim=-1) - chosen > limit).any()):
            return step + 1
    return 0


def _writers(subject: Subject) -> Iterator[tuple[str, Writer]]:
    """Give the ways to write greedily, with a cache and without."""
    model: Any = subject.target
    if isinstance(model, LanguageModel):
        for cache in (True, False):
            yield (
                f"generate(use_cache={cache})",
                lambda ids, cache=cache: generate(
                    model, ids, _NEW, temperature=0.0, use_cache=cache
                ),
            )
        return
    method = getattr(model, "generate", None)
    if not callable(method):
        return
    known = arguments(method)
    count = next((one for one in _COUNTS if one in known), None)
    transformers = config_value(model, "generation_config") is not None
    if transformers:
        yield from _of_transformers(model)
    elif count is not None:
        options = _greedy(known)
        told = "".join(f", {name}={value}" for name, value in options.items())
        yield (
            f"generate(ids, {count}={_NEW}{told})",
            lambda ids: method(ids, **{count: _NEW}, **options),
        )


def _greedy(known: Any) -> dict[str, Any]:
    """Choose arguments that leave nothing to chance."""
    if "do_sample" in known:
        return {"do_sample": False}
    if "top_k" in known:
        return {"top_k": 1}
    return {"temperature": 0.0} if "temperature" in known else {}


def _of_transformers(model: Any) -> Iterator[tuple[str, Writer]]:
    """Write with models of this library: any number of tokens, none of which ends."""
    model.generation_config.eos_token_id = None
    model.generation_config.pad_token_id = 0
    for cache in (True, False):
        yield (
            f"generate(use_cache={cache})",
            lambda ids, cache=cache: model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                max_new_tokens=_NEW,
                do_sample=False,
                use_cache=cache,
            ),
        )
