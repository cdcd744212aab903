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
NONE = """kqv first mix gate norm embedding up_proj down_proj c_fc lm_head router
    queried keyed valuesq w1 qk_norm positions"""


@pytest.mark.parametrize(
    ("role", "name"),
    [
        (role, name)
        for role, names in {
            "packed": PACKED,
            "key_value": KEY_VALUE,
            "query": QUERY,
            "key": KEY,
            "value": VALUE,
            "out": OUT,
        }.items()
        for name in names.split()
    ],
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


def test_biases_and_gains_have_no_role() -> None:
    assert roles(named("q", "k", "v", "out", shape=(3,)), None) == {}
    assert roles(nn.Linear(2, 3), None) == {}


def test_the_weights_of_stacked_heads_have_one_role() -> None:
    one = nn.ModuleList([nn.ModuleDict({"q": nn.Linear(2, 3)}) for _ in range(3)])
    names = [f"heads.{n}.q.weight" for n in range(3)]
    assert roles(nn.ModuleDict({"heads": one}), None) == {"query": names}
    listed = nn.ModuleDict({"to_out": nn.Sequential(nn.Linear(2, 3), nn.Dropout())})
    assert roles(listed, None) == {"out": ["to_out.0.weight"]}


def test_one_weight_that_is_left_joins_the_heads() -> None:
    assert roles(named("q", "k", "v", "mix"), None)["out"] == ["mix"]
    assert roles(named("q", "k", "v", "mix", "out"), None)["out"] == ["out"]
    assert "out" not in roles(named("q", "k", "v", "mix", "more"), None)


def listed(count: int, name: str = "linears") -> nn.ModuleDict:
    layers = nn.ModuleList([nn.Linear(2, 3) for _ in range(count)])
    return nn.ModuleDict({name: layers})


def test_a_list_of_layers_is_read_in_its_order() -> None:
    order = {
        "query": ["linears.0.weight"],
        "key": ["linears.1.weight"],
        "value": ["linears.2.weight"],
    }
    four = order | {"out": ["linears.3.weight"]}
    assert roles(listed(4), None) == four
    three = listed(3)
    three["fc"] = nn.Linear(2, 3)
    assert roles(three, None) == order | {"out": ["fc.weight"]}
    bare = nn.ParameterDict(
        {"w": nn.ParameterList([torch.zeros(2, 3) for _ in range(4)])}
    )
    assert roles(bare, None) == {
        role: [f"w.{n}"] for n, role in enumerate(("query", "key", "value", "out"))
    }


@pytest.mark.parametrize("count", [2, 3, 5])
def test_a_list_of_another_length_says_nothing(count: int) -> None:
    assert roles(listed(count), None) == {}


def test_a_list_beside_names_says_nothing() -> None:
    module = listed(3)
    module["qkv"] = nn.Linear(2, 9)
    module["proj"] = nn.Linear(2, 3)
    assert [*roles(module, None)] == ["packed", "out"]


def test_two_lists_say_nothing() -> None:
    module = listed(2)
    module["others"] = nn.ModuleList([nn.Linear(2, 3), nn.Linear(2, 3)])
    assert roles(module, None) == {}


def test_what_has_no_role_is_listed() -> None:
    module = nn.ModuleDict(
        {
            "W_query": nn.Linear(2, 3),
            "norm": nn.LayerNorm(3),
            "first": nn.Linear(2, 3),
            "second": nn.Linear(2, 3, bias=False),
        }
    )
    assert without_role(module, roles(module, None)) == [
        "norm.weight",
        "norm.bias",
        "first.weight",
        "first.bias",
        "second.weight",
    ]
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
