"""Heads that share keys and values: loops, repeated rows, gradients, caches."""

import itertools
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from headway import (
    ALiBi,
    GroupedQueryAttention,
    KeyValueCache,
    MultiHeadAttention,
    attention,
    fused_attention,
    padding_mask,
    repeat_heads,
)
from tests.support import oracles, position_fakes
from tests.support.compare import close
from tests.support.random_inputs import LEADING
from tests.support.sizes import CONTEXT, D_IN, B, S, T, draw

# One head of keys and values, all, and what shows an error: neither groups nor the
# heads in one are two, and no two of these are equal.
HEADS, GROUPS, WIDTH = 12, 3, 5
E = HEADS * WIDTH
EVERY_GROUPS = pytest.mark.parametrize("groups", [1, GROUPS, 4, HEADS])
WINDOWS = pytest.mark.parametrize("window", [None, 1, 3, T, T + 4])
BOTH = pytest.mark.parametrize("attend", [fused_attention, attention])


def build(
    groups: int = GROUPS, qkv_bias: bool = True, **options: Any
) -> GroupedQueryAttention:
    module = GroupedQueryAttention(
        D_IN, E, CONTEXT, 0.0, HEADS, qkv_bias, num_kv_heads=groups, **options
    )
    return module.double()


def visible(window: int | None, *, causal: bool = True) -> list[list[bool]]:
    """Say in loops who may look at whom."""
    window = T if window is None else window
    return [
        [not causal or (s <= t and t - s < window) for s in range(T)] for t in range(T)
    ]


# Repeating heads.


@pytest.mark.parametrize("leading", LEADING, ids=str)
@pytest.mark.parametrize(("groups", "times"), [(GROUPS, 4), (1, 5), (5, 1), (2, 2)])
def test_neighbours_share(leading, groups, times) -> None:
    x = draw(*leading, groups, S, WIDTH)
    repeated = repeat_heads(x, times)
    assert repeated.shape == (*leading, groups * times, S, WIDTH)
    for group, n in itertools.product(range(groups), range(times)):
        assert torch.equal(repeated[..., group * times + n, :, :], x[..., group, :, :])


def test_four_heads_in_two_groups() -> None:
    heads = torch.tensor([0.0, 1.0]).view(2, 1, 1)
    assert repeat_heads(heads, 2).flatten().tolist() == [0, 0, 1, 1]


def test_repeating_equals_pytorchs_own_groups() -> None:
    query = draw(B, HEADS, T, WIDTH)
    key, value = draw(B, GROUPS, S, WIDTH), draw(B, GROUPS, S, WIDTH)
    theirs = scaled_dot_product_attention(query, key, value, enable_gqa=True)
    times = HEADS // GROUPS
    close(
        attention(query, repeat_heads(key, times), repeat_heads(value, times)), theirs
    )
    tiled = attention(query, *(x.repeat(1, times, 1, 1) for x in (key, value)))
    assert (tiled - theirs).abs().max() > 1
    for groups in (1, HEADS):  # here the two orders cannot be told apart
        x = draw(B, groups, S, WIDTH)
        times = HEADS // groups
        assert torch.equal(repeat_heads(x, times), x.repeat(1, times, 1, 1))


# The module.


@BOTH
@EVERY_GROUPS
@pytest.mark.parametrize("qkv_bias", [False, True])
def test_it_equals_the_loops(groups, attend, qkv_bias) -> None:
    module, x = build(groups, qkv_bias, attend=attend), draw(B, T, D_IN)
    state = module.state_dict()
    assert len(state) == (8 if qkv_bias else 5)
    for text, result in zip(x, module(x), strict=True):
        close(
            result,
            oracles.in_groups(
                text,
                state,
                HEADS,
                groups,
                allowed=visible(None),
                positions=[*range(T)],
            ),
        )


@BOTH
@pytest.mark.parametrize(
    ("window", "causal"),
    [(None, True), (1, True), (3, True), (T + 4, True), (None, False)],
)
def test_with_all_options_it_equals_the_loops(window, causal, attend) -> None:
    module = build(
        window=window,
        causal=causal,
        rotate=position_fakes.rotate,
        bias=position_fakes.bias(HEADS),
        attend=attend,
    )
    x, mask = draw(B, T, D_IN), torch.rand(B, T, T) < 0.7
    positions = torch.stack([torch.randperm(CONTEXT)[:T] for _ in range(B)])
    result = module(x, mask=mask, positions=positions)
    for b in range(B):
        allowed = torch.tensor(visible(window, causal=causal)) & mask[b]
        theirs = oracles.in_groups(
            x[b],
            module.state_dict(),
            HEADS,
            GROUPS,
            allowed=allowed.tolist(),
            positions=positions[b].tolist(),
            turn=position_fakes.turn,
            added=position_fakes.added,
        )
        close(result[b], theirs)


