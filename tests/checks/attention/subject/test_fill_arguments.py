"""What code needs besides tokens is filled in by name, and rightly."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from headway.checks.attention.subject import Options, discover
from headway.checks.attention.subject.fill_arguments import (
    Room,
    _likeliest_first,
    fillings,
    is_known,
)
from tests.checks.support.asking import said, verdicts
from tests.support.mistakes.mistake import EQUATION

D, HEADS = 6, 4
WIDTH = D * HEADS


class Heads(nn.Module):
    """Attention of heads whose queries and keys may be turned."""

    def __init__(self) -> None:
        super().__init__()
        self.n_heads = HEADS
        self.wq, self.wk, self.wv = (nn.Linear(WIDTH, WIDTH) for _ in range(3))

    def mix(
        self, x: Tensor, turn: Callable[[Tensor], Tensor], mask: Any = None
    ) -> Tensor:
        three = (w(x).unflatten(-1, (HEADS, D)) for w in (self.wq, self.wk, self.wv))
        q, k, v = (one.transpose(1, 2) for one in three)
        rows = scaled_dot_product_attention(turn(q), turn(k), v, attn_mask=mask)
        return rows.transpose(1, 2).flatten(2)


def turned(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Turn neighbours, by a table of shape (T, D / 2)."""
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)


class Narrow(Heads):
    def forward(self, x: Tensor, freqs_cos: Tensor, freqs_sin: Tensor) -> Tensor:
        return self.mix(x, lambda y: turned(y, freqs_cos, freqs_sin))


class Halves(Heads):
    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        def turn(y: Tensor) -> Tensor:
            a, b = y.chunk(2, dim=-1)
            return y * cos + torch.cat([-b, a], dim=-1) * sin

        return self.mix(x, turn)


class Pairs(Heads):
    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        def turn(y: Tensor) -> Tensor:
            other = torch.stack([-y[..., 1::2], y[..., ::2]], dim=-1).flatten(-2)
            return y * cos + other * sin

        return self.mix(x, turn)


