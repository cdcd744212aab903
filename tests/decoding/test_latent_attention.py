"""Latent attention: loops, two forms, one shared key, every cut, widths that differ."""

import itertools
import math
import re

import pytest
import torch
from torch import Tensor, nn

from headway import (
    KeyValueCache,
    LatentAttention,
    MultiHeadAttention,
    Rotary,
    attention,
    fused_attention,
    padding_mask,
    split_heads,
)
from headway.checks import check
from tests.support import oracles
from tests.support.compare import close
from tests.support.random_inputs import EVERY_LEADING
from tests.support.sizes import CONTEXT, D_IN, B, H, T, V, draw

# No two widths are the same, and none is the number of heads or tokens.
NOPE, ROPE, LATENT, QUERY_LATENT, OUT = 3, 4, 11, 23, 29
ATTEND = pytest.mark.parametrize("attend", [fused_attention, attention])
ABSORB = pytest.mark.parametrize("absorb", [False, True])
KINDS = {
    "queries of tokens, no norms": {"norm": False},
    "queries of tokens": {},
    "queries of a latent, no norms": {"d_query_latent": QUERY_LATENT, "norm": False},
    "queries of a latent": {"d_query_latent": QUERY_LATENT},
}
EVERY_KIND = pytest.mark.parametrize("kind", KINDS)


def build(dropout: float = 0.0, **options) -> LatentAttention:
    """Make a module of unlike widths, whose norms weigh each number differently."""
    widths = {"d_latent": LATENT, "d_rope": ROPE, "d_nope": NOPE, "d_value": V}
    options = {"rotate": Rotary(ROPE, base=100.0), **widths, **options}
    module = LatentAttention(D_IN, OUT, CONTEXT, dropout, H, **options).double()
    with torch.no_grad():
        for layer in module.modules():
            if isinstance(layer, nn.RMSNorm):
                layer.weight.copy_(1 + 0.5 * draw(*layer.weight.shape))
    return module


def turned(vector: list[float], position: int) -> list[float]:
    """Turn each pair of neighbours, as complex numbers."""
    result = []
    for i in range(0, len(vector), 2):
        angle = position * 100.0 ** (-i / len(vector))
        pair = complex(vector[i], vector[i + 1])
        pair *= complex(math.cos(angle), math.sin(angle))
        result += [pair.real, pair.imag]
    return result


def loops(
    x: Tensor, module: LatentAttention, mask: Tensor | None = None, causal: bool = True
) -> Tensor:
    """Follow equations 9 to 19 with lists of Python's floats, one head at a time."""
    state = {name: weight.tolist() for name, weight in module.state_dict().items()}
    length = x.shape[-2]

    def project(tokens: oracles.Table, layer: str) -> oracles.Table:
        return oracles.linear(
            tokens, state[f"{layer}.weight"], state.get(f"{layer}.bias")
        )

    def normed(tokens: oracles.Table, layer: str) -> oracles.Table:
        weight = state.get(f"{layer}.weight")
        if weight is None:
            return tokens
        rows = []
        for row in tokens:
            root = math.sqrt(sum(a * a for a in row) / len(row) + 1e-6)
            rows.append([w * a / root for w, a in zip(weight, row, strict=True)])
        return rows

    def one(tokens: oracles.Table, further: oracles.Allowed) -> oracles.Table:
        asked = tokens
        if "W_query_latent.weight" in state:
            asked = normed(project(tokens, "W_query_latent"), "query_norm")
        queries = project(asked, "W_query")
        latent = normed(project(tokens, "W_latent"), "latent_norm")
        shared = [turned(row, t) for t, row in enumerate(project(tokens, "W_rope"))]
        keys, values = project(latent, "W_key"), project(latent, "W_value")
        past = oracles.past(length, length)
        allowed = [
            [(a or not causal) and b for a, b in zip(*rows, strict=True)]
            for rows in zip(past, further, strict=True)
        ]
        results = []
        for h in range(H):
            query = [
                row[:NOPE] + turned(row[NOPE:], t)
                for t, row in enumerate(oracles.one_head(queries, h, H))
            ]
            key = [
                row + rotated
                for row, rotated in zip(
                    oracles.one_head(keys, h, H), shared, strict=True
                )
            ]
            value = oracles.one_head(values, h, H)
            scale = 1 / math.sqrt(NOPE + ROPE)
            results.append(oracles.attend(query, key, value, allowed, scale))
        return project(oracles.side_by_side(results), "out_proj")

    mask = torch.tensor(True) if mask is None else mask
    return oracles._for_each(one, x, mask.expand(*x.shape[:-1], length))


