"""How models take ids, and where their logits are."""

from collections import OrderedDict
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from headway.checks.model.model_calls import logits_of, possible_calls, tensors_of
from tests.checks.model import translators
from tests.checks.model.building import build


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


def test_a_decoder_beside_an_encoder_gets_ids_of_its_own() -> None:
    model = build(translators.Beside)
    call = next(possible_calls(model, None, {}))
    assert call.text == "m(ids.new_full((len(ids), 4), 3), decoder_input_ids=ids)"
    assert not call.must_hide
    assert call.names == {
        "mask": "decoder_attention_mask",
        "past": "past_key_values",
        "keep": "use_cache",
    }
    ids, source = torch.arange(1, 15).view(2, 7), torch.full((2, 4), 3)
    assert torch.equal(call(model, ids, {}), model(source, decoder_input_ids=ids))
    logits, kept = call(model, ids, {"keep": True})
    assert torch.equal(logits, call(model, ids, {}))
    assert kept.shape == (2, 7, translators.WIDTH)
    real = torch.tensor([[0, 0, 1, 1, 1, 1, 1]] * 2)
    masked = call(model, ids, {"mask": real})
    assert not torch.equal(masked[:, 2:], logits[:, 2:])


def test_a_decoder_has_the_arguments_that_it_takes_and_those_that_are_told() -> None:
    def model(source: Tensor, decoder_input_ids: Any = None, real: Any = None) -> Any:
        return source, decoder_input_ids, real

    call = next(possible_calls(model, None, {}))
    assert call.names == {}
    call = next(possible_calls(model, None, {"mask": "real"}))
    assert call.names == {"mask": "real"}
    ids = torch.ones(2, 5, dtype=torch.long)
    assert call(model, ids, {"mask": 7})[1:] == (ids, 7)


def test_a_decoder_that_may_be_given_a_mask_is_right_only_if_it_hides() -> None:
    calls = [*possible_calls(build(translators.BesideHides), None, {})]
    assert calls[0].text.endswith("decoder_input_ids=ids)")
    assert calls[0].must_hide
    assert "tgt_mask=torch.ones" in calls[-1].text


def test_a_cache_may_be_handed_over_beside_a_source() -> None:
    model = build(translators.Remembers)
    ids = torch.randint(37, (3, 5), generator=torch.Generator().manual_seed(0))
    call = next(one for one in possible_calls(model, None, {}) if one.must_hide)
    assert call.names == {"past": "past", "keep": "use_cache"}
    whole = call(model, ids, {})
    first, kept = call(model, ids[:, :4], {"past": None, "keep": True})
    last, _ = call(model, ids[:, 4:], {"past": kept, "keep": True})
    assert torch.allclose(torch.cat([first, last], dim=1), whole, atol=1e-6)
