"""Which parameter plays which role, by its name."""

import re
from collections.abc import Mapping

from torch import nn

from headway.checks.subject import Subject

ROLES = ("query", "key", "value", "out")
_ENDING = r"(_?proj(ection)?|_?lin(ear)?|_?layer|_?fc|_?weight|_?net|_?dense)?"
_PATTERNS = {
    "packed": r"(in_proj|w?_?qkv|c_attn|to_qkv|query_key_value|attn_qkv|kqv|attn)"
    + _ENDING,
    "query": r"(w_?|to_?|in_|fc_?|linear_?|proj_?|lin_?)?(q|query|queries)" + _ENDING,
    "key": r"(w_?|to_?|in_|fc_?|linear_?|proj_?|lin_?)?(k|key|keys)" + _ENDING,
    "value": r"(w_?|to_?|in_|fc_?|linear_?|proj_?|lin_?)?(v|value|values)" + _ENDING,
    "out": r"(w_?|to_?|c_|fc_?|linear_?|proj_?|lin_?|unify_?)?"
    r"(o|out|output|proj|heads|dense|final|wo)" + _ENDING,
}


def unknown(subject: Subject) -> list[str]:
    """List the parameters that play no role that is known."""
    if subject.module is None:
        return []
    named = roles(subject.module, subject.told.weights)
    known = {name for names in named.values() for name in names}
    known |= {bias_of(name) for name in known}
    return [name for name, _ in subject.module.named_parameters() if name not in known]


def roles(module: nn.Module, given: Mapping[str, str] | None) -> dict[str, list[str]]:
    """Give the names of the weights of each role; of stacked heads there are many."""
    if given is not None:
        return {role: [name] for role, name in _checked(module, given).items()}
    found: dict[str, list[str]] = {}
    rest = []
    for name, parameter in module.named_parameters():
        parts = [p for p in name.split(".") if not p.isdigit() and p != "weight"]
        if parameter.ndim < 2 or not parts:
            continue
        for role, pattern in _PATTERNS.items():
            if re.fullmatch(pattern, parts[-1], re.IGNORECASE):
                found.setdefault(role, []).append(name)
                break
        else:
            rest.append(name)
    if "out" not in found and len(rest) == 1:  # whatever it is called
        found["out"] = rest
    return found


def _checked(module: nn.Module, given: Mapping[str, str]) -> Mapping[str, str]:
    names = dict(module.named_parameters())
    for role, name in given.items():
        if role not in _PATTERNS:
            raise ValueError(
                f"weights must have keys among {', '.join(_PATTERNS)}; "
                f"got weights with {role!r}."
            )
        if name not in names:
            raise ValueError(
                f"weights must name parameters; got weights with {name!r}."
            )
    return given


def bias_of(name: str) -> str:
    """Give the name that the bias beside a weight has."""
    return (
        re.sub("weight$", "bias", name) if name.endswith("weight") else f"{name}.bias"
    )
