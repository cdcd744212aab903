"""A text in pieces."""

from torch import Tensor

from headway.checks.core.cache_positions import cause_of_positions
from headway.checks.core.errors import describe, suppress_theirs, theirs
from headway.checks.core.outcome import (
    Cause,
    Outcome,
    failed,
    not_applicable,
    note,
    passed,
)
from headway.checks.core.tolerance import max_difference
from headway.checks.model.model_evidence import ModelEvidence, influence

Sizes = tuple[int, ...]
_ANEW = "they see the same tokens, so positions may begin anew with each piece"


def every_cut(evidence: ModelEvidence) -> Outcome:
    """Ask that a text in pieces gets what it gets at once, however it is cut."""
    protocol, reason, breaks = evidence.protocol
    options = evidence.subject.options
    if not evidence.subject.causal and options.cached is None and not options.caches:
        return not_applicable("It sees both sides, so each piece changes those before.")
    if protocol is None:
        if options.caches:
            return failed(f"{reason} Declared: caches=True.")
        if breaks and options.caches is not False:
            return failed(reason, mistakes=["cache-not-taken-back"])
        told = options.cached is not None
        return failed(reason) if told else not_applicable(reason)
    if options.caches is False:
        return _not_to_take_one(evidence)
    apart: dict[Sizes, float] = {}
    refused = ""
    for sizes in cuts(evidence.subject.T):
        try:
            rows = protocol.read(evidence.subject, evidence.ids, sizes)
        except theirs() as raised:
            refused = refused or f"Pieces of {_shown(sizes)} raised {describe(raised)}."
            continue
        apart[sizes] = max_difference(rows, evidence.logits)
    wrong = {one: far for one, far in apart.items() if far > evidence.tolerance}
    if wrong:
        cause = _cut(evidence, wrong)
        worst = max(wrong.values())
        return failed(cause.sentence, worst, mistakes=cause.mistakes)
    worst = max(apart.values())
    if refused:
        return note(f"Other pieces agree. {refused}", worst)
    return passed("A text in pieces gets what it gets at once.", worst)


def _not_to_take_one(evidence: ModelEvidence) -> Outcome:
    """Ask that what may be a cache does not bring the past along."""
    protocol = evidence.protocol[0]
    assert protocol is not None  # noqa: S101  # it was asked before
    T = evidence.subject.T
    rows = protocol.read(evidence.subject, evidence.ids, (T - 1, 1))
    if max_difference(rows, evidence.logits) > evidence.tolerance:
        return not_applicable("No cache was found that it takes.")
    return failed(
        f"With {protocol.text} a later call sees the past. Declared: caches=False."
    )


def cuts(T: int) -> list[Sizes]:
    """List ways to cut a text: single tokens, a long first piece, several long ones."""
    half = T // 2
    ways = [
        (1,) * T,
        (T - 1, 1),
        (half, *(1,) * (T - half)),
        (1, T - 1),
        (half, T - half),
        (*(2,) * half, *(1,) * (T % 2)),
        (T,),
    ]
    return [*dict.fromkeys(tuple(n for n in way if n) for way in ways)]


def _cut(evidence: ModelEvidence, wrong: dict[Sizes, float]) -> Cause:
    """Say which pieces go wrong, and so what is probably the matter."""
    first = min(wrong, key=len)
    if len(first) == 1:
        sentence = (
            "With an empty cache the whole text gets other logits than without one."
        )
        return Cause(sentence)
    single = any(len(sizes) > 1 and {*sizes[1:]} == {1} for sizes in wrong)
    several = any(len(sizes) > 1 and 1 not in sizes[1:] for sizes in wrong)
    which, same = f"Pieces of {_shown(first)}", ""
    if several and not single:
        which, same = "Pieces of several tokens", "single tokens do not"
    elif single and not several:
        which, same = "Single tokens", "longer pieces do not"
    sentence = f"{which} behind a cache get other logits than at once"
    reason, mistake = _cause(evidence, first, same)
    return Cause(f"{sentence}{', and ' * bool(same)}{same}: {reason}.", mistake)


def _cause(evidence: ModelEvidence, sizes: Sizes, same: str) -> Cause:
    """Compare who sees whom in pieces and at once."""
    protocol = evidence.protocol[0]
    assert protocol is not None  # noqa: S101  # it was asked before

    def read(ids: Tensor) -> Tensor:
        return protocol.read(evidence.subject, ids, sizes)

    in_pieces = (
        influence(evidence.subject, evidence.ids[:1], read)
        > evidence.same_order_tolerance
    )
    at_once = evidence.influence > evidence.same_order_tolerance
    if (in_pieces & ~at_once).any():
        return Cause(
            "they see later tokens of their piece, so no mask acts there",
            "cache-piece-unmasked",
        )
    if (at_once & ~in_pieces).any():
        return Cause(
            "they do not move with tokens before them, so what was kept is not read, "
            "or a mask hides it"
        )
    if same:
        reason = "they see the same tokens, so a branch computes something else"
        return Cause(reason)
    return _of_positions(evidence) or Cause(_ANEW)


def _of_positions(evidence: ModelEvidence) -> Cause | None:
    """Measure where new tokens stand, if not where the cache ends."""
    protocol, subject = evidence.protocol.protocol, evidence.subject
    assert protocol is not None  # noqa: S101  # it was asked before

    def at_once(length: int) -> Tensor:
        return subject(subject.ids(T=length))

    def in_pieces(past: int) -> Tensor:
        return protocol.read(subject, subject.ids(T=past + 1), (past, 1))

    with suppress_theirs():  # such as a text that is too long
        found = cause_of_positions(at_once, in_pieces, subject.context_length)
        return found and Cause(f"they {found.sentence}", found.mistake)
    return None


def _shown(sizes: Sizes) -> str:
    return f"{', '.join(map(str, sizes))} tokens"
