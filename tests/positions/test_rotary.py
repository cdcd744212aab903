"""Rotary positions: pairs turned one at a time, and what must hold of the scores."""

import copy
import itertools
import math

import pytest
import torch
from torch import Tensor

from headway import (
    MultiHeadAttention,
    Rotary,
    halves_to_pairs,
    halves_to_pairs_weight,
    merge_heads,
    pairs_to_halves,
    pairs_to_halves_weight,
    rotary_frequencies,
    split_heads,
)
from headway.decoding.kv_cache import KeyValueCache
from tests.support import oracles
from tests.support.compare import close
from tests.support.sizes import D_IN, B, H, S, T, draw

# A head is a whole number of pairs: five of them, no two with one frequency.
D = 10
E = H * D
CONTEXT = 1000
LAYOUTS = pytest.mark.parametrize("halves", [False, True], ids=["pairs", "halves"])
QUARTER = torch.tensor([math.pi / 2], dtype=torch.float64)


def partner(d: int, halves: bool) -> tuple[int, int, int]:
    """Give the pair to which number d belongs, and its first and second member."""
    if halves:
        i = d % (D // 2)
        return i, i, i + D // 2
    return d // 2, d - d % 2, d - d % 2 + 1


def by_loops(
    x: Tensor, positions: Tensor, halves: bool, base: float, magnitude: float
) -> Tensor:
    """Turn one number after the other, with nothing but `math`."""
    y = torch.empty_like(x)
    places = positions.expand(x.shape[:-1])
    for token in itertools.product(*(range(n) for n in x.shape[:-1])):
        for d in range(D):
            i, first, second = partner(d, halves)
            angle = int(places[token]) * base ** (-2 * i / D)
            a, b = float(x[*token, first]), float(x[*token, second])
            if d == first:
                turned = a * math.cos(angle) - b * math.sin(angle)
            else:
                turned = a * math.sin(angle) + b * math.cos(angle)
            y[*token, d] = magnitude * turned
    return y


def scores(rotate: Rotary, q: Tensor, k: Tensor, m: Tensor, n: Tensor) -> Tensor:
    return rotate(q, m) @ rotate(k, n).transpose(-2, -1)


# Frequencies.


def test_frequencies_equal_the_formula() -> None:
    frequencies = rotary_frequencies(D, base=500.0)
    expected = [500.0 ** (-2 * i / D) for i in range(D // 2)]
    close(frequencies, torch.tensor(expected, dtype=torch.float64))
    assert frequencies[0] == 1.0


def test_frequencies_are_in_64_bits_wherever_they_are_made() -> None:
    torch.set_default_dtype(torch.bfloat16)
    try:
        close(rotary_frequencies(4), torch.tensor([1.0, 0.01], dtype=torch.float64))
    finally:
        torch.set_default_dtype(torch.float32)


def test_a_quarter_of_the_pairs_never_completes_a_turn() -> None:
    frequencies = rotary_frequencies(128)
    assert len(frequencies) == 64
    turns = 4096 * frequencies / (2 * math.pi)
    assert int((turns < 1).sum()) == 18
    # Counting the steps between 4,096 tokens instead of the tokens changes nothing.
    assert int((4095 * frequencies / (2 * math.pi) < 1).sum()) == 18


# Turning.


@LAYOUTS
@pytest.mark.parametrize(
    ("leading", "shape"),
    [
        ((), (T,)),
        ((B,), (T,)),
        ((B,), (B, T)),
        ((B,), (B, 1)),
        ((B, H), (T,)),
        ((B, H), (B, 1, T)),
        ((B, H), (B, H, T)),
    ],
    ids=str,
)
def test_it_equals_the_loops(leading, shape, halves) -> None:
    x, positions = draw(*leading, T, D), torch.randint(0, CONTEXT, shape)
    rotate = Rotary(D, base=777.0, magnitude=1.25, halves=halves)
    close(rotate(x, positions), by_loops(x, positions, halves, 777.0, 1.25))


def test_a_quarter_turn_a_step_can_be_checked_by_eye() -> None:
    rotate = Rotary(2, frequencies=QUARTER)
    x = torch.tensor([[1.0, 0.0]] * 4, dtype=torch.float64)
    turned = rotate(x, torch.arange(4))
    expected = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]
    close(turned, torch.tensor(expected, dtype=torch.float64))
    close(turned @ x[0], torch.tensor([1.0, 0.0, -1.0, 0.0], dtype=torch.float64))


@LAYOUTS
def test_position_zero_turns_nothing(halves) -> None:
    x = draw(B, T, D)
    assert torch.equal(Rotary(D, halves=halves)(x, torch.zeros(T).int()), x)


@LAYOUTS
def test_what_goes_in_stays_as_it_is(halves) -> None:
    x, positions = draw(B, T, D), torch.arange(T)
    before = x.clone()
    Rotary(D, halves=halves)(x, positions)
    assert torch.equal(x, before)
    assert torch.equal(positions, torch.arange(T))


@LAYOUTS
def test_gradients_are_turned_back(halves) -> None:
    """The transpose of a rotation is its inverse."""
    x, positions = draw(B, T, D).requires_grad_(), torch.randint(0, CONTEXT, (T,))
    rotate, gradient = Rotary(D, halves=halves), draw(B, T, D)
    rotate(x, positions).backward(gradient)
    close(x.grad, rotate(gradient, -positions))


@LAYOUTS
def test_a_turn_forth_and_back_changes_nothing(halves) -> None:
    x, positions = draw(B, T, D), torch.randint(0, CONTEXT, (B, T))
    rotate = Rotary(D, halves=halves)
    close(rotate(rotate(x, positions), -positions), x)


@pytest.mark.parametrize("kind", [torch.int16, torch.int32, torch.int64], ids=str)
def test_positions_may_be_integers_of_any_type(kind) -> None:
    x, positions = draw(T, D), torch.arange(20_000, 20_000 + T)
    rotate = Rotary(D)
    assert torch.equal(rotate(x, positions.to(kind)), rotate(x, positions))


@LAYOUTS
def test_numbers_are_made_where_the_vectors_are(halves) -> None:
    x = torch.empty(B, T, D, device="meta")
    turned = Rotary(D, halves=halves)(x, torch.arange(T, device="meta"))
    assert (turned.shape, turned.device.type) == (x.shape, "meta")


def test_frequencies_that_are_given_are_used() -> None:
    x, positions = draw(T, D), torch.randint(0, CONTEXT, (T,))
    rotate = Rotary(D, base=3.0, frequencies=rotary_frequencies(D, base=500.0))
    close(rotate(x, positions), Rotary(D, base=500.0)(x, positions))


# What must hold.


@LAYOUTS
@pytest.mark.parametrize(
    ("shift", "tolerance"), [(1, 1e-13), (1000, 1e-12), (10**6, 1e-9)]
)
def test_scores_depend_on_the_difference_only(shift, tolerance, halves) -> None:
    q, k = draw(B, T, D), draw(B, S, D)
    m, n = torch.randint(0, CONTEXT, (T,)), torch.randint(0, CONTEXT, (S,))
    rotate = Rotary(D, halves=halves)
    here = scores(rotate, q, k, m, n)
    close(scores(rotate, q, k, m + shift, n + shift), here, tolerance)
    assert (scores(rotate, q, k, m + 1, n) - here).abs().max() > 0.1


@LAYOUTS
def test_norms_are_kept(halves) -> None:
    x, positions = draw(B, T, D), torch.randint(0, CONTEXT, (T,))
    turned = Rotary(D, halves=halves)(x, positions)
    close(turned.norm(dim=-1), x.norm(dim=-1))


@LAYOUTS
def test_a_magnitude_multiplies_scores_by_its_square(halves) -> None:
    q, k, places = draw(T, D), draw(T, D), torch.arange(T)
    plain, loud = Rotary(D, halves=halves), Rotary(D, halves=halves, magnitude=1.5)
    expected = 2.25 * scores(plain, q, k, places, places)
    close(scores(loud, q, k, places, places), expected)


def test_turning_by_minus_theta_is_another_function_for_given_weights() -> None:
    """It is the same one only if the members of each pair are swapped, too."""
    q, k, places = draw(T, D), draw(T, D), torch.arange(T)
    plain, back = Rotary(D), Rotary(D, frequencies=-rotary_frequencies(D))

    def swap(x: Tensor) -> Tensor:
        return x.unflatten(-1, (-1, 2)).flip(-1).flatten(-2)

    expected = scores(plain, q, k, places, places)
    wrong = scores(back, q, k, places, places)
    assert (wrong - expected).abs().max() > 1.0
    close(scores(back, swap(q), swap(k), places, places), expected)


# Half precision.


def test_a_bfloat16_holds_few_positions() -> None:
    assert len(torch.arange(4096).to(torch.bfloat16).unique()) == 769


@LAYOUTS
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_vectors_in_16_bits_are_turned_to_the_last_bit_they_have(dtype, halves) -> None:
    """To within half a step of the type, as rounding once gives it."""
    x, positions = draw(B, T, D).to(dtype), torch.randint(0, CONTEXT, (T,))
    turned = Rotary(D, halves=halves)(x, positions)
    assert turned.dtype == dtype
    exact = by_loops(x.double(), positions, halves, 10_000.0, 1.0)
    step = torch.finfo(dtype).eps / 2
    # Subtracting numbers of 32 bits may lose some of them.
    close(turned.double(), exact, step + 1e-6)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32], ids=str)
