"""A check of a model: a subject, the evidence, all properties, and the report."""

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

from headway.checks.core.choosing import chosen
from headway.checks.core.declared_facts import OF_MODELS, declared
from headway.checks.core.expected import expect, refuse
from headway.checks.core.outcome import Outcome, not_applicable
from headway.checks.core.property import Property, row_of
from headway.checks.core.report import Fact, Origin, Report
from headway.checks.core.settings import isolated_settings
from headway.checks.core.signature import CallOption
from headway.checks.model.discover_model import discover_model
from headway.checks.model.memory import told_of_memory
from headway.checks.model.model_evidence import ModelEvidence
from headway.checks.model.model_subject import ModelOptions
from headway.checks.model.properties import PROPERTIES
from headway.checks.model.repeating import steady


def check_model(
    model: Callable[..., Any],
    *,
    vocab_size: int | None = None,
    context_length: int | None = None,
    causal: bool | None = None,
    call: CallOption | None = None,
    cached: CallOption | None = None,
    mask: str | None = None,
    positions: str | None = None,
    compile: bool | str = False,
    memory: float | None = None,
    facts: Mapping[str, Any] | None = None,
    expected: Mapping[str, str] | None = None,
    only: Collection[str] | None = None,
    skip: Collection[str] | None = None,
) -> Report:
    """Ask of any language model what must hold of one: token ids in, logits out.

    It works on copies, in 64 bits where the model can and has no more than 50 million
    numbers, else in 32 bits, or in its own 16 where only these fit into memory.
    Weights that are zero, or too small to show anything, are drawn anew in the copy;
    the original stays as it is. What is not declared is guessed or measured, and the
    report says which. What the caller has set, such as `no_grad`, is set aside; checks
    in several threads wait for each other.

    A model that reads one text and writes another is known by the name of its second
    argument, such as `tgt`: it gets a source of four tokens, and a mask of the target
    that hides the future where it takes one.

    Args:
        model: A module or a function that takes ids of shape (texts, tokens) and gives
            logits for each token: a tensor, the first part of a tuple, or an attribute
            `logits`.
        vocab_size: Number of different tokens, if no configuration or table of
            embeddings tells it.
        context_length: The largest number of tokens in a text.
        causal: Whether the future is to be hidden; it is, unless told otherwise, or
            unless the name is one of BERT's kin and no name in the code hides it.
        call: How to call it, if in no common way: an expression of `m`, `ids`, `mask`
            and `positions`, or a function of `(m, ids)`.
        cached: How to call it with a cache, if in no common way: an expression of `m`,
            `ids`, `past` and `start` that gives the logits and what to keep, or a
            function of these. `past` is `None` at first.
        mask: The name of the argument that tells padding, if it is no common one.
        positions: The name of the argument that tells positions, likewise.
        compile: Whether to compile it, too; a string names the backend.
        memory: How many gigabytes may be used on the device of the model, all that are
            free if it is not given. Five copies must fit; if they do in no type, an
            error says what they take, before anything is copied.
        facts: Any of `vocab_size`, `context_length`, `causal`, `call` and `cached`, and
            of `layout`, `masks` and `caches`, by name; a keyword of the same name goes
            before. The author of a class declares them once as its `attention_facts`.
        expected: The ids of properties that are known to fail, each with the reason.
            One that is expected to fail and does not is a failure. Where ids of
            mistakes follow, as in `"equation:no-scale"`, it is to name these and no
            others, and what it explains is expected with it.
        only: The ids of the properties to ask, all of them if it is not given.
        skip: The ids of properties to leave out.

    Returns:
        A report: one row for each property.

    Raises:
        ValueError: If the model cannot be called or does not fit into memory,
            `expected`, `only` or `skip` name a property that there is not, none is left
            to ask, or a fact is not known.

    Examples:
        >>> from headway import small_gpt
        >>> check_model(small_gpt()).ok
        True
    """
    refuse(expected, PROPERTIES)
    asked = chosen(PROPERTIES, only, skip)
    keywords = {
        "vocab_size": vocab_size,
        "context_length": context_length,
        "causal": causal,
        "call": call,
        "cached": cached,
    }
    declarations = declared(model, facts, keywords, OF_MODELS)
    options = ModelOptions(
        **declarations, mask=mask, positions=positions, compile=compile, memory=memory
    )
    with isolated_settings():
        evidence = ModelEvidence(steady(discover_model(model, options)))
        rows = [
            row_of(property_, partial(_outcome, property_, evidence))
            for property_ in asked
        ]
        known_facts = _facts(evidence)
    rows = expect(rows, expected)
    return Report(evidence.subject.name, known_facts, rows)


def _outcome(asked: Property[ModelEvidence], evidence: ModelEvidence) -> Outcome:
    if not evidence.finite and "not finite" not in asked.even_if:
        return not_applicable("Some logits are not finite, so they cannot be compared.")
    if evidence.leaks and "leaking" not in asked.even_if:
        return not_applicable("Logits see later tokens; fix this first.")
    return asked.ask(evidence)


def _facts(evidence: ModelEvidence) -> dict[str, Fact]:
    """Say what is taken for granted, and how each of it is known."""
    subject, options = evidence.subject, evidence.subject.options
    future = "hidden" if subject.causal else "seen"
    found = {
        "called": Fact(subject.call.text, _origin(options.call)),
        "future": Fact(future, _origin(options.causal)),
        "sizes": Fact(
            f"{subject.B} texts of {subject.T} tokens of {subject.vocab_size}"
        ),
        "type": Fact(f"{subject.dtype} on {subject.device}".removeprefix("torch.")),
    }
    if told := told_of_memory(subject.target, subject.dtype):
        found["memory"] = Fact(told)
    form = evidence.masking.form if evidence.finite else None
    if form is not None:
        said = f"{subject.call.names['mask']}, {form.meaning}"
        found["mask"] = Fact(said, _origin(options.masks, "measured"))
    protocol = evidence.protocol[0]
    if protocol is not None:
        found["cache"] = Fact(protocol.text, _origin(options.cached))
    if options.layout is not None:
        found["layout"] = Fact(options.layout, "declared")
    return found


def _origin(declared: Any, otherwise: Origin = "guessed") -> Origin:
    return otherwise if declared is None else "declared"
