"""Ask one property of a model, and build models with one wrong line."""

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

from headway.checks.core.outcome import Outcome
from headway.checks.model.discover_model import discover_model
from headway.checks.model.model_evidence import ModelEvidence
from headway.checks.model.model_subject import ModelOptions
from headway.checks.model.properties import PROPERTIES
from tests.checks.model import models
from tests.checks.model.building import build

Change = Callable[[Any, Tensor], Tensor]
ASK = {one.id: one.ask for one in PROPERTIES}


def evidence(model: Any, **options: Any) -> ModelEvidence:
    return ModelEvidence(discover_model(model, ModelOptions(**options)))


def ask(name: str, model: Any, **options: Any) -> Outcome:
    if isinstance(model, type):
        model = build(model)
    return ASK[name](evidence(model, **options))


def embeds(change: Change) -> nn.Module:
    """Build a model whose embedded tokens are changed."""

    class Changed(models.Plain):
        def embed(self, ids: Tensor) -> Tensor:
            self.ids = ids
            return change(self, super().embed(ids))

    return build(Changed)


def without_attention(change: Change) -> nn.Module:
    model = embeds(change)
    model.blocks = nn.ModuleList()
    return model


def with_mask(make: Callable[[int], Tensor]) -> nn.Module:
    class Masked(models.Plain):
        class attention(models.Attention):  # noqa: N801
            def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
                weights = q @ k.mT / q.shape[-1] ** 0.5 + make(q.shape[-2])
                return weights.softmax(-1) @ v

    return build(Masked)


def refuse(raised: str, when: Callable[[Tensor], bool]) -> nn.Module:
    class Refusing(models.Plain):
        def forward(self, ids: Tensor) -> Tensor:
            if when(ids):
                raise RuntimeError(raised)
            return super().forward(ids)

    return build(Refusing)
