"""Which parameter plays which role, by its name."""

import re
from collections.abc import Mapping

from torch import nn

from headway.checks.evidence.weights.layouts import bias_of

ROLES = ("query", "key", "value", "out")
_BEGINNING = r"(w(eight)?_?|to_?|c_|in_|attn_?|fc_?|linear_?|proj_?|lin_?|unify_?)?"
_ENDING = r"(_?proj(ection)?|_?lin(ear)?|_?layer|_?fc|_?weight|_?net|_?dense)?"
_WORDS = {
    "packed": "in_proj(ection)?|qkv|query_key_value|attn(?!_)",
    "key_value": "kv|key_value",
    "query": "q|qs|query|queries",
    "key": "k|ks|key|keys",
    "value": "v|vs|value|values",
    "out": "o|out|output|proj|projection|heads|dense|final|wo|(?<!c_)fc",
}
_PATTERNS = {
    role: re.compile(f"{_BEGINNING}({words}){_ENDING}", re.IGNORECASE)
    for role, words in _WORDS.items()
}


def roles(module: nn.Module, given: Mapping[str, str] | None) -> dict[str, list[str]]:
    """Give the names of the weights of each role; of stacked heads there are many.

    Args:
        module: What has the weights.
        given: The names by role, if the reader said them.

    Raises:
        ValueError: If the reader named a role or a weight that does not exist.
    """
    if given is not None:
        _refuse_unknown_names(module, given)
        return {role: [name] for role, name in given.items()}
    found: dict[str, list[str]] = {}
    rest = []
    for name, parameter in module.named_parameters():
        parts = [p for p in name.split(".") if not p.isdigit() and p != "weight"]
        if parameter.ndim < 2 or not parts:
            continue
        matches = (role for role, one in _PATTERNS.items() if one.fullmatch(parts[-1]))
        if role := next(matches, None):
            found.setdefault(role, []).append(name)
        else:
            rest.append(name)
    if "out" not in found and len(rest) == 1:  # whatever it is called
        found["out"] = rest
    if not {"packed", "query", "key", "value"} & found.keys():
        found |= _in_order([role for role in ROLES if role not in found], rest)
    return found


def without_role(module: nn.Module, named: Mapping[str, list[str]]) -> list[str]:
    """List the parameters that play no role."""
    known = {name for names in named.values() for name in names}
    known |= {bias_of(name) for name in known}
    return [name for name, _ in module.named_parameters() if name not in known]


def first_layer_of_several(named: Mapping[str, list[str]]) -> str | None:
    """Name the first layer of attention if there are several, one after the other."""
    ends = {_owner(name) for name in named.get("out", [])}
    begins = [_owner(n) for n in [*named.get("packed", []), *named.get("query", [])]]
    layers = [one for one in dict.fromkeys(begins) if one in ends]
    return layers[0] if len(layers) > 1 else None


def _owner(name: str) -> str:
    """Give the module that has a layer, of whose weight this is the name."""
    return re.sub(r"(^|\.)[^.]+(\.\d+)?(\.weight)?$", "", name)


def _in_order(missing: list[str], rest: list[str]) -> dict[str, list[str]]:
    """Take layers in a list of one name, such as `linears.0`, as they are counted."""
    lists = {re.sub(r"\.\d+(\.weight)?$", "", name) for name in rest}
    if len(lists) == 1 and len(missing) == len(rest):
        return {role: [name] for role, name in zip(missing, rest, strict=True)}
    return {}


def _refuse_unknown_names(module: nn.Module, given: Mapping[str, str]) -> None:
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