@pytest.mark.parametrize("leading", LEADING, ids=str)
def test_any_number_of_leading_axes(leading) -> None:
    module, x = build(window=3), draw(*leading, T, D_IN)
    result = module(x)
    assert result.shape == (*leading, T, E)
    close(result.reshape(-1, T, E), module(x.reshape(-1, T, D_IN)))


def repeated_rows(weight: Tensor, groups: int) -> Tensor:
    """Repeat the rows of a head for each query head that shares it."""
    heads = weight.unflatten(0, (groups, WIDTH))
    copies = [heads[h * groups // HEADS] for h in range(HEADS)]
    return torch.cat(copies)


@EVERY_GROUPS
def test_it_is_multi_head_attention_with_repeated_rows(groups) -> None:
    """And the gradient of a shared head is the sum of those of its copies."""
    ours = build(groups)
    theirs = MultiHeadAttention(D_IN, E, CONTEXT, 0.0, HEADS, True).double()
    theirs.load_state_dict(
        {
            name: repeated_rows(weight, groups)
            if name.startswith(("W_key", "W_value"))
            else weight
            for name, weight in ours.state_dict().items()
        }
    )
    x = draw(B, T, D_IN).requires_grad_()
    y = x.detach().clone().requires_grad_()
    gradient = draw(B, T, E)
    result, expected = ours(x), theirs(y)
    close(result, expected)
    result.backward(gradient)
    expected.backward(gradient)
    close(x.grad, y.grad)
    for name, weight in ours.named_parameters():
        copies = theirs.get_parameter(name).grad
        if name.startswith(("W_key", "W_value")):
            copies = copies.unflatten(0, (groups, HEADS // groups, WIDTH))
            copies = copies.sum(dim=1).flatten(0, 1)
        close(weight.grad, copies)


def test_with_as_many_groups_as_heads_it_takes_the_same_weights() -> None:
    ours = build(HEADS)
    theirs = MultiHeadAttention(D_IN, E, CONTEXT, 0.0, HEADS, True).double()
    theirs.load_state_dict(ours.state_dict())
    x = draw(B, T, D_IN)
    close(ours(x), theirs(x))


@BOTH
@pytest.mark.parametrize("window", [None, 3])
def test_gradients_equal_differences(window, attend) -> None:
    module = GroupedQueryAttention(
        5, 12, 5, 0.0, 6, True, num_kv_heads=3, window=window, attend=attend
    ).double()
    inputs = (draw(B, 5, 5).requires_grad_(), *module.parameters())
    assert torch.autograd.gradcheck(lambda x, *_: module(x), inputs, fast_mode=True)


# What it hands to others, and what it keeps.


class Memory(TorchDispatchMode):
    """Note the largest block of memory that anything made lies in."""

    largest = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        for leaf in tree_leaves(result):
            if isinstance(leaf, Tensor):
                self.largest = max(self.largest, leaf.untyped_storage().nbytes())
        return result


def test_nothing_is_copied_for_heads_that_share() -> None:
    module, tokens = build(), 508
    module.context_length = tokens + 1
    kept = [draw(B, GROUPS, tokens + 1, WIDTH) for _ in range(2)]

    class Full:
        length = tokens

        def append(self, key, value, positions):
            return *kept, torch.arange(tokens + 1)

    with Memory() as memory, torch.no_grad():
        module(draw(B, 1, D_IN), cache=Full())
    assert memory.largest == kept[0].nbytes


def test_a_mask_of_each_text_and_a_bias_that_all_texts_share() -> None:
    module, x = (
        build(attend=attention, bias=position_fakes.bias(HEADS)),
        draw(B, T, D_IN),
    )
    fused = build(attend=fused_attention, bias=position_fakes.bias(HEADS))
    fused.load_state_dict(module.state_dict())
    mask = padding_mask(torch.tensor([T, 4]), T)
    close(module(x, mask=mask), fused(x, mask=mask))
    close(module(x[1], mask=mask[1]), fused(x, mask=mask)[1])


def test_what_turns_adds_and_attends_is_given_the_right_shapes() -> None:
    calls: dict[str, list[tuple[int, ...]]] = {"rotate": [], "bias": []}

    def rotate(vectors, positions):
        calls["rotate"] += [tuple(vectors.shape), tuple(positions.shape)]
        return vectors

    def bias(query_positions, key_positions):
        calls["bias"] += [tuple(query_positions.shape), tuple(key_positions.shape)]
        return torch.zeros(B, HEADS, query_positions.shape[-1], key_positions.shape[-1])

    def spy(query, key, value, **options):
        times = HEADS // GROUPS
        assert query.shape == (B, GROUPS, times, T, WIDTH)
        assert key.shape == value.shape == (B, GROUPS, 1, T + 2, WIDTH)
        assert options["bias"].shape == (B, GROUPS, times, T, T + 2)
        assert options["dropout_p"] == 0.25
        assert options["causal"]
        return fused_attention(query, key, value, **options)

    module = build(rotate=rotate, bias=bias)
    module.dropout.p = 0.25
    cache = position_fakes.Kept()
    positions = torch.arange(T + 2).expand(B, -1)
    x = draw(B, T + 2, D_IN)
    module(x[:, :2], positions=positions[:, :2], cache=cache)
    module.attend = spy
    for shapes in calls.values():
        shapes.clear()
    module(x[:, 2:], positions=positions[:, 2:], cache=cache)
    places = (B, 1, T)
    heads = [(B, n, T, WIDTH) for n in (HEADS, GROUPS)]
    assert calls["rotate"] == [heads[0], places, heads[1], places]
    # One token to itself, before anything is kept; then all.
    assert calls["bias"] == [(B, 1), (B, 1), (B, T), (B, T + 2)]


@pytest.mark.parametrize("lengths", position_fakes.CHUNKS, ids=str)
@WINDOWS
@pytest.mark.parametrize("forgets", [False, True])
@BOTH
def test_a_cache_changes_nothing(attend, forgets, window, lengths) -> None:
    module = build(
        window=window,
        rotate=position_fakes.rotate,
        bias=position_fakes.bias(HEADS),
        attend=attend,
    )
    x, mask = draw(B, T, D_IN), torch.rand(B, T, T) < 0.7
    cache = position_fakes.Kept(window if forgets else None)
    results, before = [], 0
    for part in x.split(lengths, dim=-2):
        after = before + part.shape[-2]
        results.append(module(part, mask=mask[:, before:after, :after], cache=cache))
        before = after
    close(torch.cat(results, dim=-2), module(x, mask=mask))
    assert cache.tokens[0][0].shape == (B, GROUPS, WIDTH)


def test_padding_and_a_window_hide_together() -> None:
    module, x = build(window=3), draw(B, T, D_IN)
    lengths = torch.tensor([T, 4])
    result = module(x, mask=padding_mask(lengths, T))
    close(result[1, :4], module(x[1, :4]))
    # The last token sees three places behind the end of the text, and so nothing.
    close(result[1, -1], module.out_proj.bias.detach())


@BOTH
@pytest.mark.parametrize("leading", [(), (T, T), (1, T, T), (B, 1, T, T)], ids=str)
def test_all_heads_may_share_a_bias(leading, attend) -> None:
    added = draw(*leading) if leading else draw(1, 1)
    x, every = draw(B, T, D_IN), added.expand(B, HEADS, T, T)
    shared = build(bias=lambda *_: added, attend=attend)
    copied = build(bias=lambda *_: every, attend=attend)
    copied.load_state_dict(shared.state_dict())
    close(shared(x), copied(x))


@pytest.mark.refusal
@BOTH
@pytest.mark.parametrize("heads", [GROUPS, HEADS // GROUPS, 2])
def test_a_bias_for_other_heads_is_refused_and_nothing_is_kept(heads, attend) -> None:
    module = build(bias=ALiBi(heads), attend=attend)
    cache = KeyValueCache()
    for options, shape in (
        ({}, (B, HEADS, T, T)),
        ({"cache": cache}, (B, HEADS, 1, 1)),
    ):
        got = (heads, *shape[2:])
        with pytest.raises(ValueError, match="bias must broadcast") as error:
            module(draw(B, T, D_IN), **options)
        assert str(error.value) == (
            f"bias must broadcast to the scores, of shape {shape}; "
            f"got bias.shape={got}."
        )
    assert cache.length == 0


def test_the_dropout_layer_says_whether_it_acts() -> None:
    module, x = build(), draw(B, T, D_IN)
    module.dropout.p = 0.5
    assert not torch.equal(module(x), module(x))
    module.eval()
    assert torch.equal(module(x), module(x))


def test_the_heads_of_keys_and_values_count_parameters() -> None:
    counts = {
        groups: sum(weight.numel() for weight in build(groups, False).parameters())
        for groups in (1, GROUPS, HEADS)
    }
    for groups, count in counts.items():
        kept = 2 * D_IN * groups * WIDTH
        assert count == D_IN * E + kept + E * E + E
    plain = MultiHeadAttention(D_IN, E, CONTEXT, 0.0, HEADS)
    assert counts[HEADS] == sum(weight.numel() for weight in plain.parameters())


def test_weights_are_made_where_and_how_one_says() -> None:
    module = GroupedQueryAttention(
        D_IN,
        E,
        CONTEXT,
        0.0,
        HEADS,
        True,
        num_kv_heads=GROUPS,
        window=3,
        device="meta",
        dtype=torch.bfloat16,
    )
    for weight in module.parameters():
        assert (weight.device.type, weight.dtype) == ("meta", torch.bfloat16)
    x = torch.zeros(B, T, D_IN, device="meta", dtype=torch.bfloat16)
    assert module(x).shape == (B, T, E)