class Complex(Heads):
    def forward(self, x: Tensor, start_pos: int, freqs_cis: Tensor) -> Tensor:
        if freqs_cis.shape != (x.shape[1], D // 2) or start_pos != 0:
            raise ValueError("the table does not fit")
        return self.mix(x, lambda y: turned(y, freqs_cis.real, freqs_cis.imag))


class Real(Heads):
    def forward(self, x: Tensor, freqs_cis: Tensor) -> Tensor:
        if freqs_cis.shape != (x.shape[1], D // 2, 2):
            raise ValueError("the table does not fit")
        return self.mix(x, lambda y: turned(y, *freqs_cis.unbind(-1)))


class Matrices(Heads):
    def forward(self, x: Tensor, pe: Tensor) -> Tensor:
        if pe.shape != (x.shape[1], D // 2, 2, 2):
            raise ValueError("the table does not fit")

        def turn(y: Tensor) -> Tensor:
            pairs = y.unflatten(-1, (-1, 1, 2))
            return (pairs * pe).sum(-1).flatten(-2)

        return self.mix(x, turn)


class Tuple(Heads):
    def forward(self, hidden_states: Tensor, position_embeddings: Any) -> Tensor:
        cos, sin = (one[:, None] for one in position_embeddings)
        if cos.shape != (1, 1, hidden_states.shape[1], D):
            raise ValueError("the table does not fit")
        cos, sin = cos[..., : D // 2], sin[..., : D // 2]
        return self.mix(hidden_states, lambda y: turned(y, cos, sin))


class Positions(Heads):
    def forward(self, x: Tensor, position_ids: Tensor, use_cache: bool) -> Tensor:
        if position_ids.shape != x.shape[:2] or use_cache:
            raise ValueError("one for each token, please")
        angles = position_ids[:, None, :, None].to(x) * torch.tensor([1.0, 0.1, 0.01])
        return self.mix(x, lambda y: turned(y, angles.cos(), angles.sin()))


class Partly(Heads):
    """Of each head only four numbers are turned."""

    def __init__(self) -> None:
        super().__init__()
        self.qk_rope_head_dim, self.head_dim = 4, D

    def forward(self, x: Tensor, freqs_cis: Tensor) -> Tensor:
        def turn(y: Tensor) -> Tensor:
            first = turned(y[..., :4], freqs_cis.real, freqs_cis.imag)
            return torch.cat([first, y[..., 4:]], dim=-1)

        return self.mix(x, turn)


class Windowed(Heads):
    def forward(self, x: Tensor, window_size: tuple[int, int]) -> Tensor:
        behind, ahead = window_size
        ones = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool)
        return self.mix(x, lambda y: y, ones.tril(ahead).triu(-behind))


class OfVectors(Heads):
    """Scores get a number of their own from vectors of relative positions."""

    def __init__(self, texts: int, ends: int) -> None:
        super().__init__()
        self.texts, self.ends = texts, ends
        self.of_vectors = nn.Linear(WIDTH, 1)

    def forward(self, x: Tensor, pos_embedding: Tensor) -> Tensor:
        B, T, _ = x.shape
        expected = B if self.texts else 1, T if self.ends == 1 else 2 * T - 1, WIDTH
        if pos_embedding.shape != expected:
            raise ValueError("the table does not fit")
        numbers = self.of_vectors(pos_embedding)[..., -T:, 0]
        return self.mix(x, lambda y: y, numbers[:, None, None])


VECTORS = "m(x, pos_embedding); pos_embedding: sinusoids of"


@pytest.mark.parametrize(
    ("texts", "ends", "shown"),
    [
        (0, 1, "places 0, ..., T - 1, with an axis of one text"),
        (1, 1, "places 0, ..., T - 1, with an axis of each text"),
        (0, 2, "distances T - 1, ..., 1 - T, with an axis of one text"),
        (1, 2, "distances T - 1, ..., 1 - T, with an axis of each text"),
    ],
)
def test_vectors_of_positions_are_filled_in(texts: int, ends: int, shown: str) -> None:
    call = discover(OfVectors(texts, ends), Options()).call
    assert call.shown == f"{VECTORS} {shown}"
    x = torch.zeros(3, 7, WIDTH, dtype=torch.float64)
    rows = call.filling.values["pos_embedding"](Room(3, 7, D, 4, x, start=2))[-1]
    places = range(2, 9) if ends == 1 else range(6, -7, -1)
    for row, place in zip(rows, places, strict=True):
        rates = [10_000 ** (-i / WIDTH) for i in range(0, WIDTH, 2)]
        waves = [(math.sin(place * rate), math.cos(place * rate)) for rate in rates]
        assert row.tolist() == pytest.approx([*itertools.chain(*waves)])


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        (
            Narrow,
            "m(x, freqs_cos, freqs_sin); freqs_cos, freqs_sin: rotations, (T, D / 2)",
        ),
        (Halves, "m(x, cos, sin); cos, sin: rotations, (T, D) by halves"),
        (Pairs, "m(x, cos, sin); cos, sin: rotations, (T, D) by pairs"),
        (Complex, "m(x, 0, freqs_cis); freqs_cis: rotations, (T, D / 2)"),
        (Partly, "m(x, freqs_cis); freqs_cis: rotations, (T, D / 2)"),
        (
            Windowed,
            "m(x, window_size); window_size: (T, 0), so all that is before",
        ),
        (
            Matrices,
            "m(x, pe); pe: rotations, (T, D / 2), as matrices of 2 by 2",
        ),
        (
            Tuple,
            "m(x, position_embeddings); position_embeddings: rotations, (T, D) by "
            "halves, after an axis of texts",
        ),
        (
            Positions,
            "m(x, position_ids, False); position_ids: 0, 1, 2, ... (B, T)",
        ),
    ],
)
def test_positions_are_filled_in(kind: type[Heads], shown: str) -> None:
    assert discover(kind(), Options()).call.shown == shown


def test_real_tables_are_filled_in() -> None:
    call = discover(Real(), Options()).call
    assert call.text == "m(x, freqs_cis)"
    x = torch.zeros(3, 7, WIDTH, dtype=torch.float64)
    assert call.filling.values["freqs_cis"](Room(3, 7, D, 4, x)).shape == (7, 3, 2)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_complex_tables_for_sixteen_bits_have_more(dtype: torch.dtype) -> None:
    call = discover(Complex(), Options()).call
    x = torch.zeros(3, 7, WIDTH, dtype=dtype)
    made = call.filling.values["freqs_cis"](Room(3, 7, D, 4, x))
    assert made.dtype == torch.complex64


def test_a_rotation_of_matrices_is_that_of_the_equation() -> None:
    assert said(Matrices(), EQUATION)[0] == "passed"


def test_a_rotation_has_the_base_that_was_told() -> None:
    seen: list[Tensor] = []

    class Keeping(Narrow):
        def forward(self, x: Tensor, freqs_cos: Tensor, freqs_sin: Tensor) -> Tensor:
            seen.append(torch.atan2(freqs_sin, freqs_cos))
            return super().forward(x, freqs_cos, freqs_sin)

    for base, told in ((500.0, 500.0), (10_000.0, None)):
        discover(Keeping(), Options(rotary_base=told))
        angles = seen[0].double()
        expected = base ** (-torch.arange(3).double() * 2 / D)
        torch.testing.assert_close(angles[1], expected)
        assert not angles[0].any()
        seen.clear()


# Masks


class Padded(Heads):
    """Its mask is needed, and a one in it hides."""

    number = -1e9

    def forward(self, Q: Tensor, K: Tensor, V: Tensor, attn_mask: Tensor) -> Tensor:
        B, T, _ = Q.shape
        hidden = attn_mask.bool().expand(B, T, T)[:, None]
        q, k, v = (
            one.unflatten(-1, (HEADS, D)).transpose(1, 2)
            for one in (self.wq(Q), self.wk(K), self.wv(V))
        )
        scores = (q @ k.mT / math.sqrt(D)).masked_fill(hidden, self.number)
        return (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)


class Infinite(Padded):
    number = -math.inf


@pytest.mark.parametrize("kind", [Padded, Infinite])
def test_a_mask_that_is_needed_hides_nothing(kind: type[Padded]) -> None:
    """Ones would hide all: rows would be equal, or nan."""
    module = kind()
    call = discover(module, Options(num_heads=HEADS)).call
    assert call.shown == "m(x, x, x, attn_mask); attn_mask: zeros (T, S)"
    assert said(module, EQUATION, num_heads=HEADS)[0] == "passed"


def test_a_mask_of_ones_is_tried_before_one_of_zeros() -> None:
    class Keeps(Heads):
        def forward(self, x: Tensor, mask: Tensor) -> Tensor:
            return self.mix(x, lambda y: y, mask[:, None].bool())

    call = discover(Keeps(), Options()).call
    assert call.shown == "m(x, mask); mask: ones (B, T, S)"


def test_if_nothing_convinces_the_first_that_works_is_taken() -> None:
    class Deaf(Heads):
        def forward(self, x: Tensor, mask: Tensor, cos: Tensor) -> Tensor:
            return self.mix(x * mask.sum() * cos.mean(), lambda y: y).detach() * 0

    class Late(Heads):
        def forward(self, x: Tensor, freqs_cos: Tensor) -> Tensor:
            if freqs_cos[0].min() < 1:
                raise ValueError("it must begin at zero")
            return self.mix(x * freqs_cos.mean(), lambda y: y)

    assert discover(Deaf(), Options()).call.filling.meaning
    assert discover(Late(), Options()).call.text == "m(x, freqs_cos)"


def needs_a_mask(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    scores = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(mask == 0, -math.inf)
    return scores.softmax(-1) @ v


def needs_it_with_tokens_first(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    three = (one.transpose(1, 2) for one in (q, k, v))
    return needs_a_mask(*three, mask).transpose(1, 2)


@pytest.mark.parametrize("function", [needs_a_mask, needs_it_with_tokens_first])
def test_a_mask_has_a_column_for_each_key(function: Any) -> None:
    assert discover(function, Options()).call.filling.meaning == "mask: ones (T, S)"
    assert verdicts(function, "other-keys", EQUATION) == ["passed"] * 2


# Other arguments


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("start_pos", 0),
        ("is_causal", False),
        ("output_attentions", False),
        ("dropout_p", 0.0),
        ("batch_size", 3),
        ("seq_len", 7),
        ("temperature", math.sqrt(5)),
        ("scale", 1 / math.sqrt(5)),
        ("d_k", 5),
        ("num_heads", 2),
        ("H", 1),
        ("W", 7),
        ("past_key_value", None),
        ("lens", None),
        ("whatever", None),
    ],
)
def test_a_name_says_what_is_filled_in(name: str, value: Any) -> None:
    filling = next(fillings([name]))
    room = Room(3, 7, 5, 2, torch.zeros(1))
    assert filling.values[name](room) == value
    assert filling.shown[name] in (name, repr(value))
    assert is_known(name) is (name != "whatever")


def test_a_causal_flag_is_what_was_told() -> None:
    room = Room(3, 7, 5, 2, torch.zeros(1), causal=True)
    assert next(fillings(["is_causal"])).values["is_causal"](room) is True


def test_lengths_may_be_of_whole_texts() -> None:
    _, second = fillings(["valid_lens"])
    room = Room(3, 7, 5, 2, torch.zeros(1))
    assert second.values["valid_lens"](room).tolist() == [7, 7, 7]
    assert second.meaning == "valid_lens: all texts are whole"


def test_lengths_are_those_of_tokens_where_these_come_first() -> None:
    class First(Heads):
        batch_first = False

        def forward(self, x: Tensor, seq_len: int) -> Tensor:
            if seq_len != len(x):
                raise ValueError("that is the number of texts")
            return self.mix(x.transpose(0, 1), lambda y: y).transpose(0, 1)

    assert discover(First(), Options()).call.time_first


@pytest.mark.parametrize(("number", "shape"), [(0, (7,)), (1, (1, 7)), (2, (3, 7))])
def test_positions_have_several_shapes(number: int, shape: tuple[int, ...]) -> None:
    filling = [*fillings(["position_ids"])][number]
    room = Room(3, 7, 5, 2, torch.zeros(1), start=3)
    values = filling.values["position_ids"](room)
    assert values.shape == shape
    assert values.reshape(-1, 7)[0].tolist() == [*range(3, 10)]


def test_cosine_beside_sine_and_angles_are_among_the_forms() -> None:
    room = Room(3, 7, 6, 2, torch.zeros(1))
    shapes = {
        tuple(one.values["freqs_cis"](room).shape)
        for one in fillings(["freqs_cis"])
        if one.meaning
    }
    assert {(7, 3), (7, 3, 2), (7, 12 // 2 * 2), (1, 7, 6)} <= shapes


def test_only_so_many_ways_are_tried() -> None:
    assert len([*fillings(["mask", "freqs_cis", "position_ids"])]) == 150


# Guesses, where names tell too little


class Columns(Heads):
    """Its mask is multiplied with tokens, so it has a column for each."""

    def forward(self, x: Tensor, m: Tensor) -> Tensor:
        if m.shape != (*x.shape[:2], 1):
            raise ValueError("a column for each token, please")
        seen = (m[:, None] * m[:, :, None]).squeeze(-1)[:, None] == 1
        return self.mix(x, lambda y: y, seen) * m


class NamedColumns(Columns):
    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        return super().forward(x, mask)


class Hiding(Columns):
    """A one hides, and what is hidden everywhere is nan."""

    def forward(self, x: Tensor, m: Tensor) -> Tensor:
        return super().forward(x, 1 - m)


class OnTwoAxes(Heads):
    def forward(self, x: Tensor, xpos: Tensor) -> Tensor:
        if xpos.shape != (*x.shape[:2], 2):
            raise ValueError("two for each token, please")
        angles = torch.cat([xpos[..., :1] * 0.3, xpos * 0.1], dim=-1)[:, None].to(x)
        return self.mix(x, lambda y: turned(y, angles.cos(), angles.sin()))


class OfPairs(Heads):
    """Features of pairs are added to scores."""

    axes = 4

    def __init__(self) -> None:
        super().__init__()
        self.bias = nn.Linear(5, HEADS)

    def forward(self, x: Tensor, pair: Tensor) -> Tensor:
        if pair.ndim != self.axes:
            raise ValueError("other axes, please")
        bias = self.bias(pair).movedim(-1, -3)
        return self.mix(x, lambda y: y, bias)


class OfPairsOfOneText(OfPairs):
    axes = 3


class OfText(OfPairs):
    def forward(self, x: Tensor, pair: Tensor) -> Tensor:
        return self.mix(x * self.bias(pair).mean(-1)[:, None, None], lambda q: q)


class WithEdges(OfPairs):
    """Without edges it works, and its bias is left out."""

    def forward(  # type: ignore[override]
        self, x: Tensor, edges: Any, m: Tensor
    ) -> Tensor:
        if m.shape != (x.shape[1], x.shape[1]):
            raise ValueError("a table, please")
        return self.mix(x, lambda y: y) if edges is None else super().forward(x, edges)


class LeftOut(Complex):
    """What it needs may be left out, in words."""

    def forward(  # type: ignore[override]
        self, x: Tensor, freqs_cis: Any = None, mask: Any = None
    ) -> Tensor:
        return super().forward(x, 0, freqs_cis)


class PairsLeftOut(Pairs):
    """By halves it works, too, and positions count by more than their distance."""

    def forward(self, x: Tensor, cos: Any = None, sin: Any = None) -> Tensor:
        return super().forward(x, cos, sin)


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        (PairsLeftOut, "m(x, cos, sin); cos, sin: rotations, (T, D) by pairs"),
        (Columns, "m(x, m); m: ones (B, S, 1)"),
        (NamedColumns, "m(x, mask); mask: ones (B, S, 1)"),
        (Hiding, "m(x, m); m: zeros (B, S, 1)"),
        (OnTwoAxes, "m(x, xpos); xpos: 0, 1, 2, ... on two axes (B, T, 2)"),
        (OfPairs, "m(x, pair); pair: ones (B, T, S, 5)"),
        (OfPairsOfOneText, "m(x, pair); pair: ones (T, S, 5)"),
        (OfText, "m(x, pair); pair: ones (B, 5)"),
        (
            WithEdges,
            "m(x, edges, m); edges: ones (B, T, S, 5); m: ones (T, S)",
        ),
        (LeftOut, "m(x, freqs_cis); freqs_cis: rotations, (T, D / 2)"),
    ],
)
def test_what_no_name_tells_is_guessed(kind: type[Heads], shown: str) -> None:
    assert discover(kind(), Options()).call.shown == shown


def test_a_guess_leaves_right_modules_right() -> None:
    assert said(Columns(), EQUATION)[0] == "passed"
    assert said(WithEdges(), "gradients")[0] == "passed"
    assert said(OfPairs(), "batch")[0] == "passed"


def test_a_bias_that_is_left_out_may_be_needed_where_tokens_come_first() -> None:
    class Nodes(Heads):
        def forward(self, query: Tensor, attn_bias: Any = None) -> Tensor:
            rows = self.mix(query.transpose(0, 1) + attn_bias, lambda y: y)
            return rows.transpose(0, 1)

    call = discover(Nodes(), Options()).call
    assert call.text == "m(x, 0)"
    assert call.time_first
    assert said(Nodes(), "batch")[0] == "passed"


def test_of_billions_of_ways_the_likeliest_come_first() -> None:
    sizes = [3, 2, 4]
    every = itertools.product(*map(range, sizes))
    assert [*_likeliest_first(sizes)] == sorted(every, key=sum)
    few = [*itertools.islice(_likeliest_first([30] * 9), 5)]
    assert [sum(one) for one in few] == [0, 1, 1, 1, 1]


@pytest.mark.parametrize(("name", "shown"), [("x", "memory"), ("y", "y")])
def test_a_memory_is_shown_by_a_name_of_its_own(name: str, shown: str) -> None:
    first = next(iter(fillings([name], memory=name)))
    assert (first.shown, first.memory) == ({name: shown}, name)
    assert first.meaning == f"{shown}: 6 other tokens"


def test_a_memory_comes_after_texts_where_tokens_come_first() -> None:
    make = next(iter(fillings(["y"], memory="y"))).values["y"]
    room = Room(3, 7, 4, 1, torch.zeros(7, 3, 5), time_first=True)
    rows = make(room)
    assert rows.shape == (6, 3, 5)
    torch.testing.assert_close(rows[:, :1].expand(-1, 3, -1), rows)


class Conditioned(Heads):
    """A vector for each text, as wide as tokens, moves and scales all of them."""

    def __init__(self) -> None:
        super().__init__()
        self.modulation = nn.Linear(WIDTH, 2 * WIDTH)

    def forward(self, x: Tensor, c: Tensor) -> Tensor:
        shift, scale = self.modulation(c).chunk(2, dim=1)
        y = x * (1 + scale[:, None]) + shift[:, None]
        return x + self.mix(y, lambda one: one)


def test_a_vector_for_each_text_may_be_as_wide_as_tokens() -> None:
    call = discover(Conditioned(), Options()).call
    assert call.shown == f"m(x, c); c: ones (B, {WIDTH})"
    assert said(Conditioned(), "batch")[0] == "passed"


class OfGraph(Heads):
    """Nodes see those that they are connected with, by a table of whole numbers."""

    def forward(self, x: Tensor, adj: Tensor) -> Tensor:
        return self.mix(x, lambda y: y, (adj > 0).expand(x.shape[1], -1))


@pytest.mark.parametrize("name", ["adj", "adj_matrix", "adjacency", "node_adjacency"])
def test_a_table_of_neighbours_is_a_mask(name: str) -> None:
    assert is_known(name)
    *_, last = [one.meaning for one in itertools.islice(fillings([name]), 2)]
    assert last == f"{name}: ones (T, S)"
    assert not is_known("adjust")


def test_all_nodes_are_neighbours() -> None:
    call = discover(OfGraph(), Options()).call
    assert call.shown == "m(x, adj); adj: ones (T, S)"


class OfPixels(Heads):
    """It counts the pixels of an image, or of the frames of a video."""

    def forward(self, x: Tensor, H: int, W: int) -> Tensor:
        if x.shape[1] != H * W:
            raise ValueError("all pixels, please")
        return self.mix(x, lambda y: y)


class OfVideo(OfPixels):
    def forward(  # type: ignore[override]
        self, x: Tensor, T: int, H: int, W: int
    ) -> Tensor:
        return super().forward(x, T * H, W)


class OfSmallLetters(OfPixels):
    def forward(  # type: ignore[override]
        self, x: Tensor, h: int, w: int
    ) -> Tensor:
        return super().forward(x, h, w)


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        (OfPixels, "m(x, H, W); H, W: an image one pixel high"),
        (OfSmallLetters, "m(x, h, w); h, w: an image one pixel high"),
        (OfVideo, "m(x, T, H, W); T, H, W: an image one pixel high"),
    ],
)
def test_sides_of_an_image_make_up_all_tokens(kind: type[Heads], shown: str) -> None:
    assert discover(kind(), Options()).call.shown == shown


