"""Code is called as it wants to be, and refused in a sentence if nobody knows how."""

import contextlib
import functools
import math
import re
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import pytest
import torch
from sizes import B, D, H, T, draw
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from headway.checks import check
from headway.checks.calling import Call, Cut, ways
from headway.checks.finding import find, redraw
from headway.checks.subject import Subject, Told, explain, in_type

WIDTH = 15


def refused(sentence: str) -> pytest.RaisesExc[ValueError]:
    """Expect this sentence, to the last letter."""
    return pytest.raises(ValueError, match=f"^{re.escape(sentence)}$")


def how(target: Callable[..., Any], **told: Any) -> Subject:
    """Find out how code is called."""
    return find(target, Told(**({"d_in": WIDTH} | told)))


class Attend(nn.Module):
    """Attention of one head, for others to be called otherwise."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(WIDTH, WIDTH) for _ in range(3))

    def mix(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        three = self.q(query), self.k(key), self.v(value)
        return scaled_dot_product_attention(*three)


class OfTokens(Attend):
    def forward(self, x: Tensor) -> Tensor:
        return self.mix(x, x, x)


class WithMask(Attend):
    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        seen = None if mask is None else mask.bool()
        three = self.q(x), self.k(x), self.v(x)
        return scaled_dot_product_attention(*three, attn_mask=seen)


class WithMaskAndCache(WithMask):
    def forward(self, x: Tensor, mask: Tensor | None, cache: Any) -> Tensor:
        return super().forward(x, mask)


class OfTwo(Attend):
    def forward(self, x: Tensor, context: Tensor) -> Tensor:
        return self.mix(x, context, context)


class OfThree(Attend):
    def forward(self, first: Tensor, second: Tensor, third: Tensor) -> Tensor:
        return self.mix(first, second, third)


class OfThreeAndMask(Attend):
    def forward(self, q: Tensor, k: Tensor, v: Tensor, mask: Any) -> Tensor:
        return self.mix(q, k, v)


class OfThreeByDefault(Attend):
    def forward(self, query: Tensor, key: Any = None, value: Any = None) -> Tensor:
        return self.mix(query, key, value)


class OfMany(Attend):
    def forward(self, x: Tensor, *others: Any, scale: float = 1.0) -> Tensor:
        return self.mix(x, x, x)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (OfTokens, "m(x)"),
        (OfMany, "m(x)"),
        (WithMask, "m(x, None)"),
        (WithMaskAndCache, "m(x, None, None)"),
        (OfTwo, "m(x, x)"),
        (OfThree, "m(x, x, x)"),
        (OfThreeAndMask, "m(x, x, x)"),
        (OfThreeByDefault, "m(x, x, x)"),
    ],
)
def test_a_module_is_called_with_tokens(kind: type[Attend], words: str) -> None:
    module = kind()
    subject = how(module)
    assert subject.call.words == words
    x = subject.tokens()
    copied = subject.target
    assert isinstance(copied, Attend)
    torch.testing.assert_close(subject(x), copied.mix(x, x, x))


def test_a_mask_that_must_be_given_is_still_a_mask() -> None:
    report = check(WithMask(), causal=False)
    assert report.facts["masks"] == "mask (T, S), True may look"
    assert report.facts["called"] == "m(x, None)"


def of_three(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return scaled_dot_product_attention(query, key, value)


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
        (of_four, 4, 11),
        (scaled_dot_product_attention, 4, 11),
        (of_flat, 3, 11),
        (of_one_text, 2, 11),
        (of_equal_widths, 4, 5),
    ],
)
def test_a_function_is_called_with_queries_keys_and_values(
    function: Callable[..., Any], axes: int, value_width: int
) -> None:
    subject = find(function, Told())
    cut = subject.call.cut
    assert cut is not None
    assert subject.call.words == "f(query, key, value)"
    heads = 2 if axes == 4 else 1
    assert cut == Cut(heads, 5, value_width, axes)
    assert subject.d_in == heads * (10 + value_width)


@pytest.mark.parametrize(("heads", "key_width"), [(3, 5), (5, 3)])
def test_the_heads_of_a_function_can_be_told(heads: int, key_width: int) -> None:
    cut = find(of_three, Told(num_heads=heads)).call.cut
    assert cut == Cut(heads, key_width, 11, 4)


@pytest.mark.parametrize("axes", [2, 3, 4])
def test_a_cut_gives_heads_their_part_and_joins_them_again(axes: int) -> None:
    heads = H if axes == 4 else 1
    cut = Cut(heads, D, 2, axes)
    x = draw(B, T, cut.d_in)
    seen = []

    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        seen.append([q, k, v])
        return v

    result = Call("f", lambda f, *inputs: f(*inputs), cut)(attend, x, {})
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

    assert how(attend).call.words == "m(x)"
    with refused("d_in must be told for attend; got d_in=None."):
        find(attend, Told())


def test_time_may_come_first() -> None:
    first = nn.MultiheadAttention(WIDTH, H, batch_first=False)
    second = nn.MultiheadAttention(WIDTH, H, batch_first=True)
    second.load_state_dict(first.state_dict())
    x = draw(B, T, WIDTH)
    a, b = how(first), how(second)
    assert a.call.time_first
    assert not b.call.time_first
    torch.testing.assert_close(a(x), b(x))


# What the reader says


def test_an_expression_says_how() -> None:
    attend = nn.MultiheadAttention(WIDTH, H, batch_first=True)
    subject = how(attend, call="  m(x, x, 2 * x, need_weights=False)[0]")
    assert subject.call.words == "m(x, x, 2 * x, need_weights=False)[0]"
    x = subject.tokens()
    torch.testing.assert_close(subject(x), subject.target(x, x, 2 * x)[0])


def test_an_expression_can_pass_a_mask_on() -> None:
    report = check(WithMask(), causal=False, call="m(x, mask)")
    assert report.ok
    assert report.facts["masks"] == "mask (T, S), True may look"


def test_an_expression_can_be_of_queries_keys_and_values_and_use_torch() -> None:
    def attend(table: Tensor, v: Tensor) -> Tensor:
        return table.softmax(-1) @ v

    report = check(attend, call="f(q @ k.mT / torch.tensor(5.0).sqrt(), v)")
    assert report.ok
    assert report.rows[0].verdict == "passed"


def test_a_function_says_how_for_tokens_or_for_three() -> None:
    def swapped(m: Attend, x: Tensor) -> Tensor:
        return m.mix(x, x, 2 * x)

    subject = how(OfTokens(), call=swapped)
    assert subject.call.words == "swapped"
    assert subject.call.cut is None
    x = subject.tokens()
    copied = subject.target
    assert isinstance(copied, Attend)
    torch.testing.assert_close(subject(x), copied.mix(x, x, 2 * x))

    def other(f: Callable[..., Any], q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return f(v, k, q)

    def backwards(v: Tensor, k: Tensor, q: Tensor) -> Tensor:
        return of_three(q, k, v)

    assert find(backwards, Told(call=other)).call.cut == Cut(2, 5, 11, 4)
    unnamed = functools.partial(swapped)
    assert how(OfTokens(), call=unnamed).call.words == "call"


def test_an_expression_must_be_one() -> None:
    with refused("call must be an expression; got call='return m(x)'."):
        how(OfTokens(), call="return m(x)")


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
        find(of_three, Told(d_in=13, call=call))


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

    subject = how(Wrapped())
    x = subject.tokens()
    copied = subject.target
    assert isinstance(copied, Attend)
    torch.testing.assert_close(subject(x), copied.mix(x, x, x))


@pytest.mark.parametrize(
    ("answer", "kind"), [(None, "NoneType"), ((), "tuple"), ({"a": 3}, "dict")]
)
def test_no_tensor_is_no_answer(answer: Any, kind: str) -> None:
    class Empty(Attend):
        def forward(self, x: Tensor) -> Any:
            return answer

    with refused(
        "call must say how Empty takes tokens of shape (texts, tokens, d_in); got "
        f"call=None, and m(x) raised TypeError: it returned {kind}, not a tensor."
    ):
        how(Empty())


# What cannot be checked


@pytest.mark.refusal
@pytest.mark.parametrize("target", [nn.Linear, 5, "nn.Linear"])
def test_a_class_or_a_value_is_refused(target: Any) -> None:
    with refused(
        "module_or_function must be a function, or a module that is built; "
        f"got module_or_function={target!r}."
    ):
        how(target)


def test_what_cannot_be_copied_is_refused() -> None:
    class Stubborn(OfTokens):
        def __deepcopy__(self, memory: Any) -> Any:
            raise RuntimeError("I am\n  the only one.")

    with refused(
        "call must say how Stubborn takes tokens of shape (texts, tokens, d_in); got "
        "call=None, and copying it raised RuntimeError: I am the only one."
    ):
        how(Stubborn())


def test_the_width_is_found_by_trying() -> None:
    class Misleading(OfTokens):
        d_model = 4

    assert find(Misleading(), Told()).d_in == WIDTH
    with pytest.raises(ValueError, match="got call=None, and m\\(x\\) raised Runtime"):
        find(Misleading(), Told(d_in=4))


def test_32_bits_are_taken_where_64_are_not() -> None:
    class Single(OfTokens):
        def forward(self, x: Tensor) -> Tensor:
            if x.dtype != torch.float32:
                raise TypeError("32 bits only")
            return super().forward(x)

    assert how(Single()).dtype == torch.float32
    assert how(OfTokens()).dtype == torch.float64


# The copy


def test_what_is_given_is_left_as_it_is() -> None:
    module = OfTokens().train()
    before = {name: one.clone() for name, one in module.state_dict().items()}
    state = torch.random.get_rng_state()
    check(module)
    assert module.training
    assert torch.equal(torch.random.get_rng_state(), state)
    for name, one in module.state_dict().items():
        assert torch.equal(one, before[name])
    assert all(one.grad is None for one in module.parameters())


def test_weights_are_drawn_anew_with_their_meaning() -> None:
    """What was one stays about one, what was zero is no more; counts stay."""
    module = nn.Module()
    module.matrix = nn.Parameter(torch.zeros(200, 50))
    module.stacked = nn.Parameter(torch.zeros(H, 200, 50))
    module.gain = nn.Parameter(torch.ones(400))
    module.bias = nn.Parameter(torch.zeros(400))
    module.scale = nn.Parameter(torch.tensor(0.5))
    module.count = nn.Parameter(torch.tensor([3, 4]), requires_grad=False)
    redraw(module)
    assert module.matrix.std().item() == pytest.approx(1 / math.sqrt(50), rel=0.05)
    assert module.stacked.std().item() == pytest.approx(1 / math.sqrt(200), rel=0.05)
    assert module.gain.mean().item() == pytest.approx(1, abs=0.1)
    assert module.gain.std().item() == pytest.approx(0.3, rel=0.1)
    assert module.bias.mean().item() == pytest.approx(0, abs=0.1)
    assert module.scale.item() == 0.5
    assert module.count.tolist() == [3, 4]


@pytest.mark.parametrize(
    ("told", "B", "T"),
    [
        ({"d_in": 13}, 3, 7),
        ({"d_in": 7}, 3, 5),
        ({"d_in": 13, "num_heads": 7}, 3, 5),
        ({"d_in": 13, "context_length": 6}, 3, 5),
        ({"d_in": 13, "context_length": 2}, 3, 2),
        ({"d_in": 13, "context_length": 1}, 3, 1),
        ({"d_in": 13, "context_length": 5, "num_heads": 5}, 3, 4),
        ({"d_in": 12, "context_length": 4, "num_heads": 4}, 2, 4),
        ({"d_in": 3}, 2, 7),
    ],
)
def test_sizes_differ(told: dict[str, int], B: int, T: int) -> None:
    subject = find(nn.Identity(), Told(**told))
    assert (subject.B, subject.T, subject.d_in) == (B, T, told["d_in"])


@pytest.mark.parametrize(
    ("takes", "sizes"),
    [
        ((1, 7), (1, 7)),
        ((3, 13), (3, 13)),
        ((1, 13), (1, 13)),
        ((1, 1), (1, 1)),
    ],
)
def test_sizes_that_are_fixed_are_found(
    takes: tuple[int, int], sizes: tuple[int, int]
) -> None:
    class Fixed(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x.reshape(*takes, 17)

    subject = find(Fixed(), Told(d_in=17))
    assert sizes == (subject.B, subject.T)


def test_tokens_are_the_same_for_the_same_seed() -> None:
    subject = find(nn.Identity(), Told(d_in=13))
    assert subject.tokens().shape == (3, 7, 13)
    assert subject.tokens(2, 5).shape == (2, 5, 13)
    assert torch.equal(subject.tokens(), subject.tokens())
    assert not torch.equal(subject.tokens(seed=1), subject.tokens())


def test_luck_is_the_same_in_each_call() -> None:
    class Lucky(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x + torch.rand(())

    subject = find(Lucky(), Told(d_in=13))
    x = subject.tokens()
    assert torch.equal(subject(x), subject(x))
    assert not torch.equal(subject(x, luck=2), subject(x))


# Dropout


class Dropping(nn.Module):
    """Three rates, each found by another rule, and three that are no rates."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Dropout(0.1)
        self.attn_dropout = 0.2
        self.drop_rate = 0
        self.use_dropout = True
        self.drop = nn.Identity()
        self.droplet = 0.7

    def forward(self, x: Tensor) -> Tensor:
        return x


