"""A model that writes: scores shifted by one, the same with a cache, and no leak."""

import math
from collections import Counter
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from generators.trained import __main__ as trained
from headway import (
    Characters,
    GroupedQueryAttention,
    KeyValueCache,
    LanguageModel,
    LearnedPositions,
    MultiHeadAttention,
    RingCache,
    RMSNorm,
    Rotary,
    SwiGLU,
    TransformerBlock,
    bigram_loss,
    draw_passages,
    generate,
    passage_loss,
    small_gpt,
    small_text,
)
from headway.models.small_gpt import _require_ids
from tests.support.compare import close
from tests.support.sizes import CONTEXT, B, T

ROOT = Path(__file__).parents[2]
VOCABULARY, WIDTH, HEADS, WINDOW = 11, 12, 3, 5
LONG = 23  # longer than the window, twice over


def block(window: int | None = None, kv_heads: int = HEADS) -> TransformerBlock:
    return TransformerBlock(
        GroupedQueryAttention(
            WIDTH,
            WIDTH,
            10 * CONTEXT,
            0.0,
            HEADS,
            num_kv_heads=kv_heads,
            window=window,
            rotate=Rotary(WIDTH // HEADS),
        ),
        SwiGLU(WIDTH, 7),
        attention_norm=RMSNorm(WIDTH),
        feed_forward_norm=RMSNorm(WIDTH),
    )


def turned(tied: bool = False) -> LanguageModel:
    """Make a model of which one block forgets, and one does not."""
    blocks = [block(WINDOW, 1), block()]
    norm = RMSNorm(WIDTH)
    return LanguageModel(VOCABULARY, WIDTH, blocks, final_norm=norm, tied=tied).double()


def learned() -> LanguageModel:
    """Make a model whose positions are vectors that are added."""
    attention = MultiHeadAttention(WIDTH, WIDTH, 2 * CONTEXT, 0.0, HEADS)
    return LanguageModel(
        VOCABULARY,
        WIDTH,
        [TransformerBlock(attention, None)],
        positions=LearnedPositions(2 * CONTEXT, WIDTH),
    ).double()


MODELS = pytest.mark.parametrize("build", [turned, learned])


def draw_ids(*shape: int) -> Tensor:
    return torch.randint(VOCABULARY, shape)


# Characters


def test_characters_are_numbered_in_sorted_order_and_come_back() -> None:
    text = 'to be,\nor "not"'
    characters = Characters(text)
    known = sorted(set(text))
    assert len(characters) == len(known)
    assert characters.index_of == {one: known.index(one) for one in known}
    assert characters.encode(text).tolist() == [known.index(one) for one in text]
    assert characters.encode(text).dtype == torch.long
    assert characters.encode("").shape == (0,)
    assert characters.decode(characters.encode(text)) == text
    assert characters.decode(iter([0, 1])) == "".join(known[:2])


def test_a_character_that_is_not_known_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^text must hold at least one character; "):
        Characters("")
    with pytest.raises(ValueError, match=r"^text must be made of known .* with 'c'\.$"):
        Characters("ab").encode("abc")
    for index in (-1, 2):
        with pytest.raises(
            ValueError, match=rf"^indices must be in \[0, 2\); .* {index}\.$"
        ):
            Characters("ab").decode([0, index])


# The model


def test_it_is_its_parts_in_a_row() -> None:
    for model in (turned(), learned()):
        ids = draw_ids(B, T)
        x = torch.stack([model.embedding.weight[row] for row in ids])
        if model.positions is not None:
            x = x + model.positions.weight[:T]
        for one in model.blocks:
            x = one(x)
        close(model(ids), model.final_norm(x) @ model.head.weight.T)


def test_a_module_that_counts_as_empty_is_a_norm_all_the_same() -> None:
    class Empty(nn.Module):
        def __len__(self) -> int:
            return 0

        def forward(self, x: Tensor) -> Tensor:
            return 2.0 * x

    blocks, ids = [block()], draw_ids(T)
    twice = LanguageModel(VOCABULARY, WIDTH, blocks, final_norm=Empty())
    once = LanguageModel(VOCABULARY, WIDTH, blocks)
    once.load_state_dict(twice.state_dict())
    close(twice(ids), 2.0 * once(ids), 1e-5)


def test_one_table_is_both_ends_of_a_tied_model() -> None:
    model = turned(tied=True)
    assert model.head.weight is model.embedding.weight
    free = turned()
    assert sum(p.numel() for p in free.parameters()) == VOCABULARY * WIDTH + sum(
        p.numel() for p in model.parameters()
    )
    loss = passage_loss(turned(tied=True), draw_ids(400), 8)
    assert abs(loss - math.log(VOCABULARY)) < 0.1


@MODELS
def test_no_token_moves_one_before_it(build) -> None:
    model, ids = build(), draw_ids(B, LONG)
    before = model(ids)
    for token in range(LONG):
        changed = ids.clone()
        changed[:, token] = (ids[:, token] + 1) % VOCABULARY
        after = model(changed)
        assert torch.equal(after[:, :token], before[:, :token])
        assert not torch.equal(after[:, token], before[:, token])


@MODELS
def test_a_text_in_pieces_has_the_scores_of_the_whole(build) -> None:
    model, ids = build(), draw_ids(B, LONG)
    for lengths in ([1] * LONG, [7, 1, 9, 6], [LONG]):
        for first in (KeyValueCache(), RingCache(WINDOW)):
            caches = [first, KeyValueCache()][-len(model.blocks) :]
            pieces = [model(one, caches=caches) for one in ids.split(lengths, dim=1)]
            close(torch.cat(pieces, dim=1), model(ids))
            assert {cache.length for cache in caches} == {LONG}


def test_positions_may_be_given_and_masks_too() -> None:
    model, ids = learned(), draw_ids(B, T)
    close(model(ids, positions=torch.arange(T)), model(ids))
    moved = model(ids, positions=torch.arange(3, 3 + T))
    assert not torch.allclose(moved, model(ids))
    caches = [KeyValueCache()]
    model(ids[:, :3], caches=caches, positions=torch.arange(3, 6))
    rest = model(ids[:, 3:], caches=caches, positions=torch.arange(6, 3 + T))
    close(rest, moved[:, 3:])
    mask = torch.ones(T, T, dtype=torch.bool)
    mask[:, 0] = False
    mask[0, 0] = True
    hidden = model(ids, mask=mask)
    other = ids.clone()
    other[:, 0] = (ids[:, 0] + 1) % VOCABULARY
    assert torch.equal(model(other, mask=mask)[:, 1:], hidden[:, 1:])
    assert not torch.equal(model(other)[:, 1:], model(ids)[:, 1:])


def test_what_is_no_token_is_refused_and_each_block_has_a_cache() -> None:
    model = turned()
    for wrong in (-1, VOCABULARY):
        with pytest.raises(
            ValueError, match=rf"^ids must be in \[0, 11\); .* {wrong}\."
        ):
            model(torch.tensor([0, wrong]))
    for caches in ([], [KeyValueCache()], [KeyValueCache()] * 3):
        with pytest.raises(ValueError, match=r"^caches must be one for each of 2 "):
            model(draw_ids(T), caches=caches)


@pytest.mark.refusal
def test_ids_are_integers() -> None:
    for wrong in (torch.zeros(3), torch.zeros(3, dtype=torch.bool)):
        with pytest.raises(ValueError, match=r"^ids must hold integers; "):
            turned()(wrong)
    with pytest.raises(ValueError, match=r"^vocab_size must be a positive integer; "):
        LanguageModel(0, 3, [])


def test_numbers_are_not_looked_at_while_it_compiles(monkeypatch) -> None:
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    _require_ids(torch.tensor([-1, VOCABULARY]), VOCABULARY)


# Passages and losses


def test_passages_are_of_the_text_and_are_answered_one_token_later() -> None:
    ids = torch.arange(100, 100 + LONG)
    x, y = draw_passages(ids, 300, T)
    assert x.shape == y.shape == (300, T)
    assert torch.equal(y, x + 1)  # of a text that counts, the next one is one more
    assert torch.equal(x[:, 1:], x[:, :-1] + 1)
    starts = Counter((x[:, 0] - 100).tolist())
    assert set(starts) == set(range(LONG - T))  # first and last passage as well

    def again() -> Tensor:
        return draw_passages(ids, 3, T, generator=torch.Generator().manual_seed(5))[0]

    assert torch.equal(again(), again())
    whole, later = draw_passages(ids, 2, LONG - 1)
    assert torch.equal(whole[1], ids[:-1])
    assert torch.equal(later[1], ids[1:])


def by_loops(model: nn.Module, ids: Tensor, length: int) -> float:
    losses = []
    for start in range(0, len(ids) - length, length):
        passage = ids[start : start + length]
        scores = model(passage).tolist()
        for place, row in enumerate(scores):
            total = math.fsum(math.exp(score) for score in row)
            answer = int(ids[start + place + 1])
            losses.append(math.log(total) - row[answer])
    return math.fsum(losses) / len(losses)


@pytest.mark.parametrize("size", [22, 23, 28])
def test_the_loss_is_that_of_loops(size: int) -> None:
    model, ids = turned(), draw_ids(size)
    loss = passage_loss(model, ids, T)
    close(loss, torch.tensor(by_loops(model, ids, T), dtype=torch.float64))
    assert not loss.requires_grad


def test_an_even_guess_loses_the_logarithm_of_the_vocabulary() -> None:
    def even(ids: Tensor) -> Tensor:
        return torch.zeros(*ids.shape, VOCABULARY, dtype=torch.float64)

    loss = passage_loss(even, draw_ids(50), T)
    close(loss, torch.tensor(math.log(VOCABULARY), dtype=torch.float64))


def test_the_table_of_pairs_is_that_of_loops() -> None:
    train, test = draw_ids(301), draw_ids(97)
    pairs = Counter(zip(train[:-1].tolist(), train[1:].tolist(), strict=True))
    before = Counter(train[:-1].tolist())
    losses = [
        -math.log((pairs[a, b] + 1) / (before[a] + VOCABULARY))
        for a, b in zip(test[:-1].tolist(), test[1:].tolist(), strict=True)
    ]
    expected = torch.tensor(math.fsum(losses) / len(losses))
    close(bigram_loss(train, test, VOCABULARY), expected, 1e-5)


def test_pairs_have_an_order() -> None:
    counting = torch.arange(VOCABULARY).repeat(40)
    right = bigram_loss(counting, counting, VOCABULARY)
    wrong = bigram_loss(counting.flip(0), counting, VOCABULARY)
    assert right < 0.3 < 3.0 < wrong


@pytest.mark.refusal
def test_texts_and_sizes_that_do_not_fit_are_refused() -> None:
    ids = draw_ids(T)
    for call, said in (
        (lambda: draw_passages(ids, 0, 3), "passages must be a positive integer"),
        (lambda: draw_passages(ids, 3, T), rf"ids .* with at least {T + 1} tokens"),
        (lambda: draw_passages(ids[None], 3, 2), r"ids must have shape \(tokens,\)"),
        (lambda: passage_loss(turned(), ids, 0), "length must be a positive"),
        (lambda: passage_loss(turned(), ids, T), rf"ids .* with at least {T + 1} "),
        (lambda: passage_loss(turned(), ids.float(), 2), "ids must hold integers"),
        (lambda: bigram_loss(ids, ids[:1], 11), "ids .* with at least 2 tokens"),
        (lambda: bigram_loss(ids[:1], ids, 11), "ids .* with at least 2 tokens"),
        (lambda: bigram_loss(ids, ids, 0), "vocab_size must be a positive"),
        (lambda: bigram_loss(ids, ids + 11, 11), r"ids must be in \[0, 11\)"),
        (lambda: generate(turned(), ids, 0), "length must be a positive integer"),
        (lambda: generate(turned(), ids[:0], 1), "ids must have at least one token"),
        (lambda: generate(turned(), ids[0], 1), "ids must have at least one token"),
        (lambda: generate(turned(), ids.float(), 1), "ids must hold integers"),
        (lambda: generate(turned(), ids + 11, 1), r"ids must be in \[0, 11\)"),
        (
            lambda: generate(turned(), ids, 1, temperature=-0.5),
            r"temperature must be zero or more, and finite; got temperature=-0\.5\.$",
        ),
        (
            lambda: generate(turned(), ids, 1, temperature=math.inf),
            "temperature must be zero or more, and finite; ",
        ),
        (
            lambda: generate(turned(), ids, 1, temperature=math.nan),
            "temperature must be zero or more, and finite; ",
        ),
    ):
        with pytest.raises(ValueError, match=rf"^{said}"):
            call()


# Writing


def seed(number: int = 3) -> torch.Generator:
    return torch.Generator().manual_seed(number)


@MODELS
@pytest.mark.parametrize("temperature", [0.0, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("texts", [(), (B,), (B, 3)])
def test_with_a_cache_it_writes_what_it_writes_without(
    build, temperature: float, texts: tuple[int, ...]
) -> None:
    model, ids = build(), draw_ids(*texts, 4)
    options = {"temperature": temperature}
    cached = generate(model, ids, LONG, generator=seed(), **options)
    plain = generate(model, ids, LONG, use_cache=False, generator=seed(), **options)
    assert torch.equal(cached, plain)
    assert cached.shape == (*texts, 4 + LONG)
    assert torch.equal(cached[..., :4], ids)


def test_each_call_reads_only_what_is_new_and_a_window_keeps_no_more() -> None:
    model, lengths, kinds = turned(), [], []

    def watch(module: nn.Module, args: tuple, kwargs: dict) -> None:
        lengths.append(args[0].shape[-1])
        caches = kwargs["caches"]
        kinds.append(caches and tuple(type(one).__name__ for one in caches))

    model.register_forward_pre_hook(watch, with_kwargs=True)
    generate(model, draw_ids(B, 4), 3)
    assert lengths == [4, 1, 1]
    assert set(kinds) == {("RingCache", "KeyValueCache")}
    lengths.clear()
    kinds.clear()
    generate(model, draw_ids(B, 4), 3, use_cache=False)
    assert lengths == [4, 5, 6]
    assert set(kinds) == {None}


def test_without_chance_it_takes_the_likeliest_after_the_last_token() -> None:
    model, ids = turned(), draw_ids(B, 4)
    written = generate(model, ids, T, temperature=0.0)
    for end in range(4, 4 + T):
        rows = [model(text[:end])[-1].tolist() for text in written]
        assert written[:, end].tolist() == [row.index(max(row)) for row in rows]


class Fixed(LanguageModel):
    """A model whose scores for the next token are always the same."""

    def __init__(self, scores: Tensor):
        super().__init__(len(scores), 1, [])
        self.scores = scores

    def forward(self, ids: Tensor, *, caches: object = None) -> Tensor:
        scores = torch.zeros(*ids.shape, len(self.scores))
        scores[..., 0] = 100.0  # what any other place would say
        scores[..., -1, :] = self.scores
        return scores


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_temperature_divides_the_scores(temperature: float) -> None:
    share = torch.tensor([0.1, 0.6, 0.3])
    many = torch.zeros(20_000, 2, dtype=torch.long)
    written = generate(
        Fixed(share.log()), many, 1, temperature=temperature, generator=seed()
    )
    found = written[:, -1].bincount(minlength=3) / len(many)
    powers = share ** (1.0 / temperature)
    close(found, powers / powers.sum(), 0.02)


def test_chance_comes_from_the_generator_alone() -> None:
    model, ids = turned(), draw_ids(4)
    state = torch.get_rng_state()
    one = generate(model, ids, LONG, generator=seed(1))
    assert torch.equal(state, torch.get_rng_state())
    assert torch.equal(one, generate(model, ids, LONG, generator=seed(1)))
    assert not torch.equal(one, generate(model, ids, LONG, generator=seed(2)))
    assert not torch.equal(generate(model, ids, LONG), generate(model, ids, LONG))


def test_texts_of_a_batch_are_written_apart() -> None:
    model, ids = turned(), draw_ids(1, 4).expand(5, 4)
    written = generate(model, ids, LONG, generator=seed())
    assert len({tuple(text) for text in written.tolist()}) == 5
    assert not generate(model, ids, 2).requires_grad


# What the wheel carries


def test_the_text_is_what_the_book_says_of_it() -> None:
    text = small_text()
    assert text.startswith("It is a truth universally acknowledged, that a single man")
    assert text.endswith('I here beg leave to apologise."\n')
    assert len(text) == 199_422
    assert text.isascii()
    assert len(Characters(text)) == 66
    assert "_" not in text
    assert "Chapter" not in text
    assert "\r" not in text
    assert "\n\n" not in text
    assert "  " not in text
    assert all(line == line.strip() for line in text.split("\n"))


def test_the_model_has_learned_more_than_pairs() -> None:
    ids = Characters(small_text()).encode(small_text())
    cut = len(ids) * 9 // 10
    vocabulary = len(Characters(small_text()))
    bigram = bigram_loss(ids[:cut], ids[cut:], vocabulary)
    assert 2.38 < bigram < 2.41
    untrained = passage_loss(small_gpt(trained=False), ids[cut:], 64)
    assert abs(untrained - math.log(vocabulary)) < 0.5
    assert passage_loss(small_gpt(), ids[cut:], 64) < 1.55


def test_the_trained_model_is_new_each_time_and_can_be_trained_on() -> None:
    one, other = small_gpt(), small_gpt()
    assert sum(p.numel() for p in one.parameters()) == 70_336
    with torch.no_grad():
        one.head.weight.zero_()
    assert other.head.weight.any()
    for name, kept in other.state_dict().items():
        assert kept.dtype == torch.float32, name
    assert all(p.requires_grad for p in other.parameters())
    state = torch.get_rng_state()
    fresh = small_gpt(trained=False)
    assert not torch.equal(state, torch.get_rng_state())
    assert not torch.equal(fresh.head.weight, other.head.weight)


def test_the_state_is_small_and_holds_tensors_alone() -> None:
    path = ROOT / "src" / "headway" / "models" / "data" / "small_gpt.pt"
    assert path.stat().st_size < 160_000
    state = torch.load(path, weights_only=True)
    assert {kept.dtype for kept in state.values()} == {torch.float16}


def test_check_finds_nothing_and_trains_nothing(capsys) -> None:
    assert trained.main(["--check"]) == 0
    assert capsys.readouterr().out == ""
    untrained = trained.problems(small_gpt(trained=False))
    assert [line.split(";")[0] for line in untrained] == [
        "The model must lose less than 1.55"
    ]


@pytest.mark.slow
def test_trained_anew_it_does_as_well() -> None:
    threads = torch.get_num_threads()
    try:
        model, curve = trained.train(seed=11)
    finally:
        torch.set_num_threads(threads)
    assert trained.problems(model) == []
    assert curve["steps"][-1] == trained.STEPS
