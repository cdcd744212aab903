"""Properties of queries that ask other tokens than their own: cross-attention."""

import re
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from headway.checks.attention.evidence import Evidence
from headway.checks.attention.evidence.batched_changes import each_token_changed
from headway.checks.attention.evidence.influence import row_differences
from headway.checks.attention.oracle import match
from headway.checks.attention.oracle.computing import compute
from headway.checks.attention.oracle.recipe import Recipe
from headway.checks.attention.properties.cross_masks import masks_of_others
from headway.checks.attention.subject.calls import three_of
from headway.checks.attention.subject.cross_calls import (
    as_cross_attention,
    hands_over_values,
    names_another_text,
)
from headway.checks.core.errors import suppress_theirs
from headway.checks.core.names import read_names
from headway.checks.core.outcome import Outcome, failed, not_applicable, note, passed
from headway.checks.core.signature import arguments
from headway.checks.core.tolerance import max_difference, tolerance

_FOURIER = {"fft", "rfft", "ifft", "irfft"}
_FEATURE = re.compile(r"(^|_)(cov|var|std|sigma|imag|phase|pos|coords?)(_|$)")
_OF_ONE_TEXT = "It hides the future, so queries and keys are of the same text."


def others(evidence: Evidence) -> Outcome:
    """Ask that queries of one text see all of another, and nothing besides."""
    cross = evidence.cross_queries
    if cross is None:
        return not_applicable("It takes no other tokens for keys and values.")
    if _FOURIER & read_names(evidence.subject.target):
        return not_applicable("It compares two texts along their length, by an FFT.")
    beside = evidence.subject.call.filling.memory
    told = beside or names_another_text(evidence.subject)
    if evidence.causal and (cross.error or not told):
        return not_applicable(_OF_ONE_TEXT)
    if cross.error:
        return _raised(evidence)
    with torch.no_grad():
        if evidence.causal and not beside and (settled := _behind_a_mask(evidence)):
            return settled
        for ask in (
            _looks,
            _of_its_own,
            _sees_all,
            _of_values,
            _in_any_order,
            _equation,
            _masks,
        ):
            if wrong := ask(evidence):
                return wrong
    T, S = evidence.subject.T, cross.y.shape[1]
    return passed(f"{T} queries see all of {S} other tokens, and nothing else.", S)


def _raised(evidence: Evidence) -> Outcome:
    cross = evidence.cross_queries
    assert cross is not None  # noqa: S101  # for the types alone
    T, S = evidence.subject.T, cross.y.shape[1]
    call = evidence.subject.call
    guessed = call.must_convince or "x[..., :" in call.text  # features, such as places
    guessed = guessed or _is_of_features(evidence)
    if not cross.as_many or evidence.positions or evidence.one_length or guessed:
        return not_applicable(
            f"With other tokens for keys and values it raised {cross.error}."
        )
    if cross.refuses:
        return note(
            f"It takes as many keys as queries only: with {S} for {T} it raised "
            f"{cross.error}."
        )
    return failed(
        f"With {S} keys for {T} queries it raised {cross.error}: {_cause(evidence)}."
    )


def _is_of_features(evidence: Evidence) -> bool:
    """Ask whether the second argument is a feature of tokens, as a covariance is."""
    names = [*arguments(evidence.subject.target), "", ""]
    return _FEATURE.search(names[1]) is not None


@torch.no_grad()
def _cause(evidence: Evidence) -> str:
    """Say why keys must be as many as queries, by what moves a row if they are."""
    x, y = evidence.x, evidence.subject.tokens(seed=11)
    if not _other_queries_move(evidence, x, y):
        return "the number of queries is taken for that of keys"
    equal = y[:, :1].expand_as(y).contiguous()
    wrong = "values" if _other_queries_move(evidence, x, equal) else "keys"
    return f"{wrong} are made of the tokens of the queries"


