"""A check: a subject, the evidence, all properties, and the report."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, Literal

from headway.checks.attention.evidence import Evidence, gather
from headway.checks.attention.found_facts import facts as found_facts
from headway.checks.attention.oracle import choose_weights
from headway.checks.attention.properties import PROPERTIES
from headway.checks.attention.subject import Options, discover
from headway.checks.core.choosing import chosen
from headway.checks.core.declared_facts import declared
from headway.checks.core.expected import expect, refuse
from headway.checks.core.outcome import Outcome, not_applicable
from headway.checks.core.progress import tell, told
from headway.checks.core.property import Property, row_of
from headway.checks.core.report import Report, Row
from headway.checks.core.settings import isolated_settings
from headway.checks.core.signature import CallOption


def check(
    module_or_function: Callable[..., Any],
    *,
    d_in: int | None = None,
    context_length: int | None = None,
    num_heads: int | None = None,
    causal: bool | None = None,
    call: CallOption | None = None,
    weights: Mapping[str, str] | None = None,
    scale: float | None = None,
    normalize: str | None = None,
    rotary_base: float | None = None,
    window: int | Literal["none"] | None = None,
    cached: CallOption | None = None,
    half_precision: bool | None = None,
    facts: Mapping[str, Any] | None = None,
    expected: Mapping[str, str] | None = None,
    only: Collection[str] | None = None,
    skip: Collection[str] | None = None,
    strict: bool = False,
) -> Report:
    r"""Check what must hold of any attention code.

    It works on a copy, in 64 bits, with weights drawn anew, and leaves the original as
    it is. What is not declared is guessed or measured, and the report says which.
    What the caller has set, such as `no_grad`, is set aside, so that nothing of it is
    told of the code; checks in several threads wait for each other. The oracle is

    $$\operatorname{Attention}(Q, K, V)
    = \operatorname{softmax}\left(\frac{Q K^\top}{\sqrt{D}}\right) V$$

    with the weights found in the module, or the arguments of the function.

    Args:
        module_or_function: A module that is called with tokens of shape (texts, tokens,
            width), or with queries, keys and values; or a function of either.
        d_in: Width of the tokens. It must be given for a function of tokens.
        context_length: The largest number of tokens in a text.
        num_heads: Number of heads.
        causal: Whether the future is to be hidden. Tell it if no name in the code does:
            a mask that does nothing looks like attention without a mask.
        call: How to call it, if in no common way: an expression of `m`, `x` and `mask`,
            such as `"m(x, x, x, attn_mask=mask)[0]"`, or of `f`, `q`, `k`, `v` for a
            function; or a function of `(m, x)` or of `(f, q, k, v)`, whose tokens are
            of shape (texts, tokens, d_in) unless a `layout` is declared.
        weights: The names of the parameters that make `query`, `key`, `value` and
            `out`, or the first three at once, `packed`, if their names do not tell.
        scale: What scores are multiplied by, if it is not meant to be one over the root
            of the width of a head.
        normalize: What makes weights of scores, if it is not meant to be `"softmax"`:
            `"sigmoid"` or `"softmax plus one"`.
        rotary_base: The base of a rotation by positions, if no attribute tells it.
        window: How many of the latest keys a query is meant to see, itself included;
            `"none"` if there is no window.
        cached: How to call it with a cache, if in no common way: an expression of `m`,
            `x`, `past` and `start` that gives the rows and the cache.
        half_precision: Whether it is meant to run in 16 bits, as it is if all its
            parameters have 16. An error in them is a failure then, and else a note.
        facts: Any of these and all other facts, by name, such as
            `{"positions": "rotary"}`; a keyword of the same name goes before. The
            author of a class declares them once as its `attention_facts`, a dictionary
            or a method that gives one, before which all that is said here goes.
        expected: The ids of properties that are known to fail, each with the reason.
            One that is expected to fail and does not is a failure. Where ids of
            mistakes follow, as in `"equation:no-scale"`, it is to name these and no
            others, and what it explains is expected with it.
        only: The ids of the properties to ask, all of them if it is not given.
        skip: The ids of properties to leave out.
        strict: Whether a difference from the equation fails that is a note else, since
            a design is inside that may explain it, and nothing known here does.

    Returns:
        A report: one row for each property.

    Raises:
        ValueError: If the code cannot be called, `weights` names what it has not,
            `expected`, `only` or `skip` name a property that there is not, none is left
            to ask, or a fact is not known.

    Examples:
        >>> from torch.nn.functional import scaled_dot_product_attention
        >>> check(scaled_dot_product_attention).ok
        True
    """
    refuse(expected, PROPERTIES)
    asked = chosen(PROPERTIES, only, skip)
    keywords = {
        "d_in": d_in,
        "context_length": context_length,
        "num_heads": num_heads,
        "causal": causal,
        "call": call,
        "weights": weights,
        "scale": scale,
        "normalize": normalize,
        "rotary_base": rotary_base,
        "window": window,
        "cached": cached,
        "half_precision": half_precision,
    }
    options = Options(**declared(module_or_function, facts, keywords))
    with isolated_settings():
        subject = discover(module_or_function, options)
        tell("looking which token moves which row")
        evidence = gather(subject)
        tell("comparing with the equation")
        evidence = choose_weights(evidence)
        rows = ask(asked, evidence)
        known_facts = found_facts(evidence)
    rows = expect(rows, expected, strict=strict)
    return Report(subject.name, known_facts, rows)


def ask(properties: Sequence[Property[Evidence]], evidence: Evidence) -> list[Row]:
    """Ask whether properties hold; their order does not matter."""
    return [
        row_of(asked, partial(_outcome, asked, evidence))
        for asked in told(properties, lambda asked: asked.name)
    ]


def _outcome(asked: Property[Evidence], evidence: Evidence) -> Outcome:
    if evidence.repeats.random and "random" not in asked.even_if:
        return not_applicable("Its answers are random, so they cannot be compared.")
    return asked.ask(evidence)