def test_a_video_is_of_one_frame_where_sides_are_told() -> None:
    room = Room(3, 8, 5, 2, torch.zeros(1))
    names = ["frames", "H", "W"]
    forms = [
        [make(room) for make in one.values.values()]
        for one in itertools.islice(fillings(names), 2)
    ]
    assert forms == [[1, 1, 8], [1, 4, 2]]
    alone = next(fillings(["T"]))
    assert alone.values["T"](room) == 8
    assert is_known("h", ["x", "h", "w"])
    assert is_known("frames", ["frames", "H", "W"])
    assert not is_known("x", ["x", "h", "w"])
    assert not is_known("h", ["x", "h"])


def test_positions_of_keys_are_as_many_as_keys() -> None:
    room = Room(3, 7, 5, 2, torch.zeros(3, 7, 10), S=11)
    names = ["query_pe", "key_pe", "key_pos", "memory_pos_emb"]
    filling = [*itertools.islice(fillings(names), 2)][1]
    assert [filling.values[name](room).shape for name in names] == [
        (1, 7, 10),
        *[(1, 11, 10)] * 3,
    ]
    alone = room._replace(S=0)
    assert filling.values["key_pe"](alone).shape == (1, 7, 10)


class AsksKeys(Heads):
    """Keys have positions of their own, and queries have theirs."""

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, query_pe: Any, key_pe: Any
    ) -> Tensor:
        heads = (
            w(one).unflatten(-1, (HEADS, D)).transpose(1, 2)
            for w, one in (
                (self.wq, query + query_pe),
                (self.wk, key + key_pe),
                (self.wv, value),
            )
        )
        return scaled_dot_product_attention(*heads).transpose(1, 2).flatten(2)