def test_far_positions_stay_apart_in_every_type(dtype) -> None:
    x = torch.ones(2, D, dtype=dtype)
    rotate = Rotary(D)
    for place in (257, 4095, 100_001, 10**6 + 1):
        places = torch.tensor([place - 1, place])
        before, here = rotate(x, places)
        assert (here - before).abs().max() > 0.1
        exact = by_loops(x.double(), places, False, 10_000.0, 1.0)
        turned = torch.stack([before, here]).double()
        close(turned, exact, 0.01 if dtype == torch.bfloat16 else 1e-6)


# Pairs and halves.


def test_halves_are_pairs_in_another_order() -> None:
    x, positions = draw(B, T, D), torch.randint(0, CONTEXT, (B, T))
    pairs, halves = Rotary(D), Rotary(D, halves=True)
    expected = pairs(x, positions)
    close(halves_to_pairs(halves(pairs_to_halves(x), positions)), expected)
    close(pairs_to_halves(pairs(halves_to_pairs(x), positions)), halves(x, positions))
    assert (halves(x, positions) - expected).abs().max() > 1.0


def test_the_orders_are_inverses_and_no_scores_change() -> None:
    x, y = draw(B, T, D), draw(B, S, D)
    assert torch.equal(halves_to_pairs(pairs_to_halves(x)), x)
    assert torch.equal(pairs_to_halves(halves_to_pairs(x)), x)
    reordered = pairs_to_halves(x) @ pairs_to_halves(y).transpose(-2, -1)
    close(reordered, x @ y.transpose(-2, -1))


