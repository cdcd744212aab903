"""How a row mixes what it sees."""

from typing import Any

import torch
from torch import Tensor, nn

from tests.checks.support.asking import calling, said
from tests.checks.support.attention_designs import Base, angles, turn_pairs
from tests.checks.support.callers import WIDTH, OfTokens
from tests.checks.support.right import NAMED
from tests.support.attention_in_steps import SMALL, Attention
from tests.support.mistakes.mistake import ORDER, SUM


def test_positions_without_a_name_are_found() -> None:
    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        return run(x * torch.linspace(1, 2, x.shape[1]).to(x)[:, None])

    for causal in (True, False):
        assert said(calling(call, causal=causal), ORDER)[0] == "failed"


def test_sums_that_are_not_divided_are_found() -> None:
    def summed(m: Any, scores: Tensor) -> Tensor:
        return scores.exp()

    for causal in (True, False):
        assert said(Attention(SMALL, causal=causal, softmax=summed), SUM)[0] == "failed"


def test_positions_that_are_kept_and_not_used_are_a_finding() -> None:
    module = Attention(SMALL)
    module.rotary_emb = nn.Linear(2, 3)
    assert said(module, ORDER)[0] == "failed"
    module.use_rotary = False
    assert said(module, ORDER)[0] == "passed"


def test_several_layers_and_windows_may_tell_the_order() -> None:
    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        return run(x * torch.linspace(1, 2, x.shape[1]).to(x)[:, None])

    several = calling(call)
    several.blocks = nn.ModuleList(
        nn.ModuleDict({"qkv": nn.Linear(2, 6), "proj": nn.Linear(2, 2)})
        for _ in range(2)
    )
    verdict, sentence = said(several, ORDER)
    assert verdict == "not applicable"
    assert "several layers" in sentence
    windowed = said(NAMED["window"](SMALL), ORDER)
    assert windowed == ("not applicable", "Positions are inside, so the order matters.")


class OneAngle(Base):
    """All tokens are turned by the angle of the first."""

    def inside(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, ...]:
        def apply_rotary_pos_emb(x: Tensor) -> Tensor:
            half = angles(1).to(x)
            return turn_pairs(x, half.cos(), half.sin())

        return apply_rotary_pos_emb(q), apply_rotary_pos_emb(k), v


def test_one_angle_for_all_tokens_is_no_position() -> None:
    verdict, sentence = said(OneAngle(), ORDER)
    assert verdict == "failed"
    assert sentence.startswith("It computes cosines and sines, as for positions, but")
    assert said(Base(), ORDER)[0] == "passed"


def test_weights_that_decay_need_not_sum_to_one() -> None:
    class Retains(OfTokens):
        def forward(self, x: Tensor) -> Tensor:
            places = torch.arange(x.shape[1])
            retention = 0.9 ** (places[:, None] - places).clamp(min=0).to(x).tril()
            return (self.q(x) @ self.k(x).mT * retention) @ self.v(x)

    verdict, sentence = said(Retains(), SUM, d_in=WIDTH)
    assert verdict == "not applicable"
    assert sentence == "It has retention, so weights need not sum to one."


def test_keys_beside_the_text_count_as_well() -> None:
    class Remembers(OfTokens):
        def __init__(self) -> None:
            super().__init__()
            self.mem_kv = nn.Parameter(torch.randn(1, 4, WIDTH))

        def forward(self, x: Tensor) -> Tensor:
            keys = torch.cat([self.mem_kv.expand(len(x), -1, -1), x], dim=1)
            return self.mix(x, keys, keys)

    assert said(Remembers(), SUM, d_in=WIDTH) == (
        "not applicable",
        "It has keys of its own beside the text: mem_kv.",
    )