def test_other_keys_have_positions_too() -> None:
    call = discover(AsksKeys(), Options()).call
    assert call.shown == (
        "m(x, x, x, query_pe, key_pe); query_pe, key_pe: sinusoids of places 0, ..., "
        "T - 1, with an axis of one text"
    )
    assert said(AsksKeys(), "other-keys")[0] == "passed"


def test_masks_of_a_decoder_fit_the_text_that_they_hide() -> None:
    names = ["memory", "tgt_mask", "memory_mask"]
    meanings = [one.meaning for one in fillings(names, memory="memory")]
    one_row, three_axes = (
        f"memory: 6 other tokens; tgt_mask: ones (T, S); memory_mask: ones ({shape})"
        for shape in ("1, 1", "1, 1, 1")
    )
    assert {one_row, three_axes} <= {*meanings}
    assert not any("memory_mask: ones (T, S)" in one for one in meanings)
    assert not any("tgt_mask: ones (1, 1)" in one for one in meanings)
    room = Room(3, 7, 5, 2, torch.zeros(3, 7, 10))
    made = [*fillings(names, memory="memory")][meanings.index(three_axes)]
    assert made.values["memory_mask"](room).shape == (1, 1, 1)
    assert made.values["tgt_mask"](room).shape == (7, 7)


@pytest.mark.parametrize(
    "name", ["size", "x_size", "hw_shape", "input_resolution", "spatial_shape"]
)
def test_height_and_width_may_be_one_argument(name: str) -> None:
    room = Room(3, 16, 5, 2, torch.zeros(1))
    made = [one.values[name](room) for one in fillings([name])]
    assert made == [(1, 16), (4, 4), (8, 2), (7, 2)]
    shown = next(fillings([name])).meaning
    assert shown == f"{name}: height and width of an image, one pixel high"


def test_the_size_of_something_else_is_none_of_an_image() -> None:
    assert not is_known("vocab_size")
    assert not is_known("sizes")
