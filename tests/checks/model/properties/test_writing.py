"""What a model writes is the likeliest."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.checks.model import models
from tests.checks.model.appending import Appending, WritesLeast
from tests.checks.model.asking import ask


class Writes(models.Plain):
    """The likeliest tokens are written, in one of the common ways."""

    def generate(
        self, ids: Tensor, max_tokens: int, temperature: float = 1.0
    ) -> Tensor:
        assert temperature == 0.0
        start = ids.shape[1]
        for _ in range(max_tokens):
            ids = torch.cat([ids, self.next(ids)], dim=1)
        return ids[:, start:]

    def next(self, ids: Tensor) -> Tensor:
        return self(ids)[:, -1:].argmax(-1)


class WritesSecond(Writes):
    """From the third new token on, the least likely is taken."""

    def next(self, ids: Tensor) -> Tensor:
        likely = self(ids)[:, -1:]
        return likely.argmin(-1) if ids.shape[1] > 6 else likely.argmax(-1)


class Tied(Writes):
    """The last layer has the weights of the embedding."""

    def __init__(self) -> None:
        super().__init__()
        self.head.weight = self.tokens.weight


class TiedAndForgetful(Tied):
    """The same, and only the newest token is read."""

    def next(self, ids: Tensor) -> Tensor:
        return super().next(ids[:, -1:])


class WritesOne(Writes):
    """One token is written, whatever is asked for."""

    def generate(self, ids: Tensor, length: int) -> Tensor:
        return super().generate(ids, 1, 0.0)


class WritesChosen(Writes):
    """Sampling can be turned off."""

    def generate(self, ids: Tensor, n: int, do_sample: bool = True) -> Tensor:
        assert not do_sample
        return super().generate(ids, n, 0.0)


class WritesOdd(Writes):
    """No argument tells how many."""

    def generate(self, ids: Tensor) -> Tensor:
        return ids


class Samples(models.Plain):
    """Tokens are drawn, and nothing can be said against it."""

    def generate(self, ids: Tensor, length: int) -> Tensor:
        for _ in range(length):
            likely = self(ids)[:, -1].softmax(-1)
            ids = torch.cat([ids, likely.multinomial(1)], dim=1)
        return ids


class SamplesAnyway(Samples):
    """Tokens are drawn, whatever is said against it."""

    def generate(self, ids: Tensor, length: int, do_sample: bool = True) -> Tensor:
        return super().generate(ids, length)


class WritesLeastWithoutOptions(models.Plain):
    """The least likely token is written, and not by chance."""

    def generate(self, ids: Tensor, length: int) -> Tensor:
        for _ in range(length):
            ids = torch.cat([ids, self(ids)[:, -1:].argmin(-1)], dim=1)
        return ids


class Transformers(models.Padded):
    """Writes as models of transformers are asked to."""

    def __init__(self) -> None:
        super().__init__()
        self.generation_config = SimpleNamespace(eos_token_id=2, pad_token_id=None)

    def generate(
        self,
        ids: Tensor,
        *,
        attention_mask: Tensor,
        max_new_tokens: int,
        do_sample: bool,
        use_cache: bool,
    ) -> Tensor:
        assert not do_sample
        assert self.generation_config.eos_token_id is None
        real = attention_mask
        for _ in range(max_new_tokens):
            places = self.where(real)
            new = self(ids, real, places)[:, -1:].argmax(-1)
            ids = torch.cat([ids, new], dim=1)
            real = torch.cat([real, torch.ones_like(new)], dim=1)
        return ids

    def where(self, real: Tensor) -> Tensor:
        return (real.cumsum(-1) - 1).clamp(min=0)


class CountsPadding(Transformers):
    """Positions count the padding."""

    def where(self, real: Tensor) -> Tensor:
        return torch.arange(real.shape[1]).expand_as(real)


class CannotHide(Transformers):
    """No mask is taken, so no padded texts are written."""

    def forward(self, ids: Tensor, *rest: Any) -> Tensor:
        return super().forward(ids)


@pytest.mark.parametrize(
    ("kind", "verdict", "says"),
    [
        (Writes, "passed", ""),
        (models.Nano, "passed", ""),
        (WritesChosen, "passed", ""),
        (WritesSecond, "failed", "from new token 3 on"),
        (Tied, "passed", ""),
        (TiedAndForgetful, "failed", "from new token 1 on"),
        (WritesOne, "not applicable", "it wrote shape (2, 1)"),
        (Samples, "not applicable", "generate(ids, length=5) leaves it to chance"),
        (SamplesAnyway, "failed", "do_sample=False) does not write the likeliest"),
        (WritesLeastWithoutOptions, "failed", "length=5) does not write"),
        (WritesOdd, "not applicable", "It has no generate"),
        (Transformers, "passed", ""),
        (CountsPadding, "failed", "generate of padded texts does not write"),
        (CannotHide, "passed", ""),
        (Appending, "passed", ""),
        (WritesLeast, "failed", "length=5, temperature=0.0) does not write"),
    ],
)
def test_writing(kind: type[nn.Module], verdict: str, says: str) -> None:
    outcome = ask("greedy", kind)
    assert outcome.verdict == verdict, outcome.sentence
    assert says in outcome.sentence


def test_a_model_that_sees_both_sides_does_not_write() -> None:
    outcome = ask("greedy", Writes, causal=False)
    assert outcome.verdict == "not applicable"
