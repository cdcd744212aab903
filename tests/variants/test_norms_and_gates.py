"""QK-norm and where it stands, gates on heads, and differential attention."""

import copy
import itertools
import math
import re

import pytest
import torch
from torch import Tensor, nn

from headway import (
    CrossAttention,
    DifferentialAttention,
    GatedAttention,
    GroupedQueryAttention,
    KeyValueCache,
    MultiHeadAttention,
    PagedCache,
    PagePool,
    QKNorm,
    RingCache,
    Rotary,
    TransformerBlock,
    add_qk_norm,
    attention,
    attention_weights,
    causal_mask,
    differential_attention,
    fused_attention,
    halves_to_neighbours_weight,
    lambda_init,
    merge_heads,
    padding_mask,
    pairs_to_halves,
    repeat_heads,
    split_heads,
)
from tests.support.compare import close
from tests.support.random_inputs import (
    BROADCAST,
    EVERY_LEADING,
    EVERY_MASK,
    mask_of,
    qkv,
)
from tests.support.sizes import CONTEXT, D_IN, B, D, E, H, S, T, V, draw

WIDTH = 6  # of a head, where it must be even
HEADS, GROUPS = 6, 2
TINY = 1e-30  # an epsilon that adds nothing


def rms(vector: list[float], eps: float) -> float:
    return math.sqrt(eps + sum(a * a for a in vector) / len(vector))


