"""What maps of weights tell: sizes, heads taken away, and maps multiplied."""

import re
from itertools import product

import pytest
import torch
from torch import Tensor, nn

from generators.trained import copiers
from headway import (
    GroupedQueryAttention,
    MultiHeadAttention,
    attention,
    attention_weights,
    copying_loss,
    guessing_loss,
    induction_score,
    previous_token_score,
    recorded_weights,
    repeat_heads,
    repeat_task,
    rollout,
    silenced_heads,
    split_heads,
    train_induction,
    two_head_model,
    weighted_norms,
)
from tests.support.compare import close
from tests.support.sizes import D_IN, B, D, H, T

FLOOR = guessing_loss()


def multi(num_heads: int = H, **how: object) -> MultiHeadAttention:
    module = MultiHeadAttention(D_IN, num_heads * D, T, 0.0, num_heads, **how)
    return module.double()


def grouped() -> GroupedQueryAttention:
    sizes = (D_IN, 6 * D, T, 0.0, 6)
    module = GroupedQueryAttention(*sizes, num_kv_heads=2, qkv_bias=True)
    return module.double()


MODULES = {
    "multi": multi,
    "biased": lambda: multi(qkv_bias=True),
    "grouped": grouped,
}
every_module = pytest.mark.parametrize("make", MODULES.values(), ids=MODULES)


def some_tokens(*leading: int) -> Tensor:
    return torch.randn(*leading, T, D_IN, dtype=torch.float64)


def some_weights(*leading: int, heads: int = H, queries: int = T) -> Tensor:
    shape = (*leading, heads, queries, T)
    return torch.randn(shape, dtype=torch.float64).softmax(dim=-1)


