"""The weights of anybody's attention are found, however they are named and stored."""

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import linear, scaled_dot_product_attention

from headway.checks import check
from headway.checks.attention.evidence.weights import Projections, Weights, find_weights
from headway.checks.attention.found_facts import facts
from headway.checks.attention.subject import Options, Subject
from headway.checks.attention.subject.calls import Call
from tests.checks.support.asking import evidence_of, expect, rows_from, said
from tests.checks.support.attention_designs import merge
from tests.support.sizes import D_IN, B, D, E, H, T, V, draw

GROUPED = 6  # heads of queries, where two share the keys of one


def mix(
    q: Tensor, k: Tensor, v: Tensor, heads: int = H, *, scale: float | None = None
) -> Tensor:
    """Attend with heads that stand side by side; heads of few keys are repeated."""
    query = q.unflatten(-1, (heads, -1)).transpose(1, 2)
    groups = k.shape[-1] // query.shape[-1]
    key, value = (one.unflatten(-1, (groups, -1)).transpose(1, 2) for one in (k, v))
    key, value = (one.repeat_interleave(heads // groups, dim=1) for one in (key, value))
    rows = scaled_dot_product_attention(query, key, value, scale=scale)
    return rows.transpose(1, 2).flatten(2)


class Attend(nn.Module):
    """Attention with weights that a builder puts in, and uses as it says."""

    scale: float | None = None

    def __init__(
        self,
        project: Callable[[Any, Tensor], Sequence[Tensor]],
        join: Callable[[Any, Tensor], Tensor] | None = None,
        num_heads: int = H,
        **parts: Any,
    ) -> None:
        super().__init__()
        self.project, self.join = project, join
        self.num_heads = num_heads
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, x: Tensor) -> Tensor:
        three = self.project(self, x)
        rows = mix(*three, self.num_heads, scale=self.scale)
        return rows if self.join is None else self.join(self, rows)


def weight(*shape: int) -> nn.Parameter:
    return nn.Parameter(draw(*shape))


def linears(*names: str, d_in: int = D_IN, d_out: int = E) -> dict[str, nn.Linear]:
    return {name: nn.Linear(d_in, d_out) for name in names}


def layers(
    *names: str, d_in: int = D_IN, keys: int = E, heads: int = H, biased: bool = True
) -> Attend:
    """Three or four linear layers of these names."""
    three, out = names[:3], names[3:]
    wide = heads * D
    sizes = [(d_in, wide), (d_in, keys), (d_in, keys), (wide, V)]
    parts = {
        name: nn.Linear(*size, bias=biased)
        for name, size in zip(names, sizes, strict=False)
    }
    return Attend(
        lambda m, x: [getattr(m, one)(x) for one in three],
        (lambda m, rows: getattr(m, out[0])(rows)) if out else None,
        heads,
        **parts,
    )


def parameters(d_in: int, stored: str) -> Attend:
    """Matrices that are no layers, stored in either way."""
    shape = (d_in, E) if stored == "in, out" else (E, d_in)

    def project(m: Any, x: Tensor) -> list[Tensor]:
        three = (m.W_query, m.W_key, m.W_value)
        return [x @ (w if stored == "in, out" else w.mT) for w in three]

    return Attend(project, **{name: weight(*shape) for name in NAMED})


def square_queries_and_few_keys() -> Attend:
    """Queries fit both ways, keys one way: they must be turned alike."""
    wide = GROUPED * D
    shapes = {"wq": (wide, wide), "wk": (wide // 2, wide), "wv": (wide // 2, wide)}
    return Attend(
        lambda m, x: [linear(x, w) for w in (m.wq, m.wk, m.wv)],
        num_heads=GROUPED,
        **{name: weight(*shape) for name, shape in shapes.items()},
    )


def square_queries_and_wide_values() -> Attend:
    return Attend(
        lambda m, x: [x @ w for w in (m.wq, m.wk, m.wv)],
        wq=weight(E, E),
        wk=weight(E, E),
        wv=weight(E, H * V),
    )


NAMED = ("W_query", "W_key", "W_value")


class OneHead(nn.Module):
    def __init__(self, packed: bool) -> None:
        super().__init__()
        self.packed = packed
        parts = linears("qkv", d_out=3 * D) if packed else linears(*NAMED, d_out=D)
        for name, part in parts.items():
            setattr(self, name, part)

    def three(self, x: Tensor) -> Sequence[Tensor]:
        if self.packed:
            return self.qkv(x).chunk(3, dim=-1)
        return [getattr(self, name)(x) for name in NAMED]


def stacked(packed: bool, name: str = "heads") -> Attend:
    """A list of heads, each with weights of its own."""

    def project(m: Any, x: Tensor) -> list[Tensor]:
        three = zip(*(head.three(x) for head in getattr(m, name)), strict=True)
        return [torch.cat(parts, dim=-1) for parts in three]

    heads = nn.ModuleList([OneHead(packed) for _ in range(H)])
    return Attend(project, **{name: heads})


def side_by_side(name: str, out: str) -> Attend:
    """All queries, then all keys, then all values, of one layer."""
    return Attend(
        lambda m, x: getattr(m, name)(x).chunk(3, dim=-1),
        lambda m, rows: getattr(m, out)(rows),
        **{name: nn.Linear(D_IN, 3 * E), out: nn.Linear(E, V)},
    )


def head_by_head() -> Attend:
    """The query, the key and the value of the first head, then of the second."""

    def project(m: Any, x: Tensor) -> list[Tensor]:
        parts = m.query_key_value(x).unflatten(-1, (H, 3, D)).unbind(-2)
        return [part.flatten(-2) for part in parts]

    return Attend(project, query_key_value=nn.Linear(D_IN, 3 * E))


class Conv1D(nn.Module):
    """A linear layer that stores its matrix the other way round, as GPT-2 does."""

    def __init__(self, d_in: int, d_out: int) -> None:
        super().__init__()
        self.weight, self.bias = weight(d_in, d_out), weight(d_out)

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.weight + self.bias


def as_in_gpt2() -> Attend:
    """Square where it can be, so that only the name of the layer tells."""
    return Attend(
        lambda m, x: m.c_attn(x).chunk(3, dim=-1),
        lambda m, rows: m.c_proj(rows),
        c_attn=Conv1D(E, 3 * E),
        c_proj=Conv1D(E, E),
    )


def in_a_sequence() -> Attend:
    """The output is the first layer of several."""
    attend = layers("to_q", "to_k", "to_v")
    attend.to_out = nn.Sequential(nn.Linear(E, V), nn.Dropout(0.1))
    attend.join = lambda m, rows: m.to_out(rows)
    return attend


def keys_and_values_together(bias: bool) -> Attend:
    return Attend(
        lambda m, x: (m.to_q(x), *m.to_kv(x).chunk(2, dim=-1)),
        to_q=nn.Linear(D_IN, E, bias=bias),
        to_kv=nn.Linear(D_IN, 2 * E, bias=bias),
    )


AXES = {"i": D_IN, "h": H, "d": D, "e": V}


def einsum(three: str, out: str = "") -> Attend:
    """Weights of three axes, in the order of these letters."""
    parts = {f"w{name}": weight(*(AXES[one] for one in three)) for name in "qkv"}
    if out:
        parts["wo"] = weight(*(AXES[one] for one in out))

    def project(m: Any, x: Tensor) -> list[Tensor]:
        parts = (torch.einsum(f"bti,{three}->bthd", x, w) for w in (m.wq, m.wk, m.wv))
        return [part.flatten(2) for part in parts]

    def join(m: Any, rows: Tensor) -> Tensor:
        return torch.einsum(f"bthd,{out}->bte", rows.unflatten(2, (H, D)), m.wo)

    return Attend(project, join if out else None, **parts)


def convolutions() -> Attend:
    """A convolution of width one is a linear layer."""
    return Attend(
        lambda m, x: [c(x.mT).mT for c in (m.q, m.k, m.v)],
        **{name: nn.Conv1d(D_IN, E, 1) for name in "qkv"},
    )


def counted(out: str) -> Attend:
    """A list of three or four layers, without names."""
    three, last = [nn.Linear(D_IN, E) for _ in range(3)], nn.Linear(E, V)
    return Attend(
        lambda m, x: [layer(x) for layer in m.linears[:3]],
        lambda m, rows: (getattr(m, out) if out else m.linears[3])(rows),
        linears=nn.ModuleList(three if out else [*three, last]),
        **({out: last} if out else {}),
    )


def in_order(packed: Tensor, order: Sequence[str]) -> Sequence[Tensor]:
    """Take rows apart that have any order of parts, heads and numbers."""
    sizes = {"3": 3, "2": 2, "h": H, "d": D}
    [parts] = {*order} - {"h", "d"}
    places = [order.index(one) - 3 for one in (parts, "h", "d")]
    rows = packed.unflatten(-1, [sizes[one] for one in order])
    return rows.movedim(places, (0, -2, -1)).flatten(-2).unbind(0)


def ordered(order: Sequence[str]) -> Attend:
    """Rows of a packed weight in any order of three, heads and numbers."""
    return Attend(lambda m, x: in_order(m.qkv(x), order), qkv=nn.Linear(D_IN, 3 * E))


def keys_and_values_in_order(order: str) -> Attend:
    return Attend(
        lambda m, x: (m.to_q(x), *in_order(m.to_kv(x), order)),
        to_q=nn.Linear(D_IN, E),
        to_kv=nn.Linear(D_IN, 2 * E),
    )


def turned(rows: Tensor, order: str) -> Tensor:
    """Bring numbers of this order to head after head."""
    return rows if order == "hd" else rows.unflatten(-1, (D, H)).mT.flatten(-2)


def innermost_heads(three: str, merged: str) -> Attend:
    """The heads of each number stand beside each other."""

    def join(m: Any, rows: Tensor) -> Tensor:
        rows = rows.unflatten(-1, (H, D))
        return m.proj((rows if merged == "hd" else rows.mT).flatten(-2))

    return Attend(
        lambda m, x: [turned(one(x), three) for one in (m.q, m.k, m.v)],
        join,
        **linears(*"qkv"),
        proj=nn.Linear(E, V),
    )


def grouped(by_group: bool) -> Attend:
    """Queries, and fewer keys and values, of one layer."""
    groups = 2
    shared = GROUPED // groups

    def project(m: Any, x: Tensor) -> Sequence[Tensor]:
        rows = m.c_attn(x)
        if not by_group:
            return rows.split([GROUPED * D, groups * D, groups * D], dim=-1)
        parts = rows.unflatten(-1, (groups, shared + 2, D))
        return [one.flatten(-3) for one in parts.split([shared, 1, 1], dim=-2)]

    layer = nn.Linear(D_IN, (GROUPED + 2 * groups) * D)
    attend = Attend(project, None, GROUPED, c_attn=layer)
    attend.n_query_groups = groups
    return attend


def two_outputs() -> Attend:
    attend = layers("q", "k", "v", "out_proj")
    attend.proj = nn.Linear(V, D_IN)
    attend.join = lambda m, rows: m.proj(m.out_proj(rows))
    return attend


def owned() -> Attend:
    """The layer of each role stands in a module that has the name."""
    names = ("query", "key", "value")
    return Attend(
        lambda m, x: [getattr(m, one)["linear"](x) for one in names],
        lambda m, rows: m.output(rows),
        **{one: nn.ModuleDict(linears("linear")) for one in names},
        output=nn.Linear(E, V),
    )


def biases_apart() -> Attend:
    """A packed weight without bias, and biases of queries and values alone."""

    def project(m: Any, x: Tensor) -> Sequence[Tensor]:
        q, k, v = m.qkv(x).chunk(3, dim=-1)
        return q + m.q_bias, k, v + m.v_bias

    layer = nn.Linear(D_IN, 3 * E, bias=False)
    return Attend(project, qkv=layer, q_bias=weight(E), v_bias=weight(E))


def behind_a_layer(*, before: bool = True) -> Attend:
    """Each head has a matrix for its own part of what one layer makes of a token."""

    def project(m: Any, x: Tensor) -> list[Tensor]:
        x = (m.downproj(x) if before else x).unflatten(-1, (H, D))
        parts = (m.toqueries, m.tokeys, m.tovalues)
        return [torch.einsum("bthi,hij->bthj", x, one).flatten(2) for one in parts]

    names = ("toqueries", "tokeys", "tovalues")
    first = {"downproj": nn.Linear(D_IN, E, bias=False)} if before else {"d_in": E}
    return Attend(
        project,
        lambda m, rows: m.unify(rows),
        **{one: weight(H, D, D) for one in names},
        **first,
        unify=nn.Linear(E, V),
    )


NAMES = [
    "W_query W_key W_value",
    "W_query W_key W_value out_proj",
    "wq wk wv wo",
    "w_qs w_ks w_vs fc",
    "Wq Wk Wv Wo",
    "W_Q W_K W_V W_O",
    "weight_q weight_k weight_v weight_o",
    "q k v proj",
    "query key value dense",
    "queries keys values fc_out",
    "toqueries tokeys tovalues unifyheads",
    "fc_q fc_k fc_v fc_o",
    "q_linear k_linear v_linear out",
    "linear_q linear_k linear_v linear_out",
    "query_layer key_layer value_layer output_layer",
    "proj_q proj_k proj_v proj_o",
    "attn_q attn_k attn_v attn_proj",
    "query_projection key_projection value_projection projection",
    "q k v whatever",
]

SCHEMES: dict[str, Callable[[], Attend]] = {
    **{names: functools.partial(layers, *names.split()) for names in NAMES},
    "without biases": functools.partial(layers, *"qkvo", biased=False),
    "few keys": functools.partial(
        layers,
        *("q_proj", "k_proj", "v_proj", "o_proj"),
        keys=GROUPED // 2 * D,
        heads=GROUPED,
    ),
    "one key for all": functools.partial(
        layers, *("q_proj", "k_proj", "v_proj", "o_proj"), keys=D
    ),
    "parameters (in, out)": functools.partial(parameters, D_IN, "in, out"),
    "parameters (out, in)": functools.partial(parameters, D_IN, "out, in"),
    "square (in, out)": functools.partial(parameters, E, "in, out"),
    "square (out, in)": functools.partial(parameters, E, "out, in"),
    "square queries, few keys": square_queries_and_few_keys,
    "square queries, wide values": square_queries_and_wide_values,
    "stacked heads": functools.partial(stacked, packed=False),
    "stacked heads, packed": functools.partial(stacked, packed=True),
    "stacked in another list": functools.partial(stacked, packed=True, name="parts"),
    **{
        name: functools.partial(side_by_side, name, out)
        for name, out in {
            "in_proj": "out_proj",
            "qkv": "proj",
            "to_qkv": "to_out",
            "Wqkv": "Wo",
            "qkv_proj": "o_proj",
            "in_projection": "out_projection",
            "attn": "attn_out",
        }.items()
    },
    "head by head": head_by_head,
    "as in GPT-2": as_in_gpt2,
    "in a sequence": in_a_sequence,
    "keys and values together": functools.partial(keys_and_values_together, True),
    "together without biases": functools.partial(keys_and_values_together, False),
    "(H, in, D)": functools.partial(einsum, "hid", "hde"),
    "(in, H, D)": functools.partial(einsum, "ihd"),
    "(H, D, in)": functools.partial(einsum, "hdi", "ehd"),
    "convolutions": convolutions,
    **{
        f"rows as ({' '.join(order)})": functools.partial(ordered, order)
        for order in itertools.permutations("3hd")
    },
    "keys and values (h 2 d)": functools.partial(keys_and_values_in_order, "h2d"),
    "keys and values (d h 2)": functools.partial(keys_and_values_in_order, "dh2"),
    "heads innermost": functools.partial(innermost_heads, "dh", "hd"),
    "merged innermost": functools.partial(innermost_heads, "hd", "dh"),
    "both innermost": functools.partial(innermost_heads, "dh", "dh"),
    "packed for groups": functools.partial(grouped, by_group=False),
    "packed group by group": functools.partial(grouped, by_group=True),
    "two layers after each other": two_outputs,
    "owner's name": owned,
    "biases of their own": biases_apart,
    "behind a layer for whole tokens": behind_a_layer,
    "own part of a token": functools.partial(behind_a_layer, before=False),
    "four in a list": functools.partial(counted, ""),
    "three in a list": functools.partial(counted, "output_linear"),
}
every_scheme = pytest.mark.parametrize("make", SCHEMES.values(), ids=SCHEMES)


EQUATION = "equation"


@every_scheme
def test_the_weights_are_found_and_give_what_the_code_gives(
    make: Callable[[], Attend],
) -> None:
    attend = make()
    evidence = evidence_of(attend, causal=False)
    [row] = rows_from(evidence, EQUATION)
    verdict, sentence = row.verdict, row.sentence
    if make in (SCHEMES["heads innermost"], SCHEMES["merged innermost"]):
        assert verdict == "note"
        assert "merged in a different order than they are split" in sentence
    else:
        assert verdict == "passed"
    assert facts(evidence)["heads"].value == str(attend.num_heads)


@every_scheme
def test_the_weights_are_those_of_the_mistake_too(make: Callable[[], Attend]) -> None:
    """What is wrong is told by the same weights, so no other weights were taken."""
    attend = make()
    attend.scale = 1.0
    assert said(attend, EQUATION, causal=False) == (
        "failed",
        "It is exactly what comes out when scores are not scaled.",
    )


@pytest.mark.slow
@every_scheme
def test_all_properties_hold_of_each_scheme(make: Callable[[], Attend]) -> None:
    check(make(), causal=False).assert_ok()


def test_pytorchs_own_module_is_found() -> None:
    module = nn.MultiheadAttention(E, H, batch_first=True)
    evidence = evidence_of(module)
    assert rows_from(evidence, EQUATION)[0].verdict == "passed"
    shown = facts(evidence)
    assert shown["heads"].value == str(H)
    assert shown["weights"].value == "in_proj_weight, out_proj.weight"


@pytest.mark.parametrize("heads", [1, H, 17])
def test_the_number_of_heads_is_found_by_trying(heads: int) -> None:
    attend = layers("q", "k", "v", keys=heads * D, heads=heads)
    attend.forward = functools.partial(_forward, attend, heads)  # type: ignore[method-assign]
    del attend.num_heads
    assert said(attend, EQUATION, causal=False, call="m(x)")[0] == "passed"


@pytest.mark.parametrize("packed", [False, True])
def test_heads_are_counted_where_each_has_weights_of_its_own(packed: bool) -> None:
    attend = stacked(packed, name="parts")
    attend.forward = functools.partial(_forward, attend, H)  # type: ignore[method-assign]
    del attend.num_heads
    evidence = evidence_of(attend, causal=False, call="m(x)")
    assert rows_from(evidence, EQUATION)[0].verdict == "passed"
    assert facts(evidence)["heads"].value == str(H)


def _forward(m: Any, heads: int, x: Tensor) -> Tensor:
    return mix(*m.project(m, x), heads)


def test_heads_that_are_told_stand_above_those_found() -> None:
    attend = layers("q", "k", "v")
    assert said(attend, EQUATION, causal=False, num_heads=H)[0] == "passed"
    assert said(attend, EQUATION, causal=False, num_heads=3)[0] == "failed"
    assert facts(evidence_of(attend, num_heads=3))["heads"].value == "3"


# Names that do not tell


ODD = {"query": "a.weight", "key": "b.weight", "value": "c.weight", "out": "d.weight"}


@pytest.mark.parametrize("names", ["a b c", "a b c d"])
def test_odd_names_can_be_told(names: str) -> None:
    given = {role: one for role, one in ODD.items() if one[0] in names.split()}
    module = layers(*names.split())
    evidence = evidence_of(module, causal=False, weights=given)
    assert rows_from(evidence, EQUATION)[0].verdict == "passed"
    shown = facts(evidence)
    assert shown["weights"].value == ", ".join(given.values())


def test_packed_weights_can_be_told() -> None:
    weights = {"packed": "one.weight", "out": "two.weight"}
    attend = side_by_side("one", "two")
    assert said(attend, EQUATION, causal=False, weights=weights)[0] == "passed"


def test_too_few_weights_are_none() -> None:
    weights = {"query": "a.weight", "key": "b.weight"}
    attend = layers("a", "b", "c")
    assert said(attend, EQUATION, causal=False, weights=weights)[0] == "not applicable"


# Shapes


def shaped(query: int, key: int, value: int, heads: int, d_in: int = 2) -> Projections:
    q, k, v = (torch.zeros(rows, d_in) for rows in (query, key, value))
    return Projections(q, k, v, None, {}, heads, "")


@pytest.mark.parametrize(
    ("query", "key", "value", "heads", "fits"),
    [
        (15, 15, 15, 5, True),
        (15, 15, 35, 5, True),
        (18, 9, 9, 6, True),
        (18, 3, 7, 6, True),
        (18, 9, 10, 6, False),  # three heads of keys, and ten rows of values
        (15, 15, 15, 4, False),
        (18, 12, 12, 6, False),  # six heads cannot share four
        (18, 10, 9, 6, False),
        (15, 1, 1, 5, False),
    ],
)
def test_shapes_fit_or_they_do_not(
    query: int, key: int, value: int, heads: int, fits: bool
) -> None:
    assert shaped(query, key, value, heads).fits is fits


def test_all_three_act_on_tokens_of_one_width() -> None:
    q, other = torch.zeros(E, D_IN), torch.zeros(E, D_IN + 2)
    assert Projections(q, q, q, None, {}, H, "").fits
    assert not Projections(q, other, q, None, {}, H, "").fits
    assert not Projections(q, q, other, None, {}, H, "").fits


def test_a_packed_weight_that_is_no_three_is_left_out() -> None:
    class Two(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.qkv = nn.Linear(D_IN, 2 * E)

        def forward(self, x: Tensor) -> Tensor:
            return self.qkv(x)

    assert find_weights(subject_of(Two(), num_heads=4)).candidates == ()


def test_of_very_many_readings_the_first_are_kept() -> None:
    module = nn.ParameterDict({f"part_{n}": weight(12, 12) for n in range(8)})
    found = find_weights(subject_of(module, 12)).candidates
    assert len(found) == 400
    assert not any(one.certain for one in found)
    assert found[0].names.startswith("part_0, part_1, part_2")


def subject_of(module: Any, d_in: int = D_IN, **given: Any) -> Subject:
    call = Call("m(x)", lambda m, x: m(x))
    place = torch.device("cpu")
    return Subject("it", module, call, d_in, torch.float64, place, Options(**given))


def test_a_function_of_tokens_has_no_weights() -> None:
    assert find_weights(subject_of(torch.sigmoid)) == Weights()


@pytest.mark.parametrize(
    ("parts", "heads", "names"),
    [
        ({one: nn.Linear(D, D) for one in "qkv"}, H, "q.weight, k.weight, v.weight"),
        ({"qkv": nn.Linear(D, 3 * D)}, H, "qkv.weight"),
        ({one: nn.Linear(E, E) for one in "qkv"}, H, ""),
        ({"other": nn.Linear(D, D), "third": nn.Linear(D, D)}, H, ""),
        ({one: nn.Linear(E, E) for one in "qkv"}, 1, ""),
        ({one: nn.Linear(D, D) for one in "qkv"}, H - 1, ""),
    ],
)
def test_a_layer_for_a_part_of_a_token_may_be_shared_by_all_heads(
    parts: Mapping[str, nn.Module], heads: int, names: str
) -> None:
    module = nn.ModuleDict(parts)
    small = find_weights(subject_of(module, E, num_heads=heads)).small
    assert {one.names for one in small} == ({names} if names else set())
    if names:
        own = dict(module.named_parameters())[names.partition(",")[0]][:D]
        expected = torch.block_diag(*[own.detach().double()] * H)
        assert any(torch.equal(one.query, expected) for one in small)


def test_keys_may_be_read_from_the_first_numbers_of_a_token() -> None:
    module = nn.ModuleDict({"q": nn.Linear(E, E)})
    module.update({one: nn.Linear(D - 1, E) for one in "kv"})
    text = f"m(x, x[..., :{D - 1}])"
    call = Call(text, lambda m, x: m["q"](x) + m["k"](x[..., : D - 1]))
    place = torch.device("cpu")
    subject = Subject("it", module, call, E, torch.float64, place, Options(num_heads=H))
    expected = torch.zeros(E, E, dtype=torch.float64)
    expected[:, : D - 1] = module["k"].weight.detach()
    found = find_weights(subject).candidates
    assert any(torch.equal(one.key, expected) for one in found)


def test_mix_is_attention_of_each_head_alone() -> None:
    """The measure of this file, measured by a loop over heads."""
    q, k, v = draw(B, T, E), draw(B, T, E), draw(B, T, H * V)
    alone = [
        scaled_dot_product_attention(
            q[..., h * D : h * D + D],
            k[..., h * D : h * D + D],
            v[..., h * V : h * V + V],
        )
        for h in range(H)
    ]
    torch.testing.assert_close(mix(q, k, v), torch.cat(alone, dim=-1))


def test_queries_are_read_in_the_layout_of_the_keys_beside_values() -> None:
    module = nn.ParameterDict({"q": weight(E, E), "kv": weight(E, 2 * E)})
    found = find_weights(subject_of(module, E, num_heads=H)).candidates
    [certain] = [one for one in found if one.certain]
    assert found[0] is certain
    assert torch.equal(certain.query, module["q"].detach().T)


@pytest.mark.parametrize("name", ["kqv", "to_vkq", "qkv"])
def test_a_name_tells_the_order_of_packed_weights(name: str) -> None:
    class Packed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.num_heads = 3
            setattr(self, name, nn.Linear(15, 45))

        def forward(self, x: Tensor) -> Tensor:
            parts = getattr(self, name)(x).chunk(3, dim=-1)
            named = dict(zip(name[-3:], parts, strict=True))
            q, k, v = (
                named[one].unflatten(-1, (3, 5)).transpose(1, 2) for one in "qkv"
            )
            return merge(scaled_dot_product_attention(q, k, v))

    words = "It is what the equation gives in 64 bits."
    expect(Packed(), EQUATION, "passed", words)


class Joining(nn.Module):
    """Heads have weights of their own, and one value that is as wide as they all."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(E, E) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        split = (one(x).unflatten(-1, (H, D)) for one in (self.query, self.key))
        query, key = (one.transpose(1, 2) for one in split)
        return self.join((query @ key.mT).softmax(-1)) @ self.value(x)

    def join(self, weights: Tensor) -> Tensor:
        raise NotImplementedError


class OfMeans(Joining):
    def join(self, weights: Tensor) -> Tensor:
        return weights.mean(1)


class OfTheLargest(Joining):
    def join(self, weights: Tensor) -> Tensor:
        return weights.amax(1)


def test_a_wide_value_may_be_of_all_heads_where_a_mean_is_taken() -> None:
    def averaged(module: nn.Module) -> list[Projections]:
        found = find_weights(subject_of(module, E, num_heads=H)).candidates
        return [one for one in found if one.averaged]

    [one] = averaged(OfMeans())
    assert one.value.shape == (H * E, E)
    assert one.out is not None
    assert one.out.shape == (E, H * E)
    assert averaged(OfTheLargest()) == []
