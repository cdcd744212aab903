"""Each weight gets the role that its name says, and a name that says none gets none."""

import pytest
import torch
from torch import nn

from headway.checks.attention.evidence.weights.roles import (
    first_layer_of_several,
    roles,
    without_role,
)
from tests.checks.support.asking import refused


def named(*names: str, shape: tuple[int, ...] = (2, 3)) -> nn.Module:
    """Make a module with matrices of these names."""
    module = nn.Module()
    for name in names:
        module.register_parameter(name, nn.Parameter(torch.zeros(shape)))
    return module


PACKED = """in_proj_weight in_proj in_projection qkv Wqkv W_qkv w_qkv qkv_proj to_qkv
    c_attn query_key_value attn qkv_layer fc_qkv linear_qkv attn_qkv qkv_net qkv_lin"""
KEY_VALUE = "kv to_kv kv_proj wkv key_value linear_kv"
QUERY = """q Q query queries W_query w_q wq w_qs W_Q q_proj to_q toqueries fc_q linear_q
    q_linear q_lin lin_q proj_q query_layer query_projection attn_q weight_q qweight
    in_q query_net q_dense q_fc"""
KEY = """k K key keys W_key w_k wk w_ks W_K k_proj to_k tokeys fc_k linear_k k_linear
    key_layer key_projection"""
VALUE = """v V value values W_value w_v wv w_vs W_V v_proj to_v tovalues fc_v linear_v
    v_linear value_layer value_projection"""
OUT = """o out output W_out out_proj o_proj wo W_o Wo W_O to_out c_proj proj projection
    fc_out fc_o fc linear_out out_linear output_linear output_layer dense dense_layer
    final unifyheads unify_heads proj_out out_projection attn_proj attn_out"""
NONE = """first mix gate norm embedding up_proj down_proj c_fc lm_head router
    queried keyed valuesq w1 qk_norm positions"""


ROLES = {
    "packed": PACKED,
    "key_value": KEY_VALUE,
    "query": QUERY,
    "key": KEY,
    "value": VALUE,
    "out": OUT,
}


@pytest.mark.parametrize(
    ("role", "name"),
    [(role, name) for role, names in ROLES.items() for name in names.split()],
)
def test_a_name_says_its_role(role: str, name: str) -> None:
    alone = named(name, "other", "third")
    assert roles(alone, None) == {role: [name]}
    module = named("other", "third")
    module.attention = nn.Module()
    module.attention.add_module(name, nn.Linear(2, 3))
    assert roles(module, None) == {role: [f"attention.{name}.weight"]}


@pytest.mark.parametrize("name", NONE.split())
def test_other_names_say_none(name: str) -> None:
    assert roles(named(name, "other", "third"), None) == {}


def linears(count: int) -> nn.ModuleList:
    return nn.ModuleList([nn.Linear(2, 3) for _ in range(count)])


def listed(count: int, **others: nn.Module) -> nn.ModuleDict:
    return nn.ModuleDict({"linears": linears(count), **others})


