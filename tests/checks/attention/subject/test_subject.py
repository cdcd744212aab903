"""A subject is called with the same random numbers, and copied as it is."""

from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from headway.checks.attention.subject import Options, discover
from tests.checks.support.callers import WIDTH, OfTokens, discovered, of_three
from tests.checks.support.other_shapes import Both, DecoderLayer


def test_tokens_are_the_same_for_the_same_seed() -> None:
    subject = discover(nn.Identity(), Options(d_in=13))
    assert subject.tokens().shape == (3, 7, 13)
    assert subject.tokens(2, 5).shape == (2, 5, 13)
    assert torch.equal(subject.tokens(), subject.tokens())
    assert not torch.equal(subject.tokens(seed=1), subject.tokens())


class Random(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x + torch.rand(())


def test_random_numbers_are_the_same_in_each_call() -> None:
    subject = discover(Random(), Options(d_in=13))
    x = subject.tokens()
    assert torch.equal(subject(x), subject(x))
    assert not torch.equal(subject(x, seed=2), subject(x))
    torch.manual_seed(5)
    expected = torch.rand(())
    torch.testing.assert_close(subject(x, seed=5) - x, expected.expand_as(x).double())


def test_on_a_gpu_its_generators_are_seeded_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seeds: list[int] = []
    monkeypatch.setattr(torch.cuda, "manual_seed_all", seeds.append)
    subject = discover(Random(), Options(d_in=13))
    x = subject.tokens()
    subject(x, seed=3)
    assert seeds == []
    replace(subject, device=torch.device("cuda"))(x, seed=3)
    assert seeds == [3]


def test_no_field_can_be_changed() -> None:
    subject = discover(Random(), Options(d_in=13))
    with pytest.raises(FrozenInstanceError):
        subject.B = 5  # type: ignore[misc]


def test_a_subject_can_be_copied_for_each_call() -> None:
    class Counting(nn.Module):
        count = 0

        def forward(self, x: Tensor) -> Tensor:
            self.count += 1
            return x + self.count

    subject = discover(Counting(), Options(d_in=13))
    x = subject.tokens()
    assert not torch.equal(subject(x), subject(x))
    fresh = replace(discover(Counting(), Options(d_in=13)), copy_each_call=True)
    assert torch.equal(fresh(x), fresh(x))


def test_a_copy_in_another_type_has_the_same_weights() -> None:
    subject = discovered(OfTokens())
    single = subject.copy(torch.float32)
    assert single.tokens().dtype == torch.float32
    x = subject.tokens()
    torch.testing.assert_close(
        single(x.float()).double(), subject(x), atol=1e-4, rtol=0
    )
    assert subject(x).dtype == torch.float64
    function = discover(of_three, Options())
    assert function.copy(torch.float32).target is of_three


def test_rows_of_a_second_text_are_given_too() -> None:
    two, one = discover(Both(), Options()), discovered(OfTokens())
    assert [rows.shape[-1] for rows in two.all_rows(two.tokens())] == [12, 12]
    assert len(one.all_rows(one.tokens())) == 1


def test_what_is_no_row_of_a_second_text_is_left_out() -> None:
    class AndMean(Both):
        def forward(self, one: Tensor, two: Tensor) -> Any:
            ours, theirs = super().forward(one, two)
            return ours, theirs, ours.mean(1)

    subject = discover(AndMean(), Options())
    assert len(subject.all_rows(subject.tokens())) == 2
    assert len(subject.all_results(subject.tokens())) == 3


def test_rows_of_a_memory_are_given_too() -> None:
    class Crossed(DecoderLayer):
        def forward(self, tgt: Tensor, memory: Tensor, **masks: Any) -> Any:
            own = self.self_attn(tgt, tgt, tgt)[0]
            return own, self.cross_attn(memory, own, own)[0], None

    crossed = discovered(Crossed(), d_in=12)
    shapes = [tuple(rows.shape) for rows in crossed.all_rows(crossed.tokens(5))]
    assert shapes == [(5, 7, 12), (5, 6, 12)]


class WithPairs(OfTokens):
    """It returns features of pairs of tokens, and a table that has no gradient."""

    def forward(self, x: Tensor) -> Any:
        rows = super().forward(x)
        pairs = rows[:, :, None, :5] + rows[:, None, :, :5]
        return rows, pairs, rows[:, :, None].detach(), rows.mean(1), None


def test_features_of_pairs_are_among_the_rows() -> None:
    subject = discovered(WithPairs())
    x = subject.tokens()
    assert [one.shape for one in subject.all_rows(x)] == [(3, 7, WIDTH), (3, 7, 7, 5)]
    rows, pairs = subject.all_rows(x)
    torch.testing.assert_close(pairs[:, 2, 4], rows[:, 2, :5] + rows[:, 4, :5])


def test_all_that_is_learned_is_among_the_results() -> None:
    subject = discovered(WithPairs())
    shapes = [one.shape for one in subject.all_results(subject.tokens())]
    assert shapes == [(3, 7, WIDTH), (3, 7, 7, 5), (3, WIDTH)]
    function = discover(of_three, Options())
    assert len(function.all_results(function.tokens())) == 1


class Cumulative(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.cumsum(1)


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
def test_a_script_module_gives_its_rows_alone() -> None:
    subject = discover(torch.jit.script(Cumulative()), Options(d_in=13))
    x = subject.tokens()
    [rows] = subject.all_rows(x)
    torch.testing.assert_close(rows, x.cumsum(1))