def _other_queries_move(evidence: Evidence, x: Tensor, y: Tensor) -> float:
    """Give how far a row moves with the tokens of other queries."""
    versions = each_token_changed(x)
    moved = _moved(evidence, versions, [y] * len(versions))
    for s, rows in enumerate(moved):
        rows[:, s] = 0.0
    worst = float(moved.max())
    return worst if worst > evidence.same_order_tolerance else 0.0


def _moved(evidence: Evidence, x: Sequence[Tensor], y: Sequence[Tensor]) -> Tensor:
    """Give how far each row moves from the usual queries and the first of the keys."""
    usual = y[0] if len({id(one) for one in y}) == 1 else _tokens(evidence)[0]
    before = _ask(evidence, evidence.x, usual)
    if evidence.together:
        with suppress_theirs():  # it may take no larger batch
            rows = _ask(evidence, torch.cat([*x]), torch.cat([*y]))
            moved = row_differences(rows, before.repeat(len(x), 1, 1))
            return moved.unflatten(0, (len(x), -1))
    every = [_ask(evidence, *two) for two in zip(x, y, strict=True)]
    return torch.stack([row_differences(one, before) for one in every])


def _ask(evidence: Evidence, x: Tensor, *tokens: Tensor) -> Tensor:
    asking = as_cross_attention(evidence.subject, *tokens)
    assert asking is not None  # noqa: S101  # it was called before
    return asking(x)


def _tokens(evidence: Evidence) -> tuple[Tensor, Tensor]:
    cross = evidence.cross_queries
    assert cross is not None  # noqa: S101  # for the types alone
    return cross.y, cross.output


def _behind_a_mask(evidence: Evidence) -> Outcome | None:
    """Look whether the mask of the future acts between two texts as well.

    Where other tokens stand before those of the queries, these count too: then it is
    one text.
    """
    y, output = _tokens(evidence)
    if _other_queries_move(evidence, evidence.x, y):
        return not_applicable(_OF_ONE_TEXT)
    versions = each_token_changed(y)
    moved = _moved(evidence, [evidence.x] * len(versions), versions)
    seen = (moved.amax(dim=1) > evidence.same_order_tolerance).mT.cpu()
    if bool(seen.all()):
        return None
    if not torch.equal(seen, torch.ones_like(seen).tril()):
        return not_applicable(_OF_ONE_TEXT)
    return note(
        f"Query {len(output[0])} sees {len(output[0])} of {y.shape[1]} other tokens, "
        "and the first query one: the mask of the future acts between two texts as "
        "well. Where the others are a text of their own, no query should miss any."
    )


def _masks(evidence: Evidence) -> Outcome | None:
    """Ask what masks hide of the other tokens."""
    return masks_of_others(evidence, _tokens(evidence)[0])


def _looks(evidence: Evidence) -> Outcome | None:
    """Ask that the other tokens change anything."""
    y, output = _tokens(evidence)
    moved = max_difference(_ask(evidence, evidence.x, y.flip(2)), output)
    if moved > evidence.same_order_tolerance:
        return None
    return failed(
        "Other tokens for keys and values change nothing: they are made of the tokens "
        "of the queries.",
        mistakes=["keys-and-values-from-queries"],
    )


def _of_its_own(evidence: Evidence) -> Outcome | None:
    """Ask that a row moves with no other query, and with no other text."""
    y, output = _tokens(evidence)
    x = evidence.x
    if not _attends_to_its_own(evidence) and (
        worst := _other_queries_move(evidence, x, y)
    ):
        why = _cause(evidence)
        if evidence.subject.call.packing is not None:  # values are handed over
            why = "weights depend on other queries, as with a softmax over queries"
        return failed(
            "With other tokens for keys and values, a row still moves with the tokens "
            f"of other queries: {why}.",
            worst,
        )
    if len(x) > 1:
        changed = y.clone()
        changed[0] = y[-1].flip(-1) + 0.5
        moved = (_ask(evidence, x, changed) - output)[1:].abs().max()
        if float(moved) > evidence.same_order_tolerance:
            return failed("Keys of one text are seen from another.", float(moved))
    return None