@ABSORB
@EVERY_KIND
def test_it_equals_the_loops(kind, absorb) -> None:
    module, x = build(**KINDS[kind]), draw(B, T, D_IN)
    close(module(x, absorb=absorb), loops(x, module))


@ABSORB
@EVERY_LEADING
def test_any_number_of_batch_axes(leading, absorb) -> None:
    module, x = build(), draw(*leading, T, D_IN)
    close(module(x, absorb=absorb), loops(x, module))


MASKS = {
    "(T, T)": lambda: torch.rand(T, T) < 0.6,
    "(1, T)": lambda: torch.rand(1, T) < 0.6,
    "(B, 1, T)": lambda: padding_mask(torch.tensor([4, T]), T),
    "(B, T, T)": lambda: torch.rand(B, T, T) < 0.6,
    "nothing": lambda: torch.zeros(T, T, dtype=torch.bool),
}


@ATTEND
@ABSORB
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("kind", MASKS)
def test_a_mask_equals_the_loops(kind, causal, absorb, attend) -> None:
    module, mask = build(causal=causal, attend=attend), MASKS[kind]()
    x = draw(B, T, D_IN)
    close(module(x, mask=mask, absorb=absorb), loops(x, module, mask, causal))


@EVERY_KIND
def test_absorbed_equals_expanded_with_gradients(kind) -> None:
    module = build(**KINDS[kind])
    x, gradient = draw(B, T, D_IN), draw(B, T, OUT)
    results = []
    for absorb in (False, True):
        module.zero_grad()
        tokens = x.clone().requires_grad_()
        result = module(tokens, absorb=absorb)
        result.backward(gradient)
        grads = [weight.grad.clone() for weight in module.parameters()]
        assert all(grad.abs().max() > 1e-3 for grad in grads)
        results.append([result, tokens.grad, *grads])
    for expanded, absorbed in zip(*results, strict=True):
        close(absorbed, expanded)


def test_absorbed_it_is_all_heads_on_one_key() -> None:
    """The key is the latent with the rotated part, and the value the latent itself."""
    calls = []

    def spy(query, key, value, **options):
        calls.append((query, key, value, options))
        return attention(query, key, value, **options)

    module, x = build(attend=spy, dropout=0.25), draw(B, T, D_IN)
    mask = padding_mask(torch.tensor([4, T]), T)
    result = module.eval()(x, mask=mask, absorb=True)
    module.train()(x)
    query, key, value, options = calls[0]
    latent = module.latent_norm(module.W_latent(x)).unsqueeze(1)
    rotated = module.rotate(module.W_rope(x), torch.arange(T)).unsqueeze(1)
    close(key, torch.cat([latent, rotated], dim=-1))
    assert value is key  # as wide as the queries; the result is cut to the latent
    assert query.shape == (B, H, T, LATENT + ROPE)
    assert options.pop("mask").shape == (B, 1, 1, T)
    scale = (NOPE + ROPE) ** -0.5
    assert options == {"causal": True, "dropout_p": 0.0, "scale": scale}
    query, key, value, options = calls[1]
    assert query.shape == key.shape == (B, H, T, NOPE + ROPE)
    assert value.shape == (B, H, T, V)
    assert (options["mask"], options["dropout_p"]) == (None, 0.25)
    assert options["scale"] == scale

    def expanded(layer: nn.Linear) -> Tensor:
        return split_heads(layer(latent.squeeze(1)), H)

    nope, rope = split_heads(module.W_query(x), H).split([NOPE, ROPE], dim=-1)
    rope = module.rotate(rope, torch.arange(T))
    scores = nope @ expanded(module.W_key).mT + rope @ rotated.mT
    close(calls[0][0] @ calls[0][1].mT, scores)
    close(result, loops(x, module, mask))


def test_turning_does_not_commute_with_the_matrix_of_the_keys() -> None:
    """So the part that is turned has to go beside the latent."""
    W_uk, q, c = draw(ROPE, ROPE), draw(T, ROPE), draw(T, ROPE)
    turn = Rotary(ROPE, base=100.0)
    t = torch.arange(T)
    right = turn(q, t) @ turn(c @ W_uk.mT, t).mT
    absorbed = turn(q @ W_uk, t) @ turn(c, t).mT
    assert (absorbed - right).abs().max() > 1
    alike = torch.tensor([[2.0, -1.0], [1.0, 2.0]]).double()  # it turns and stretches
    W_uk = torch.block_diag(alike, 3 * alike.mT)
    right = turn(q, t) @ turn(c @ W_uk.mT, t).mT
    close(turn(q @ W_uk, t) @ turn(c, t).mT, right)


