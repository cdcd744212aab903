"""Which parameter plays which role, by its name."""

import re
from collections.abc import Mapping, Sequence

from torch import nn

from headway.checks.attention.evidence.weights.layouts import bias_of
from headway.checks.core.cannot_check import CannotCheckError

_BIAS = re.compile(
    r"(b|bias)_?(?P<after>[a-z]+(_[a-z]+)*)|(?P<before>[a-z]+(_[a-z]+)*?)_?(b|bias)",
    re.IGNORECASE,
)
ROLES = ("query", "key", "value", "out")
_BEGINNING = (
    r"(w(eight)?s?_?|to_?|c_|in_|attn_?|fc_?|linear_?|proj_?|lin_?|unify_?|cast_|make_"
    r"|map_|dense_?|layer_?|conv_?|self_?attn_?|self_|multi_head_|mha_|trans_?|mat_?)?"
)
_ENDING = (
    r"(_?proj(ection)?s?|_?projector|_?lin(ear)?s?|_?layers?|_?fc|_?w(eights?)?|_?nets?"
    r"|_?dense|_?conv(1d)?|_?mat(rix)?|_?kernel|_?map|_?trans(form)?|_?embed(ding)?"
    r"|_?emb|_?mlp|_?fn|_?heads?)?"
)
# A name that says what a layer is, and not what for: then its owner's name may tell.
_GENERIC = re.compile(
    r"linears?|lin|dense|layers?|proj(ection)?|fc\d?|conv(1d)?|net|w|kernel|mlp|linear_?1"
)
# Queries, keys and values as papers on images call them.
_LETTERS = (("theta", "phi", "g"), ("f", "g", "h"))
_WORDS = {
    "packed": "in_proj(ection)?|qkvs?|kqvs?|q_k_v|query_key_value|attn(?!_)",
    "key_value": "kvs?|k_v|key_value|keys_values",
    "query": "q|qs|query|queries|querys",
    "key": "k|ks|key|keys",
    "value": "v|vs|val|value|values",
    "out": "o|os|out|outs|output|proj|projection|heads|dense|final|wo|unify|combine"
    "|merge|(?<!c_)fc",
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
        if role := _role(parts):
            found.setdefault(role, []).append(name)
        else:
            rest.append(name)
    last = {name.removesuffix(".weight").rpartition(".")[2]: name for name in rest}
    for three in _LETTERS if not {*found} - {"out"} else ():
        if last.keys() >= {*three}:
            found |= {
                role: [last[one]] for role, one in zip(ROLES, three, strict=False)
            }
            rest = [name for name in rest if name not in {last[one] for one in three}]
            break
    if "out" not in found and len(rest) == 1:  # whatever it is called
        found["out"] = rest
    if not {"packed", "query", "key", "value"} & found.keys():
        found |= _in_order([role for role in ROLES if role not in found], rest)
    return found


def _role(parts: Sequence[str]) -> str | None:
    """Give the role that the last part of a name tells, or the part before it."""
    if len(parts) > 1 and _GENERIC.fullmatch(parts[-1]):
        for role, one in _PATTERNS.items():
            plain = parts[-2] != "attn" and role != "out"
            if plain and one.fullmatch(parts[-2]):
                return role
    matches = (role for role, one in _PATTERNS.items() if one.fullmatch(parts[-1]))
    return next(matches, None)


def biases_of_their_own(module: nn.Module) -> dict[str, str]:
    """Give the vectors whose names say that they are the bias of a role, by role."""
    found: dict[str, str] = {}
    for name, parameter in module.named_parameters():
        word = _BIAS.fullmatch(name.rpartition(".")[2])
        if word is None or parameter.squeeze().ndim > 2:
            continue
        role = _role([word["before"] or word["after"]])
        if role is not None:
            found.setdefault(role, name)
    return found


def without_role(module: nn.Module, named: Mapping[str, list[str]]) -> list[str]:
    """List the parameters that play no role."""
    known = {name for names in named.values() for name in names}
    known |= {bias_of(name) for name in known}
    if named:
        known |= {*biases_of_their_own(module).values()}
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
            raise CannotCheckError(
                f"weights must have keys among {', '.join(_PATTERNS)}; "
                f"got weights with {role!r}."
            )
        if name not in names:
            raise CannotCheckError(
                f"weights must name parameters; got weights with {name!r}."
            )