def test_a_vector_alone_may_be_reordered() -> None:
    x = torch.arange(6.0)
    assert pairs_to_halves(x).tolist() == [0, 2, 4, 1, 3, 5]
    assert halves_to_pairs(x).tolist() == [0, 3, 1, 4, 2, 5]


def test_rows_of_a_weight_are_reordered_within_each_head() -> None:
    weight, x = draw(E, D_IN), draw(B, T, D_IN)
    halves = pairs_to_halves_weight(weight, H)
    expected = merge_heads(pairs_to_halves(split_heads(x @ weight.T, H)))
    close(x @ halves.T, expected)
    assert torch.equal(halves_to_pairs_weight(halves, H), weight)
    assert (pairs_to_halves_weight(weight, 1) - halves).abs().max() > 1.0


def test_a_bias_is_reordered_as_its_weight_is() -> None:
    bias = draw(E)
    expected = merge_heads(pairs_to_halves(split_heads(bias[None], H)))[0]
    assert torch.equal(pairs_to_halves_weight(bias, H), expected)
    assert torch.equal(halves_to_pairs_weight(expected, H), bias)


# In a module.


def build(**options) -> MultiHeadAttention:
    return MultiHeadAttention(D_IN, E, CONTEXT, 0.0, H, True, **options).double()