LINEAR, PACKED_LINEAR = nn.Linear(2, 3), nn.Linear(2, 9)
HEADS = nn.ModuleList([nn.ModuleDict({"q": nn.Linear(2, 3)}) for _ in range(3)])
BARE = nn.ParameterList([torch.zeros(2, 3) for _ in range(4)])
QKV = {"query": "q", "key": "k", "value": "v"}
LISTED = {
    "query": "linears.0.weight",
    "key": "linears.1.weight",
    "value": "linears.2.weight",
}
FOUND: dict[str, tuple[nn.Module, dict[str, str]]] = {
    "biases and gains": (named("q", "k", "v", "out", shape=(3,)), {}),
    "a name of no role": (nn.Linear(2, 3), {}),
    "stacked heads": (
        nn.ModuleDict({"heads": HEADS}),
        {"query": "heads.0.q.weight heads.1.q.weight heads.2.q.weight"},
    ),
    "a sequence": (
        nn.ModuleDict({"to_out": nn.Sequential(nn.Linear(2, 3), nn.Dropout())}),
        {"out": "to_out.0.weight"},
    ),
    # One weight that is left joins the heads.
    "one is left": (named(*"qkv", "mix"), QKV | {"out": "mix"}),
    "an output": (named(*"qkv", "mix", "out"), QKV | {"out": "out"}),
    "two are left": (named(*"qkv", "mix", "more"), QKV),
    # A list of layers is read in its order, if nothing beside it says more.
    "four layers": (listed(4), LISTED | {"out": "linears.3.weight"}),
    "three and a name": (listed(3, fc=LINEAR), LISTED | {"out": "fc.weight"}),
    "four parameters": (
        nn.ParameterDict({"w": BARE}),
        {"query": "w.0", "key": "w.1", "value": "w.2", "out": "w.3"},
    ),
    "two layers": (listed(2), {}),
    "three layers": (listed(3), {}),
    "five layers": (listed(5), {}),
    "a list beside names": (
        listed(3, qkv=PACKED_LINEAR, proj=LINEAR),
        {"packed": "qkv.weight", "out": "proj.weight"},
    ),
    "two lists": (listed(2, others=linears(2)), {}),
}


@pytest.mark.parametrize(("module", "found"), FOUND.values(), ids=FOUND)
def test_roles_are_found(module: nn.Module, found: dict[str, str]) -> None:
    assert roles(module, None) == {role: one.split() for role, one in found.items()}


def test_what_has_no_role_is_listed() -> None:
    parts = {"W_query": nn.Linear(2, 3), "norm": nn.LayerNorm(3)}
    parts |= {"first": nn.Linear(2, 3), "second": nn.Linear(2, 3, bias=False)}
    module = nn.ModuleDict(parts)
    left = "norm.weight norm.bias first.weight first.bias second.weight"
    assert without_role(module, roles(module, None)) == left.split()
    known = nn.MultiheadAttention(15, 5)
    assert without_role(known, roles(known, None)) == []


@pytest.mark.parametrize(
    ("named", "layer"),
    [
        ({}, None),
        ({"packed": ["qkv.weight"], "out": ["proj.weight"]}, None),
        ({"query": ["q", "k"], "out": ["o"]}, None),
        (
            {
                "packed": ["blocks.0.qkv.weight", "blocks.1.qkv.weight"],
                "out": ["blocks.0.proj.0.weight", "blocks.1.proj.0.weight"],
            },
            "blocks.0",
        ),
        (
            {
                "query": ["a.q.weight", "b.q.weight", "c.q.weight"],
                "out": ["b.out.weight", "c.out.weight"],
            },
            "b",
        ),
    ],
)
def test_the_first_of_several_layers_is_named(
    named: dict[str, list[str]], layer: str | None
) -> None:
    assert first_layer_of_several(named) == layer


ROLE = (
    "weights must have keys among packed, key_value, query, key, value, out; got "
    "weights with 'quary'."
)
NAME = "weights must name parameters; got weights with 'a'."


@pytest.mark.parametrize(
    ("given", "sentence"), [({"quary": "q"}, ROLE), ({"query": "a"}, NAME)]
)
def test_what_does_not_exist_is_refused(given: dict[str, str], sentence: str) -> None:
    with refused(sentence):
        roles(named("q", "k", "v"), given)
    assert roles(named("q", "k", "v"), {"query": "k"}) == {"query": ["k"]}


@pytest.mark.parametrize("letters", ["theta phi g", "f g h"])
def test_letters_of_papers_on_images_count_together(letters: str) -> None:
    first, second, third = names = letters.split()
    expected = {"query": [first], "key": [second], "value": [third]}
    assert roles(named(*names), None) == expected
    assert roles(named(*names, "last"), None) == {**expected, "out": ["last"]}
    assert "query" not in roles(named(*names[:2]), None)
    found = roles(named(*names, "query", "key", "value"), None)
    assert found["query"] == ["query"]
