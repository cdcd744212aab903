"""Each weight that is meant to be used gets a gradient."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from headway.checks.core.outcome import Outcome
from tests.checks.model import models
from tests.checks.model.asking import ask
from tests.checks.model.building import build

WIDTH = models.WIDTH


class More(models.Plain):
    """What stands behind the blocks is done by a part of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.part = self.made()

    def made(self) -> nn.Module:
        return nn.Linear(WIDTH, WIDTH)

    def then(self, x: Tensor) -> Tensor:
        return x + self.part(x)

    def forward(self, ids: Tensor) -> Any:
        x = self.embed(ids)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(self.then(x)))


class NeverNamed(models.Plain):
    def __init__(self) -> None:
        super().__init__()
        self.last_norm = nn.LayerNorm(WIDTH)


class InLists(models.Plain):
    def __init__(self) -> None:
        super().__init__()
        self.last_norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2))


class CalledInVain(More):
    def then(self, x: Tensor) -> Tensor:
        self.part(x)
        return x


class CutOff(More):
    def then(self, x: Tensor) -> Tensor:
        return x + self.part(x).detach()


class Scaled(nn.Module):
    """A layer of the reader's, with a weight that nobody reads."""

    def __init__(self) -> None:
        super().__init__()
        self.weight, self.shift = (nn.Parameter(torch.ones(WIDTH)) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        return self.weight * x


class HalfRead(More):
    def made(self) -> nn.Module:
        return Scaled()


@pytest.mark.parametrize(
    ("kind", "named"),
    [
        (NeverNamed, "last_norm.weight, last_norm.bias"),
        (
            InLists,
            "last_norms.0.weight, last_norms.0.bias, last_norms.1.weight and 1 more",
        ),
        (CalledInVain, "part.weight, part.bias"),
        (CutOff, "part.weight, part.bias"),
        (HalfRead, "part.shift"),
    ],
)
def test_a_weight_without_a_gradient_is_told(kind: type[nn.Module], named: str) -> None:
    outcome = ask("gradients", kind)
    assert outcome.verdict == "failed"
    assert outcome.sentence == f"No gradient reaches {named}: never used, or cut off."


class InABranch(More):
    """A part that only some calls need."""

    def then(self, x: Tensor) -> Tensor:
        return self.part(x) if x.shape[1] > 100 else x


class ReadInABranch(HalfRead):
    class made(Scaled):  # noqa: D106, N801
        def forward(self, x: Tensor) -> Tensor:
            rows = super().forward(x)
            return rows + self.shift if x.shape[1] > 100 else rows


class Routed(More):
    """Some parts get no tokens, and some are not called at all."""

    def made(self) -> nn.Module:
        return nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(4))

    def then(self, x: Tensor) -> Tensor:
        parts: Any = self.part
        parts[1](x[:0])
        return x + parts[0](x)


class Frozen(CalledInVain):
    def __init__(self) -> None:
        super().__init__()
        self.part.requires_grad_(False)


class Besides(More):
    """A value for each token is returned besides the logits."""

    def forward(self, ids: Tensor) -> Any:
        x = self.embed(ids)
        return self.head(self.norm(self.blocks[1](self.blocks[0](x)))), self.part(x)


class OfTheLoss(models.Plain):
    """A second head predicts the tokens after the next, for the loss alone."""

    def __init__(self) -> None:
        super().__init__()
        self.further = nn.Linear(models.VOCABULARY, models.VOCABULARY)

    def forward(self, ids: Tensor, targets: Tensor | None = None) -> Any:
        logits = super().forward(ids)
        if targets is None:
            return logits, None
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        further = self.further(logits)[:, :-1].flatten(0, 1)
        return logits, loss + F.cross_entropy(further, targets[:, 1:].flatten())


@pytest.mark.parametrize(
    "kind",
    [
        models.Plain,
        models.Nano,
        More,
        InABranch,
        ReadInABranch,
        Routed,
        Frozen,
        Besides,
        OfTheLoss,
    ],
)
def test_what_a_call_need_not_use_is_not_asked(kind: type[nn.Module]) -> None:
    model = build(kind)
    outcome: Outcome = ask("gradients", model)
    assert outcome.verdict == "passed"
    count = len([*model.parameters()])
    assert outcome.sentence == f"Gradients reach all of {count} weights that are used."
    assert all(one.grad is None for one in model.parameters())


def test_a_head_that_even_the_loss_leaves_out_is_told() -> None:
    class Forgets(OfTheLoss):
        def forward(self, ids: Tensor, targets: Tensor | None = None) -> Any:
            if targets is None:
                return super().forward(ids)
            logits, _ = super().forward(ids)
            self.further(logits)
            return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten())

    assert ask("gradients", Forgets).verdict == "failed"


def test_what_cannot_be_differentiated_is_not_asked() -> None:
    class Writes(models.Plain):
        @torch.no_grad()
        def forward(self, ids: Tensor) -> Tensor:
            return super().forward(ids)

    class OneWay(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Tensor:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            raise NotImplementedError("there is no way back")

    class HasNoWayBack(models.Plain):
        def forward(self, ids: Tensor) -> Tensor:
            return OneWay.apply(super().forward(ids))

    class ChangesWhatIsNeeded(models.Plain):
        def embed(self, ids: Tensor) -> Tensor:
            rows = super().embed(ids).exp()
            rows.add_(1.0)  # the way back of exp needs what it gave
            return rows

    outcome = ask("gradients", ChangesWhatIsNeeded)
    assert outcome.verdict == "not applicable"
    assert "modified by an inplace operation" in outcome.sentence
    words = "Its logits take no part in differentiation."
    assert ask("gradients", Writes).sentence == words
    outcome = ask("gradients", HasNoWayBack)
    assert outcome.verdict == "not applicable"
    assert "NotImplementedError: there is no way back" in outcome.sentence
    weight = torch.randn(31, 31)
    words = "A function has no weights of its own."
    assert ask("gradients", lambda ids: weight[ids], vocab_size=31).sentence == words