def test_rates_of_dropout_are_found_set_and_put_back() -> None:
    subject = find(Dropping(), Told(d_in=13))
    copied = subject.target
    assert isinstance(copied, Dropping)

    def rates() -> tuple[Any, ...]:
        return copied.layer.p, copied.attn_dropout, copied.drop_rate

    assert subject.drops
    with contextlib.suppress(KeyError), subject.training(dropout=0.5):
        assert rates() == (0.5, 0.5, 0.5)
        assert copied.droplet == 0.7
        assert copied.use_dropout is True
        assert copied.training
        raise KeyError  # as code may while it is asked
    assert rates() == (0.1, 0.2, 0)
    assert not copied.training


def test_a_function_takes_its_rate_as_an_argument() -> None:
    seen = []

    def attend(q: Tensor, k: Tensor, v: Tensor, dropout_p: float = 0.0) -> Tensor:
        seen.append(dropout_p)
        return v

    subject = find(attend, Told())
    assert subject.drops
    assert subject.module is None
    with subject.training(dropout=0.5):
        subject(subject.tokens())
    subject(subject.tokens())
    assert seen[-2:] == [0.5, 0.0]


def test_a_layer_as_an_argument_is_no_rate() -> None:
    def attend(
        query: Tensor, key: Tensor, value: Tensor, mask: Any = None, dropout: Any = None
    ) -> Tensor:
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = scores.softmax(dim=-1)
        return (weights if dropout is None else dropout(weights)) @ value

    assert not find(attend, Told()).drops
    failed = [row.name for row in check(attend).failed]
    assert failed == ["empty rows harm nobody"]