def _attends_to_its_own(evidence: Evidence) -> bool:
    """Ask whether it is of two texts, each of which may see itself as well.

    A layer of a decoder is, and so is what gives rows for both of them.
    """
    subject = evidence.subject
    if subject.call.filling.memory:
        return True
    if subject.module is None or three_of(arguments(subject.target), guess=False):
        return False
    with torch.enable_grad():
        return len(subject.all_rows(evidence.x)) > 1


def _sees_all(evidence: Evidence) -> Outcome | None:
    """Ask that each of the other tokens moves each row."""
    y, _ = _tokens(evidence)
    versions = each_token_changed(y)
    moved = _moved(evidence, [evidence.x] * len(versions), versions)
    places = (moved.amax(dim=1) <= evidence.same_order_tolerance).nonzero().tolist()
    unseen = len(places)
    T, S = evidence.subject.T, y.shape[1]
    if unseen and not evidence.window:
        key, query = (n + 1 for n in places[0])
        return failed(
            f"Query {query} does not see key {key} of {S}; so in {unseen} of {T * S} "
            "places.",
            unseen,
        )
    return None


def _of_values(evidence: Evidence) -> Outcome | None:
    """Hand over keys and values that differ; equal values need no weights."""
    y, output = _tokens(evidence)
    if not hands_over_values(evidence.subject):
        return None
    values = _ask(evidence, evidence.x, y, y.flip(2))
    if max_difference(values, output) <= evidence.tolerance:
        return failed(
            "Other values change nothing: values are made of the tokens of the keys.",
            mistakes=["values-from-keys"],
        )
    meant = evidence.designs[0]
    weighs_one = meant.sinks is None and meant.normalize == "softmax"
    if evidence.positions or not weighs_one:
        return None
    equal = y[:, :1].expand_as(y).contiguous()
    one, other = (_ask(evidence, evidence.x, keys, equal) for keys in (y, y.flip(2)))
    worst = max_difference(one, other)
    if worst <= tolerance(one) or evidence.weights.without_role:
        return None
    return failed(
        "All values are equal, and a row moves with the keys: values are made of the "
        "tokens of the keys, or weights do not sum to one.",
        worst,
    )


def _in_any_order(evidence: Evidence) -> Outcome | None:
    """Ask that the order of the keys does not matter."""
    y, output = _tokens(evidence)
    worst = max_difference(_ask(evidence, evidence.x, y.flip(1)), output)
    if worst <= evidence.tolerance or evidence.positions or evidence.window:
        return None
    return failed(
        "The order of the other tokens matters, and no positions are inside: look at "
        "how the heads of keys and values are split.",
        worst,
    )


def _equation(evidence: Evidence) -> Outcome | None:
    """Compare with the equation, if it is what the same tokens get.

    Keys of the queries' own tokens are there for the oracle too, and are hidden.
    """
    near = match(evidence)
    plain = near.design.rotation is None and near.design.bias is None
    if near.weights is None or near.difference > evidence.tolerance or not plain:
        return None
    y, output = _tokens(evidence)
    S = y.shape[1]
    tokens = torch.cat([y, evidence.x], dim=1)
    hidden = torch.zeros(1, *[tokens.shape[1]] * 2, dtype=torch.float64)
    hidden[..., S:] = -torch.inf
    design = replace(near.design, bias=hidden.to(tokens.device))
    expected = compute(tokens, near.weights, False, Recipe(), design)[:, S:]
    worst = max_difference(expected, output)
    if worst <= evidence.tolerance:
        return None
    return failed(
        "It is what the equation gives for one text, and not for queries of one text "
        "and keys and values of another.",
        worst,
    )
