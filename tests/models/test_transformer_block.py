"""A block: norms and feed-forward parts in loops, an untouched stream, exact counts."""

import itertools
import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from headway import (
    FeedForward,
    GroupedQueryAttention,
    KeyValueCache,
    LearnedPositions,
    MultiHeadAttention,
    RMSNorm,
    SwiGLU,
    TransformerBlock,
    count_parameters,
)
from tests.support import oracles, position_fakes
from tests.support.compare import close
from tests.support.random_inputs import LEADING
from tests.support.sizes import CONTEXT, B, T, draw

HEADS, GROUPS, WIDTH, HIDDEN = 6, 3, 4, 11
E = HEADS * WIDTH
EVERY_LEADING = pytest.mark.parametrize("leading", LEADING, ids=str)


def scatter(module: nn.Module) -> nn.Module:
    """Draw all parameters, so that no bias is zero and no factor one."""
    for parameter in module.parameters():
        parameter.data.normal_(std=0.5)
    return module


# Norms.


def rms_norm(x: list[float], weight: list[float], eps: float) -> list[float]:
    total = 0.0
    for number in x:
        total += number**2
    size = math.sqrt(total / len(x) + eps)
    return [number / size * g for number, g in zip(x, weight, strict=True)]


def by_rows(function: Callable[[list[float]], list[float]], x: Tensor) -> Tensor:
    """Apply a function of lists to each vector."""
    rows = [function(row) for row in x.reshape(-1, x.shape[-1]).tolist()]
    return torch.tensor(rows, dtype=torch.float64).reshape(*x.shape[:-1], -1)


@EVERY_LEADING
@pytest.mark.parametrize("eps", [1e-6, 0.3])
def test_a_norm_equals_the_loops(leading, eps) -> None:
    norm = scatter(RMSNorm(E, eps=eps).double())
    x = draw(*leading, T, E) + 0.7
    weight = norm.weight.tolist()
    close(norm(x), by_rows(lambda row: rms_norm(row, weight, eps), x))
    close(norm(x[..., 0, :]), norm(x)[..., 0, :])


def test_a_norm_by_eye() -> None:
    x = torch.tensor([1.0, 1.0, 7.0, 7.0])
    close(RMSNorm(4)(x), torch.tensor([0.2, 0.2, 1.4, 1.4]), 1e-6)
    close(nn.LayerNorm(4)(x), torch.tensor([-1.0, -1.0, 1.0, 1.0]), 1e-5)


@pytest.mark.parametrize("eps", [1e-6, 0.3])
def test_a_norm_is_pytorchs_with_gradients(eps) -> None:
    norm = scatter(RMSNorm(E, eps=eps).double())
    x = draw(B, T, E).requires_grad_()
    theirs = nn.functional.rms_norm(x, (E,), norm.weight, eps)
    close(norm(x), theirs)
    pull, inputs = draw(B, T, E), (x, norm.weight)
    for a, b in zip(
        torch.autograd.grad(norm(x), inputs, pull),
        torch.autograd.grad(theirs, inputs, pull),
        strict=True,
    ):
        close(a, b)


def test_a_layer_norm_is_this_norm_of_what_is_centred() -> None:
    x, eps = draw(B, T, E) + 2.0, 0.1
    ours = RMSNorm(E, eps=eps).double()
    theirs = nn.LayerNorm(E, eps=eps).double()
    close(ours(x - x.mean(dim=-1, keepdim=True)), theirs(x))
    assert (ours(x) - theirs(x)).abs().max() > 1


def test_the_size_of_a_vector_does_not_matter_and_its_mean_does() -> None:
    norm, x = RMSNorm(E, eps=1e-30).double(), draw(T, E)
    close(norm(x).square().mean(dim=-1), torch.ones(T, dtype=torch.float64))
    close(norm(1e-7 * x), norm(x))
    assert (norm(x + 5) - norm(x)).abs().max() > 1


