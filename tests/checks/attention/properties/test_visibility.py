"""Which row sees which token: each sentence where it is due."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.checks.support.asking import expect, rows_of
from tests.checks.support.callers import WIDTH, OfTokens
from tests.checks.support.nearby import Around, Latest
from tests.checks.support.right import Windowed
from tests.support.attention_in_steps import SMALL, Attention, hide, past
from tests.support.mistakes.mistake import LEAK, PAST


def test_a_window_that_is_named_is_reported() -> None:
    [row] = rows_of(Windowed(SMALL), PAST)
    assert row.sentence == "A row sees the latest 3 tokens: a window."
    assert row.figure == 3


class LooksAhead(Windowed):
    """Each token sees two before it, and some after it."""

    def __init__(self, ahead: int, **options: Any) -> None:
        super().__init__(SMALL, **options)
        self.ahead = ahead

    def run(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        near = torch.ones(x.shape[1], x.shape[1]).tril(self.ahead).triu(-2).bool()
        self.steps["hide"] = lambda m, s, mask: s.masked_fill(~near, -torch.inf)
        return super().run(x)


def showing(seen: Callable[[int], Tensor], fill: float = -torch.inf) -> Attention:
    """Make a module in which a text of T tokens sees these, and others by a fill."""

    def put(m: Any, scores: Tensor, mask: Any) -> Tensor:
        return scores.masked_fill(~seen(scores.shape[-1]), fill)

    return Attention(SMALL, hide=put)


def leaking(when: Callable[[Any, Tensor], bool]) -> Attention:
    """Make a module that hides the future except at times."""

    def put(m: Any, scores: Tensor, mask: Any) -> Tensor:
        return scores if when(m, scores) else hide(m, scores, mask)

    return Attention(SMALL, hide=put)


def and_one_place(T: int) -> Tensor:
    keep = past(T)
    keep[1:2, 3:4] = True
    return keep


def refuses_long_texts(m: Any, run: Any, x: Tensor) -> Tensor:
    if x.shape[1] > 8:
        raise ValueError("too long")
    return run(x)


MOVES = "A row moves when a later token is changed."


@pytest.mark.parametrize(
    ("module", "verdict", "words"),
    [
        (LooksAhead(1), "failed", "*"),
        (
            leaking(lambda m, s: m.training),
            "failed",
            "A row moves in training when a later token is changed.*",
        ),
        (
            leaking(lambda m, s: not m.training),
            "failed",
            "A row moves in eval when a later token is changed.*",
        ),
        # Without a name it is shown by one place, if there is one.
        (showing(and_one_place), "failed", "*Row 2 sees token 4:*"),
        (showing(lambda T: past(T).triu(-2), -1e4), "failed", MOVES),
        (
            showing(past, -10.0),
            "failed",
            f"{MOVES} Later tokens count a little: hidden scores are not low enough, "
            "as with a fill of -10.",
        ),
        (
            leaking(lambda m, s: s.shape[-1] > 8),
            "failed",
            "In a text of 9 tokens a row moves when the last one is changed, and in "
            "one of 5 none does: long texts are not masked.",
        ),
        # A long text that is refused leaks nothing.
        (Attention(SMALL, call=refuses_long_texts), "passed", "*"),
    ],
)
def test_a_leak_is_told_by_what_it_shows(
    module: Attention, verdict: str, words: str
) -> None:
    expect(module, LEAK, verdict, words)


def test_code_that_mixes_nothing_is_told_so() -> None:
    module = showing(lambda T: torch.eye(T, dtype=torch.bool))
    expect(module, PAST, "failed", "*only itself: tokens never meet*")


def test_a_window_on_both_sides_is_noted() -> None:
    words = "A row sees 2 tokens on both sides: the window reaches*"
    expect(LooksAhead(2, causal=False), PAST, "note", words, causal=False)


class OfTheLargest(nn.Module):
    """A query keeps its two largest scores, or is hidden from all but itself."""

    def __init__(self, *, alone: bool = False) -> None:
        super().__init__()
        self.alone = alone
        self.query, self.key, self.value = (nn.Linear(13, 13) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        scores = self.query(x) @ self.key(x).mT
        least = scores.topk(2, dim=-1)[0][..., -1:]
        hidden = scores < least
        if self.alone:
            hidden = ~torch.eye(x.shape[1]).bool()
        rows: Tensor = scores.masked_fill(hidden, -torch.inf).softmax(-1)
        return rows @ self.value(x)


def test_what_chooses_keys_by_their_scores_need_not_see_all() -> None:
    words = "Row * does not see token *; so in * of 49 places. It uses topk: if that *"
    expect(OfTheLargest(), PAST, "note", words)
    words = "*A row sees only itself: tokens never meet."
    expect(OfTheLargest(alone=True), PAST, "failed", words)


class Flagged(OfTokens):
    """The future is hidden if one asks for it."""

    diagonal = 1

    def forward(self, x: Tensor, causal_mask: bool = False) -> Tensor:
        scores = self.q(x) @ self.k(x).mT
        future = torch.ones_like(scores).triu(self.diagonal).bool()
        hidden = future if causal_mask else torch.zeros_like(future)
        return scores.masked_fill(hidden, -torch.inf).softmax(-1) @ self.v(x)


class Late(Flagged):
    diagonal = 2


class Never(Flagged):
    def forward(self, x: Tensor, causal_mask: bool = False) -> Tensor:
        return super().forward(x)


class Hinted(Flagged):
    """The flag is a hint beside a mask, and does nothing alone."""

    def forward(
        self, x: Tensor, mask: Tensor | None = None, causal_mask: bool = False
    ) -> Tensor:
        scores = self.q(x) @ self.k(x).mT
        scores = scores if mask is None else scores.masked_fill(~mask, -torch.inf)
        return scores.softmax(-1) @ self.v(x)


class Odd(Flagged):
    def forward(self, x: Tensor, causal_mask: bool = False) -> Tensor:
        rows = super().forward(x, causal_mask)
        return rows + causal_mask * rows[:, 2:3]


def test_a_flag_that_hides_the_future_is_asked() -> None:
    right = "With causal_mask=True, no row moves when a later token is changed."
    expect(Flagged(), LEAK, "passed", right, d_in=WIDTH)
    words = "With causal_mask=True, a row sees {}"
    late = words.format("the past, itself and the next token: the triangle is shifted*")
    expect(Late(), LEAK, "failed", late, d_in=WIDTH)
    expect(Never(), LEAK, "failed", words.format("every token: *"), d_in=WIDTH)
    odd = words.format("what no triangle shows.")
    expect(Odd(), LEAK, "failed", odd, d_in=WIDTH)
    told = "It is not meant to hide the future."
    expect(Never(), LEAK, "not applicable", told, d_in=WIDTH, causal=False)
    hint = nn.MultiheadAttention(WIDTH, 3, batch_first=True)
    expect(hint, LEAK, "not applicable", told)
    expect(Hinted(), LEAK, "not applicable", told, d_in=WIDTH)
    expect(hint, LEAK, "not applicable", told, call="m(x, x, x)[0]")


def test_a_window_that_no_name_tells_of_is_noted() -> None:
    words = (
        "A row sees the latest 3 tokens, as with a window, and no name tells of one. "
        "Declare window=3 if it is meant so."
    )
    expect(Latest(), PAST, "note", words)
    words = "A row sees the latest 3 tokens: a window."
    expect(Latest(), PAST, "passed", words, window=3)
    expect(Latest(), PAST, "failed", "*so in 10 of 28 places.*", window="none")


def test_a_pixel_need_not_see_all_others() -> None:
    words = "Its tokens are pixels of an image, and a pixel need not see all others."
    for places in ((1,), (1, 2), (1, 3)):
        expect(Around(*places), PAST, "not applicable", words)
    expect(Around(1), PAST, "not applicable", words, causal=False)
    expect(Around(1), LEAK, "not applicable", "It is not meant to hide the future.")
    words = "Row * does not see token *Declared: causal=True."
    expect(Around(1, 2), PAST, "failed", words, causal=True)


class Rectifies(OfTokens):
    """Weights are squares of what ReLU leaves of scores."""

    def forward(self, x: Tensor) -> Tensor:
        scores = (self.q(x) @ self.k(x).mT).relu().square()
        return scores @ self.v(x) / x.shape[1]


class KeepsApart(OfTokens):
    """The third token never sees the fifth."""

    def forward(self, x: Tensor) -> Tensor:
        hidden = torch.zeros(x.shape[1], x.shape[1]).bool()
        hidden[2:3, 4:5] = True
        scores = (self.q(x) @ self.k(x).mT).masked_fill(hidden, -torch.inf)
        return scores.softmax(-1) @ self.v(x)


def test_weights_that_are_zero_for_some_tokens_are_noted() -> None:
    words = (
        "Row * does not see token *; so in * of 49 places. With other tokens it does: "
        "some weights are exactly zero, as where ReLU makes them."
    )
    expect(Rectifies(), PAST, "note", words, d_in=WIDTH)
    words = "Row 3 does not see token 5, which it may see; so in 1 of 49 places."
    expect(KeepsApart(), PAST, "failed", words, d_in=WIDTH)
