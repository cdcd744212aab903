"""A subject is made of what is handed over, or it is refused in a sentence."""

import importlib
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from headway._paths import shown
from headway.checks.attention.subject import Options, discover
from headway.checks.attention.subject.discover import draw_weights
from headway.checks.core.cannot_check import CannotCheckError
from tests.checks.support.asking import refused
from tests.checks.support.callers import WIDTH, OfThree, OfTokens, discovered
from tests.support.sizes import H


@pytest.mark.refusal
@pytest.mark.parametrize("target", [nn.Linear, 5, "nn.Linear"])
def test_a_class_or_a_value_is_refused(target: Any) -> None:
    with refused(
        "module_or_function must be a function, or a module that is built; "
        f"got module_or_function={target!r}."
    ):
        discovered(target)


def test_what_cannot_be_copied_is_refused() -> None:
    class Stubborn(OfTokens):
        def __deepcopy__(self, memory: Any) -> Any:
            raise RuntimeError("I am\n  the only one.")

    line = Stubborn.__deepcopy__.__code__.co_firstlineno + 1
    with refused(
        "Stubborn must be copied to be checked; got RuntimeError: I am the only one "
        f"at {shown(Path(__file__), Path.cwd())}:{line}."
    ):
        discovered(Stubborn())


def test_the_width_is_found_by_trying() -> None:
    class Misleading(OfTokens):
        d_model = 4

    assert discover(Misleading(), Options()).d_in == WIDTH
    with pytest.raises(ValueError, match=r"called as m\(x\); got RuntimeError"):
        discover(Misleading(), Options(d_in=4))


def test_32_bits_are_taken_where_64_are_not() -> None:
    class Single(OfTokens):
        def forward(self, x: Tensor) -> Tensor:
            if x.dtype != torch.float32:
                raise TypeError("32 bits only")
            return super().forward(x)

    assert discovered(Single()).dtype == torch.float32
    assert discovered(OfTokens()).dtype == torch.float64


def test_32_bits_are_taken_where_64_take_one_token_alone() -> None:
    """A mask of 32 bits that one token does without must not hide all that follows."""

    class Masked(OfTokens):
        def forward(self, x: Tensor) -> Tensor:
            T = x.shape[1]
            return torch.ones(T, T).tril() @ super().forward(x) if T > 1 else x

    subject = discovered(Masked())
    assert (subject.dtype, subject.T) == (torch.float32, 7)


def test_64_bits_are_taken_where_none_take_more_than_one_token() -> None:
    class OfOneToken(OfTokens):
        def forward(self, x: Tensor) -> Tensor:
            return super().forward(x.reshape(1, 1, WIDTH))

    subject = discovered(OfOneToken())
    assert (subject.dtype, subject.T) == (torch.float64, 1)


class WithBias(OfTokens):
    """It needs a table of two numbers for each token, and zero fits one token."""

    def forward(self, x: Tensor, rel_bias: Any) -> Tensor:
        T = x.shape[-2]
        added = rel_bias + 1.0
        return super().forward(x) + (
            added.expand(2 * T, 2 * T).sum() if T > 1 else added
        )


@pytest.mark.refusal
def test_what_was_filled_in_is_not_right_because_it_fits_one_token() -> None:
    with pytest.raises(CannotCheckError, match=r"called as m\(x, None\)"):
        discovered(WithBias())
    assert discovered(WithBias(), context_length=1).T == 1


def test_weights_are_drawn_anew_with_their_meaning() -> None:
    """What was one stays about one, what was zero is no more; counts stay."""
    module = nn.Module()
    module.matrix = nn.Parameter(torch.zeros(200, 50))
    module.stacked = nn.Parameter(torch.zeros(H, 200, 50))
    module.gain = nn.Parameter(torch.ones(400))
    module.bias = nn.Parameter(torch.zeros(400))
    module.scale = nn.Parameter(torch.tensor(0.5))
    module.count = nn.Parameter(torch.tensor([3, 4]), requires_grad=False)
    draw_weights(module)
    assert module.matrix.std().item() == pytest.approx(1 / math.sqrt(50), rel=0.05)
    assert module.stacked.std().item() == pytest.approx(1 / math.sqrt(200), rel=0.05)
    assert module.gain.mean().item() == pytest.approx(1, abs=0.1)
    assert module.gain.std().item() == pytest.approx(0.3, rel=0.1)
    assert module.bias.mean().item() == pytest.approx(0, abs=0.1)
    assert module.scale.item() == 0.5
    assert module.count.tolist() == [3, 4]