def test_an_expression_passes_no_rate() -> None:
    def attend(q: Tensor, k: Tensor, v: Tensor, dropout_p: float = 0.0) -> Tensor:
        return scaled_dot_product_attention(q, k, v, dropout_p=dropout_p)

    assert not find(attend, Told(call="f(q, k, v)")).drops
    assert check(attend, call="f(q, k, v)").ok


# Small things


def test_a_copy_in_another_type_has_the_same_weights() -> None:
    subject = how(OfTokens())
    single = in_type(subject, torch.float32)
    assert single.tokens().dtype == torch.float32
    x = subject.tokens()
    torch.testing.assert_close(
        single(x.float()).double(), subject(x), atol=1e-4, rtol=0
    )
    assert subject(x).dtype == torch.float64
    function = find(of_three, Told())
    assert in_type(function, torch.float32).target is of_three


def test_an_error_is_put_into_one_line() -> None:
    assert explain(KeyError("a")) == "KeyError: 'a'"
    assert explain(RuntimeError("two\n  lines.")) == "RuntimeError: two lines"
    assert explain(ValueError("x" * 157)) == "ValueError: " + "x" * 157
    assert explain(ValueError("x" * 158)) == "ValueError: " + "x" * 157 + "..."


def test_a_built_in_without_names_is_tried_as_a_function_of_three() -> None:
    (first, *_) = ways(scaled_dot_product_attention, None, None)
    assert first.words == "f(query, key, value)"
