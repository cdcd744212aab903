"""How models take ids, and where their logits are."""

from collections import OrderedDict
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from headway.checks.model.model_calls import logits_of, possible_calls, tensors_of


def test_logits_are_found_wherever_they_are() -> None:
    ids = torch.zeros(3, 11, dtype=torch.long)
    logits = torch.rand(3, 11, 31)
    hidden = torch.rand(3, 11, 12)
    for result in (
        logits,
        (hidden, logits),
        [ids, logits],
        {"hidden": hidden, "logits": logits},
        SimpleNamespace(logits=logits),
        logits.flatten(0, 1),
    ):
        assert torch.equal(logits_of(result, ids, 31), logits)
    assert torch.equal(logits_of((hidden, None), ids, 31), hidden)


def test_what_is_called_logits_comes_first() -> None:
    one, other = torch.rand(2), torch.rand(3)
    assert tensors_of(OrderedDict(a=one, logits=other))[0] is other
    assert tensors_of(7) == []


def test_arguments_that_are_needed_are_filled_in() -> None:
    def model(ids: Tensor, start_pos: int, lengths: Any, *more: Any) -> None:
        """Do nothing."""

    call = next(possible_calls(model, None, {}))
    assert call.text == "m(ids, start_pos=0, lengths=None)"
    assert call.names == {"start": "start_pos"}
