"""Weights of latent attention: each projection is two layers, one after the other."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import torch
from torch import Tensor, nn

_PATTERNS = {
    role: re.compile(words, re.IGNORECASE)
    for role, words in {
        "query_down": r"w?q_a(_proj)?|w_query_latent|w_?dq|(w_?)?q_down(_?proj)?"
        r"|down_q",
        "query": r"w?q_b(_proj)?|w_query|wq|q_proj|w_?uq|(w_?)?q_up(_?proj)?|up_q",
        "down": r"w?kv_a(_proj(_with_mqa)?)?|w_latent|w_?dkv|(w_?)?kv_down(_?proj)?"
        r"|down_kv",
        "key_rope": r"w_rope|w_?kr|(w_?)?k(ey)?_rope(_?proj)?|k_pe(_proj)?",
        "key": r"w?k_b(_proj)?|w_key|w_?uk|(w_?)?k_up(_?proj)?|up_k",
        "value": r"w?v_b(_proj)?|w_value|w_?uv|(w_?)?v_up(_?proj)?|up_v",
        "key_value": r"w?kv_b(_proj)?|(w_?)?kv_up(_?proj)?|up_kv",
        "out": r"w_?o|o_proj|out_proj|to_out|proj",
    }.items()
}


class Latent(NamedTuple):
    """Weights of queries, keys and values with a latent between, (out, d_in) each.

    What is rotated comes first in each head.

    Attributes:
        query: Makes the queries.
        key: Makes the keys; the part that is rotated is the same for all heads.
        value: Makes the values.
    """

    query: Tensor
    key: Tensor
    value: Tensor


def latent_roles(module: nn.Module) -> dict[str, list[str]]:
    """Give the names of the weights of latent attention; empty if it is none."""
    found: dict[str, list[str]] = {}
    for name, parameter in module.named_parameters():
        last = name.removesuffix(".weight").rpartition(".")[2]
        if parameter.ndim == 2:
            for role, pattern in _PATTERNS.items():
                if pattern.fullmatch(last):
                    found.setdefault(role, [name])
    up = "key_value" in found or {"key", "value"} <= found.keys()
    return found if up and {"query", "down"} <= found.keys() else {}


def latent_weights(
    module: nn.Module, named: Mapping[str, list[str]], heads: int
) -> Iterator[Latent]:
    """Multiply the two layers of each projection, if their shapes fit.

    Args:
        module: What has the weights.
        named: Their names by role.
        heads: Number of heads.
    """
    stored = dict(module.named_parameters())
    weight = {role: stored[one[0]].detach().double() for role, one in named.items()}
    up = weight.get("key_value", weight.get("key"))
    if up is None or up.shape[0] % heads or weight["query"].shape[0] % heads:
        return
    latent = weight["down"][: up.shape[1]]
    rope = weight.get("key_rope", weight["down"][up.shape[1] :])
    query = weight["query"].unflatten(0, (heads, -1))
    nope = query.shape[1] - len(rope)
    if "key_value" in weight:
        parts = up.unflatten(0, (heads, -1))
        key, value = parts[:, :nope], parts[:, nope:].flatten(0, 1)
    else:
        key, value = up.unflatten(0, (heads, -1)), weight["value"]
    if nope < 0 or key.shape[1] != nope or value.shape[1] != len(latent):
        return
    before = weight.get("query_down")
    query = torch.cat([query[:, nope:], query[:, :nope]], dim=1).flatten(0, 1)
    keys = [torch.cat([rope, one @ latent]) for one in key]
    yield Latent(
        query if before is None else query @ before, torch.cat(keys), value @ latent
    )