def weights_of(module: nn.Module, x: Tensor) -> Tensor:
    shared = module.W_query.out_features // module.W_key.out_features
    query = split_heads(module.W_query(x), module.num_heads)
    key = split_heads(module.W_key(x), module.num_heads // shared)
    return attention_weights(query, repeat_heads(key, shared), causal=True)


# Values that are equal.


def test_with_equal_values_every_map_has_the_same_result() -> None:
    query, key = torch.randn(2, B, H, T, 5, dtype=torch.float64)
    value = torch.randn(B, H, 1, 5, dtype=torch.float64).expand(B, H, T, 5)
    close(attention(query, key, value), value, 1e-12)
    close(attention(query * -9, key, value), value, 1e-12)
    assert (
        attention(query, key, key) - attention(query * -9, key, key)
    ).abs().max() > 1


# Heads taken away.


@every_module
@torch.no_grad()
def test_what_is_missing_is_what_the_head_gave(make: object) -> None:
    module, x = make(), some_tokens(B)
    whole, bias = module(x), module.out_proj.bias
    weights = weights_of(module, x)
    total = bias.expand_as(whole)
    for h in range(module.num_heads):
        # By loops: weight times value times columns, without a tensor of heads.
        shared = module.W_query.out_features // module.W_value.out_features
        rows = slice(h // shared * D, h // shared * D + D)
        part = torch.zeros_like(whole)
        for b, t in product(range(B), range(T)):
            for s in range(T):
                value = module.W_value(x[b, s])[rows]
                moved = module.out_proj.weight[:, h * D : (h + 1) * D] @ value
                part[b, t] += weights[b, h, t, s] * moved
        with silenced_heads(module, [h]):
            close(whole - module(x), part, 1e-12)
        total = total + part
    close(total, whole, 1e-12)


@torch.no_grad()
def test_several_heads_go_at_once_and_none_may() -> None:
    module, x = multi(), some_tokens(B)
    whole = module(x)
    parts = []
    for h in range(H):
        with silenced_heads(module, [h]):
            parts.append(whole - module(x))
    with silenced_heads(module, (0, 2)):
        close(module(x), whole - parts[0] - parts[2], 1e-12)
    with silenced_heads(module, []):
        assert torch.equal(module(x), whole)
    with silenced_heads(module, range(H)):
        assert torch.equal(module(x), module.out_proj.bias.expand_as(whole))


def test_the_head_comes_back_to_the_last_bit_even_after_an_error() -> None:
    module = multi()
    weight = module.out_proj.weight
    before = weight.detach().clone()

    def fail() -> None:
        with silenced_heads(module, [1]):
            assert not torch.equal(weight, before)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert torch.equal(weight, before)
    assert module.out_proj.weight is weight
    assert weight.requires_grad
    assert weight.is_leaf


def test_silenced_heads_may_be_nested() -> None:
    module = multi()
    before = module.out_proj.weight.detach().clone()
    with silenced_heads(module, [0]):
        with silenced_heads(module, [2]):
            assert not module.out_proj.weight[:, :D].any()
            assert not module.out_proj.weight[:, 2 * D : 3 * D].any()
        assert not module.out_proj.weight[:, :D].any()
        assert module.out_proj.weight[:, 2 * D :].all()
    assert torch.equal(module.out_proj.weight, before)


# The sizes of what keys bring.


@every_module
@pytest.mark.parametrize("leading", [(), (B,)], ids=str)
@torch.no_grad()
def test_sizes_by_loops(make: object, leading: tuple[int, ...]) -> None:
    module, x = make(), some_tokens(*leading)
    weights = some_weights(*leading, heads=module.num_heads, queries=3)
    sizes = weighted_norms(module, x, weights)
    assert sizes.shape == weights.shape
    shared = module.W_query.out_features // module.W_value.out_features
    texts = x.reshape(-1, T, D_IN)
    weights = weights.reshape(-1, module.num_heads, 3, T)
    sizes = sizes.reshape(weights.shape)
    for b, h, s in product(range(len(texts)), range(module.num_heads), range(T)):
        rows = slice(h // shared * D, h // shared * D + D)
        value = module.W_value(texts[b, s])[rows]
        brought = module.out_proj.weight[:, h * D : (h + 1) * D] @ value
        length = sum(number**2 for number in brought.tolist()) ** 0.5
        for t in range(3):
            expected = weights[b, h, t, s].item() * length
            assert sizes[b, h, t, s].item() == pytest.approx(expected)


@torch.no_grad()
def test_a_key_without_a_value_brings_nothing_and_has_a_weight() -> None:
    module, x = multi(), some_tokens(B)
    x[:, 4] = 0.0
    weights = weights_of(module, x)
    sizes = weighted_norms(module, x, weights)
    assert not sizes[..., 4].any()
    assert weights[..., 4:, 4].min() > 0.01
    with silenced_heads(module, [1]):
        sizes = weighted_norms(module, x, weights)
    assert not sizes[:, 1].any()
    assert sizes[:, 0, 1:, 0].min() > 0.0


def test_a_key_with_all_the_weight_brings_the_whole() -> None:
    module, x = multi(num_heads=1), some_tokens()
    nn.init.zeros_(module.out_proj.bias)
    one_back = torch.eye(T, dtype=torch.float64).roll(-1, dims=-1)[None]
    sizes = weighted_norms(module, x, one_back).sum(dim=-1)[0]
    moved = module.out_proj(module.W_value(x)).norm(dim=-1)
    close(sizes, moved.roll(1), 1e-12)


# Maps multiplied.


def ways(maps: list[Tensor], t: int, s: int, share: float) -> float:
    """Add up all ways from token s to place t, one layer after the other."""
    if not maps:
        return float(t == s)
    *below, last = maps
    total = share * ways(below, t, s, share)
    for u in range(last.shape[-1]):
        mean = sum(head[t, u].item() for head in last) / len(last)
        total += (1.0 - share) * mean * ways(below, u, s, share)
    return total


@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 1.0])
def test_rollout_by_all_ways(layers: int, share: float) -> None:
    size = 5
    # Layers need not have equally many heads.
    maps = [
        torch.randn(2, 3 + layer, size, size).double().softmax(dim=-1)
        for layer in range(layers)
    ]
    result = rollout(maps, residual=share)
    assert result.shape == (2, size, size)
    for b, t, s in product(range(2), range(size), range(size)):
        expected = ways([layer[b] for layer in maps], t, s, share)
        assert result[b, t, s].item() == pytest.approx(expected)


@pytest.mark.parametrize("leading", [(), (B,), (B, 3)], ids=str)
def test_rows_sum_to_one_and_nothing_comes_from_what_is_hidden(
    leading: tuple[int, ...],
) -> None:
    hidden = torch.ones(T, T, dtype=torch.bool).triu(1)
    maps = [
        torch.randn(*leading, H, T, T).masked_fill(hidden, -torch.inf).softmax(dim=-1)
        for _ in range(4)
    ]
    result = rollout(maps)
    assert result.shape == (*leading, T, T)
    close(result.sum(dim=-1), torch.ones(*leading, T), 1e-5)
    assert not result[..., hidden].any()
    assert result[..., ~hidden].min() > 0.0


def test_the_default_is_half_and_the_first_layer_comes_first() -> None:
    first, second = some_weights(B), some_weights(B)
    same = torch.eye(T, dtype=torch.float64)
    steps = [(same + layer.mean(dim=1)) / 2 for layer in (first, second)]
    close(rollout([first, second]), steps[1] @ steps[0], 1e-12)
    assert (rollout([first, second]) - rollout([second, first])).abs().max() > 1e-3
    assert torch.equal(rollout([first], residual=1.0), same.expand(B, T, T))


def test_rollout_does_not_change_the_maps() -> None:
    maps = [some_weights(B), some_weights(B)]
    before = [layer.clone() for layer in maps]
    rollout(maps)
    assert all(map(torch.equal, maps, before))


# The model that is stored.


@pytest.fixture
def one_thread() -> object:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@torch.no_grad()
def loss_without(model: nn.Module, layer: int, heads: list[int]) -> float:
    ids, asked = repeat_task(200, generator=torch.Generator().manual_seed(7))
    with silenced_heads(model.blocks[layer].attention, heads):
        return float(copying_loss(model, ids, asked))


def test_the_stored_model_is_the_one_that_the_chapter_reads() -> None:
    model = two_head_model()
    for weight in model.state_dict().values():
        assert weight.dtype == torch.float32
        assert torch.equal(weight, weight.half().float())
    assert loss_without(model, 0, []) < 0.1
    assert loss_without(model, 0, [0]) < 0.1
    assert loss_without(model, 0, [1]) > FLOOR + 1.0
    assert loss_without(model, 1, [0]) < 0.5
    assert loss_without(model, 1, [1]) < 0.5
    assert loss_without(model, 1, [0, 1]) > FLOOR + 1.0
    ids, _ = repeat_task(200, generator=torch.Generator().manual_seed(7))
    first, second = recorded_weights(model, ids)
    assert previous_token_score(first).min() > 0.5
    assert induction_score(second, ids).min() > 0.9


@torch.no_grad()
def test_the_idle_head_brings_little() -> None:
    model = two_head_model()
    ids, _ = repeat_task(50, generator=torch.Generator().manual_seed(7))
    first, _ = recorded_weights(model, ids)
    sizes = weighted_norms(model.blocks[0].attention, model.embedding(ids), first)
    idle, busy = previous_token_score(sizes)
    assert busy > 3 * idle


@torch.no_grad()
def test_rollout_names_a_letter_that_the_answer_does_not_need() -> None:
    ids = torch.tensor([ord(letter) - ord("a") for letter in "planetplane"])
    model = two_head_model()
    shares = rollout(recorded_weights(model, ids))[-1]
    assert (shares > 0.2).nonzero()[:, 0].tolist() == [4, 5, 9, 10]
    unused = [i for i in range(26) if i not in ids.tolist()]
    needed = []
    for s in range(11):
        texts = ids.repeat(len(unused), 1)
        texts[:, s] = torch.tensor(unused)
        guesses = model(texts)[:, -1].argmax(dim=-1)
        if (guesses != ord("t") - ord("a")).float().mean() > 0.5:
            needed.append(s)
    assert needed == [4, 5, 10]


def test_each_call_gives_a_model_of_its_own() -> None:
    one, other = two_head_model(), two_head_model()
    nn.init.zeros_(one.head.weight)
    assert other.head.weight.abs().max() > 0.1


def test_what_is_stored_is_held_to_its_thresholds(
    one_thread: object, capsys: pytest.CaptureFixture[str]
) -> None:
    assert copiers.main(["--check"]) == 0
    assert capsys.readouterr().out == ""
    model = two_head_model()
    nn.init.zeros_(model.blocks[0].attention.out_proj.weight)
    assert len(copiers.problems(model)) == 2
    assert len(copiers.spare_heads(model)) == 1


@pytest.mark.slow
@pytest.mark.parametrize("num_heads", [1, 2])
def test_training_anew_comes_to_a_model_that_copies(
    one_thread: object, num_heads: int
) -> None:
    assert copiers.problems(copiers.train(num_heads)) == []


@pytest.mark.slow
def test_idle_heads_and_spare_heads_are_no_rarity(one_thread: object) -> None:
    idle = 0
    for seed in range(5):
        model = train_induction(2, 2, repeat_task, seed=seed)
        without = sorted(loss_without(model, 0, [h]) for h in (0, 1))
        idle += without[0] < 0.2 and without[1] > FLOOR
        assert max(loss_without(model, 1, [h]) for h in (0, 1)) < FLOOR / 2
        assert loss_without(model, 1, [0, 1]) > FLOOR
    assert idle >= 3  # 4 where the book was written


# What is refused.


@pytest.mark.refusal
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: silenced_heads(multi(), [0, H]).__enter__(),
            "heads must hold numbers from 0 to num_heads - 1; "
            f"got heads=[0, {H}], num_heads={H}.",
        ),
        (
            lambda: silenced_heads(multi(), [-1]).__enter__(),
            "heads must hold numbers from 0 to num_heads - 1; "
            f"got heads=[-1], num_heads={H}.",
        ),
        (
            lambda: weighted_norms(multi(), torch.zeros(T, 5), None),
            "x",
        ),
        (
            lambda: weighted_norms(multi(), some_tokens(), torch.zeros(H, T, T).long()),
            "weights must hold floating-point numbers; got weights.dtype=torch.int64.",
        ),
        (
            lambda: weighted_norms(multi(), some_tokens(), some_weights(heads=2)),
            f"weights must have shape (..., {H}, queries, {T}); "
            f"got weights.shape=(2, {T}, {T}).",
        ),
        (
            lambda: weighted_norms(multi(), some_tokens(), torch.zeros(H, T, T + 1)),
            f"weights must have shape (..., {H}, queries, {T}); "
            f"got weights.shape=({H}, {T}, {T + 1}).",
        ),
        (
            lambda: weighted_norms(multi(), some_tokens(), torch.zeros(T, T)),
            f"weights must have shape (..., {H}, queries, {T}); "
            f"got weights.shape=({T}, {T}).",
        ),
        (
            lambda: rollout([]),
            "weights must be of at least one layer; got weights=[].",
        ),
        (
            lambda: rollout([torch.zeros(3, 4, 4).long()]),
            "weights must hold floating-point numbers; got weights.dtype=torch.int64.",
        ),
        (
            lambda: rollout([torch.zeros(4, 4)]),
            "weights must have shape (..., heads, tokens, tokens) in each layer; "
            "got (4, 4).",
        ),
        (
            lambda: rollout([torch.zeros(3, 4, 5)]),
            "weights must have shape (..., heads, tokens, tokens) in each layer; "
            "got (3, 4, 5).",
        ),
        (
            lambda: rollout([torch.zeros(3, 4, 4), torch.zeros(3, 5, 5)]),
            "weights must have shape (..., heads, tokens, tokens) in each layer; "
            "got (3, 4, 4), (3, 5, 5).",
        ),
        (
            lambda: rollout([torch.zeros(2, 3, 4, 4), torch.zeros(3, 4, 4)]),
            "weights must have shape (..., heads, tokens, tokens) in each layer; "
            "got (2, 3, 4, 4), (3, 4, 4).",
        ),
        (
            lambda: rollout([torch.zeros(3, 4, 4)], residual=1.5),
            "residual must be in [0, 1]; got residual=1.5.",
        ),
        (
            lambda: rollout([torch.zeros(3, 4, 4)], residual=-0.1),
            "residual must be in [0, 1]; got residual=-0.1.",
        ),
    ],
)
def test_refused_in_one_sentence(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        call()