def test_eps_stands_below_the_root() -> None:
    norm = RMSNorm(4, eps=1e-6).double()
    x = torch.full((4,), 1e-3, dtype=torch.float64)
    close(norm(x), torch.full((4,), math.sqrt(0.5), dtype=torch.float64))
    assert norm(torch.zeros(3, 4).double()).abs().max() == 0


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_narrow_numbers_are_squared_in_32_bits(dtype) -> None:
    norm = RMSNorm(E, dtype=dtype)
    x = (1000 * draw(T, E)).to(dtype)
    assert norm(x).dtype == dtype
    exact = RMSNorm(E).double()(x.double())
    close(norm(x), exact.to(dtype), 1e-7)
    small = (1e-3 * draw(T, E)).to(dtype)
    close(norm(small), RMSNorm(E).double()(small.double()).to(dtype), 1e-7)


def test_it_is_weighed_after_it_was_rounded() -> None:
    norm = scatter(RMSNorm(E, dtype=torch.bfloat16))
    x = draw(T, E).to(torch.bfloat16)
    rounded = RMSNorm(E)(x.float()).to(torch.bfloat16)
    assert torch.equal(norm(x), rounded * norm.weight)


# Feed-forward parts.


def gelu(a: float) -> float:
    """Approximate GELU as GPT-2 does."""
    return 0.5 * a * (1 + math.tanh(math.sqrt(2 / math.pi) * (a + 0.044715 * a**3)))


def silu(a: float) -> float:
    return a / (1 + math.exp(-a))


@EVERY_LEADING
def test_the_feed_forward_part_of_gpt2_equals_the_loops(leading) -> None:
    module = scatter(FeedForward(E, HIDDEN).double())
    state = {name: w.tolist() for name, w in module.state_dict().items()}

    def loops(row: list[float]) -> list[float]:
        (wide,) = oracles.linear([row], state["up_proj.weight"], state["up_proj.bias"])
        (back,) = oracles.linear(
            [[gelu(a) for a in wide]],
            state["down_proj.weight"],
            state["down_proj.bias"],
        )
        return back

    x = draw(*leading, T, E)
    close(module(x), by_rows(loops, x))


def test_it_is_four_times_as_wide_between() -> None:
    assert FeedForward(E).up_proj.out_features == 4 * E
    assert FeedForward(E, HIDDEN).down_proj.in_features == HIDDEN


@EVERY_LEADING
def test_the_feed_forward_part_of_llama_equals_the_loops(leading) -> None:
    module = scatter(SwiGLU(E, HIDDEN).double())
    state = {name: w.tolist() for name, w in module.state_dict().items()}
    assert len(state) == 3

    def loops(row: list[float]) -> list[float]:
        (gate,) = oracles.linear([row], state["gate_proj.weight"])
        (up,) = oracles.linear([row], state["up_proj.weight"])
        inner = [silu(g) * u for g, u in zip(gate, up, strict=True)]
        (back,) = oracles.linear([inner], state["down_proj.weight"])
        return back

    x = draw(*leading, T, E)
    close(module(x), by_rows(loops, x))


