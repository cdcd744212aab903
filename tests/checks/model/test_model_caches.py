"""How a model takes a text in pieces is found out."""

from typing import Any

import torch
from torch import Tensor

from tests.checks.model import models
from tests.checks.model.asking import ask


class WithStart(models.Plain):
    """Both a cache and the place of a piece are handed over."""

    def forward(self, ids: Tensor, start_pos: int = 0, caches: Any = None) -> Any:
        before = ids[:, :0] if caches is None else caches[0]
        assert before.shape[1] == start_pos
        whole = torch.cat([before, ids], dim=1)
        return super().forward(whole)[:, start_pos:], [whole]


def test_a_cache_may_want_to_know_where_a_piece_begins() -> None:
    assert ask("cache", WithStart).verdict == "passed"


class KeepsInside(models.Plain):
    """A flag alone says that what was read is kept."""

    forgets = False
    kept: Tensor | None = None

    def forward(self, ids: Tensor, use_cache: bool = False) -> Tensor:
        before = ids[:, :0] if self.kept is None or not use_cache else self.kept
        whole = torch.cat([before, ids], dim=1)
        if use_cache:
            self.kept = whole[:, 1:] if self.forgets else whole
        return super().forward(whole)[:, before.shape[1] :]


class KeepsNothing(models.Plain):
    """The flag is taken, and is for something else."""

    def forward(self, ids: Tensor, use_cache: bool = False) -> Tensor:
        return super().forward(ids)


def test_a_flag_alone_may_be_of_a_cache_inside() -> None:
    class Forgets(KeepsInside):
        forgets = True

    assert ask("cache", KeepsInside).verdict == "passed"
    outcome = ask("cache", Forgets)
    assert outcome.verdict == "failed"
    assert "behind a cache get other logits than at once" in outcome.sentence
    assert ask("cache", KeepsNothing).verdict == "not applicable"
