"""The task, its floor, a model that learns it, and what its two heads look at."""

import inspect
import math
import re
from collections import Counter
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from generators.trained import induction_heads
from headway import (
    GroupedQueryAttention,
    LanguageModel,
    MultiHeadAttention,
    Rotary,
    TransformerBlock,
    attention,
    attention_only_model,
    attention_weights,
    copying_loss,
    fused_attention,
    guessing_loss,
    induction_model,
    induction_score,
    previous_token_score,
    recorded_weights,
    repeat_heads,
    repeat_task,
    split_heads,
    train_induction,
    words_guessing_loss,
    words_task,
)
from tests.support.compare import close
from tests.support.sizes import B, H, T

FLOOR = 1.2443267236014761  # counted below, in loops
REPEAT_FLOOR = 2.1117230424488462


def drawn(seed: int, texts: int = 200, **how: object) -> tuple[Tensor, Tensor]:
    return words_task(texts, generator=torch.Generator().manual_seed(seed), **how)


def repeated(seed: int, texts: int = 200, **how: object) -> tuple[Tensor, Tensor]:
    return repeat_task(texts, generator=torch.Generator().manual_seed(seed), **how)


@torch.no_grad()
def loss_of(model: nn.Module, ids: Tensor, asked: Tensor) -> float:
    return float(copying_loss(model, ids, asked))


@pytest.fixture(autouse=True)
def one_thread() -> object:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


# The task and its floor.


def words_of(text: list[int], length: int) -> list[tuple[int, ...]]:
    return [tuple(text[at : at + length]) for at in range(0, 33, length)]


@pytest.mark.parametrize("length", [2, 3, 4, 5])
def test_a_text_says_five_words_in_any_order(length: int) -> None:
    ids, asked = drawn(3, lengths=[length])
    assert ids.shape == (200, 33)
    assert asked.shape == (200, 32)
    firsts = Counter()
    for text, places in zip(ids.tolist(), asked.tolist(), strict=True):
        words = words_of(text, length)
        whole = {word for word in words if len(word) == length}
        assert len(whole) <= 5
        assert len({token for word in whole for token in word}) == length * len(whole)
        firsts[words[0] == words[1]] += 1
        for t in range(32):
            said = text[t] in text[:t]
            assert places[t] is (said and t % length < length - 1)
            if places[t]:
                followed = {text[s] for s in range(1, t + 1) if text[s - 1] == text[t]}
                assert followed == {text[t + 1]}
    assert 20 < firsts[True] < 60  # one in five


def test_each_length_is_as_likely_as_the_others() -> None:
    ids, _ = drawn(3, 6000)
    # A text whose third token is its first has words of two, and says one twice.
    assert abs(int((ids[:, 0] == ids[:, 2]).sum()) - 6000 / 3 / 5) < 80
    assert abs(int((ids[:, 0] == ids[:, 4]).sum()) - 6000 * 2 / 3 / 5) < 110
    _, asked = repeated(3, 6000, distances=[4, 7, 26])
    counts = Counter((~asked).sum(dim=1).tolist())
    assert set(counts) == {4, 7, 26}
    assert all(abs(count - 2000) < 150 for count in counts.values())


def test_words_are_drawn_anew_and_every_order_comes() -> None:
    ids, _ = drawn(3, 3000, lengths=[2])
    counts = Counter(map(tuple, ids[:, :2].tolist()))
    assert len(counts) > 600  # of 650
    again, _ = drawn(3, 3000, lengths=[2])
    assert torch.equal(ids, again)
    torch.manual_seed(3)
    assert not torch.equal(words_task(5)[0], words_task(5)[0])
    assert not torch.equal(repeat_task(5)[0], repeat_task(5)[0])


@pytest.mark.parametrize("lengths", [[2], [5], [3, 4], range(2, 5)], ids=str)
def test_the_floor_of_words_by_all_ways(lengths: list[int]) -> None:
    total = places = 0.0
    for length in lengths:
        # Each set of words that were said before, and how likely it is.
        likely = {frozenset(): 1.0}
        for start in range(0, 33, length):
            inside = sum(t + 1 < 33 for t in range(start, start + length - 1))
            after = Counter()
            for said, share in likely.items():
                for word in range(5):
                    after[said | {word}] += share / 5
                    if word in said:
                        places += inside * share / 5
                        total += inside * share / 5 * math.log(len(said))
            likely = after
    assert words_guessing_loss(lengths) == pytest.approx(total / places)
    assert words_guessing_loss() == pytest.approx(FLOOR)


