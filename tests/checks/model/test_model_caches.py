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