@pytest.mark.parametrize(
    ("given", "B", "T"),
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
def test_sizes_differ(given: dict[str, int], B: int, T: int) -> None:
    subject = discover(nn.Identity(), Options(**given))
    assert (subject.B, subject.T, subject.d_in) == (B, T, given["d_in"])


@pytest.mark.parametrize("sizes", [(1, 7), (3, 13), (1, 13), (1, 1)])
def test_sizes_that_are_fixed_are_found(sizes: tuple[int, int]) -> None:
    class Fixed(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x.reshape(*sizes, 17)

    subject = discover(Fixed(), Options(d_in=17))
    assert sizes == (subject.B, subject.T)


class Narrow(nn.Module):
    """Its first layer is as wide as one head."""

    def __init__(self) -> None:
        super().__init__()
        self.heads = 4
        self.key = nn.Linear(5, 5)
        self.norm = nn.LayerNorm(20)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(self.key(x.unflatten(-1, (4, 5))).flatten(-2))


class Group(nn.Module):
    """The width is that of a norm."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(2, 14)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(x.mT).mT


class Window(OfTokens):
    """The number of tokens is fixed, and may be told by the module."""

    def __init__(self, tokens: int, **told: tuple[int, int]) -> None:
        super().__init__()
        self.tokens = tokens
        vars(self).update(told)

    def forward(self, x: Tensor) -> Tensor:
        if x.shape[1] != self.tokens:
            raise ValueError("a window has so many tokens")
        return super().forward(x)


@pytest.mark.parametrize(
    ("module", "size", "found"),
    [
        (Narrow(), "d_in", 20),
        (Group(), "d_in", 14),
        (Window(49), "T", 49),
        (Window(6, window_size=(2, 3)), "T", 6),
    ],
)
def test_further_sizes_are_tried(module: nn.Module, size: str, found: int) -> None:
    assert getattr(discover(module, Options()), size) == found


def test_texts_may_be_taken_one_by_one() -> None:
    class Alone(OfTokens):
        def forward(self, x: Tensor) -> Tensor:
            _T, _width = x.shape
            return super().forward(x)

    call = discover(Alone(), Options()).call
    assert call.text == "torch.stack([m(one) for one in x])"


def test_axes_are_left_if_they_cannot_be_told_apart() -> None:
    def fussy(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        fussy_calls.append(1)
        if len(fussy_calls) > 1:
            raise ValueError("once is enough")
        return v

    fussy_calls: list[int] = []
    packing = discover(fussy, Options()).call.packing
    assert packing is not None
    assert not packing.tokens_first


# A guess must convince


class Guessed(OfTokens):
    """What it gets beside tokens has a column for each, and no name tells it."""

    def forward(self, x: Tensor, m: Tensor) -> Tensor:  # type: ignore[override]
        if m.shape != (*x.shape[:2], 1):
            raise ValueError("a column for each token, please")
        return self.rows(x) * m

    def rows(self, x: Tensor) -> Tensor:
        return super().forward(x)


class OverAll(Guessed):
    def rows(self, x: Tensor) -> Tensor:
        return super().rows(x.flatten(0, 1)).reshape(x.shape)


class OfOneToken(Guessed):
    def rows(self, x: Tensor) -> Tensor:
        return self.v(self.q(x) + self.k(x))


class Unused(Guessed):
    def rows(self, x: Tensor) -> Tensor:
        return scaled_dot_product_attention(self.q(x), self.k(x), x)


class OfThreeTexts(Guessed):
    """What fits as many texts by chance shows it with another number of them."""

    def rows(self, x: Tensor) -> Tensor:
        return super().rows(x) * (1 + len(x) // 3)


class OfManyTexts(Guessed):
    """It takes no text alone."""

    def rows(self, x: Tensor) -> Tensor:
        if len(x) == 1:
            raise ValueError("more texts, please")
        return super().rows(x)


@pytest.mark.parametrize(
    "kind", [OverAll, OfOneToken, Unused, OfThreeTexts, OfManyTexts]
)
def test_a_guess_that_does_not_attend_is_refused(kind: type[Guessed]) -> None:
    with pytest.raises(ValueError, match=f"call must say what {kind.__name__} gets"):
        discovered(kind())


def test_what_takes_no_gradients_does_not_convince() -> None:
    class NeverTrained(OfTokens):
        def forward(self, x: Tensor) -> Tensor:
            _texts, rows, _tokens, _width = x.shape
            if rows > 1 or torch.is_grad_enabled():
                raise ValueError("one row and no gradients, please")
            return super().forward(x)

    assert discovered(NeverTrained()).T == 1  # as one row, which is no guess


def test_nothing_is_asked_of_weights_that_are_frozen() -> None:
    assert discovered(Guessed().requires_grad_(False)).call.text == "m(x, m)"


def test_a_guess_keeps_the_layout_that_was_told() -> None:
    assert discovered(Guessed(), layout="batch first").call.text == "m(x, m)"
    with pytest.raises(ValueError, match="call must say what OverAll gets"):
        discovered(OverAll(), layout="batch first")


def test_scores_of_one_key_do_not_convince() -> None:
    class OverRows(OfTokens):
        def forward(self, x: Tensor) -> Any:
            _texts, _rows, _tokens, _width = x.shape
            three = (w(x).transpose(1, 2) for w in (self.q, self.k, self.v))
            rows = scaled_dot_product_attention(*three).transpose(1, 2)
            return rows + self.v(x.cumsum(2)), None

    with pytest.raises(ValueError, match=r"^OverRows must take tokens"):
        discovered(OverRows())


def test_a_mask_that_may_be_left_out_may_be_needed() -> None:
    class Forgetful(OfTokens):
        def forward(self, x: Tensor, mask: Any = None) -> Tensor:
            return super().forward(x * mask.any())

    assert discovered(Forgetful()).call.shown == "m(x, mask); mask: ones (T, S)"


def test_a_mask_that_hides_everything_is_not_filled_in() -> None:
    class Hidden(OfTokens):
        def forward(self, x: Tensor, mask: Tensor) -> Tensor:
            q, k, v = self.q(x), self.k(x), self.v(x)
            scores = (q @ k.mT).masked_fill(mask.bool(), -1e9)
            return scores.softmax(dim=-1) @ v

    assert discovered(Hidden()).call.shown == "m(x, mask); mask: zeros (T, S)"


def test_what_the_reader_calls_is_not_guessed() -> None:
    with pytest.raises(ValueError, match=r"got call='m\(x\)'"):
        discovered(Guessed(), call="m(x)")


def test_calls_are_looked_for_in_some_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few calls are tried anyway, so that slow code is called as well."""
    module = importlib.import_module(discover.__module__)
    monkeypatch.setattr(module, "_SECONDS", 0.0)
    monkeypatch.setattr(module, "_CALLS", 10**6)
    assert discovered(Guessed()).call.shown.startswith("m(x, m)")
    monkeypatch.setattr(module, "_CALLS", 1)
    with pytest.raises(ValueError, match=r"\. No call was found in 0 seconds\.$"):
        discovered(Guessed())
    assert discovered(OfTokens()).call.text == "m(x)"


def test_nothing_is_guessed_where_a_call_works(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def never(*given: Any, **named: Any) -> Any:
        raise AssertionError("no guess is needed")

    module = importlib.import_module(discover.__module__)
    monkeypatch.setattr(module, "guessed_calls", never)
    assert discovered(OfTokens()).call.text == "m(x)"
    with pytest.raises(AssertionError, match="no guess is needed"):
        discovered(Guessed())


class BatchFirstIsFalse(OfThree):
    """It says that tokens come first, and takes texts first all the same."""

    batch_first = False


def test_where_tokens_meet_counts_more_than_a_name() -> None:
    assert not discovered(BatchFirstIsFalse()).call.time_first
    assert not discovered(BatchFirstIsFalse(), call="m(x, x, x)").call.time_first
    assert discovered(nn.MultiheadAttention(15, 3)).call.time_first


def relative(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    tgt_len, bsz, _ = query.size()
    three = (one.transpose(0, 1) for one in (query, key, value))
    rows = scaled_dot_product_attention(*three)
    assert rows.shape[:2] == (bsz, tgt_len)
    return rows.transpose(0, 1)


class InAFunction(OfThree):
    """The names of sizes stand in a function beside it."""

    def forward(self, first: Tensor, second: Tensor, third: Tensor) -> Tensor:
        return relative(self.q(first), self.k(second), self.v(third))


def test_names_of_sizes_may_stand_in_a_function_beside_it() -> None:
    assert discovered(InAFunction()).call.time_first


class OfTwoWidths(nn.Module):
    """Latents ask features of another width; the names tell nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.to_q = nn.Linear(WIDTH, WIDTH)
        self.to_k, self.to_v = nn.Linear(20, WIDTH), nn.Linear(20, WIDTH)

    def forward(self, latents: Tensor, x: Tensor) -> Tensor:
        three = self.to_q(latents), self.to_k(x), self.to_v(x)
        return scaled_dot_product_attention(*three)


def test_two_kinds_of_tokens_may_have_two_widths() -> None:
    found = discover(OfTwoWidths(), Options())
    assert found.call.text == "m(x, torch.cat([x] * 20, -1)[..., :20])"


def test_a_row_for_each_text_does_not_change_its_width() -> None:
    class Cut(OfTokens):
        def forward(self, x: Tensor) -> Tensor:
            if x.ndim != 3:
                raise ValueError("texts, tokens and numbers, please")
            return super().forward(x)[:, 1:]

    with pytest.raises(CannotCheckError, match="it returned shape"):
        discovered(Cut())


class Blocked(OfTokens):
    """What a mask marks is hidden, all of it if it marks all."""

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        scores = self.q(x) @ self.k(x).mT / WIDTH**0.5
        return scores.masked_fill(mask, -torch.inf).softmax(-1) @ self.v(x)


def test_a_mask_that_hides_all_is_not_filled_in() -> None:
    shown = discovered(Blocked()).call.shown
    assert shown == "m(x, mask); mask: zeros (T, S)"


def test_what_gives_nan_alone_is_not_called() -> None:
    class Nan(Blocked):
        def forward(self, x: Tensor, mask: Tensor) -> Tensor:
            return torch.nan * super().forward(x, mask)

    with pytest.raises(CannotCheckError, match="Nan must take tokens"):
        discovered(Nan())


def test_a_text_of_few_tokens_may_be_an_image() -> None:
    class OfThrees(OfTokens):
        def forward(self, x: Tensor) -> Tensor:
            _B, H, W, _C = x.shape
            if H % 3 or W % 3:
                raise ValueError("windows of three by three, please")
            return super().forward(x.flatten(1, 2)).unflatten(1, (H, W))

    assert discovered(OfThrees()).call.text == "m(x.unflatten(1, (3, 3))).flatten(1, 2)"


@pytest.mark.parametrize("besides", [0.0, 1.0])
def test_a_mask_that_makes_queries_count_for_nothing_is_not_filled_in(
    besides: float,
) -> None:
    """All rows are equal then, or would be without what is added to them."""

    class Lowered(OfTokens):
        def forward(self, x: Tensor, mask: Tensor) -> Tensor:
            scores = self.q(x) @ self.k(x).mT / WIDTH**0.5
            weights = scores.masked_fill(mask, -1e9).softmax(-1)
            return besides * x + weights @ self.v(x)

    shown = discovered(Lowered()).call.shown
    assert shown == "m(x, mask); mask: zeros (T, S)"


# Tokens that never meet, tables, and rows of texts


class RowsOfPixels(OfTokens):
    """Pixels of a row see each other, so one in each row sees none."""

    def forward(self, x: Tensor) -> Tensor:
        if x.ndim != 4:
            raise ValueError("an image, please")
        return super().forward(x)


def test_tokens_that_never_meet_are_laid_out_otherwise() -> None:
    assert discovered(RowsOfPixels()).call.text == "m(x[:, None])[:, 0]"


def test_tokens_that_meet_nowhere_are_taken_as_they_came() -> None:
    class Alone(RowsOfPixels):
        def mix(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
            return self.q(query) + self.v(value)

    subject = discovered(Alone())
    assert (subject.call.text, subject.T) == ("m(x.unsqueeze(2)).squeeze(2)", 7)


def test_what_raises_when_it_is_called_again_is_taken_as_it_came() -> None:
    class Once(RowsOfPixels):
        def forward(self, x: Tensor) -> Tensor:
            if x.ndim == 4:
                calls.append(1)
            if len(calls) > 1:
                raise ValueError("once is enough")
            return super().forward(x)

    calls: list[int] = []
    assert discovered(Once()).call.text == "m(x.unsqueeze(2)).squeeze(2)"


class Table(OfTokens):
    """Its weights are no rows, though there is one for each token."""

    def forward(self, x: Tensor) -> Tensor:
        return (self.q(x) @ self.k(x).mT).softmax(-1)


@pytest.mark.refusal
def test_a_table_of_tokens_by_tokens_is_refused() -> None:
    words = "returned a table of tokens by tokens"
    with pytest.raises(ValueError, match=f"^call must say how Table takes.*{words}"):
        discovered(Table())


def test_rows_may_be_as_wide_as_there_are_tokens() -> None:
    """A window may have as many tokens as they have numbers."""

    class AsWide(Window):
        def forward(self, x: Tensor) -> Tensor:
            _B, _T, _C = x.shape
            return super().forward(x)

    subject = discovered(AsWide(WIDTH, window_size=(3, 5)))
    assert (subject.call.text, subject.T) == ("m(x)", WIDTH)


class OneRow(OfTokens):
    """A learned query asks all tokens of a text."""

    def __init__(self) -> None:
        super().__init__()
        self.query = nn.Parameter(torch.randn(1, WIDTH))

    def forward(self, x: Tensor) -> Tensor:
        _B, _T, _C = x.shape
        return self.mix(self.query.expand(len(x), -1, -1), x, x).squeeze(1)


def test_one_row_for_each_text_shows_in_its_shape(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No guess is needed, and no other size is tried."""
    module = importlib.import_module(discover.__module__)
    monkeypatch.setattr(module, "guessed_calls", lambda *given, **named: iter(()))
    subject = discovered(OneRow())
    assert (subject.is_pooled, subject.T) == (True, 7)
    with pytest.raises(ValueError, match=r"returned shape \(3, 15, 15\)"):
        discovered(Deeper())


class Deeper(OneRow):
    """What it returns has further axes: it does not look like a row."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x)[:, None].expand(-1, WIDTH, -1)


class Asked(OfTokens):
    """It has a query for each text."""

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:  # type: ignore[override]
        if query.ndim != 2:
            raise ValueError("one query for a text, please")
        return (self.weights(query, keys)[..., None] * self.v(keys)).sum(1)

    def weights(self, query: Tensor, keys: Tensor) -> Tensor:
        return self.scores(query, keys).softmax(-1)

    def scores(self, query: Tensor, keys: Tensor) -> Tensor:
        return (self.q(query)[:, None] * self.k(keys)).sum(-1)


class Summed(Asked):
    def weights(self, query: Tensor, keys: Tensor) -> Tensor:
        return self.scores(query, keys).sigmoid()


class OfSeven(Asked):
    def weights(self, query: Tensor, keys: Tensor) -> Tensor:
        if (keys == keys[:, :1]).all():
            raise ValueError("different tokens, please")
        return super().weights(query, keys)


class WiderByTokens(Asked):
    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        return super().forward(query, keys).repeat(1, keys.shape[1])


def test_one_row_of_a_text_must_be_an_average() -> None:
    assert discovered(Asked()).is_pooled
    for kind in (Summed, OfSeven, WiderByTokens):
        with pytest.raises(ValueError, match=f"{kind.__name__} "):
            discovered(kind())


def test_what_is_returned_beside_rows_counts_as_well() -> None:
    """Features of edges have weights that no row of nodes uses."""

    class WithFeatures(Guessed):
        def __init__(self) -> None:
            super().__init__()
            self.more = nn.Linear(WIDTH, 5)

        def forward(self, x: Tensor, m: Tensor) -> Any:
            return super().forward(x, m), self.more(x)

    assert discovered(WithFeatures()).call.text == "m(x, m)"


def test_known_calls_are_tried_within_the_budget(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A few are tried however slow they are, and what doubtful ones gave is kept."""

    class OfSquares(OfTokens):
        def forward(self, x: Tensor) -> Tensor:
            _B, H, W, _C = x.shape
            if H != W:
                raise ValueError("a square, please")
            return super().forward(x.flatten(1, 2)).unflatten(1, (H, W))

    class Deaf(OfTokens):
        def forward(self, x: Tensor, mask: Any) -> Tensor:
            return super().forward(x * mask.sum()).detach() * 0

    module = importlib.import_module(discover.__module__)
    monkeypatch.setattr(module, "_SECONDS", 0.0)
    assert discovered(OfTokens()).call.text == "m(x)"
    with pytest.raises(ValueError, match=r"No call was found in 0 seconds\.$"):
        discovered(OfSquares(), d_in=None)
    monkeypatch.setattr(module, "_CALLS", 3)
    assert discovered(Deaf()).call.text == "m(x, mask)"
    monkeypatch.undo()
    assert discovered(Deaf()).call.text == "m(x, mask)"
    assert discovered(OfSquares()).call.text.startswith("m(x.unflatten(1, (4, 4)))")


class OfFewBits(OfTokens):
    """It has no kernel for numbers of 64 bits."""

    def forward(self, x: Tensor) -> Tensor:
        if x.dtype == torch.float64:
            raise NotImplementedError("no kernel")
        return super().forward(x)


def test_some_calls_are_tried_in_each_type(monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module(discover.__module__)
    monkeypatch.setattr(module, "_SECONDS", 0.0)
    monkeypatch.setattr(module, "_CALLS", 2)
    assert discovered(OfFewBits()).dtype == torch.float32
