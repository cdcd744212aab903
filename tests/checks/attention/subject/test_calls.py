"""Code is called as it wants to be."""

import functools
import math
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from headway.checks import check
from headway.checks.attention.found_facts import facts
from headway.checks.attention.subject import Options, Subject, discover
from headway.checks.attention.subject.calls import (
    POOLED,
    Call,
    Packing,
    attends_twice,
    pooled_calls,
    possible_calls,
)
from tests.checks.support.asking import evidence_of, refused, said
from tests.checks.support.callers import (
    WIDTH,
    Attend,
    OfMany,
    OfThree,
    OfThreeAndMask,
    OfThreeByDefault,
    OfTokens,
    OfTwo,
    WithMask,
    WithMaskAndCache,
    discovered,
    of_three,
)
from tests.checks.support.other_shapes import DecoderLayer, OfHeightAndWidth, Pool
from tests.checks.support.written import written
from tests.support.mistakes.mistake import SUM
from tests.support.sizes import B, D, H, T, draw


def assert_mixes(subject: Subject, times: float = 1) -> None:
    """Expect what its module gives for tokens, with values so many times as large."""
    x, copied = subject.tokens(), subject.target
    assert isinstance(copied, Attend)
    torch.testing.assert_close(subject(x), copied.mix(x, x, times * x))


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (OfTokens, "m(x)"),
        (OfMany, "m(x)"),
        (WithMask, "m(x, None)"),
        (WithMaskAndCache, "m(x, None, None)"),
        (OfTwo, "m(x, x)"),
        (OfThree, "m(x, x, x)"),
        (OfThreeAndMask, "m(x, x, x, None)"),
        (OfThreeByDefault, "m(x, x, x)"),
    ],
)
def test_a_module_is_called_with_tokens(kind: type[Attend], words: str) -> None:
    subject = discovered(kind())
    assert subject.call.text == words
    assert_mixes(subject)


def test_a_mask_that_must_be_given_is_still_a_mask() -> None:
    shown = facts(evidence_of(WithMask(), causal=False))
    assert shown["masks"].value == "mask (T, S), True may look"
    assert shown["called"].value == "m(x, None)"


def of_four(q: Tensor, k: Tensor, v: Tensor, mask: Any) -> Tensor:
    return scaled_dot_product_attention(q, k, v, attn_mask=mask)


