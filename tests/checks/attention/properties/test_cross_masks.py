"""Masks of other tokens than those of the queries."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from headway import CrossAttention
from tests.checks.support.asking import expect, said
from tests.checks.support.callers import WIDTH, Attend
from tests.support.mistakes.mistake import OTHERS

SEES = ("passed", "7 queries see all of 11 other tokens, and nothing else.")
IGNORED = "With other tokens for keys and values, {} changes nothing."
HIDDEN = -torch.inf


class Asks(Attend):
    """Queries of a text ask those of another, of which a mask shows some."""

    def attend(self, x: Tensor, y: Tensor, seen: Tensor | None) -> Tensor:
        scores = self.q(x) @ self.k(y).mT / WIDTH**0.5
        return self.hide(scores, seen).softmax(-1) @ self.v(y)

    def hide(self, scores: Tensor, seen: Tensor | None) -> Tensor:
        return scores if seen is None else scores.masked_fill(~seen.bool(), HIDDEN)


class OfKeys(Asks):
    """A mask hides tokens of the context, or of the text itself without one."""

    def forward(
        self,
        x: Tensor,
        context: Tensor | None = None,
        context_mask: Tensor | None = None,
    ) -> Tensor:
        seen = None if context_mask is None else context_mask[:, None]
        return self.attend(x, x if context is None else context, seen)


class OfMemory(Asks):
    """A context must be given; the mask has a place for each query and key."""

    def forward(
        self, x: Tensor, memory: Tensor, memory_mask: Tensor | None = None
    ) -> Tensor:
        return self.attend(x, memory, memory_mask)


class OfBoth(Asks):
    """One mask is for the text itself, another for the context alone."""

    def forward(
        self,
        x: Tensor,
        context: Tensor | None = None,
        mask: Tensor | None = None,
        encoder_attention_mask: Tensor | None = None,
    ) -> Tensor:
        given = mask if context is None else encoder_attention_mask
        seen = None if given is None else given.reshape(len(x), 1, -1)
        return self.attend(x, x if context is None else context, seen)


class Added(OfKeys):
    def hide(self, scores: Tensor, seen: Tensor | None) -> Tensor:
        return scores if seen is None else scores + seen


class Reversed(OfKeys):
    def hide(self, scores: Tensor, seen: Tensor | None) -> Tensor:
        return scores if seen is None else scores.masked_fill(seen.bool(), HIDDEN)


@pytest.mark.parametrize(
    "kind",
    [OfKeys, OfMemory, OfBoth, Added, Reversed],
)
def test_a_mask_of_other_tokens_is_obeyed(kind: Callable[[], nn.Module]) -> None:
    assert said(kind(), OTHERS, d_in=WIDTH) == SEES


@pytest.mark.parametrize(
    "target",
    [
        nn.MultiheadAttention(15, 3, batch_first=True),
        CrossAttention(WIDTH, WIDTH, 20, 0.0, 4),
    ],
)
def test_those_of_known_modules_are_obeyed(target: nn.Module) -> None:
    assert said(target, OTHERS, d_in=WIDTH) == SEES


def ignoring(base: type[nn.Module]) -> nn.Module:
    """Make one that takes its mask and drops it."""

    class Ignores(base):  # type: ignore[misc, valid-type]
        def hide(self, scores: Tensor, seen: Tensor | None) -> Tensor:
            return scores

    return Ignores()


@pytest.mark.parametrize(
    ("base", "name"),
    [
        (OfKeys, "context_mask"),
        (OfMemory, "memory_mask"),
        (OfBoth, "encoder_attention_mask"),
    ],
)
def test_one_that_is_ignored_is_named(base: type[nn.Module], name: str) -> None:
    words = IGNORED.format(name)
    expect(ignoring(base), OTHERS, "failed", words, d_in=WIDTH)


class OfQueries(OfKeys):
    """The mask of the context hides queries: each sees all, or nothing but a mean."""

    def forward(
        self,
        x: Tensor,
        context: Tensor | None = None,
        context_mask: Tensor | None = None,
    ) -> Tensor:
        rows = self.attend(x, x if context is None else context, None)
        return rows if context_mask is None else rows * context_mask.sum()


def test_one_that_hides_nothing_is_unexplained() -> None:
    words = (
        "With other tokens for keys and values, context_mask acts, and queries see "
        "what no meaning of True explains."
    )
    expect(OfQueries(), OTHERS, "note", words, d_in=WIDTH)


def test_declared_masks_are_not_guessed() -> None:
    assert said(ignoring(OfKeys), OTHERS, d_in=WIDTH, masks="none") == SEES


class HidesTheFuture(Asks):
    """Tokens see the past, of a context as well."""

    def forward(self, x: Tensor, context: Tensor | None = None) -> Tensor:
        y = x if context is None else context
        return self.attend(x, y, self.seen(x, y, context is None))

    def seen(self, x: Tensor, y: Tensor, alone: bool) -> Tensor | None:
        return torch.ones(x.shape[1], y.shape[1]).tril()


def test_a_context_is_asked_where_only_the_text_itself_has_a_future() -> None:
    class Right(HidesTheFuture):
        def seen(self, x: Tensor, y: Tensor, alone: bool) -> Tensor | None:
            return super().seen(x, y, alone) if alone else None

    class Wrong(Right):
        def attend(self, x: Tensor, y: Tensor, seen: Tensor | None) -> Tensor:
            return super().attend(x, y if y is x else y.roll(1, 0), seen)

    assert said(Right(), OTHERS, d_in=WIDTH) == SEES
    words = "Keys of one text are seen from another."
    expect(Wrong(), OTHERS, "failed", words, d_in=WIDTH)


def test_a_context_that_stands_before_the_text_is_one_text() -> None:
    class Joined(HidesTheFuture):
        def forward(self, x: Tensor, context: Tensor | None = None) -> Tensor:
            y = x if context is None else torch.cat([context, x], dim=1)
            before = y.shape[1] - x.shape[1]
            seen = torch.ones(x.shape[1], y.shape[1]).tril(before)
            return self.attend(x, y, seen)

    assert said(Joined(), OTHERS, d_in=WIDTH) == (
        "not applicable",
        "It hides the future, so queries and keys are of the same text.",
    )


class Loud(Asks):
    """What is called a mask makes rows larger, of whatever text."""

    def forward(
        self, x: Tensor, context: Tensor | None = None, mask: Tensor | None = None
    ) -> Tensor:
        rows = self.attend(x, x if context is None else context, None)
        return rows if mask is None else rows * mask.sum()


def test_what_is_no_mask_of_other_tokens_is_not_judged() -> None:
    assert said(Loud(), OTHERS, d_in=WIDTH) == SEES


class Near(HidesTheFuture):
    """A query sees some keys before its place, of a context as well."""

    def seen(self, x: Tensor, y: Tensor, alone: bool) -> Tensor | None:
        return torch.ones(x.shape[1], y.shape[1]).tril().triu(-2)


@pytest.mark.parametrize(
    ("kind", "options"), [(Near, {}), (HidesTheFuture, {"call": "m(x, x)"})]
)
def test_other_triangles_and_told_calls_are_of_one_text(
    kind: type[nn.Module], options: dict[str, str]
) -> None:
    assert said(kind(), OTHERS, d_in=WIDTH, causal=True, **options) == (
        "not applicable",
        "It hides the future, so queries and keys are of the same text.",
    )


class OfAnotherWidth(OfKeys):
    """The other tokens are wider, so that a written call hands them over."""

    def __init__(self) -> None:
        super().__init__()
        self.k, self.v = nn.Linear(23, WIDTH), nn.Linear(23, WIDTH)


def test_where_a_call_is_written_masks_are_not_asked() -> None:
    assert said(OfAnotherWidth(), OTHERS, d_in=WIDTH) == SEES


class WithMore(OfKeys):
    """One more mask is for what is handed over besides, which nobody does here."""

    def forward(
        self,
        x: Tensor,
        context: Tensor | None = None,
        more_context_mask: Tensor | None = None,
        context_mask: Tensor | None = None,
    ) -> Tensor:
        return super().forward(x, context, context_mask)


def test_one_mask_that_is_obeyed_is_enough() -> None:
    assert said(WithMore(), OTHERS, d_in=WIDTH) == SEES


class Drops(Asks):
    """One mask is taken, whose name tells of no other text, and is dropped."""

    def forward(
        self, x: Tensor, context: Tensor | None = None, mask: Tensor | None = None
    ) -> Tensor:
        return self.attend(x, x if context is None else context, None)


def test_a_mask_of_any_name_is_asked_where_none_is_of_other_tokens() -> None:
    expect(Drops(), OTHERS, "failed", IGNORED.format("mask"), d_in=WIDTH)


def test_a_mask_of_the_other_text_must_act_beside_another_one() -> None:
    class Layer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attn = nn.MultiheadAttention(12, 3, batch_first=True)

        def forward(
            self,
            x: Tensor,
            memory: Tensor,
            memory_mask: Tensor | None = None,
            memory_key_padding_mask: Tensor | None = None,
        ) -> Tensor:
            return self.attn(x, memory, memory, attn_mask=memory_mask)[0]

    expect(
        Layer(),
        OTHERS,
        "failed",
        "With other tokens for keys and values, memory_key_padding_mask changes "
        "nothing.",
    )
