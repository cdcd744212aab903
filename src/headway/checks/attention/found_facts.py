"""What a report says of the code: declared, guessed or measured."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from headway.checks.attention.evidence import Evidence
from headway.checks.attention.subject import Options
from headway.checks.core.report import Fact, Origin

# A declaration that a report shows under another name.
_SHOWN_AS = {
    "causal": "future",
    "call": "called",
    "num_heads": "heads",
    "d_in": "sizes",
    "context_length": "sizes",
}


def facts(evidence: Evidence) -> dict[str, Fact]:
    """Say what is taken for granted of the code, and how each of it is known."""
    subject, options = evidence.subject, evidence.subject.options
    found = {
        "called": Fact(subject.call.shown, _origin(options.call)),
        "future": evidence.future,
        "sizes": Fact(f"{subject.B} texts of {subject.T} tokens, {subject.d_in} wide"),
        "type": Fact(f"{subject.dtype} on {subject.device}".removeprefix("torch.")),
    }
    weights = evidence.weights.candidates
    if len({one.heads for one in weights}) == 1:  # and no guess
        chosen = subject.call.packing is not None and options.num_heads is None
        origin = "" if chosen else _origin(options.num_heads)
        found["heads"] = Fact(str(weights[0].heads), origin)
    if weights and weights[0].names:
        found["weights"] = Fact(weights[0].names, _origin(options.weights))
    if evidence.masks.obeyed:
        said = [f"{mask}, {mask.meaning}" for mask in evidence.masks.obeyed]
        found["masks"] = Fact("; ".join(said), _origin(options.masks, "measured"))
    if evidence.positions:
        found["positions"] = Fact("inside", "guessed")
    if evidence.window:
        found["window"] = Fact(str(evidence.window), "measured")
    return {**found, **declared_facts(options, found)}


def declared_facts(options: Options, found: Mapping[str, Fact]) -> dict[str, Fact]:
    """Say what is declared and is not shown yet.

    Args:
        options: What is declared.
        found: What is shown already.
    """
    told = {one.name: getattr(options, one.name) for one in fields(options)}
    return {
        name: Fact(_words(value), "declared")
        for name, value in told.items()
        if value is not None
        and name not in _SHOWN_AS
        and found.get(name, Fact("")).origin != "declared"
    }


def _origin(declared: Any, otherwise: Origin = "guessed") -> Origin:
    return otherwise if declared is None else "declared"


def _words(value: Any) -> str:
    """Put a value into words; a function is shown by its name."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, Mapping):
        return "; ".join(f"{name}, {one}" for name, one in value.items())
    if callable(value):
        return str(getattr(value, "__name__", "a function"))
    return str(value).strip()
