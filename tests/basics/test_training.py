"""The recall task says what it means, and likeness cannot solve it."""

import pytest
import torch
from torch import nn

from headway import (
    SelfAttentionV2,
    attention_weights,
    eight_guests,
    recall_task,
    weight_of,
)
from tests.support.sizes import B, H, S, T, draw

GUESTS = [1, 2, 5, 8]


def seeded(seed: int = 7) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_guests_have_two_names_each() -> None:
    names, nicknames = eight_guests()
    assert len(names) == len(nicknames) == 8
    assert len({*names, *nicknames}) == 16


@pytest.mark.parametrize("guests", GUESTS)
def test_a_guest_has_one_name_and_one_hook(guests: int) -> None:
    x, _, _ = recall_task(31, guests, generator=seeded())
    assert x.shape == (31, guests + 1, 24)
    assert x.dtype == torch.float32
    name, nickname, hook = x[:, :-1].split(8, dim=-1)
    assert not nickname.any()
    for one_hot in (name, hook):
        assert one_hot.unique().tolist() == [0.0, 1.0]
        assert (one_hot.sum(dim=-1) == 1.0).all()
        # No two guests of a text share it.
        assert one_hot.sum(dim=-2).max() == 1.0


@pytest.mark.parametrize("guests", GUESTS)
def test_the_last_token_asks_for_the_guest_at_the_place(guests: int) -> None:
    x, answer, place = recall_task(31, guests, generator=seeded())
    assert place.shape == answer.shape == (31,)
    for text, hook, at in zip(x, answer, place, strict=True):
        asked = torch.zeros(24)
        asked[8:16] = text[at, :8]
        assert text[-1].equal(asked)
        assert text[at, 16:].argmax() == hook


def test_every_name_hook_and_place_comes_up() -> None:
    x, answer, place = recall_task(500, generator=seeded())
    assert x[:, :-1].sum(dim=(0, 1))[8:16].eq(0).all()
    assert x.sum(dim=(0, 1)).ne(0).all()
    assert sorted(answer.unique().tolist()) == [*range(8)]
    assert sorted(place.unique().tolist()) == [*range(5)]
    # Names and hooks are drawn apart: a name has every hook.
    pairs = torch.einsum("btn,bth->nh", x[:, :-1, :8], x[:, :-1, 16:])
    assert (pairs > 0).all()


def test_likeness_finds_nobody() -> None:
    x, _, _ = recall_task(31, generator=seeded())
    scores = x[:, -1:] @ x[:, :-1].transpose(1, 2)
    assert not scores.any()


def test_texts_depend_on_the_generator_and_on_nothing_else() -> None:
    before = torch.random.get_rng_state()
    one, same = (recall_task(3, generator=seeded()) for _ in range(2))
    assert all(a.equal(b) for a, b in zip(one, same, strict=True))
    assert torch.random.get_rng_state().equal(before)
    assert not recall_task(3, generator=seeded(8))[0].equal(one[0])

    torch.manual_seed(7)
    drawn = recall_task(3)
    assert all(a.equal(b) for a, b in zip(drawn, one, strict=True))


@pytest.mark.parametrize("leading", [(), (B,), (B, H)], ids=str)
@pytest.mark.parametrize("kind", [torch.int32, torch.int64])
def test_weight_of_the_last_query(leading: tuple[int, ...], kind: torch.dtype) -> None:
    weights = draw(*leading, T, S)
    place = torch.randint(S, leading, dtype=kind)
    found = weight_of(weights, place)
    assert found.shape == leading
    flat = zip(weights.reshape(-1, T, S), place.flatten(), strict=True)
    assert found.flatten().tolist() == [rows[T - 1, at].item() for rows, at in flat]


def test_weight_of_has_a_gradient() -> None:
    weights = draw(B, T, S).requires_grad_()
    weight_of(weights, torch.tensor([2, 5])).sum().backward()
    expected = torch.zeros(B, T, S, dtype=torch.float64)
    expected[0, -1, 2] = expected[1, -1, 5] = 1.0
    assert weights.grad is not None
    assert weights.grad.equal(expected)


def test_a_head_can_learn_it_and_starts_out_even() -> None:
    torch.manual_seed(7)
    attend = SelfAttentionV2(24, 8)
    optimizer = torch.optim.Adam(attend.parameters(), lr=0.05)

    @torch.no_grad()
    def right() -> tuple[float, float]:
        x, answer, place = recall_task(300, generator=seeded())
        weights = attention_weights(attend.W_query(x), attend.W_key(x))
        hits = attend(x)[:, -1].argmax(dim=-1) == answer
        return weight_of(weights, place).mean().item(), hits.float().mean().item()

    before = right()
    for _ in range(100):
        x, answer, _ = recall_task(64)
        loss = nn.functional.cross_entropy(attend(x)[:, -1], answer)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    after = right()
    assert before[0] < 0.25
    assert before[1] < 0.35
    assert after[0] > 0.95
    assert after[1] > 0.95
