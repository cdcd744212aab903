"""What stands around attention is taken off in a copy, and the equation goes on."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from headway.checks.attention.evidence.surroundings import Bare
from tests.checks.support.asking import evidence_of, expect, said
from tests.checks.support.attention_designs import HEADS, WIDTH, Base, Halves, Sunk
from tests.support.mistakes.mistake import EQUATION


class Norm(nn.Module):
    """A norm of one's own, called with more than one argument."""

    def __init__(self) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x: Tensor, scale: float) -> Tensor:
        return scale * self.gain * x / x.norm(dim=-1, keepdim=True)


class Around(Base):
    """Something stands around attention, as a subclass says."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.make()

    def make(self) -> None:
        self.norm = nn.LayerNorm(WIDTH)


class Before(Around):
    def forward(self, x: Tensor) -> Tensor:
        return x + super().forward(self.norm(x))


class After(Around):
    def forward(self, x: Tensor) -> Tensor:
        return self.norm(x + super().forward(x))


class OfItsOwn(Around):
    def make(self) -> None:
        self.before = Norm()

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(self.before(x, 2.0))


class Block(Around):
    def make(self) -> None:
        self.ln_1, self.ln_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU())

    def forward(self, x: Tensor) -> Tensor:
        x = x + super().forward(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class Gated(Around):
    def make(self) -> None:
        self.gate = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) * self.gate(x).sigmoid()


class GatedInside(Around):
    def make(self) -> None:
        self.gate = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        self.opened = self.gate(x).sigmoid().unflatten(-1, (HEADS, -1)).transpose(1, 2)
        rows = super().forward(x)
        del self.opened
        return rows

    def weigh(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return super().weigh(q, k, v) * self.opened


class Scaled(Around):
    def make(self) -> None:
        self.gamma = nn.Parameter(1e-5 * torch.ones(WIDTH))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.gamma * super().forward(x)


class Talking(Around):
    def make(self) -> None:
        self.talk = nn.Parameter(torch.eye(HEADS))

    def weigh(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        scores = torch.einsum("bhts,hg->bgts", q @ k.mT / 8**0.5, self.talk)
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1) & self.causal
        return scores.masked_fill(hidden, -torch.inf).softmax(-1) @ v


KINDS = [Before, After, OfItsOwn, Block, Gated, GatedInside, Scaled, Talking]


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_the_equation_is_asked_of_attention_alone(kind: Any, causal: bool) -> None:
    expect(kind(causal=causal), EQUATION, "passed", "*, without *")


@pytest.mark.parametrize("kind", [Before, Block, Gated])
def test_a_mistake_in_attention_is_named_all_the_same(kind: Any) -> None:
    class Unscaled(kind):  # type: ignore[misc]
        def inside(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, ...]:
            return q * 8**0.5, k, v

    expect(Unscaled(), EQUATION, "failed", "*scores are not scaled*")


def bares(target: nn.Module) -> tuple[Bare, ...]:
    return evidence_of(target).bare


def test_what_was_taken_off_is_named() -> None:
    assert bares(Before())[0].removed == ("norm", "the residual connection")
    assert {one.removed for one in bares(Gated())} == {("gate.weight", "gate.bias")}
    assert bares(Block())[0].removed == ("ln_1", "ln_2")


def test_the_original_stays_as_it_is() -> None:
    module = Block()
    evidence = evidence_of(module)
    assert isinstance(module.ln_1, nn.LayerNorm)
    assert isinstance(evidence.subject.target.ln_1, nn.LayerNorm)  # type: ignore[attr-defined]
    with torch.no_grad():
        again = evidence.subject(evidence.x)
    torch.testing.assert_close(again, evidence.output)


def test_where_nothing_stands_around_nothing_is_taken_off() -> None:
    assert bares(Base()) == ()
    assert bares(Halves()) == ()
    assert evidence_of(nn.Identity(), d_in=5).bare == ()
    assert evidence_of(torch.nn.functional.scaled_dot_product_attention).bare == ()


def test_sinks_and_norms_of_queries_stay() -> None:
    class Both(Sunk):
        def __init__(self) -> None:
            super().__init__()
            self.norm, self.q_norm, self.k_norm = (nn.RMSNorm(8) for _ in range(3))

        def inside(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, ...]:
            return self.q_norm(q), self.k_norm(k), self.norm(v)

    for one in bares(Both()):
        module = one.subject.module
        assert module is not None
        assert isinstance(module.q_norm, nn.RMSNorm)
        assert not isinstance(module.norm, nn.RMSNorm)
        assert "sinks" not in one.removed


def test_code_that_breaks_without_its_norm_is_left_as_it_is() -> None:
    class Reads(Before):
        def forward(self, x: Tensor) -> Tensor:
            return super().forward(x) * self.norm.eps

    assert bares(Reads()) == ()


class Adds(nn.Module):
    """Queries are added to what heads found, and a last layer to that."""

    def __init__(self, scale: float, last: float = 1.0):
        super().__init__()
        self.num_heads, self.d_in, self.scale, self.last = 3, 15, scale, last
        self.fc_q, self.fc_k, self.fc_v, self.fc_o = (
            nn.Linear(15, 15) for _ in range(4)
        )

    def forward(self, x: Tensor) -> Tensor:
        three = self.fc_q(x), self.fc_k(x), self.fc_v(x)
        q, k, v = (one.unflatten(-1, (3, 5)).transpose(1, 2) for one in three)
        rows = q + (q @ k.mT * self.scale).softmax(-1) @ v
        rows = rows.transpose(1, 2).flatten(2)
        return rows + self.last * self.fc_o(rows).relu()


def test_a_last_layer_that_adds_is_taken_off() -> None:
    assert said(Adds(5**-0.5), EQUATION) == (
        "passed",
        "It is what the equation gives in 64 bits, without fc_o.weight.",
    )
    assert said(Adds(15**-0.5), EQUATION) == (
        "failed",
        "It is exactly what comes out when scores are divided by the root of all "
        "heads' width, without fc_o.weight.",
    )


def test_a_last_layer_that_is_never_used_is_not_taken_off() -> None:
    evidence = evidence_of(Adds(15**-0.5, last=0.0))
    assert not [one for one in evidence.bare if "fc_o.weight" in one.removed]