LENGTH = 6  # few enough to cut in every way
CUTS = [
    cut
    for pieces in range(1, LENGTH + 1)
    for cut in itertools.product(range(1, LENGTH + 1), repeat=pieces)
    if sum(cut) == LENGTH
]


@ABSORB
def test_cached_equals_uncached_for_every_cut(absorb) -> None:
    assert len(CUTS) == 2 ** (LENGTH - 1)
    module, x = build(d_query_latent=QUERY_LATENT), draw(B, LENGTH, D_IN)
    mask = torch.rand(B, LENGTH, LENGTH) < 0.7
    whole, masked = module(x), module(x, mask=mask)
    for cut in CUTS:
        plain, hidden = KeyValueCache(), KeyValueCache()
        ends = [*itertools.accumulate(cut)]
        for start, end in zip([0, *ends], ends, strict=False):
            new, rows = x[:, start:end], mask[:, start:end, :end]
            close(module(new, cache=plain, absorb=absorb), whole[:, start:end])
            close(
                module(new, mask=rows, cache=hidden, absorb=absorb),
                masked[:, start:end],
            )
        assert plain.length == hidden.length == LENGTH


def test_one_cache_serves_both_forms() -> None:
    module, x, cache = build(), draw(B, T, D_IN), KeyValueCache()
    whole = module(x)
    close(module(x[:, :4], cache=cache), whole[:, :4])
    close(module(x[:, 4:5], cache=cache, absorb=True), whole[:, 4:5])
    close(module(x[:, 5:], cache=cache), whole[:, 5:])


