"""Each weight gets the role that its name says, and a name that says none gets none."""

import pytest
import torch
from sizes import D_IN, E
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from headway.checks import check
from headway.checks.calling import Call
from headway.checks.naming import roles, unknown
from headway.checks.subject import Subject, Told


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


def subject_of(module: object) -> Subject:
    call = Call("m(x)", lambda m, x: m(x))
    told = Told(d_in=2)
    return Subject("it", module, call, 2, torch.float64, torch.device("cpu"), told)


def test_what_has_no_role_is_unknown() -> None:
    module = nn.ModuleDict(
        {
            "W_query": nn.Linear(2, 3),
            "norm": nn.LayerNorm(3),
            "first": nn.Linear(2, 3),
            "second": nn.Linear(2, 3, bias=False),
        }
    )
    assert unknown(subject_of(module)) == [
        "norm.weight",
        "norm.bias",
        "first.weight",
        "first.bias",
        "second.weight",
    ]
    assert unknown(subject_of(nn.MultiheadAttention(15, 5))) == []
    assert unknown(subject_of(torch.sigmoid)) == []


def test_a_weight_that_the_equation_does_not_have_excuses_a_difference() -> None:
    class Normed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.q, self.k, self.v = (nn.Linear(D_IN, E) for _ in range(3))
            self.norm = nn.LayerNorm(E)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return scaled_dot_product_attention(
                self.norm(self.q(x)), self.k(x), self.v(x)
            )

    (row, *_) = check(Normed(), causal=False).rows
    assert row.verdict == "not applicable"
    assert row.sentence == (
        "It has weights that the equation does not have: norm.weight."
    )