def module_by_loops(module: MultiHeadAttention, x: Tensor, places: Tensor) -> Tensor:
    """Turn in loops, and attend in loops."""
    module, x = copy.deepcopy(module).requires_grad_(False), x.detach()
    q, k, v = (
        split_heads(layer(x), H)
        for layer in (module.W_query, module.W_key, module.W_value)
    )
    q, k = (by_loops(y, places, False, 10_000.0, 1.0) for y in (q, k))
    context = merge_heads(oracles.attention(q, k, v, causal=True))
    return module.out_proj(context)


def test_a_module_equals_the_loops() -> None:
    module, x = build(rotate=Rotary(D)), draw(B, T, D_IN)
    places = torch.randint(0, CONTEXT, (T,))
    close(module(x, positions=places), module_by_loops(module, x, places))


def test_a_text_may_stand_anywhere() -> None:
    module, x = build(rotate=Rotary(D)), draw(B, T, D_IN)
    expected = module(x)
    starts = torch.tensor([[900], [13]])
    close(module(x, positions=starts + torch.arange(T)), expected, 1e-10)
    spread = module(x, positions=3 * torch.arange(T))
    assert (spread - expected).abs().max() > 1e-3


def test_weights_for_halves_give_what_those_for_pairs_give() -> None:
    pairs = build(rotate=Rotary(D))
    halves = copy.deepcopy(pairs)
    halves.rotate = Rotary(D, halves=True)
    x = draw(B, T, D_IN)
    assert (halves(x) - pairs(x)).abs().max() > 1e-3
    with torch.no_grad():
        for layer in (halves.W_query, halves.W_key):
            layer.weight.copy_(pairs_to_halves_weight(layer.weight, H))
            layer.bias.copy_(pairs_to_halves_weight(layer.bias, H))
    close(halves(x), pairs(x))


def test_turned_values_would_tell_where_a_text_stands() -> None:
    rotate, places = Rotary(D), torch.arange(T)
    q, k, v = draw(T, D), draw(T, D), draw(T, D)

    def attend(shift: int, turn_values: bool) -> Tensor:
        m = places + shift
        value = rotate(v, m) if turn_values else v
        weights = scores(rotate, q, k, m, m).softmax(dim=-1)
        return weights @ value

    close(attend(100, turn_values=False), attend(0, turn_values=False), 1e-11)
    moved = attend(100, turn_values=True) - attend(0, turn_values=True)
    assert moved.abs().max() > 0.1


@pytest.mark.parametrize("pieces", [(7,), (1,) * 7, (3, 4), (2, 1, 4)], ids=str)
def test_a_text_in_pieces_with_a_cache_equals_the_whole(pieces) -> None:
    module, x, cache = build(rotate=Rotary(D)), draw(B, T, D_IN), KeyValueCache()
    parts = [module(piece, cache=cache) for piece in x.split(pieces, dim=1)]
    close(torch.cat(parts, dim=1), module(x))


def test_pieces_that_all_begin_at_zero_do_not() -> None:
    """So the test above would notice."""
    module, x, cache = build(rotate=Rotary(D)), draw(B, T, D_IN), KeyValueCache()
    parts = [
        module(piece, positions=torch.arange(piece.shape[1]), cache=cache)
        for piece in x.split((3, 4), dim=1)
    ]
    assert (torch.cat(parts, dim=1) - module(x))[:, 3:].abs().max() > 1e-3