def test_who_knows_all_but_the_present_letter_has_the_loss_of_the_floor() -> None:
    ids, asked = drawn(3, 2000, lengths=[3])

    def guess(read: Tensor) -> Tensor:
        scores = torch.full((*read.shape, 26), -math.inf, dtype=torch.float64)
        for rows, text in zip(scores, ids.tolist(), strict=True):
            for t in range(32):
                words = [w for w in words_of(text, 3) if len(w) == 3][: t // 3]
                rows[t, [word[(t + 1) % 3] for word in words]] = 0.0
        return scores

    expected = words_guessing_loss([3])
    assert loss_of(guess, ids, asked) == pytest.approx(expected, abs=0.02)


def test_a_block_of_different_tokens_is_said_again_and_again() -> None:
    ids, asked = repeated(3)
    assert ids.shape == (200, 33)
    assert asked.shape == (200, 32)
    lengths = (~asked).sum(dim=1).tolist()
    for text, places, d in zip(ids.tolist(), asked.tolist(), lengths, strict=True):
        assert len(set(text[:d])) == d
        assert all(text[t] == text[t - d] for t in range(d, 33))
        assert places == [t >= d for t in range(32)]
    assert set(lengths) == set(range(5, 17))
    assert set(ids.flatten().tolist()) == set(range(26))


@pytest.mark.parametrize("distances", [[2], [5, 9], range(5, 17)], ids=str)
def test_the_floor_of_blocks_by_loops(distances: list[int]) -> None:
    losses = []
    for d in distances:
        text = [t % d for t in range(33)]
        for t in range(32):
            said = t + 1 - d >= 0 and text[t] in text[:t]
            if said and text[t + 1] in text[: t + 1]:
                left = {*text[: t + 1]} - {text[t]}
                losses.append(math.log(len(left)))
    assert guessing_loss(distances) == pytest.approx(sum(losses) / len(losses))
    assert guessing_loss() == pytest.approx(REPEAT_FLOOR)


def test_who_knows_the_block_but_not_its_order_has_the_loss_of_its_floor() -> None:
    ids, asked = repeated(3, 1000)
    lengths = (~asked).sum(dim=1).tolist()

    def guess(read: Tensor) -> Tensor:
        scores = torch.full((*read.shape, 26), -math.inf, dtype=torch.float64)
        for score, text, d in zip(scores, ids, lengths, strict=True):
            score[:, text[:d]] = 0.0
        return scores.scatter(-1, read[..., None], -math.inf)

    counted = [(32 - d, math.log(d - 1)) for d in lengths]
    expected = sum(n * loss for n, loss in counted) / sum(n for n, _ in counted)
    assert loss_of(guess, ids, asked) == pytest.approx(expected)
    assert expected == pytest.approx(guessing_loss(), abs=0.1)


def test_the_loss_by_loops() -> None:
    ids, asked = drawn(3, 4)
    scores = torch.randn(4, 32, 26, dtype=torch.float64)
    losses = []
    for text, places, rows in zip(ids.tolist(), asked.tolist(), scores, strict=True):
        for t in range(32):
            if places[t]:
                share = rows[t].exp() / rows[t].exp().sum()
                losses.append(-math.log(share[text[t + 1]]))
    expected = sum(losses) / len(losses)
    assert loss_of(lambda _: scores, ids, asked) == pytest.approx(expected)


def test_the_model_never_reads_the_last_token() -> None:
    ids, asked = drawn(3, 4)
    seen = []

    def model(read: Tensor) -> Tensor:
        seen.append(read)
        return torch.zeros(*read.shape, 26)

    assert loss_of(model, ids, asked) == pytest.approx(math.log(26))
    assert torch.equal(seen[0], ids[:, :-1])


# The model.


def test_there_is_attention_between_two_tables_and_nothing_else() -> None:
    model = attention_only_model(3, num_heads=2)
    assert len(model.blocks) == 3
    assert sum(p.numel() for p in model.parameters()) == 2 * 26 * 32 + 3 * 4128
    for block in model.blocks:
        assert block.feed_forward is None
        assert block.attention.num_heads == 2
        nn.init.zeros_(block.attention.out_proj.weight)
        nn.init.zeros_(block.attention.out_proj.bias)
    ids = torch.randint(26, (B, 64))
    assert torch.equal(model(ids), model.head(model.embedding(ids)))
    with pytest.raises(ValueError, match="context_length=64"):
        model(torch.zeros(65, dtype=torch.long))


def test_the_default_is_two_layers_of_one_head() -> None:
    model = attention_only_model()
    assert [block.attention.num_heads for block in model.blocks] == [1, 1]


def test_the_model_leaks_nothing_and_knows_distances_only() -> None:
    model = attention_only_model(num_heads=2)
    ids = torch.randint(26, (B, 11))
    other = ids.clone()
    other[:, 6:] = (other[:, 6:] + 1) % 26
    assert torch.equal(model(ids)[:, :6], model(other)[:, :6])
    assert not torch.equal(model(ids)[:, 6:], model(other)[:, 6:])
    close(model(ids), model(ids, positions=torch.arange(7, 18)), 1e-5)
    # The same tokens in another order are another text.
    swapped = ids[:, [1, 0, *range(2, 11)]]
    assert (model(ids)[:, 2:] - model(swapped)[:, 2:]).abs().max() > 1e-3


@pytest.mark.slow
def test_two_layers_learn_and_one_does_not() -> None:
    ids, asked = drawn(7)
    two, one = train_induction(), train_induction(layers=1)
    assert loss_of(two, ids, asked) < 0.5
    assert loss_of(one, ids, asked) > FLOOR
    first, second = recorded_weights(two, ids)
    assert previous_token_score(first) > 0.7
    assert induction_score(second, ids) > 0.8


def test_training_is_made_of_its_seed_and_leaves_the_numbers_of_others() -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    states = [train_induction(steps=2, seed=seed).state_dict() for seed in (0, 0, 1)]
    assert torch.equal(torch.get_rng_state(), before)
    for name, weight in states[0].items():
        assert torch.equal(weight, states[1][name])
    assert not torch.equal(states[0]["head.weight"], states[2]["head.weight"])


def test_training_takes_what_it_is_told() -> None:
    asked = []

    def task(texts: int) -> tuple[Tensor, Tensor]:
        asked.append(texts)
        return repeat_task(texts, [9])

    model = train_induction(3, 2, task, steps=4)
    assert asked == [64] * 4
    assert [block.attention.num_heads for block in model.blocks] == [2, 2, 2]
    assert all(weight.dtype == torch.float64 for weight in model.parameters())
    parameters = inspect.signature(train_induction).parameters
    assert parameters["task"].default is words_task


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("num_heads", [1, 2])
def test_two_layers_copy_but_for_one_seed(seed: int, num_heads: int) -> None:
    ids, asked = drawn(7)
    model = train_induction(2, num_heads, seed=seed)
    if (num_heads, seed) == (1, 1):
        assert loss_of(model, ids, asked) > 1.0  # as the book says
        return
    assert loss_of(model, ids, asked) < 0.3
    first, second = recorded_weights(model, ids)
    assert previous_token_score(first).max() > 0.8
    assert induction_score(second, ids).min() > 0.8
    nn.init.zeros_(model.blocks[0].attention.out_proj.weight)
    assert loss_of(model, ids, asked) > FLOOR


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("num_heads", [1, 2, 4])
def test_one_layer_stays_above_the_floor(num_heads: int, seed: int) -> None:
    model = train_induction(1, num_heads, steps=600, seed=seed)
    assert loss_of(model, *drawn(7)) > FLOOR + 1.4


class Distances(nn.Module):
    """A layer whose weights depend on distances alone, and whose values are tokens."""

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.number = nn.Parameter(torch.randn(heads, 32).double())
        self.factor = nn.Parameter(torch.ones(heads, 1, 1).double())

    def forward(self, ids: Tensor) -> Tensor:
        place = torch.arange(ids.shape[-1])
        apart = place[:, None] - place
        scores = self.number[:, apart.clamp(min=0)]
        weights = scores.masked_fill(apart < 0, -torch.inf).softmax(dim=-1)
        letters = nn.functional.one_hot(ids, 26).double()
        return (self.factor * (weights @ letters[:, None])).sum(dim=1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("heads", [1, 2, 3])
def test_distances_alone_are_enough_for_blocks_but_not_for_words(
    heads: int, seed: int
) -> None:
    for task, fresh, low, high in (
        (repeat_task, repeated(7, 1000), 0.0, REPEAT_FLOOR),
        (words_task, drawn(7, 1000), FLOOR + 1.0, FLOOR + 1.2),
    ):
        torch.manual_seed(seed)
        model = Distances(heads)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
        for _ in range(600):
            loss = copying_loss(model, *task(64))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        assert low < loss_of(model, *fresh) < high


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_with_one_distance_one_layer_passes_for_two(seed: int) -> None:
    model = train_induction(1, task=lambda n: repeat_task(n, [6]), seed=seed)
    ids, asked = repeated(7, distances=[6])
    assert loss_of(model, ids, asked) < 0.5
    assert induction_score(recorded_weights(model, ids)[0], ids) > 0.8
    ids, asked = repeated(7, distances=[9])
    assert loss_of(model, ids, asked) > guessing_loss([9])
    assert induction_score(recorded_weights(model, ids)[0], ids) < 0.3


# The model that is stored.


def test_the_stored_model_is_one_that_could_have_been_trained_now() -> None:
    model = induction_model()
    for weight in model.state_dict().values():
        assert weight.dtype == torch.float32
        assert torch.equal(weight, weight.half().float())
    ids, asked = drawn(7)
    assert loss_of(model, ids, asked) < 0.2
    first, second = recorded_weights(model, ids)
    assert previous_token_score(first) > 0.9
    assert induction_score(first, ids) < 0.1
    assert previous_token_score(second) < 0.2
    assert induction_score(second, ids) > 0.9


def test_each_call_gives_a_model_of_its_own() -> None:
    one, other = induction_model(), induction_model()
    nn.init.zeros_(one.head.weight)
    assert other.head.weight.abs().max() > 0.1


def test_without_its_first_head_the_model_is_above_the_floor() -> None:
    ids, asked = drawn(7)
    for block in (0, 1):
        model = induction_model()
        for parameter in model.blocks[block].attention.out_proj.parameters():
            nn.init.zeros_(parameter)
        assert loss_of(model, ids, asked) > FLOOR + 1.0


def test_the_first_head_may_be_a_rule_and_the_model_copies_as_well() -> None:
    ids, asked = drawn(7)
    model = induction_model()
    trained = loss_of(model, ids, asked)
    for steps, copies in ((1, True), (2, False)):
        model.blocks[0].attention.attend = lambda query, key, value, steps=steps, **_: (
            nn.functional.pad(value, (0, 0, steps, -steps))
        )
        assert (loss_of(model, ids, asked) < trained + 0.1) is copies


def test_other_tokens_have_the_same_scores() -> None:
    ids, _ = drawn(7)
    model = induction_model()
    scores = [
        float(induction_score(recorded_weights(model, one)[1], one))
        for one in (ids, torch.randperm(26)[ids])
    ]
    assert abs(scores[0] - scores[1]) < 0.05


def test_a_pair_seen_once_is_enough() -> None:
    order = torch.rand(300, 26).argsort(dim=1)[:, :20]
    place = torch.randint(15, (300, 1))
    ids = torch.cat([order, order.gather(1, place)], dim=1)
    guess = induction_model()(ids)[:, -1].argmax(dim=-1)
    assert (guess == order.gather(1, place + 1)[:, 0]).float().mean() > 0.9


# Reading weights.


def weights_by_hand(module: MultiHeadAttention, x: Tensor) -> Tensor:
    query, key = (
        split_heads(project(x), module.num_heads)
        for project in (module.W_query, module.W_key)
    )
    places = torch.arange(x.shape[-2])
    query, key = (module.rotate(part, places) for part in (query, key))
    future = torch.ones(len(places), len(places), dtype=torch.bool).triu(1)
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    return scores.masked_fill(future, -math.inf).softmax(dim=-1)


@pytest.mark.parametrize("leading", [(), (B,), (B, 3)], ids=str)
@pytest.mark.parametrize("function", [attention, fused_attention])
def test_recorded_weights_are_those_of_each_layer(
    leading: tuple[int, ...], function: object
) -> None:
    model = attention_only_model(3, num_heads=2).double()
    for block in model.blocks:
        block.attention.attend = function
    ids = torch.randint(26, (*leading, T))
    before = model(ids)
    recorded = recorded_weights(model, ids)
    assert [w.shape for w in recorded] == [(*leading, 2, T, T)] * 3
    x = model.embedding(ids)
    for block, weights in zip(model.blocks, recorded, strict=True):
        close(weights, weights_by_hand(block.attention, x), 1e-12)
        assert not weights.requires_grad
        assert block.attention.attend is function
        x = block(x)
    assert torch.equal(model(ids), before)


def test_the_functions_come_back_when_a_model_fails() -> None:
    model = attention_only_model()
    with pytest.raises(ValueError, match="context_length"):
        recorded_weights(model, torch.zeros(65, dtype=torch.long))
    for block in model.blocks:
        assert block.attention.attend is fused_attention


def test_heads_that_share_keys_are_counted_as_they_ask() -> None:
    module = GroupedQueryAttention(
        24, 24, T, 0.0, num_heads=6, num_kv_heads=2, rotate=Rotary(4)
    )
    model = LanguageModel(5, 24, [TransformerBlock(module, None)]).double()
    ids = torch.randint(5, (B, T))
    [weights] = recorded_weights(model, ids)
    x = model.embedding(ids)
    query = module.rotate(split_heads(module.W_query(x), 6), torch.arange(T))
    key = module.rotate(split_heads(module.W_key(x), 2), torch.arange(T))
    assert weights.shape == (B, 6, T, T)
    close(weights, attention_weights(query, repeat_heads(key, 3), causal=True), 1e-12)


def test_dropout_acts_on_the_model_and_not_on_what_is_recorded() -> None:
    module = MultiHeadAttention(32, 32, T, 0.5, num_heads=2)
    model = LanguageModel(26, 32, [TransformerBlock(module, None)])
    ids = torch.randint(26, (B, T))
    heard = []
    module.register_forward_hook(lambda _, __, result: heard.append(result))
    [weights] = recorded_weights(model, ids)
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(B, 2, T))
    recorded_weights(model, ids)
    assert not torch.equal(heard[0], heard[1])
    model.eval()
    recorded_weights(model, ids)
    close(heard[2], module(model.embedding(ids)), 1e-5)


def test_weights_of_another_function_are_refused() -> None:
    model = attention_only_model()

    def softer(query: Tensor, key: Tensor, value: Tensor, **how: object) -> Tensor:
        return attention(query, key, value, **how) / 2

    model.blocks[1].attention.attend = softer
    with pytest.raises(ValueError, match="model must attend with attention or fused"):
        recorded_weights(model, torch.arange(T))
    assert model.blocks[0].attention.attend is fused_attention
    assert model.blocks[1].attention.attend is softer


# The two scores.


def some_weights(*leading: int) -> Tensor:
    shape = (*leading, H, T, T)
    return torch.randn(shape, dtype=torch.float64).softmax(dim=-1)


@pytest.mark.parametrize("leading", [(), (B,), (B, 3)], ids=str)
def test_scores_by_loops(leading: tuple[int, ...]) -> None:
    weights = some_weights(*leading)
    ids = torch.randint(3, (*leading, T))
    ids[..., 1] = ids[..., 0]  # a token may stand behind its own copy
    texts = ids.reshape(-1, T).tolist()
    for h in range(H):
        back, found = [], []
        rows_of = weights.reshape(-1, H, T, T)[:, h].tolist()
        for text, rows in zip(texts, rows_of, strict=True):
            back += [rows[t][t - 1] for t in range(1, T)]
            for t in range(T):
                behind = [s for s in range(1, t + 1) if text[s - 1] == text[t]]
                if behind:
                    found.append(sum(rows[t][s] for s in behind))
        score = previous_token_score(weights)
        assert score.shape == (H,)
        assert score[h].item() == pytest.approx(sum(back) / len(back))
        score = induction_score(weights, ids)
        assert score.shape == (H,)
        assert score[h].item() == pytest.approx(sum(found) / len(found))


def test_the_induction_score_does_not_ask_which_tokens() -> None:
    weights = some_weights(B)
    ids = torch.randint(4, (B, T))
    other = torch.tensor([90, -1, 0, 7])[ids]
    assert torch.equal(induction_score(weights, ids), induction_score(weights, other))


def test_ideal_heads_have_a_score_of_one() -> None:
    ids, _ = drawn(7, 5)
    x = nn.functional.one_hot(ids, 26).double()
    one_back = torch.ones(33, 33, dtype=torch.bool).tril(-1).triu(-1)
    first = attention_weights(x, x, mask=one_back)
    second = attention_weights(x, first @ x, causal=True, scale=50.0)
    close(previous_token_score(first.unsqueeze(1)), torch.ones(1).double(), 1e-12)
    score = induction_score(second.unsqueeze(1), ids)
    close(score, torch.ones(1).double(), 1e-12)


# What is refused.


@pytest.mark.refusal
@pytest.mark.parametrize("numbers", [[], [1], [27], [5, 40]], ids=str)
@pytest.mark.parametrize(
    ("function", "name", "most"),
    [
        (lambda d: repeat_task(2, d), "distances", 26),
        (guessing_loss, "distances", 26),
        (lambda d: words_task(2, d), "lengths", 5),
        (words_guessing_loss, "lengths", 5),
    ],
)
def test_sizes_that_no_text_has(
    function: object, name: str, most: int, numbers: list[int]
) -> None:
    message = f"{name} must be numbers from 2 to {most}, at least one; "
    with pytest.raises(ValueError, match=re.escape(f"{message}got {name}={numbers}.")):
        function(numbers)


@pytest.mark.refusal
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: repeat_task(0), "texts must be a positive integer; got texts=0."),
        (lambda: words_task(0), "texts must be a positive integer; got texts=0."),
        (
            lambda: attention_only_model(0),
            "layers must be a positive integer; got layers=0.",
        ),
        (
            lambda: attention_only_model(1, 0),
            "num_heads must be a positive integer; got num_heads=0.",
        ),
        (
            lambda: attention_only_model(1, 5),
            "num_heads must divide width; got num_heads=5, width=32.",
        ),
        (
            lambda: attention_only_model(1, 32),
            "width must be even; got width=1.",
        ),
        (
            lambda: train_induction(steps=0),
            "steps must be a positive integer; got steps=0.",
        ),
        (
            lambda: previous_token_score(torch.zeros(3, 4, 5)),
            "weights must have shape (..., heads, tokens, tokens); "
            "got weights.shape=(3, 4, 5).",
        ),
        (
            lambda: previous_token_score(torch.zeros(4, 4)),
            "weights must have shape (..., heads, tokens, tokens); "
            "got weights.shape=(4, 4).",
        ),
        (
            lambda: previous_token_score(torch.zeros(3, 1, 1)),
            "weights must be of at least two tokens; got weights.shape=(3, 1, 1).",
        ),
        (
            lambda: induction_score(torch.zeros(3, 4, 4, dtype=torch.long), None),
            "weights must hold floating-point numbers; got weights.dtype=torch.int64.",
        ),
        (
            lambda: induction_score(torch.zeros(3, 4, 4), torch.zeros(4)),
            "ids must hold integers; got ids.dtype=torch.float32.",
        ),
        (
            lambda: induction_score(torch.zeros(3, 4, 4), torch.arange(5)),
            "ids must have one number for each token; "
            "got ids.shape=(5,), weights.shape=(3, 4, 4).",
        ),
        (
            lambda: induction_score(torch.zeros(3, 4, 4), torch.arange(4)),
            "ids must hold a token that has been said before; got ids without one.",
        ),
    ],
)
def test_refused_in_one_sentence(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        call()


# The recording of its training.


def test_the_recording_shows_the_training_of_the_stored_model(capsys) -> None:
    assert induction_heads.main(["--check"]) == 0
    assert capsys.readouterr().out == ""
    recording = induction_heads.read()
    assert induction_heads.RECORDING.stat().st_size < 4096
    assert recording["steps"][-1] == 150
    maps = recorded_weights(
        induction_model(), induction_heads.numbers(recording["text"])
    )
    for name, weights in zip(("first", "second"), maps, strict=True):
        assert len(recording[name]) == len(recording["steps"])
        for t, row in enumerate(recording[name][-1]):
            shares = torch.tensor(row) / 100
            torch.testing.assert_close(
                shares, weights[0, t, : t + 1], rtol=0, atol=0.02
            )


def test_a_recording_without_stripes_is_found() -> None:
    recording = induction_heads.read()
    for facts in ("loss", "back", "follows", "right", "first", "second"):
        recording[facts] = recording[facts][::-1]
    assert len(induction_heads.problems(recording)) == 10


@pytest.mark.slow
def test_recorded_anew_it_shows_the_same() -> None:
    threads = torch.get_num_threads()
    try:
        recording = induction_heads.record(seed=2)
    finally:
        torch.set_num_threads(threads)
    assert induction_heads.problems(recording) == []


def test_the_chapter_counts_the_parameters() -> None:
    one, two = (
        sum(
            parameter.numel() for parameter in attention_only_model(layers).parameters()
        )
        for layers in (1, 2)
    )
    assert (one, two - one) == (5792, 4 * 32 * 32 + 32)
    text = (Path(__file__).parents[2] / "docs/models/induction.md").read_text("utf-8")
    printed = re.findall(r"^layers \d  loss .*parameters ([\d,]+)$", text, re.MULTILINE)
    assert printed == [f"{one:,}", f"{two:,}"]