def normed(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """Bring vectors to one size, one number at a time."""
    rows = []
    for vector in x.reshape(-1, x.shape[-1]).tolist():
        size = rms(vector, eps)
        row = zip(vector, weight.tolist(), strict=True)
        rows.append([a / size * g for a, g in row])
    return torch.tensor(rows, dtype=torch.float64).reshape(x.shape)


def table(query: Tensor, key: Tensor, allowed: Tensor, scale: float) -> list:
    """Compute weights of one head, one number at a time; nothing seen is all zero."""
    rows = []
    for t, q in enumerate(query.tolist()):
        powers = [
            math.exp(scale * sum(a * b for a, b in zip(q, k, strict=True))) * seen
            for k, seen in zip(key.tolist(), allowed[t].tolist(), strict=True)
        ]
        total = sum(powers)
        rows.append([power / total if total else 0.0 for power in powers])
    return rows


def difference(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    lam: float,
    allowed: Tensor,
    scale: float | None = None,
) -> Tensor:
    """Subtract two tables, one number at a time."""
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    tables = [table(query[i], key[i], allowed, scale) for i in range(2)]
    weights = torch.tensor(
        [
            [a - lam * b for a, b in zip(*rows, strict=True)]
            for rows in zip(*tables, strict=True)
        ],
        dtype=torch.float64,
    )
    return weights @ value


def module(kind: type[nn.Module] = MultiHeadAttention, **options) -> nn.Module:
    if kind is GroupedQueryAttention:
        options = {"num_kv_heads": GROUPS} | options
    made = kind(D_IN, HEADS * WIDTH, CONTEXT, 0.0, HEADS, **options).double()
    return made


def jostle(made: nn.Module) -> nn.Module:
    """Draw weights for norms, which are ones at first and hide a wrong order."""
    for name, weight in made.named_parameters():
        if "norm" in name:
            nn.init.uniform_(weight, 0.3, 1.9)
    return made


BOTH = pytest.mark.parametrize("kind", [MultiHeadAttention, GroupedQueryAttention])


# QK-norm.


@EVERY_LEADING
def test_qk_norm_equals_the_loops(leading) -> None:
    query, key, value = qkv(leading)
    attend = jostle(QKNorm(D, eps=0.01).double())
    q = normed(query, attend.query_norm.weight, 0.01)
    k = normed(key, attend.key_norm.weight, 0.01)
    close(attend(query, key, value), attention(q, k, value))


@pytest.mark.parametrize(("leading", "kind"), EVERY_MASK)
def test_qk_norm_hands_everything_on(leading, kind) -> None:
    query, key, value = qkv(leading)
    given = {
        "mask": mask_of(kind, leading),
        "bias": draw(*leading, T, S),
        "causal": True,
        "scale": 0.7,
    }
    attend = jostle(QKNorm(D).double())
    q, k = attend.query_norm(query), attend.key_norm(key)
    close(attend(query, key, value, **given), attention(q, k, value, **given))


def test_qk_norm_drops_weights_and_takes_any_attention() -> None:
    heard = {}

    def listen(query, key, value, **options):
        heard.update(options)
        return fused_attention(query, key, value, **options)

    QKNorm(D, attend=listen, dtype=torch.float64)(*qkv(()), dropout_p=0.25)
    assert heard["dropout_p"] == 0.25


def test_a_query_and_a_key_by_eye() -> None:
    """(1, 7) has the size 5: 50 / 2 is 25."""
    attend = QKNorm(2, eps=TINY, affine=False)
    query = torch.tensor([[1.0, 7.0]], dtype=torch.float64)
    key = torch.tensor([[1.0, 7.0], [7.0, 1.0]], dtype=torch.float64)
    expected = torch.tensor([[0.04 + 1.96, 0.28 + 0.28]], dtype=torch.float64).softmax(
        dim=-1
    )
    for loud in (1, 10, 1000):
        everything = torch.eye(2).double()
        found = attend(loud * query, key, everything, scale=1.0)
        close(found, expected)


@pytest.mark.parametrize("affine", [True, False])
def test_rescaling_changes_nothing(affine) -> None:
    query, key, value = qkv((B, H))
    attend = jostle(QKNorm(D, eps=TINY, affine=affine).double())
    before = attend(query, key, value)
    louder = draw(B, H, T, 1).abs() + 0.1, draw(B, H, S, 1).abs() + 0.1
    close(attend(query * louder[0], key * louder[1], value), before)
    plain = attention(query * louder[0], key * louder[1], value)
    assert (plain - attention(query, key, value)).abs().max() > 0.1


@pytest.mark.parametrize("across_heads", [False, True])
@BOTH
def test_rescaling_the_tokens_changes_no_weight(kind, across_heads) -> None:
    """Values still grow, and so does what comes out, by the same factor."""
    made = jostle(add_qk_norm(module(kind), across_heads=across_heads, eps=TINY))
    nn.init.zeros_(made.out_proj.bias)
    x = draw(B, T, D_IN)
    close(made(1000 * x), 1000 * made(x), 1e-9)


def test_no_score_exceeds_the_root_of_the_width() -> None:
    query, key, _ = (1000 * x for x in qkv((B, H)))
    heard = {}

    def listen(query, key, value, **options):
        heard["scores"] = query @ key.mT / math.sqrt(D)
        return value[..., :1, :].expand(*query.shape[:-1], -1)

    QKNorm(D, affine=False, attend=listen)(query, key, key)
    assert heard["scores"].abs().max() <= math.sqrt(D) + 1e-12
    assert heard["scores"].abs().max() > 0.9 * math.sqrt(D)


def test_a_vector_of_zeros_has_a_gradient() -> None:
    query, key, value = (x.requires_grad_() for x in qkv(()))
    with torch.no_grad():
        query[1] = key[2] = 0.0
    QKNorm(D).double()(query, key, value).square().sum().backward()
    assert all(leaf.grad.isfinite().all() for leaf in (query, key, value))


@pytest.mark.parametrize("across_heads", [False, True])
@pytest.mark.parametrize("bias", [False, True])
@BOTH
def test_added_norms_equal_the_loops(kind, bias, across_heads) -> None:
    """Norm, then turn, then attend; values are not normalised."""
    rotate = Rotary(WIDTH)
    plain = module(kind, qkv_bias=bias, rotate=rotate)
    made = jostle(
        add_qk_norm(copy.deepcopy(plain), across_heads=across_heads, eps=0.01)
    )
    x, groups = draw(B, T, D_IN), GROUPS if kind is GroupedQueryAttention else HEADS
    turned = []
    for layer, heads in (("W_query", HEADS), ("W_key", groups)):
        vectors = plain.get_submodule(layer)(x)
        weight = made.get_submodule(layer).norm.weight
        if across_heads:
            vectors = split_heads(normed(vectors, weight, 0.01), heads)
        else:
            vectors = normed(split_heads(vectors, heads), weight, 0.01)
        turned.append(rotate(vectors, torch.arange(T)))
    query, key = turned
    key, value = (
        repeat_heads(y, HEADS // groups)
        for y in (key, split_heads(plain.W_value(x), groups))
    )
    found = merge_heads(attention(query, key, value, causal=True))
    close(made(x), plain.out_proj(found))
    assert (made(x) - plain(x)).abs().max() > 0.01


def test_heads_together_may_differ_in_size_and_heads_alone_may_not() -> None:
    alone, together = (
        add_qk_norm(module(), across_heads=across, eps=TINY) for across in (False, True)
    )
    sizes = []
    for made in (alone, together):
        with torch.no_grad():
            made.W_query.weight[:WIDTH] *= 9.0  # a loud first head
        query = split_heads(made.W_query(draw(T, D_IN)), HEADS)
        sizes.append(query.square().mean(dim=-1))  # heads, tokens
    close(sizes[0], torch.ones(HEADS, T).double())
    close(sizes[1].mean(dim=0), torch.ones(T).double())
    assert (sizes[1][0] > 2).all()
    assert (sizes[1][1:] < 1).all()


def turned(halves: bool) -> tuple[Tensor, nn.RMSNorm, Rotary, Tensor]:
    x, norm = draw(B, H, T, WIDTH), nn.RMSNorm(WIDTH, 1e-6).double()
    rotate, positions = Rotary(WIDTH, halves=halves), torch.arange(T)
    return x, norm, lambda y: rotate(y, positions), positions


@pytest.mark.parametrize("halves", [False, True])
def test_a_norm_and_a_rotation_commute_without_weights(halves) -> None:
    x, norm, rotate, _ = turned(halves)
    close(norm(rotate(x)), rotate(norm(x)), 5e-15)


@pytest.mark.parametrize("halves", [False, True])
def test_they_commute_with_weights_equal_in_each_pair(halves) -> None:
    x, norm, rotate, _ = turned(halves)
    weight = torch.tensor([0.4, 0.4, 1.5, 1.5, 2.0, 2.0], dtype=torch.float64)
    with torch.no_grad():
        norm.weight.copy_(pairs_to_halves(weight) if halves else weight)
    close(norm(rotate(x)), rotate(norm(x)), 5e-15)


@pytest.mark.parametrize("halves", [False, True])
def test_they_do_not_with_weights_of_their_own(halves) -> None:
    x, norm, rotate, _ = turned(halves)
    weight = torch.tensor([0.4, 1.5, 2.0, 0.4, 1.5, 2.0], dtype=torch.float64)
    with torch.no_grad():
        norm.weight.copy_(pairs_to_halves(weight) if halves else weight)
    assert (norm(rotate(x)) - rotate(norm(x))).abs().max() > 0.3


@BOTH
def test_before_and_after_the_rotation_in_modules(kind) -> None:
    """`add_qk_norm` comes before it, and `QKNorm` after: equal with equal weights."""
    rotate, x = Rotary(WIDTH), draw(B, T, D_IN)
    before = module(kind, rotate=rotate)
    after = module(kind, rotate=rotate, attend=QKNorm(WIDTH).double())
    after.load_state_dict(before.state_dict(), strict=False)
    add_qk_norm(before)
    close(before(x), after(x))
    for weight in (before.W_query.norm.weight, after.attend.query_norm.weight):
        with torch.no_grad():
            weight[::2] = 3.0  # of each pair only one
    assert (before(x) - after(x)).abs().max() > 0.01


@pytest.mark.parametrize("after", [False, True])
@BOTH
def test_normed_heads_write_through_a_cache(kind, after) -> None:
    if after:
        made = module(kind, rotate=Rotary(WIDTH), attend=QKNorm(WIDTH).double())
    else:
        made = add_qk_norm(module(kind, rotate=Rotary(WIDTH)))
    x, cache = draw(B, T, D_IN), KeyValueCache()
    jostle(made)
    steps = [made(part, cache=cache) for part in x.split([3, 1, 2, 1], dim=1)]
    close(torch.cat(steps, dim=1), made(x))


def test_one_after_the_rotation_fits_cross_attention() -> None:
    made = CrossAttention(D_IN, 5, E, 0.0, H, attend=QKNorm(D)).double()
    assert made(draw(B, T, D_IN), draw(B, S, 5)).shape == (B, T, E)


def test_adding_a_norm_keeps_the_weights_and_their_type() -> None:
    made = MultiHeadAttention(D_IN, E, CONTEXT, 0.0, H, True, dtype=torch.float64)
    state, numbers = {**made.state_dict()}, torch.get_rng_state()
    weights = [made.W_query.weight, made.W_key.bias]
    assert add_qk_norm(made) is made
    assert torch.equal(torch.get_rng_state(), numbers)
    assert made.W_query.weight is weights[0]
    assert made.W_key.bias is weights[1]
    for name, tensor in state.items():
        assert torch.equal(made.state_dict()[name], tensor)
    new = {name for name in made.state_dict() if name not in state}
    assert new == {"W_query.norm.weight", "W_key.norm.weight"}
    assert made.W_query.norm.weight.dtype == torch.float64
    assert made.W_query.norm.weight.shape == (D,)
    made(draw(T, D_IN)).square().sum().backward()
    assert all(p.grad.ne(0).any() for n, p in made.named_parameters() if "norm" in n)


# Gates.


def gated(kind=MultiHeadAttention, per_head=False, **options) -> GatedAttention:
    inner = module(kind, **options)
    return GatedAttention(inner, per_head=per_head)


@pytest.mark.parametrize("per_head", [False, True])
@BOTH
def test_a_gate_equals_the_loops(kind, per_head) -> None:
    plain = module(kind)
    made = GatedAttention(copy.deepcopy(plain), per_head=per_head)
    x, found = draw(B, T, D_IN), []
    inner = copy.deepcopy(plain)
    inner.out_proj = nn.Identity()
    context = inner(x).tolist()
    rows, width = made.W_gate.weight.tolist(), 1 if not per_head else WIDTH
    for b, t in itertools.product(range(B), range(T)):
        token = x[b, t].tolist()
        for i in range(HEADS * WIDTH):
            row = rows[i // width]
            opened = sum(w * a for w, a in zip(row, token, strict=True))
            found.append(context[b][t][i] / (1 + math.exp(-opened)))
    expected = torch.tensor(found, dtype=torch.float64).view(B, T, -1)
    close(made(x), plain.out_proj(expected))


@pytest.mark.parametrize("per_head", [False, True])
@BOTH
def test_a_gate_of_one_is_plain_and_of_none_is_a_half(kind, per_head) -> None:
    plain = module(kind, rotate=Rotary(WIDTH))
    made = GatedAttention(copy.deepcopy(plain), per_head=per_head)
    x = draw(B, T, D_IN)
    x[..., 0] = 1.0
    nn.init.zeros_(made.W_gate.weight)
    with torch.no_grad():
        made.out_proj.bias.zero_()
        plain.out_proj.bias.zero_()
        close(made(x), plain(x) / 2)
        made.W_gate.weight[:, 0] = 50.0
        close(made(x), plain(x))
        made.W_gate.weight[:, 0] = -800.0
        assert made(x).eq(0).all()


def test_the_gate_is_of_the_token_that_asks() -> None:
    """Change the past: what is handed over moves, and the gate of a token does not."""
    made, x = gated(), draw(T, D_IN)
    gate = torch.sigmoid(made.W_gate(x))
    y = x.clone()
    y[:3] = draw(3, D_IN)
    assert torch.equal(torch.sigmoid(made.W_gate(y))[3:], gate[3:])
    inner = made.attention
    assert (inner(x) - inner(y))[3:].abs().max() > 0.01
    close(made(y), made.out_proj(inner(y) * torch.sigmoid(made.W_gate(y))))


def test_a_gate_passes_mask_positions_and_cache() -> None:
    made, x = gated(GroupedQueryAttention, rotate=Rotary(WIDTH)), draw(B, T, D_IN)
    mask = padding_mask(torch.tensor([T, 4]), T) & causal_mask(T)
    positions = torch.arange(T) * 2
    close(
        made(x, mask=mask, positions=positions),
        made.out_proj(
            made.attention(x, mask=mask, positions=positions)
            * torch.sigmoid(made.W_gate(x))
        ),
    )
    cache = KeyValueCache()
    steps = [made(part, cache=cache) for part in x.split([2, 1, 4], dim=1)]
    close(torch.cat(steps, dim=1), made(x))


def test_a_gate_takes_the_last_projection_and_its_type() -> None:
    inner = module(qkv_bias=True)
    last = inner.out_proj
    made = GatedAttention(inner, per_head=True)
    assert made.out_proj is last
    assert isinstance(inner.out_proj, nn.Identity)
    assert made.W_gate.weight.shape == (HEADS, D_IN)
    assert made.W_gate.weight.dtype == torch.float64
    assert made.W_gate.bias is None
    names = {name.rsplit(".", 1)[0] for name in made.state_dict()}
    assert names == {
        "attention.W_query",
        "attention.W_key",
        "attention.W_value",
        "W_gate",
        "out_proj",
    }


def test_norms_and_a_gate_stand_in_a_block() -> None:
    inner = add_qk_norm(GroupedQueryAttention(12, 12, CONTEXT, 0.0, 6, num_kv_heads=2))
    block = TransformerBlock(GatedAttention(inner), None)
    assert block(torch.randn(B, T, 12)).shape == (B, T, 12)


# Differential attention.


def two(leading: tuple[int, ...]) -> tuple[Tensor, Tensor, Tensor]:
    return draw(*leading, 2, T, D), draw(*leading, 2, S, D), draw(*leading, S, V)


def test_two_keys_by_eye() -> None:
    """[0.9, 0.1] - 0.5 [0.5, 0.5] = [0.65, -0.15]."""
    query = torch.tensor([[[1.0]], [[0.0]]], dtype=torch.float64)
    key = torch.tensor([[[9.0], [1.0]], [[5.0], [7.0]]], dtype=torch.float64).log()
    found = differential_attention(query, key, torch.eye(2).double(), lam=0.5)
    close(found, torch.tensor([[0.65, -0.15]], dtype=torch.float64))


@pytest.mark.parametrize(("leading", "kind"), EVERY_MASK)
@pytest.mark.parametrize("causal", [False, True])
def test_the_difference_equals_the_loops(leading, kind, causal) -> None:
    query, key, value = two(leading)
    mask, lam = mask_of(kind, leading), draw(*leading[-1:])
    allowed = causal_mask(T, S) if causal else torch.ones(T, S, dtype=torch.bool)
    allowed = allowed if mask is None else allowed & mask
    allowed, lams = allowed.expand(*leading, T, S), lam.expand(leading)
    expected = torch.zeros(*leading, T, V).double()
    for place in itertools.product(*map(range, leading)):
        inputs = query[place], key[place], value[place]
        expected[place] = difference(*inputs, lams[place].item(), allowed[place])
    found = differential_attention(query, key, value, lam=lam, mask=mask, causal=causal)
    close(found, expected)


@pytest.mark.parametrize(("of_query", "of_key", "of_value"), BROADCAST)
def test_leading_axes_broadcast(of_query, of_key, of_value) -> None:
    query, key = draw(*of_query, 2, T, D), draw(*of_key, 2, S, D)
    value = draw(*of_value, S, V)
    found = differential_attention(query, key, value, lam=0.4)
    one, other = (
        attention(query[..., i, :, :], key[..., i, :, :], value) for i in range(2)
    )
    close(found, one - 0.4 * other)


@EVERY_LEADING
def test_bias_and_scale_are_those_of_attention(leading) -> None:
    query, key, value = two(leading)
    given = {"bias": draw(*leading, T, S), "scale": 0.7}
    one, other = (
        attention(query[..., i, :, :], key[..., i, :, :], value, **given)
        for i in range(2)
    )
    found = differential_attention(query, key, value, lam=0.4, **given)
    close(found, one - 0.4 * other)


@pytest.mark.parametrize("lam", [0.0, 0.2, 0.8, 1.0])
def test_rows_sum_to_one_less_lambda(lam) -> None:
    query, key, _ = two((B, H))
    everything = torch.eye(S).double()
    weights = differential_attention(query, key, everything, lam=lam)
    close(weights.sum(dim=-1), torch.full((B, H, T), 1 - lam, dtype=torch.float64))
    assert (weights.min() < 0) == (lam > 0)
    plain = attention_weights(query[..., 0, :, :], key[..., 0, :, :])
    if lam == 0.0:
        close(weights, plain)


def test_what_both_tables_see_cancels() -> None:
    query, key, value = two((H,))
    query[..., 1, :, :], key[..., 1, :, :] = query[..., 0, :, :], key[..., 0, :, :]
    found = differential_attention(query, key, value, lam=1.0)
    close(found, torch.zeros_like(found))


def test_lambda_is_one_for_each_head_and_learns() -> None:
    query, key, value = (x.requires_grad_() for x in two((B, H)))
    lam = draw(H).requires_grad_()
    found = differential_attention(query, key, value, lam=lam, causal=True)
    found.square().sum().backward()
    assert lam.grad.ne(0).all()
    one = differential_attention(query[:, 2], key[:, 2], value[:, 2], lam=lam[2])
    close(
        one,
        differential_attention(query, key, value, lam=lam)[:, 2],
    )
    assert all(x.grad.isfinite().all() for x in (query, key, value))


def test_each_table_drops_weights_of_its_own() -> None:
    query, key = torch.zeros(2, 1, D).double(), torch.zeros(2, 4000, D).double()
    value = torch.eye(4000).double()
    weights = differential_attention(query, key, value, lam=0.5, dropout_p=0.5)
    seen = (weights * 4000).round(decimals=6).unique().tolist()
    assert seen == [-1.0, 0.0, 1.0, 2.0]


def diff(**options) -> DifferentialAttention:
    options = {"num_kv_heads": GROUPS, "layer": 3} | options
    made = DifferentialAttention(
        D_IN, HEADS * WIDTH, CONTEXT, 0.0, HEADS, **options
    ).double()
    return jostle(made)


@pytest.mark.parametrize("groups", [HEADS, 3, GROUPS, 1, None])
@pytest.mark.parametrize("bias", [False, True])
def test_the_module_equals_the_loops(groups, bias) -> None:
    made = diff(num_kv_heads=groups, qkv_bias=bias)
    x, G, d = draw(B, T, D_IN), groups or HEADS, WIDTH // 2
    vectors = [made.lambda_q1, made.lambda_k1, made.lambda_q2, made.lambda_k2]
    q1, k1, q2, k2 = (vector.tolist() for vector in vectors)
    start = 0.8 - 0.6 * math.exp(-0.6)
    lam = (
        math.exp(sum(a * b for a, b in zip(q1, k1, strict=True)))
        - math.exp(sum(a * b for a, b in zip(q2, k2, strict=True)))
        + start
    )
    assert made.lambda_init == start
    close(made.lam().detach(), torch.tensor(lam, dtype=torch.float64))
    results = []
    for b in range(B):
        query, key, value = made.W_query(x[b]), made.W_key(x[b]), made.W_value(x[b])
        heads = []
        for h in range(HEADS):
            g = h // (HEADS // G)
            at, of = 2 * d * h, 2 * d * g
            context = difference(
                torch.stack([query[:, at : at + d], query[:, at + d : at + 2 * d]]),
                torch.stack([key[:, of : of + d], key[:, of + d : of + 2 * d]]),
                value[:, of : of + 2 * d],
                lam,
                causal_mask(T),
            )
            heads.append((1 - start) * normed(context, made.norm.weight, 1e-5))
        results.append(torch.cat(heads, dim=-1))
    close(made(x), made.out_proj(torch.stack(results)))


def test_heads_that_share_keys_equal_repeated_rows() -> None:
    made, many = diff(), diff(num_kv_heads=HEADS)
    state = made.state_dict()
    for name in ("W_key.weight", "W_value.weight"):
        heads = state[name].unflatten(0, (GROUPS, -1))
        state[name] = heads.repeat_interleave(HEADS // GROUPS, dim=0).flatten(0, 1)
    many.load_state_dict(state)
    x = draw(B, T, D_IN)
    close(many(x), made(x))


def test_shared_before_they_are_told_apart_keys_are_wrong() -> None:
    """Repeat first, and both tables of a head get one key: off by far more than 0.1."""
    query, value = draw(HEADS, 2, T, D), draw(HEADS, T, V)
    key = draw(2 * GROUPS, T, D)
    right = key.unflatten(0, (GROUPS, 2)).repeat_interleave(3, dim=0)
    wrong = repeat_heads(key, 3).unflatten(0, (HEADS, 2))
    one, other = (
        differential_attention(query, k, value, lam=0.5) for k in (right, wrong)
    )
    assert torch.equal(wrong[0, 0], wrong[0, 1])
    assert (one - other).abs().max() > 0.3


def test_the_two_queries_and_keys_are_turned() -> None:
    d = 4
    rotate, x = Rotary(d), draw(B, T, D_IN)
    made = DifferentialAttention(D_IN, 3 * 2 * d, CONTEXT, 0.0, 3, rotate=rotate)
    made = jostle(made.double())
    at = torch.tensor([[0, 2, 3, 5, 8, 9, 11]]).expand(B, T)
    query, key = (
        rotate(split_heads(layer(x), 6), at[:, None]).unflatten(1, (3, 2))
        for layer in (made.W_query, made.W_key)
    )
    value = split_heads(made.W_value(x), 3)
    lam = made.lam()
    context = differential_attention(query, key, value, lam=lam, causal=True)
    expected = made.out_proj(merge_heads((1 - made.lambda_init) * made.norm(context)))
    close(made(x, positions=at), expected)
    close(made(x, positions=at + 3), expected)  # only distances matter
    assert (made(x) - expected).abs().max() > 1e-3


def test_the_future_and_what_is_masked_move_nothing() -> None:
    made, x = diff(), draw(B, T, D_IN)
    mask = padding_mask(torch.tensor([T, 4]), T).expand(B, T, T)
    before = made(x, mask=mask)
    y = x.clone()
    y[:, 5:] = draw(B, T - 5, D_IN)
    assert torch.equal(made(y, mask=mask)[:, :5], before[:, :5])
    assert torch.equal(made(y[:, :5]), made(x[:, :5]))
    everything = diff(causal=False)
    assert not torch.equal(everything(y)[:, :5], everything(x)[:, :5])


@pytest.mark.parametrize("paged", [False, True])
def test_differences_write_through_a_cache(paged) -> None:
    made, x = diff(), draw(1, T, D_IN)
    cache = (
        PagedCache(
            PagePool(5, 3, num_kv_heads=GROUPS, width=WIDTH, dtype=torch.float64)
        )
        if paged
        else KeyValueCache()
    )
    mask = torch.rand(1, T, T) < 0.7
    steps, at = [], 0
    with torch.no_grad():
        for n in (3, 1, 2, 1):
            rows = slice(at, at + n)
            steps.append(made(x[:, rows], mask=mask[:, rows, : at + n], cache=cache))
            at += n
    close(torch.cat(steps, dim=1), made(x, mask=mask))


def test_a_cache_keeps_as_much_as_for_plain_heads() -> None:
    plain, caches = module(GroupedQueryAttention), [KeyValueCache(), KeyValueCache()]
    for made, cache in zip((diff(), plain), caches, strict=True):
        made(draw(B, T, D_IN), cache=cache)
    assert caches[0].nbytes == caches[1].nbytes


def test_dropout_is_off_in_use() -> None:
    made = DifferentialAttention(D_IN, 12, CONTEXT, 0.5, 3).double()
    x = draw(T, D_IN)
    assert not torch.equal(made(x), made(x))
    made.eval()
    assert torch.equal(made(x), made(x))


def test_lambda_starts_small_and_grows_with_the_layer() -> None:
    starts = [lambda_init(layer) for layer in range(1, 100)]
    assert starts[0] == pytest.approx(0.2, abs=1e-15)
    assert starts == sorted(starts)
    assert starts[-1] < 0.8
    assert lambda_init(3) == 0.8 - 0.6 * math.exp(-0.6)
    assert DifferentialAttention(3, 4, 5, 0.0, 2).lambda_init == starts[0]


def test_four_vectors_are_as_many_numbers_more() -> None:
    """The rest is that of plain heads, and a norm of a head's width."""
    plain = MultiHeadAttention(D_IN, 24, CONTEXT, 0.0, 3)
    made = DifferentialAttention(D_IN, 24, CONTEXT, 0.0, 3)
    plain_count, count = (
        sum(weight.numel() for weight in m.parameters()) for m in (plain, made)
    )
    assert count - plain_count == 4 * 4 + 8
    for name in ("lambda_q1", "lambda_k1", "lambda_q2", "lambda_k2"):
        assert 0 < made.get_parameter(name).abs().max() < 0.6
    assert made.norm.eps == 1e-5


def test_every_weight_of_the_module_learns() -> None:
    made = diff(qkv_bias=True)
    made(draw(B, T, D_IN)).square().sum().backward()
    for name, weight in made.named_parameters():
        assert weight.grad.isfinite().all()
        assert weight.grad.ne(0).any(), name


def test_a_row_without_keys_is_zero() -> None:
    made, x = diff(), draw(B, T, D_IN)
    mask = torch.ones(T, T, dtype=torch.bool)
    mask[2] = False
    found = made(x, mask=mask)
    close(found[:, 2], made.out_proj.bias.expand(B, -1))


@pytest.mark.parametrize("columns", [(), (D_IN,)])
def test_halves_become_neighbours(columns) -> None:
    weight = draw(8 * D, *columns)
    found = halves_to_neighbours_weight(weight, num_heads=8)
    heads, new = weight.unflatten(0, (8, D)), found.unflatten(0, (8, D))
    for h in range(4):
        assert torch.equal(new[2 * h], heads[h])
        assert torch.equal(new[2 * h + 1], heads[h + 4])


def test_kinds_of_numbers_are_kept() -> None:
    for dtype in (torch.float32, torch.bfloat16):
        made = DifferentialAttention(D_IN, 12, CONTEXT, 0.0, 3, dtype=dtype)
        assert made(draw(T, D_IN, dtype=dtype)).dtype == dtype
        assert made.lam().dtype == torch.float32
        normed_module = add_qk_norm(
            MultiHeadAttention(D_IN, 12, CONTEXT, 0.0, 3, dtype=dtype)
        )
        made = GatedAttention(normed_module)
        assert made(draw(T, D_IN, dtype=dtype)).dtype == dtype


# Errors.


def refused(message: str):
    return pytest.raises(ValueError, match=f"^{re.escape(message)}$")


@pytest.mark.refusal
def test_what_does_not_fit_is_said() -> None:
    query, key, value = qkv(())
    with refused("width must be a positive integer; got width=0."):
        QKNorm(0)
    with refused("eps must be positive and finite; got eps=0.0."):
        QKNorm(3, eps=0.0)
    for name, inputs in (("query", (query[:, :1], key)), ("key", (query, key[:, :1]))):
        shape = tuple(inputs[name == "key"].shape)
        with refused(
            f"{name} must have shape (..., width={D}); got {name}.shape={shape}."
        ):
            QKNorm(D)(*inputs, value)
    with refused("query must have shape (..., width=3); got query.shape=()."):
        QKNorm(3)(torch.tensor(1.0), key, value)


@pytest.mark.refusal
def test_only_modules_with_heads_are_changed_and_once() -> None:
    kinds = "a MultiHeadAttention or a GroupedQueryAttention"
    for change in (add_qk_norm, GatedAttention):
        with refused(f"attention must be {kinds}; got attention=Linear."):
            change(nn.Linear(3, 3))
    made = module()
    with refused("eps must be positive and finite; got eps=-1."):
        add_qk_norm(made, eps=-1)
    add_qk_norm(made)
    with refused(
        "attention.W_query must be a plain Linear; got attention.W_query=_NormedLinear."
    ):
        add_qk_norm(made)
    GatedAttention(made)
    with refused(
        "attention.out_proj must be a plain Linear; got attention.out_proj=Identity."
    ):
        GatedAttention(made)


@pytest.mark.refusal
def test_two_tables_need_two_queries_and_keys() -> None:
    query, key, value = two(())
    for name, bad in (("query", (query[:1], key)), ("key", (query, key[0]))):
        shape = tuple(bad[name == "key"].shape)
        with refused(
            f"{name} must have shape (..., 2, tokens, width); got {name}.shape={shape}."
        ):
            differential_attention(*bad, value, lam=0.1)
    query, key, value = two((B, H))
    for shape in ((B, 1, H), (B,), (3, H)):
        with refused(
            f"lam must broadcast to the leading axes ({B}, {H}); got lam.shape={shape}."
        ):
            differential_attention(query, key, value, lam=draw(*shape))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"d_in": 0}, "d_in must be a positive integer; got d_in=0."),
        ({"d_out": 0}, "d_out must be a positive integer; got d_out=0."),
        ({"context_length": 0}, "context_length must be a positive integer; "
         "got context_length=0."),
        ({"num_heads": 0}, "num_heads must be a positive integer; got num_heads=0."),
        ({"num_kv_heads": 0}, "num_kv_heads must be a positive integer; "
         "got num_kv_heads=0."),
        ({"d_out": 9}, "2 * num_heads must divide d_out; got num_heads=3, d_out=9."),
        ({"num_kv_heads": 2}, "num_kv_heads must divide num_heads; "
         "got num_kv_heads=2, num_heads=3."),
        ({"dropout": 1.0}, "dropout must be in [0, 1); got dropout=1.0."),
        ({"eps": 0.0}, "eps must be positive and finite; got eps=0.0."),
        ({"layer": 0}, "layer must be a positive integer; got layer=0."),
    ],
)  # fmt: skip
def test_bad_sizes_are_refused(change, message) -> None:
    sizes = {"d_in": 5, "d_out": 12, "context_length": 7, "dropout": 0.0}
    with refused(message):
        DifferentialAttention(**{**sizes, "num_heads": 3, **change})


@pytest.mark.refusal
def test_nothing_is_kept_of_what_is_refused() -> None:
    made, cache = diff(), KeyValueCache()
    made(draw(B, 3, D_IN), cache=cache)
    mask = torch.ones(B, 2, 3).bool()
    for bad in (
        lambda: made(draw(B, 2, D_IN + 1), cache=cache),
        lambda: made(draw(B, 2, D_IN), mask=mask, cache=cache),
        lambda: made(draw(B, CONTEXT, D_IN), cache=cache),
    ):
        with pytest.raises(ValueError, match="must"):
            bad()
    assert cache.length == 3
    with pytest.raises(ValueError, match="window"):
        made(draw(B, 2, D_IN), cache=RingCache(4))


@pytest.mark.refusal
def test_heads_of_rows_fit() -> None:
    with refused("num_heads must be even; got num_heads=3."):
        halves_to_neighbours_weight(draw(6), 3)
    for shape in ((6, 2), ()):
        with refused(
            "num_heads must divide the rows of weight; "
            f"got num_heads=4, weight.shape={shape}."
        ):
            halves_to_neighbours_weight(draw(*shape), 4)