class Recording(KeyValueCache):
    """A cache that remembers what it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.given: list[tuple[Tensor, Tensor, Tensor]] = []

    def append(self, key, value, positions):
        self.given.append((key, value, positions))
        return super().append(key, value, positions)


def test_the_cache_keeps_the_latent_and_the_rotated_key_only() -> None:
    module, x, cache = build(), draw(B, T, D_IN), Recording()
    module(x[:, :3], cache=cache)
    module(x[:, 3:], cache=cache, absorb=True)
    latent = module.latent_norm(module.W_latent(x)).unsqueeze(1)
    rotated = module.rotate(module.W_rope(x), torch.arange(T)).unsqueeze(1)
    for place, (first, second, positions) in zip(
        (slice(3), slice(3, T)), cache.given, strict=True
    ):
        close(first, latent[:, :, place])
        close(second, rotated[:, :, place])
        assert torch.equal(positions, torch.arange(T)[place])
    kept = sum(part.numel() for call in cache.given for part in call[:2])
    assert kept == B * T * (LATENT + ROPE)


@ABSORB
def test_only_differences_of_positions_count(absorb) -> None:
    module, x = build(), draw(B, T, D_IN)
    places = torch.tensor([0, 1, 3, 4, 5, 9, 11])
    result = module(x, positions=places, absorb=absorb)
    close(module(x, positions=places + 7, absorb=absorb), result)
    each = torch.stack([places, places + 5])
    close(module(x, positions=each, absorb=absorb), result)
    assert (result - module(x)).abs().max() > 1e-3


def test_with_unit_matrices_it_is_multi_head_attention() -> None:
    """The latent is the token itself, and nothing is turned."""
    module = build(d_latent=D_IN, norm=False, d_value=NOPE, scale=NOPE**-0.5)
    theirs = MultiHeadAttention(D_IN, NOPE * H, CONTEXT, 0.0, H).double()
    with torch.no_grad():
        module.W_latent.weight.copy_(torch.eye(D_IN))
        module.W_rope.weight.zero_()
        nope = module.W_query.weight.unflatten(0, (H, -1))[:, :NOPE].flatten(0, 1)
        theirs.W_query.weight.copy_(nope)
        theirs.W_key.weight.copy_(module.W_key.weight)
        theirs.W_value.weight.copy_(module.W_value.weight)
        theirs.out_proj.weight.copy_(torch.eye(NOPE * H))
        theirs.out_proj.bias.zero_()
    x = draw(B, T, D_IN)
    close(module(x), module.out_proj(theirs(x)))
    close(module(x, absorb=True), module.out_proj(theirs(x)))


def test_widths_that_are_left_out_are_those_of_multi_head_attention() -> None:
    options = {"d_latent": LATENT, "d_rope": ROPE, "rotate": Rotary(ROPE)}
    module = LatentAttention(D_IN, 10, CONTEXT, 0.0, H, **options)
    shapes = {name: tuple(weight.shape) for name, weight in module.state_dict().items()}
    assert shapes == {
        "W_query.weight": (H * (2 + ROPE), D_IN),
        "W_latent.weight": (LATENT, D_IN),
        "latent_norm.weight": (LATENT,),
        "W_rope.weight": (ROPE, D_IN),
        "W_key.weight": (H * 2, LATENT),
        "W_value.weight": (H * 2, LATENT),
        "out_proj.weight": (10, H * 2),
        "out_proj.bias": (10,),
    }


@ABSORB
def test_dropout_is_off_in_use(absorb) -> None:
    module, x = build(0.5), draw(B, T, D_IN)
    assert not torch.equal(module(x, absorb=absorb), module(x, absorb=absorb))
    close(module.eval()(x, absorb=absorb), loops(x, module))


@ABSORB
def test_gradients_equal_differences(absorb) -> None:
    module = build(d_query_latent=2)
    inputs = (draw(3, D_IN).requires_grad_(), *module.parameters())
    assert torch.autograd.gradcheck(
        lambda x, *_: module(x, absorb=absorb), inputs, fast_mode=True
    )


@ABSORB
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_every_precision_works(dtype, absorb) -> None:
    module = build().to(dtype)
    x = draw(B, T, D_IN, dtype=dtype)
    result = module(x, absorb=absorb)
    assert result.dtype == dtype
    error = (result.double() - module.double()(x.double())).abs().max()
    assert error <= 16 * torch.finfo(dtype).eps


def test_weights_are_made_where_and_how_one_says() -> None:
    options = {"d_latent": 2, "d_rope": 2, "rotate": Rotary(2), "d_query_latent": 3}
    where = {"device": "meta", "dtype": torch.bfloat16}
    module = LatentAttention(5, 4, 7, 0.0, 2, **options, **where)
    assert len([*module.parameters()]) == 10
    for weight in module.parameters():
        assert (weight.device.type, weight.dtype) == ("meta", torch.bfloat16)


ERRORS = {
    "d_in must be a positive integer; got d_in=0.": {"d_in": 0},
    "d_out must be a positive integer; got d_out=-1.": {"d_out": -1},
    "context_length must be a positive integer; got context_length=0.": {
        "context_length": 0
    },
    "dropout must be in [0, 1); got dropout=1.0.": {"dropout": 1.0},
    "num_heads must be a positive integer; got num_heads=0.": {"num_heads": 0},
    "d_latent must be a positive integer; got d_latent=0.": {"d_latent": 0},
    "d_rope must be a positive integer; got d_rope=0.": {"d_rope": 0},
    "d_nope must be a positive integer; got d_nope=0.": {"d_nope": 0},
    "d_value must be a positive integer; got d_value=1.5.": {"d_value": 1.5},
    "d_query_latent must be a positive integer; got d_query_latent=0.": {
        "d_query_latent": 0
    },
    "scale must be positive and finite; got scale=0.0.": {"scale": 0.0},
    "num_heads must divide d_out; got num_heads=5, d_out=29.": {"d_value": None},
}


@pytest.mark.refusal
@pytest.mark.parametrize("sentence", ERRORS)
def test_a_wrong_size_gets_one_sentence(sentence) -> None:
    right = {"d_in": D_IN, "d_out": OUT, "context_length": CONTEXT, "dropout": 0.0}
    right |= {"num_heads": H, "d_latent": LATENT, "d_rope": ROPE, "d_nope": NOPE}
    right |= {"d_value": V, "rotate": Rotary(ROPE)}
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        LatentAttention(**right | ERRORS[sentence])


@pytest.mark.refusal
def test_wrong_input_gets_one_sentence_and_keeps_nothing() -> None:
    module, x, cache = build(), draw(B, T, D_IN), KeyValueCache()
    module(x[:, :2], cache=cache)
    too_long = torch.arange(13, 13 + T)
    calls = {
        "x must have shape": lambda: module(x[..., :-1], cache=cache),
        "x must have at most": lambda: module(draw(18, D_IN), cache=cache),
        "positions must be in": lambda: module(x, positions=too_long, cache=cache),
        "mask must broadcast": lambda: module(
            x, mask=torch.ones(T, T, dtype=torch.bool), cache=cache
        ),
    }
    for sentence, call in calls.items():
        with pytest.raises(ValueError, match=sentence):
            call()
    assert cache.length == 2


def test_a_cache_that_forgets_is_refused() -> None:
    cache = KeyValueCache()
    cache.window = 3
    with pytest.raises(ValueError, match="cache must keep all"):
        build()(draw(B, T, D_IN), cache=cache)


def test_a_check_finds_nothing() -> None:
    report = check(build(0.1).float(), d_in=D_IN, context_length=CONTEXT)
    report.assert_ok()
    assert report.facts["future"].value.startswith("hidden")
    assert report.facts["positions"].value.startswith("inside")