def of_flat(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    B, T, _ = queries.shape
    return queries.matmul(keys.mT).softmax(-1) @ values + 0 * torch.ones(B, T, 1)


def of_one_text(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    _T, _ = q.shape
    return (q @ k.T / math.sqrt(5)).softmax(-1) @ v


def of_equal_widths(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return torch.stack([q, k, v]).sum(0)


@pytest.mark.parametrize(
    ("function", "axes", "value_width"),
    [
        (of_three, 4, 11),
        (scaled_dot_product_attention, 4, 11),
        (of_flat, 3, 11),
        (of_one_text, 2, 11),
        (of_equal_widths, 4, 5),
    ],
)
def test_a_function_is_called_with_queries_keys_and_values(
    function: Callable[..., Any], axes: int, value_width: int
) -> None:
    subject = discover(function, Options())
    packing = subject.call.packing
    assert packing is not None
    assert subject.call.text == "f(query, key, value)"
    heads = 2 if axes == 4 else 1
    assert packing == Packing(heads, 5, value_width, axes)
    assert subject.d_in == heads * (10 + value_width)


def test_a_mask_that_a_function_needs_is_none_if_that_works() -> None:
    subject = discover(of_four, Options())
    assert subject.call.shown == "f(query, key, value, None)"
    assert subject.call.packing == Packing(2, 5, 11, 4)


@pytest.mark.parametrize(("heads", "key_width"), [(3, 5), (5, 3)])
def test_the_heads_of_a_function_can_be_told(heads: int, key_width: int) -> None:
    packing = discover(of_three, Options(num_heads=heads)).call.packing
    assert packing == Packing(heads, key_width, 11, 4)


@pytest.mark.parametrize("axes", [2, 3, 4])
def test_heads_get_their_part_and_are_merged_again(axes: int) -> None:
    heads = H if axes == 4 else 1
    packing = Packing(heads, D, 2, axes)
    x = draw(B, T, packing.d_in)
    seen = []

    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        seen.append([q, k, v])
        return v

    result = Call("f", lambda f, *inputs: f(*inputs), packing)(attend, x, {})
    torch.testing.assert_close(result, x[..., 2 * heads * D :])
    shapes = {
        2: [(T, D), (T, D), (T, 2)],
        3: [(B, T, D), (B, T, D), (B, T, 2)],
        4: [(B, H, T, D), (B, H, T, D), (B, H, T, 2)],
    }
    assert [tuple(one.shape) for one in seen[0]] == shapes[axes]
    first = seen[0][1].reshape(-1, T, D)[0]
    torch.testing.assert_close(first, x[0, :, heads * D : heads * D + D])


def test_a_function_of_tokens_needs_their_width() -> None:
    def attend(x: Tensor) -> Tensor:
        return (x @ x.mT).softmax(-1) @ x

    assert discovered(attend).call.text == "m(x)"
    with refused(
        "d_in must be given for attend, such as d_in=12, or --d-in 12; got d_in=None."
    ):
        discover(attend, Options())


# In whatever order, and by name


@pytest.mark.parametrize(
    ("arguments", "holds", "three", "words"),
    [
        (
            "*, query, key, value",
            "True",
            "query, key, value",
            "m(query=x, key=x, value=x)",
        ),
        ("values, keys, query", "True", "query, keys, values", "m(x, x, x)"),
        ("mask, x", "mask is None", "x, x, x", "m(None, x=x)"),
        (
            "*, hidden_states, use_cache",
            "use_cache is False",
            "*(hidden_states,) * 3",
            "m(hidden_states=x, use_cache=False)",
        ),
        ("x, table", "True", "x, table, table", "m(x, x)"),
        ("x=None, mask=None", "True", "x, x, x", "m(x)"),
        (
            "mask, hidden_states, past",
            "mask is past is None",
            "*(hidden_states,) * 3",
            "m(None, hidden_states=x, past=None)",
        ),
    ],
)
def test_arguments_go_by_their_names(
    arguments: str, holds: str, three: str, words: str
) -> None:
    code = f"def f(self, {arguments}): assert {holds}; return self.mix({three})"
    subject = discovered(type("Made", (Attend,), {"forward": written(code)})())
    assert subject.call.text == words
    assert_mixes(subject)


def test_a_function_is_given_queries_as_queries_in_any_order() -> None:
    def attend(value: Tensor, key: Tensor, query: Tensor) -> Tensor:
        return scaled_dot_product_attention(query, key, value)

    assert said(attend, "equation")[0] == "passed"


class Weightless(nn.Module):
    """Nothing to learn: a function of queries, keys and values."""

    def __init__(self, axes: int = 4, **told: float) -> None:
        super().__init__()
        self.axes = axes
        vars(self).update(told)

    def forward(self, q: Tensor, k: Tensor, v: Tensor, mask: Any = None) -> Tensor:
        if q.ndim != self.axes:
            raise ValueError("other axes, please")
        width = getattr(self, "temperature", q.shape[-1] ** 0.5)
        return (q @ k.mT / width).softmax(-1) @ v


@pytest.mark.parametrize("axes", [3, 4])
def test_a_module_without_weights_is_a_function(axes: int) -> None:
    subject = discover(Weightless(axes), Options())
    assert subject.call.text == "m(query, key, value)"
    assert subject.call.packing == Packing(2 if axes == 4 else 1, 5, 11, axes)
    assert said(Weightless(axes), "equation")[0] == "passed"


@pytest.mark.parametrize(
    ("told", "width"),
    [
        ({"temperature": 8**0.5}, 8),
        ({"sqrt_dim": 3.0}, 9),
        ({"scale": 6**-0.5}, 6),
        ({"d_k": 9}, 9),
        ({"temperature": 1.3}, 5),
        ({"scale": 1.0}, 5),
    ],
)
def test_the_width_that_it_was_built_for_is_read_off(
    told: dict[str, float], width: int
) -> None:
    packing = discover(Weightless(**told), Options()).call.packing
    assert packing is not None
    assert packing.key_width == width


# Other axes


def test_tokens_may_come_before_texts_in_a_function() -> None:
    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        if q.ndim != 3:
            raise ValueError("three axes, please")
        three = (one.transpose(0, 1) for one in (q, k, v))
        return scaled_dot_product_attention(*three).transpose(0, 1)

    call = discover(attend, Options()).call
    assert call.shown == "f(query, key, value); tokens before texts"
    assert said(attend, "equation")[0] == "passed"


def test_names_of_sizes_say_that_tokens_come_first() -> None:
    class Named(Attend):
        def forward(self, x: Tensor) -> Tensor:
            _seq_len, _batch_size, _ = x.shape
            return self.mix(*(x.transpose(0, 1),) * 3).transpose(0, 1)

    assert discovered(Named()).call.time_first
    assert said(Named(), "batch")[0] == "passed"
    assert not discovered(OfTokens()).call.time_first


class Channels(nn.Module):
    def __init__(self, axes: int, square: bool = False) -> None:
        super().__init__()
        kind = {3: nn.Conv1d, 4: nn.Conv2d, 5: nn.Conv3d}[axes]
        self.axes, self.square = axes, square
        self.qkv = kind(16, 48, 1)

    def forward(self, x: Tensor) -> Tensor:
        if x.ndim != self.axes or (self.square and x.shape[2] != x.shape[3]):
            raise ValueError("an image, please")
        three = (one.flatten(2).mT for one in self.qkv(x).chunk(3, dim=1))
        return scaled_dot_product_attention(*three).mT.reshape(x.shape)


class Grid(Attend):
    def forward(self, x: Tensor) -> Tensor:
        _B, _H, _W, _C = x.shape
        y = x.flatten(1, 2)
        return self.mix(y, y, y).reshape(x.shape)


class Square(Grid):
    def forward(self, x: Tensor) -> Tensor:
        if x.shape[1] != x.shape[2]:
            raise ValueError("a square, please")
        return super().forward(x)


class Video(Attend):
    """All pixels of all frames see each other; channels come last."""

    def forward(self, x: Tensor) -> Tensor:
        _B, _T, _H, _W, _C = x.shape
        y = x.flatten(1, 3)
        return self.mix(y, y, y).reshape(x.shape)


class ImageAndText(nn.Module):
    """An image asks a text of another width."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.out = nn.Conv2d(16, 16, 1), nn.Linear(16, 16)
        self.k, self.v = nn.Linear(22, 16), nn.Linear(22, 16)

    def forward(self, x: Tensor, context: Tensor) -> Tensor:
        _B, _C, H, W = x.shape
        three = self.q(x).flatten(2).mT, self.k(context), self.v(context)
        rows = self.out(scaled_dot_product_attention(*three))
        return rows.mT.unflatten(2, (H, W))


WITH_A_TEXT = "m(x.mT.unsqueeze(3), torch.cat([x] * 22, -1)[..., :22]).squeeze(3).mT"


OF_NO_IMAGE = ["m([x, x, x])", "m(x.mT).mT", "m(x.unsqueeze(2)).squeeze(2)"]


class OfAList(Attend):
    """Queries, keys and values come in one list."""

    def forward(self, inputs: list[Tensor]) -> Tensor:
        query, key, value = inputs[0], inputs[1], inputs[2]
        if query.ndim < 3:
            raise ValueError("texts, tokens and numbers, please")
        return self.mix(query, key, value)


@pytest.mark.parametrize(
    ("module", "words"),
    [
        (Grid(), "m(x.unsqueeze(2)).squeeze(2)"),
        (OfAList(), "m([x, x, x])"),
        (Channels(3), "m(x.mT).mT"),
        (Channels(4), "m(x.mT.unsqueeze(3)).squeeze(3).mT"),
        (Channels(4, square=True), "m(x.mT.unflatten(2, (4, 4))).flatten(2).mT"),
        (Square(), "m(x.unflatten(1, (4, 4))).flatten(1, 2)"),
        (Channels(5), "m(x.mT[..., None, None])[..., 0, 0].mT"),
        (Video(), "m(x[:, :, None, None])[:, :, 0, 0]"),
        (ImageAndText(), WITH_A_TEXT),
    ],
)
def test_images_are_made_of_tokens(module: nn.Module, words: str) -> None:
    subject = discover(module, Options())
    assert subject.call.shown == words
    assert subject.call.of_image is (words not in OF_NO_IMAGE)
    assert subject(subject.tokens()).shape == subject.tokens().shape


def test_an_image_may_need_more_than_one_row() -> None:
    call = discovered(OfHeightAndWidth()).call
    assert call.shown == "m(x, H, W); H, W: 4 pixels high"
    assert call.of_image


@pytest.mark.parametrize("time_first", [False, True])
def test_the_memory_of_a_decoder_is_other_tokens(time_first: bool) -> None:
    order = "; tokens before texts" if time_first else ""
    evidence = evidence_of(DecoderLayer(time_first=time_first))
    assert evidence.subject.call.shown == (
        f"m(x, memory); memory: 6 other tokens{order}"
    )
    assert set(evidence.masks.meanings) == {"tgt_mask", "tgt_key_padding_mask"}


class Distances(Attend):
    """Keys are moved by vectors that stand before texts."""

    def forward(self, x: Tensor, r: Tensor) -> Tensor:
        _T, _B, _C = x.shape
        rows, keys = x.transpose(0, 1), (x + r).transpose(0, 1)
        if r.shape[1] != 1:
            raise ValueError("vectors for all texts, please")
        return self.mix(rows, keys, rows).transpose(0, 1)


def test_vectors_of_places_may_stand_before_texts() -> None:
    assert discovered(Distances()).call.shown == (
        "m(x, r); r: sinusoids of places 0, ..., T - 1, with an axis of one text "
        "behind; tokens before texts"
    )


def test_a_row_for_each_text_is_that_of_its_tokens() -> None:
    report = check(Pool())
    called = report.facts["called"].value
    assert called == "m(x).flatten(1)[:, None].expand(-1, x.shape[1], -1)"
    assert [one.id for one in report.failed] == []


def test_the_weights_of_a_pool_must_sum_to_one() -> None:
    class WithoutSoftmax(Pool):
        def mix(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
            return (self.q(query) @ self.k(key).mT) @ self.v(value)

    assert said(WithoutSoftmax(), SUM)[0] == "failed"


class ChannelsOfTwo(nn.Module):
    """Channels stand before tokens, and there are other tokens for keys and values."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v = (nn.Conv1d(12, 12, 1) for _ in range(3))

    def forward(self, x: Tensor, c: Tensor) -> Any:
        three = (one.mT for one in (self.q(x), self.k(c), self.v(c)))
        return scaled_dot_product_attention(*three).mT


class ChannelsAndTable(ChannelsOfTwo):
    def forward(self, x: Tensor, c: Tensor) -> Any:
        return super().forward(x, c), None


class Alignment(Attend):
    """Rows, columns and texts are its axes, and all rows share their weights."""

    def forward(self, x: Tensor) -> Any:
        _rows, _columns, _texts, _width = x.shape
        q, k, v = (w(x).permute(2, 0, 1, 3) for w in (self.q, self.k, self.v))
        weights = (q @ k.mT).sum(1, keepdim=True).softmax(-1)
        return (weights @ v).permute(1, 2, 0, 3), weights


class Rows(Alignment):
    def forward(self, x: Tensor) -> Any:
        rows, weights = super().forward(x.permute(1, 2, 0, 3))
        return rows.permute(2, 0, 1, 3), weights


class RowsOfPixels(Grid):
    """Pixels of a row see each other, so one in each row sees none."""

    def forward(self, x: Tensor) -> Tensor:
        _B, _H, _W, _C = x.shape
        return self.mix(x, x, x)


class EachFrame(Attend):
    """Pixels of a frame see each other, so one in each frame sees none."""

    def forward(self, x: Tensor) -> Tensor:
        _B, _T, _H, _W, _C = x.shape
        y = x.flatten(2, 3)
        return self.mix(y, y, y).reshape(x.shape)


@pytest.mark.parametrize(
    ("module", "words"),
    [
        (ChannelsOfTwo(), "m(x.mT, x.mT).mT"),
        (ChannelsAndTable(), "m(x.mT, x.mT)[0].mT"),
        (Alignment(), "m(x.transpose(0, 1)[None])[0][0].transpose(0, 1)"),
        (Rows(), "m(x[:, None])[0][:, 0]"),
        (RowsOfPixels(), "m(x[:, None])[:, 0]"),
        (EachFrame(), "m(x[:, None, :, None])[:, 0, :, 0]"),
    ],
)
def test_further_axes_are_guessed(module: nn.Module, words: str) -> None:
    subject = discover(module, Options())
    assert subject.call.shown == words
    x = subject.tokens()
    told = discover(module, Options(call=words, d_in=subject.d_in))
    torch.testing.assert_close(subject(x), told(x))


def test_other_tokens_are_laid_out_as_well() -> None:
    assert said(ChannelsOfTwo(), "other-keys")[0] == "passed"
    assert said(ChannelsAndTable(), "other-keys")[0] == "passed"


def test_where_no_positions_are_filled_in_none_move() -> None:
    call = discover(Channels(3), Options()).call
    assert call.moved(5) == call


def test_time_may_come_first() -> None:
    first = nn.MultiheadAttention(WIDTH, H, batch_first=False)
    second = nn.MultiheadAttention(WIDTH, H, batch_first=True)
    second.load_state_dict(first.state_dict())
    x = draw(B, T, WIDTH)
    a, b = discovered(first), discovered(second)
    assert a.call.time_first
    assert not b.call.time_first
    torch.testing.assert_close(a(x), b(x))


# What the reader says


def test_an_expression_says_discovered() -> None:
    attend = nn.MultiheadAttention(WIDTH, H, batch_first=True)
    subject = discovered(attend, call="  m(x, x, 2 * x, need_weights=False)[0]")
    assert subject.call.text == "m(x, x, 2 * x, need_weights=False)[0]"
    x = subject.tokens()
    torch.testing.assert_close(subject(x), subject.target(x, x, 2 * x)[0])


def test_an_expression_can_pass_a_mask_on() -> None:
    options: dict[str, Any] = {"causal": False, "call": "m(x, mask)"}
    assert said(WithMask(), "masks", **options)[0] == "passed"
    shown = facts(evidence_of(WithMask(), **options))
    assert shown["masks"].value == "mask (T, S), True may look"


def test_an_expression_can_be_of_queries_keys_and_values_and_use_torch() -> None:
    def attend(table: Tensor, v: Tensor) -> Tensor:
        return table.softmax(-1) @ v

    call = "f(q @ k.mT / torch.tensor(5.0).sqrt(), v)"
    assert said(attend, "equation", call=call)[0] == "passed"


def test_a_function_says_how_for_tokens_or_for_three() -> None:
    def swapped(m: Attend, x: Tensor) -> Tensor:
        return m.mix(x, x, 2 * x)

    subject = discovered(OfTokens(), call=swapped)
    assert subject.call.text == "swapped"
    assert subject.call.packing is None
    assert_mixes(subject, 2)

    def other(f: Callable[..., Any], q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return f(v, k, q)

    def backwards(v: Tensor, k: Tensor, q: Tensor) -> Tensor:
        return of_three(q, k, v)

    assert discover(backwards, Options(call=other)).call.packing == Packing(2, 5, 11, 4)
    unnamed = functools.partial(swapped)
    assert discovered(OfTokens(), call=unnamed).call.text == "call"


def test_an_expression_must_be_one() -> None:
    with refused("call must be an expression; got call='return m(x)'."):
        discovered(OfTokens(), call="return m(x)")


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("m(y)", "m(y) raised NameError: name 'y' is not defined"),
        ("x.mean()", "x.mean() raised TypeError: it returned shape () for (3, 7, 13)"),
        ("[1, 2]", "[1, 2] raised TypeError: it returned list, not a tensor"),
        ("x > 0", "x > 0 raised no error, but returned torch.bool"),
    ],
)
def test_an_expression_that_fails_is_shown(call: str, error: str) -> None:
    with refused(
        "call must say how of_three takes tokens of shape (texts, tokens, d_in); "
        f"got call={call!r}, and {error}."
    ):
        discover(of_three, Options(d_in=13, call=call))


# What comes back


@pytest.mark.parametrize(
    "wrap",
    [
        lambda rows, rest: (rows, rest),
        lambda rows, rest: [rows, rest],
        lambda rows, rest: (None, rows, rest),
        lambda rows, rest: OrderedDict(rows=rows, rest=rest),
    ],
)
def test_the_first_tensor_of_what_comes_back_is_the_answer(
    wrap: Callable[[Tensor, Tensor], Any],
) -> None:
    class Wrapped(Attend):
        def forward(self, x: Tensor) -> Any:
            return wrap(self.mix(x, x, x), torch.zeros(3))

    assert_mixes(discovered(Wrapped()))


@pytest.mark.parametrize(
    ("answer", "kind"), [(None, "NoneType"), ((), "tuple"), ({"a": 3}, "dict")]
)
def test_no_tensor_is_no_answer(answer: Any, kind: str) -> None:
    class Empty(Attend):
        def forward(self, x: Tensor) -> Any:
            return answer

    with refused(
        "call must say how Empty takes tokens of shape (texts, tokens, d_in), such as "
        f'call="m(x, x, x)[0]"; got '
        f"call=None, and m(x) raised TypeError: it returned {kind}, not a tensor."
    ):
        discovered(Empty())


def test_a_built_in_without_names_is_tried_as_a_function_of_three() -> None:
    (first, *_) = possible_calls(scaled_dot_product_attention, None, None)
    assert first.text == "f(query, key, value)"


def test_a_module_of_three_is_called_in_no_other_way() -> None:
    assert [one.text for one in possible_calls(OfThree(), None, None)] == ["m(x, x, x)"]


class MemoryFirst(DecoderLayer):
    """The other text comes first, and its masks must be given."""

    def forward(  # type: ignore[override]
        self, x: Tensor, y: Tensor, y_mask: Tensor, xy_mask: Tensor
    ) -> Any:
        if not (y_mask | xy_mask).logical_not().all():
            raise ValueError("masks that hide nothing, please")
        return super().forward(y, x)


def test_a_memory_may_come_before_the_tokens() -> None:
    assert evidence_of(MemoryFirst()).subject.call.shown == (
        "m(memory, y=x, y_mask=y_mask, xy_mask=xy_mask); memory: 6 other tokens; "
        "y_mask, xy_mask: zeros (1, 1)"
    )


class InnerAttention(Attend):
    def forward(self, x: Tensor) -> Tensor:
        _length, _batch, _width = x.shape
        rows = x.transpose(0, 1)
        return self.mix(rows, rows, rows).transpose(0, 1)


class Around(nn.Module):
    """Sizes have names in the attention inside alone."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = InnerAttention()

    def forward(self, x: Tensor) -> Any:
        return x + self.inner(x)


def test_names_of_sizes_are_read_in_the_attention_inside() -> None:
    assert discovered(Around()).call.shown == "m(x); tokens before texts"


def test_layers_of_attention_are_counted() -> None:
    assert attends_twice(DecoderLayer())
    assert attends_twice(nn.ModuleList([Around(), Around()]))
    assert not attends_twice(Around())


class OfAny(Attend):
    """It takes whatever comes first, and no other text."""

    def forward(self, *texts: Tensor, context: Any = None) -> Tensor:
        if context is not None:
            raise ValueError("no other text, please")
        return self.mix(texts[0], texts[0], texts[0])


def test_tokens_may_be_the_first_of_however_many() -> None:
    assert discovered(OfAny()).call.shown == "m(x)"


def test_of_all_layers_the_last_one_counts() -> None:
    class Layers(Attend):
        def forward(self, x: Tensor) -> Any:
            first = self.mix(x, x, x)
            return [first, self.mix(first, first, first)]

    subject = discovered(Layers())
    x = subject.tokens()
    torch.testing.assert_close(subject(x), subject.target(x)[1])  # type: ignore


def test_a_memory_that_comes_first_may_have_its_name() -> None:
    class Named(DecoderLayer):
        def forward(self, memory: Tensor, queries: Tensor) -> Any:  # type: ignore
            return super().forward(queries, memory)

    assert evidence_of(Named()).subject.call.shown == (
        "m(memory, queries=x); memory: 6 other tokens"
    )


# What a second argument tells


class OfFrames(Attend):
    """The frames of all videos are one axis, and each pixel sees its past."""

    def forward(self, x: Tensor, video_length: int) -> Tensor:
        _frames, _pixels, _width = x.shape
        y = x.unflatten(0, (-1, video_length)).transpose(1, 2)
        return self.mix(y, y, y).transpose(1, 2).flatten(0, 1)


class OfEdges(Attend):
    """A graph of nodes; those see each other that an edge connects."""

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        _nodes, _width = x.shape
        behind, ahead = edge_index
        seen = torch.zeros(len(x), len(x), dtype=torch.bool)
        seen[ahead, behind] = True
        three = self.q(x), self.k(x), self.v(x)
        return scaled_dot_product_attention(*three, attn_mask=seen)


@pytest.mark.parametrize(
    ("module", "words"),
    [
        (
            OfFrames(),
            "m(x.flatten(0, 1)[:, None], x.shape[1])"
            ".unflatten(0, x.shape[:2]).squeeze(2)",
        ),
        (
            OfEdges(),
            "torch.stack([m(one, torch.ones(len(one), len(one)).nonzero().T)"
            " for one in x])",
        ),
    ],
)
def test_a_second_argument_tells_how_tokens_are_laid_out(
    module: Attend, words: str
) -> None:
    subject = discovered(module)
    assert subject.call.text == words
    assert_mixes(subject)


def test_a_third_argument_is_no_edge() -> None:
    class Weighted(OfEdges):
        def forward(  # type: ignore[override]
            self, x: Tensor, edge_index: Tensor, weight: Tensor
        ) -> Tensor:
            return super().forward(x, edge_index) * weight

    with pytest.raises(ValueError, match="what Weighted gets for edge_index, weight"):
        discovered(Weighted())


# One row for a text


class Ask(Attend):
    """It has a query for each text, and returns weights, too."""

    def ask(self, query: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
        weights = (self.q(query) @ self.k(keys).mT / WIDTH**0.5).softmax(-1)
        return weights @ self.v(keys), weights


class QueryFirst(Ask):
    def forward(self, query: Tensor, keys: Tensor) -> Any:
        if query.shape[1:] != (1, WIDTH):
            raise ValueError("one query for a text, please")
        return self.ask(query, keys)


class QueryLast(Ask):
    """The query has no axis of its own, and the row has none either."""

    def forward(self, encoder_outputs: Tensor, hidden: Tensor) -> Any:
        if hidden.shape != (len(encoder_outputs), WIDTH):
            raise ValueError("one query for a text, please")
        return self.ask(hidden[:, None], encoder_outputs)[0].squeeze(1)


class OfAState(Ask):
    """The query is the state of a layer of a recurrent network."""

    def forward(self, hidden: Tensor, encoder_outputs: Tensor) -> Any:
        if hidden.shape != (1, len(encoder_outputs), WIDTH):
            raise ValueError("one layer, please")
        return self.ask(hidden.transpose(0, 1), encoder_outputs)[0]


class WithLengths(Ask):
    def forward(self, query: Tensor, memory: Tensor, memory_lengths: Tensor) -> Any:
        seen = torch.arange(memory.shape[1]) < memory_lengths[:, None]
        if query.ndim != 2 or not seen.any(-1).all():
            raise ValueError("one query for a text, please")
        return self.ask(query[:, None], memory * seen[..., None])[0]


FIXED = "torch.linspace(-1, 1, 15).to(x).expand(len(x), -1)"
LENGTHS = "torch.full((len(x),), x.shape[1])"


@pytest.mark.parametrize(
    ("module", "words"),
    [
        (QueryFirst(), f"m({FIXED}[:, None], x)[0]"),
        (QueryLast(), f"m(x, {FIXED})"),
        (OfAState(), f"m({FIXED}[None], x)"),
        (WithLengths(), f"m({FIXED}, x, {LENGTHS})"),
    ],
)
def test_a_text_is_asked_by_a_fixed_query(module: Ask, words: str) -> None:
    subject = discovered(module)
    assert subject.call.text == f"{words}{POOLED}"
    assert subject.is_pooled
    x = subject.tokens()
    query = torch.linspace(-1, 1, WIDTH).to(x).expand(3, 1, WIDTH)
    assert isinstance(subject.target, Ask)
    rows, _ = subject.target.ask(query, x)
    torch.testing.assert_close(subject(x), rows.expand(3, 7, WIDTH))


def test_weights_that_are_returned_beside_one_row_are_left_out() -> None:
    class WithWeights(Pool):
        def forward(self, x: Tensor) -> Any:
            return super().forward(x)[:, 0], torch.ones(x.shape[:2])

    assert discovered(WithWeights()).call.text == f"m(x)[0]{POOLED}"


def test_only_a_module_with_weights_pools() -> None:
    assert [*pooled_calls(of_three)] == []
    assert [*pooled_calls(nn.Identity())] == []
    assert all(one.must_convince for one in pooled_calls(OfTokens()))


# The order of axes, where the reader says a call


class Misnamed(Attend):
    """Its names say that tokens come first, and they do not."""

    def forward(self, x: Tensor) -> Tensor:
        _seq_len, _batch_size, _ = x.shape
        return self.mix(x, x, x)


class TokensFirst(Misnamed):
    def forward(self, x: Tensor) -> Tensor:
        _seq_len, _batch_size, _ = x.shape
        return super().forward(x.transpose(0, 1)).transpose(0, 1)


def test_a_function_that_calls_is_never_turned() -> None:
    def plainly(m: Attend, x: Tensor) -> Any:
        return m(x)

    for module in (Misnamed(), TokensFirst()):
        [call] = possible_calls(module, plainly, None)
        assert not call.time_first
    [call] = possible_calls(Misnamed(), plainly, None, layout="time first")
    assert call.time_first


def test_a_written_call_is_turned_as_names_say() -> None:
    for written_call, turned in (("m(x)", True), ("m(x.transpose(0, 1))", False)):
        [call] = possible_calls(TokensFirst(), written_call, None)
        assert call.time_first is turned


def test_misleading_names_are_measured_where_a_call_is_written() -> None:
    misnamed = discovered(Misnamed(), call="m(x)")
    assert not misnamed.call.time_first
    assert_mixes(misnamed)


def test_other_pairs_that_are_unpacked_name_no_sizes() -> None:
    class InnerAttentionAndTable(InnerAttention):
        def forward(self, x: Tensor) -> Any:
            _length, _batch, _width = x.shape
            rows = x.transpose(0, 1)
            return self.mix(rows, rows, rows).transpose(0, 1), None

    class Outer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = InnerAttentionAndTable()

        def forward(self, x: Tensor) -> Any:
            rows, _weights = self.inner(x)
            return x + rows

    [first, *_] = possible_calls(Outer(), None, None)
    assert first.time_first


def test_features_of_a_text_may_be_as_wide_as_tokens() -> None:
    class Conditioned(OfTokens):
        def __init__(self) -> None:
            super().__init__()
            self.shift = nn.Linear(WIDTH, WIDTH)

        def forward(self, x: Tensor, c: Tensor) -> Tensor:  # type: ignore[override]
            if c.ndim != 2:
                raise ValueError("one vector for a text, please")
            y = x + self.shift(c)[:, None]
            return self.mix(y, y, y)

    assert discovered(Conditioned()).call.shown == "m(x, c); c: ones (B, 15)"


def test_a_part_that_is_called_twice_counts_as_two_layers() -> None:
    class Once(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attn = nn.MultiheadAttention(12, 3, batch_first=True)

        def forward(self, x: Tensor, memory: Tensor) -> Any:
            return self.attn(x, memory, memory)[0]

    class Twice(Once):
        def forward(self, x: Tensor, memory: Tensor) -> Any:
            own = self.attn(x, x, x)[0]
            return self.attn(own, memory, memory)[0]

    assert attends_twice(Twice())
    assert not attends_twice(Once())
    assert discovered(Twice(), d_in=12).call.shown == (
        "m(x, memory); memory: 6 other tokens"
    )


class Unpacks(Attend):
    """It takes queries, keys and values as arguments without names."""

    def forward(self, *given: Tensor) -> Tensor:
        query, key, value = given
        return self.mix(query, key, value)


def test_three_arguments_may_have_no_names() -> None:
    assert discovered(Unpacks()).call.shown == "m(x, x, x)"


class OfTwoAndAnother(Attend):
    """Its third argument is for neither text, whatever it is."""

    def forward(self, x: Tensor, context: Tensor, zorp: Any) -> Tensor:
        return self.mix(x, context, context)


class OfAnEncoder(Attend):
    """Two names say what they are of, and that there is another text."""

    def forward(self, x: Tensor, enc_k: Tensor, enc_v: Tensor) -> Tensor:
        return self.mix(x, enc_k, enc_v)


class HalfSeen(Attend):
    def forward(self, q: Tensor, k: Tensor, keep: Any) -> Tensor:
        return self.mix(q, k, k)


def test_what_follows_another_text_is_no_value() -> None:
    assert discovered(OfTwoAndAnother()).call.shown == "m(x, x, None)"
    assert discovered(HalfSeen()).call.shown == "m(x, x, None)"
    assert discovered(OfAnEncoder()).call.shown == "m(x, x, x)"


def test_all_that_may_be_left_out_may_be_needed_at_once() -> None:
    class Needs(Attend):
        def forward(
            self, x: Tensor, attention_mask: Any = None, position_ids: Any = None
        ) -> Tensor:
            assert attention_mask is not None
            assert position_ids is not None
            away = (position_ids[..., None] - position_ids[..., None, :]).abs()
            scores = self.q(x) @ self.k(x).mT - away + attention_mask.long()
            return scores.softmax(-1) @ self.v(x)

    call = discovered(Needs()).call
    assert call.text.startswith("m(x, attention_mask, position_ids)")