@pytest.mark.parametrize("width", [3, 768, 4098])
def test_two_thirds_make_three_matrices_as_many_numbers_as_two(width) -> None:
    with torch.device("meta"):
        two, three = FeedForward(width), SwiGLU(width, 2 * 4 * width // 3)
    matrices = count_parameters(two) - 4 * width - width  # without the two biases
    assert count_parameters(three) == matrices == 8 * width**2


# The block.


def llama(**options: object) -> TransformerBlock:
    attention = GroupedQueryAttention(
        E, E, CONTEXT, 0.0, HEADS, num_kv_heads=GROUPS, **options
    )
    block = TransformerBlock(
        attention,
        SwiGLU(E, HIDDEN),
        attention_norm=RMSNorm(E, eps=0.1),
        feed_forward_norm=RMSNorm(E, eps=0.2),
    )
    return scatter(block.double())


def gpt2(**options: object) -> TransformerBlock:
    block = TransformerBlock(
        MultiHeadAttention(E, E, CONTEXT, 0.0, HEADS, True, **options),
        FeedForward(E, HIDDEN),
        attention_norm=nn.LayerNorm(E),
        feed_forward_norm=nn.LayerNorm(E),
    )
    return scatter(block.double())


BLOCKS = pytest.mark.parametrize("build", [gpt2, llama])


def test_a_block_equals_the_loops() -> None:
    block = llama(rotate=position_fakes.rotate)
    x, mask = draw(B, T, E), torch.rand(B, T, T) < 0.7
    positions = torch.stack([torch.randperm(CONTEXT)[:T] for _ in range(B)])
    result = block(x, mask=mask, positions=positions)
    causal = torch.tensor(oracles.past(T, T))
    for b in range(B):
        before = [block.attention_norm, block.feed_forward_norm]
        first, second = (
            lambda v, norm=norm: by_rows(
                lambda row: rms_norm(row, norm.weight.tolist(), norm.eps), v
            )
            for norm in before
        )
        found = oracles.in_groups(
            first(x[b]),
            block.attention.state_dict(),
            HEADS,
            GROUPS,
            allowed=(causal & mask[b]).tolist(),
            positions=positions[b].tolist(),
            turn=position_fakes.turn,
        )
        y = x[b] + found
        yielded = block.feed_forward(second(y))  # it has loops of its own, above
        close(result[b], y + yielded)


def test_without_norms_and_without_a_second_half() -> None:
    attention = scatter(MultiHeadAttention(E, E, CONTEXT, 0.0, HEADS).double())
    x = draw(B, T, E)
    alone = TransformerBlock(attention, None)
    assert torch.equal(alone(x), x + attention(x))
    part = scatter(FeedForward(E).double())
    both = TransformerBlock(attention, part)
    assert torch.equal(both(x), x + attention(x) + part(x + attention(x)))
    names = {name.partition(".")[0] for name, _ in both.named_parameters()}
    assert names == {"attention", "feed_forward"}


def test_an_empty_norm_is_taken_as_it_is() -> None:
    norm = nn.Sequential()  # false as a list is
    attention = MultiHeadAttention(E, E, CONTEXT, 0.0, HEADS)
    block = TransformerBlock(attention, None, attention_norm=norm)
    assert block.attention_norm is norm


@BLOCKS
def test_with_zeros_at_the_end_of_each_half_it_is_the_identity(build) -> None:
    block = build()
    for last in (block.attention.out_proj, block.feed_forward.down_proj):
        for parameter in last.parameters():
            nn.init.zeros_(parameter)
    x, pull = (1000 * draw(B, T, E)).requires_grad_(), draw(B, T, E)
    assert torch.equal(block(x), x)
    (gradient,) = torch.autograd.grad(block(x), x, pull)
    assert torch.equal(gradient, pull)


@BLOCKS
def test_nothing_leaks_if_nothing_leaks_in_its_attention(build) -> None:
    x = draw(B, T, E)
    other = x.clone()
    other[:, -1] = 100.0
    for causal in (True, False):
        block = build(causal=causal)
        same = (block(x) == block(other)).flatten(2).all(dim=-1)
        assert same[:, :-1].all() == causal
        assert not same[:, -1].any()


@BLOCKS
def test_each_token_is_worked_on_alone_but_for_attention(build) -> None:
    block = build(causal=False)
    nn.init.zeros_(block.attention.out_proj.weight)
    x, order = draw(B, T, E), torch.randperm(T)
    close(block(x[:, order]), block(x)[:, order])
    close(block(x)[:, 3:4], block(x[:, 3:4]))


@BLOCKS
@pytest.mark.parametrize("lengths", position_fakes.CHUNKS, ids=str)
def test_a_cache_changes_nothing(build, lengths) -> None:
    block = build(rotate=position_fakes.rotate)
    x, mask = draw(B, T, E), torch.rand(B, T, T) < 0.7
    cache, results, before = KeyValueCache(), [], 0
    for part in x.split(lengths, dim=-2):
        after = before + part.shape[-2]
        results.append(block(part, mask=mask[:, before:after, :after], cache=cache))
        before = after
    close(torch.cat(results, dim=-2), block(x, mask=mask))
    assert cache.length == T


@BLOCKS
def test_any_number_of_leading_axes(build) -> None:
    block, x = build(), draw(B, 3, T, E)
    close(block(x).flatten(0, 1), block(x.flatten(0, 1)))
    close(block(x)[1, 2], block(x[1, 2]))


@BLOCKS
def test_gradients_equal_differences(build) -> None:
    block = build()
    inputs = (draw(3, E).requires_grad_(), *block.parameters())
    assert torch.autograd.gradcheck(lambda x, *_: block(x), inputs, fast_mode=True)


def test_the_stream_is_a_sum_of_all_that_was_added() -> None:
    x = stream = draw(B, T, E)
    added = torch.zeros_like(x)
    for block in (gpt2(), llama(), gpt2()):
        after = block(stream)
        found = block.attention(block.attention_norm(stream))
        between = block.feed_forward_norm(stream + found)
        added, stream = added + found + block.feed_forward(between), after
    close(stream, x + added, 1e-10)


# Parameters.


def of_gpt2(width: int, heads: int, layers: int) -> nn.ModuleDict:
    blocks = [
        TransformerBlock(
            MultiHeadAttention(width, width, 1024, 0.0, heads, qkv_bias=True),
            FeedForward(width),
            attention_norm=nn.LayerNorm(width),
            feed_forward_norm=nn.LayerNorm(width),
        )
        for _ in range(layers)
    ]
    model = nn.ModuleDict(
        {
            "words": nn.Embedding(50_257, width),
            "places": LearnedPositions(1024, width),
            "blocks": nn.ModuleList(blocks),
            "norm": nn.LayerNorm(width),
            "head": nn.Linear(width, 50_257, bias=False),
        }
    )
    model["head"].weight = model["words"].weight
    return model


def of_llama(words: int) -> nn.ModuleDict:
    blocks = [
        TransformerBlock(
            GroupedQueryAttention(4096, 4096, 8192, 0.0, 32, num_kv_heads=8),
            SwiGLU(4096, 14_336),
            attention_norm=RMSNorm(4096),
            feed_forward_norm=RMSNorm(4096),
        )
        for _ in range(32)
    ]
    for block in blocks:
        block.attention.out_proj.bias = None
    return nn.ModuleDict(
        {
            "words": nn.Embedding(words, 4096),
            "blocks": nn.ModuleList(blocks),
            "norm": RMSNorm(4096),
            "head": nn.Linear(4096, words, bias=False),
        }
    )


@pytest.mark.parametrize(
    ("build", "count"),
    [
        pytest.param(lambda: of_gpt2(768, 12, 12), 124_439_808, id="GPT-2"),
        pytest.param(lambda: of_llama(128_256), 8_030_261_248, id="Llama 3 8B"),
        pytest.param(lambda: of_llama(32_000), 7_241_732_096, id="Mistral 7B"),
    ],
)
def test_published_models_are_counted_to_the_last_one(build, count) -> None:
    with torch.device("meta"):
        assert count_parameters(build()) == count


def test_what_counts() -> None:
    layers = nn.ModuleList([nn.Linear(5, 3), nn.Linear(5, 3)])
    assert count_parameters(layers) == 36
    layers[1].weight = layers[0].weight
    assert count_parameters(layers) == 21
    layers.register_buffer("mask", torch.ones(7, 7))
    layers[0].bias.requires_grad_(False)
    assert count_parameters(layers) == 21
    assert count_parameters(nn.Identity()) == 0


def test_weights_are_made_where_and_how_one_says() -> None:
    where = {"device": "meta", "dtype": torch.bfloat16}
    x = torch.zeros(B, T, E, **where)
    for module, names in (
        (RMSNorm(E, **where), 1),
        (FeedForward(E, **where), 4),
        (SwiGLU(E, HIDDEN, **where), 3),
    ):
        assert len([*module.parameters()]) == names
        for weight in module.parameters():
            assert (weight.device.type, weight.dtype) == ("meta", torch.bfloat16)
        assert module(x).shape == x.shape


# Refusals.


class Widens(nn.Module):
    """Yield a result of one width, whatever comes in."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width

    def forward(self, x: Tensor, **_: object) -> Tensor:
        return x[..., :1].expand(*x.shape[:-1], self.width)


@pytest.mark.refusal
@pytest.mark.parametrize("width", [1, E + 1])
def test_what_cannot_be_added_is_refused(width) -> None:
    x, attention = draw(B, T, E), MultiHeadAttention(E, E, CONTEXT, 0.0, HEADS).double()
    for name, block in (
        ("attention", TransformerBlock(Widens(width), None)),
        ("feed_forward", TransformerBlock(attention, Widens(width))),
    ):
        with pytest.raises(ValueError, match="must yield") as error:
            block(x)
        assert str(error.value) == (
            f"{name} must yield the shape of x, to be added to it; "
            f"got a result of {(B, T, width)}, x.shape={(B, T, E)}."
        )


@pytest.mark.refusal
def test_bad_input_gets_one_sentence() -> None:
    parts = (RMSNorm(E), FeedForward(E), SwiGLU(E, HIDDEN))
    for module, (x, sentence) in itertools.product(
        parts,
        (
            (
                torch.zeros(T, 1),
                f"x must have shape (..., width={E}); got x.shape={(T, 1)}.",
            ),
            (torch.tensor(1.0), f"x must have shape (..., width={E}); got x.shape=()."),
            (
                torch.zeros(T, E, dtype=torch.int64),
                "x must hold floating-point numbers; got x.dtype=torch.int64.",
            ),
        ),
    ):
        with pytest.raises(ValueError, match="x must") as error:
            module(x)
        assert str(error.value) == sentence


ATTENTION = MultiHeadAttention(E, E, CONTEXT, 0.0, HEADS)


@pytest.mark.refusal
@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: RMSNorm(0), "width must be a positive integer; got width=0."),
        (
            lambda: RMSNorm(E, eps=0.0),
            "eps must be positive and finite; got eps=0.0.",
        ),
        (lambda: FeedForward(-1), "width must be a positive integer; got width=-1."),
        (
            lambda: FeedForward(E, 0),
            "hidden must be a positive integer; got hidden=0.",
        ),
        (
            lambda: SwiGLU(E, 2 / 3 * E),
            "hidden must be a positive integer; got hidden=16.0.",
        ),
        (lambda: SwiGLU(0, 1), "width must be a positive integer; got width=0."),
        (
            lambda: TransformerBlock(torch.relu, None),
            "attention must be a Module; got attention=builtin_function_or_method.",
        ),
        (
            lambda: TransformerBlock(None, None),
            "attention must be a Module; got attention=NoneType.",
        ),
        (
            lambda: TransformerBlock(ATTENTION, 3),
            "feed_forward must be a Module; got feed_forward=int.",
        ),
        (
            lambda: TransformerBlock(ATTENTION, None, attention_norm=True),
            "attention_norm must be a Module; got attention_norm=bool.",
        ),
        (
            lambda: TransformerBlock(ATTENTION, None, feed_forward_norm="rms"),
            "feed_forward_norm must be a Module; got feed_forward_norm=str.",
        ),
        (
            lambda: count_parameters(torch.zeros(3)),
            "module must be a Module; got module=Tensor.",
        ),
    ],
)
def test_bad_parts_get_one_sentence(call, sentence) -> None:
    with pytest.raises(ValueError, match="must be") as error:
        call()
    assert str(error.value) == sentence
