"""Each property finds the mistakes that break it.

A leak, a wrong axis or a lost scale changes no shape and seldom a training curve. So
small mistakes stand here, most of them found in published code, each with the
properties that must find it.
"""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, scaled_dot_product_attention

from headway import attention, causal_mask, merge_heads, split_heads
from properties.of_attention import (
    PROPERTIES,
    Property,
    a_batch_is_each_text_alone,
    a_call_leaves_no_trace,
    a_shift_of_all_scores_changes_nothing,
    contexts_lie_between_the_values,
    dropout_drops_whole_shares,
    dropout_is_off_in_use,
    dropout_keeps_the_mean,
    every_precision_works,
    every_visible_token_counts,
    order_only_orders_the_result,
    shares_follow_the_scaled_scores,
    shares_sum_to_one,
    texts_do_not_touch_each_other,
    the_future_moves_nothing,
    the_past_has_no_order,
)
from properties.of_masks import (
    MASK_PROPERTIES,
    Attend,
    MaskProperty,
    a_hidden_key_might_as_well_not_exist,
    the_last_query_belongs_to_the_last_key,
    who_sees_nothing_gets_nothing,
)
from properties.subjects import WIDTH, OnWeights, Subject, function, scaled, unmasked
from sizes import H, S, T

# Small mistakes. Each must be caught by the properties named beside it.


def softmax(q, k, v, *, axis: int = -1, scale: float = WIDTH**-0.5, hide=None):
    """Attend correctly, unless told otherwise."""
    scores = scale * q @ k.mT
    if hide is None:
        scores = scores.masked_fill(~causal_mask(T), -torch.inf)
    else:
        scores = hide(scores)
    return scores.softmax(dim=axis)


def drop_the_masked_scores(scores: Tensor) -> Tensor:
    scores.masked_fill(~causal_mask(T), -torch.inf)  # a new tensor, and nobody has it
    return scores


def mask_after_the_softmax(q, k, v, p):
    return (softmax(q, k, v, hide=lambda scores: scores) * causal_mask(T)) @ v


def without_own_place(scores: Tensor) -> Tensor:
    visible = causal_mask(T).tril(-1)
    visible[0, 0] = True
    return scores.masked_fill(~visible, -torch.inf)


def mistake(wrong: Callable[..., Tensor], **expected) -> Subject:
    return function(wrong, causal=True, **expected)


def hide_wrongly(hide: Callable[[Tensor], Tensor]) -> Subject:
    return mistake(lambda q, k, v, p: softmax(q, k, v, hide=hide) @ v)


def drop_wrongly(wrong: Callable[..., Tensor]) -> Subject:
    return mistake(wrong, drops=True)


def of_one_pattern(weights: Tensor, axis: int, p: float) -> Tensor:
    """Drop the same for all places along an axis."""
    return weights * dropout(torch.ones_like(weights.narrow(axis, 0, 1)), p)


def split_by_a_reshape(x: Tensor) -> Tensor:
    return merge_heads(x).reshape(x.shape)


def merged_by_a_reshape(x: Tensor) -> Tensor:
    return split_heads(x.reshape(*x.shape[:-3], T, -1), H)


class NotInEval(OnWeights):
    """The mask is on in training only, as when a flag is bound to `self.training`."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (x.unsqueeze(-3) @ matrix for matrix in self.weights)
        context = scaled_dot_product_attention(q, k, v, is_causal=self.training)
        return torch.cat(context.unbind(-3), dim=-1)


class KeepsItsWeights(OnWeights):
    """The weights stay on the module, to be looked at, and in memory."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (x.unsqueeze(-3) @ matrix for matrix in self.weights)
        self.last = softmax(q, k, v)
        return torch.cat((self.last @ v).unbind(-3), dim=-1)


class ScalesItsInput(OnWeights):
    """An operation in place reaches the caller's tensor."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x.mul_(0.5))


class CountsCalls(OnWeights):
    """A buffer that changes with each call."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        return super().forward(x)


def correct(q, k, v, p):
    return dropout(softmax(q, k, v), p) @ v


def subclass(kind: type[OnWeights]) -> Subject:
    return Subject(lambda w, p: kind(correct, w, p), causal=True, heads=H)


MISTAKES: dict[str, tuple[Subject, list[Property]]] = {
    "the result of masked_fill is dropped": (
        hide_wrongly(drop_the_masked_scores),
        [the_future_moves_nothing, shares_sum_to_one],
    ),
    "True means hidden": (
        hide_wrongly(lambda s: s.masked_fill(causal_mask(T), -torch.inf)),
        [the_future_moves_nothing, every_visible_token_counts],
    ),
    "the mask is transposed": (
        hide_wrongly(lambda s: s.masked_fill(~causal_mask(T).mT, -torch.inf)),
        [the_future_moves_nothing, every_visible_token_counts],
    ),
    "a float mask is added": (
        hide_wrongly(lambda s: s + causal_mask(T)),
        [the_future_moves_nothing, shares_sum_to_one],
    ),
    "hidden is only -1e4": (
        hide_wrongly(lambda s: s.masked_fill(~causal_mask(T), -1e4)),
        [the_future_moves_nothing],
    ),
    "hidden is zero": (
        hide_wrongly(lambda s: s.masked_fill(~causal_mask(T), 0.0)),
        [shares_sum_to_one],
    ),
    "one's own place is hidden": (
        hide_wrongly(without_own_place),
        [every_visible_token_counts, shares_sum_to_one],
    ),
    "the past is forgotten after three tokens": (
        hide_wrongly(
            lambda s: s.masked_fill(~causal_mask(T).triu(-2), -torch.inf),
        ),
        [every_visible_token_counts, shares_sum_to_one],
    ),
    "the mask comes after the softmax": (
        mistake(mask_after_the_softmax),
        [the_future_moves_nothing, shares_sum_to_one],
    ),
    "the mask is off in eval": (
        subclass(NotInEval),
        [the_future_moves_nothing],
    ),
    "softmax over the queries": (
        mistake(lambda q, k, v, p: softmax(q, k, v, axis=-2) @ v),
        [the_future_moves_nothing, shares_sum_to_one],
    ),
    "softmax over the heads": (
        mistake(
            lambda q, k, v, p: (
                (softmax(q, k, v, axis=-3, hide=lambda s: s) * causal_mask(T)) @ v
            )
        ),
        [
            shares_sum_to_one,
            a_shift_of_all_scores_changes_nothing,
            contexts_lie_between_the_values,
        ],
    ),
    "no scale": (
        mistake(lambda q, k, v, p: softmax(q, k, v, scale=1.0) @ v),
        [shares_follow_the_scaled_scores],
    ),
    "scaled twice": (
        mistake(lambda q, k, v, p: softmax(q, k, v, scale=1 / WIDTH) @ v),
        [shares_follow_the_scaled_scores],
    ),
    "scaled by the width of all heads": (
        mistake(lambda q, k, v, p: softmax(q, k, v, scale=(H * WIDTH) ** -0.5) @ v),
        [shares_follow_the_scaled_scores],
    ),
    "scaled after the softmax": (
        mistake(lambda q, k, v, p: softmax(q, k, v, scale=1.0) @ v / WIDTH**0.5),
        [shares_sum_to_one, shares_follow_the_scaled_scores],
    ),
    "heads merged without the transpose": (
        mistake(lambda q, k, v, p: merged_by_a_reshape(correct(q, k, v, p))),
        [the_future_moves_nothing, every_visible_token_counts],
    ),
    "heads split by a reshape": (
        mistake(lambda q, k, v, p: correct(*map(split_by_a_reshape, (q, k, v)), p)),
        [the_future_moves_nothing, every_visible_token_counts],
    ),
    "all heads use the first queries": (
        mistake(lambda q, k, v, p: correct(q[..., :1, :, :].expand_as(q), k, v, p)),
        [shares_follow_the_scaled_scores],
    ),
    "keys and values swapped": (
        mistake(lambda q, k, v, p: correct(q, v, k, p)),
        [shares_sum_to_one, contexts_lie_between_the_values],
    ),
    "the mean of the batch leaks in": (
        mistake(
            lambda q, k, v, p: correct(
                q, k, v if v.ndim == 3 else v - v.mean(0, keepdim=True), p
            )
        ),
        [texts_do_not_touch_each_other, a_batch_is_each_text_alone],
    ),
    "a position is added to the keys": (
        mistake(lambda q, k, v, p: correct(q, k + torch.arange(T)[:, None], v, p)),
        [the_past_has_no_order, shares_follow_the_scaled_scores],
    ),
    "a position is added, no mask": (
        function(
            lambda q, k, v, p: unmasked(attention)(
                q, k + torch.arange(T)[:, None], v, p
            )
        ),
        [order_only_orders_the_result],
    ),
    "values grow with the text": (
        mistake(lambda q, k, v, p: T * correct(q, k, v, p)),
        [contexts_lie_between_the_values],
    ),
    "always in 32 bits": (
        mistake(
            lambda q, k, v, p: correct(q.float(), k.float(), v.float(), p).double()
        ),
        [every_precision_works],
    ),
    "the type is not kept": (
        mistake(lambda q, k, v, p: correct(q, k, v, p).float()),
        [every_precision_works],
    ),
    "dropout in eval": (
        drop_wrongly(lambda q, k, v, p: dropout(softmax(q, k, v), 0.5) @ v),
        [dropout_is_off_in_use, a_call_leaves_no_trace],
    ),
    "no dropout at all": (
        drop_wrongly(lambda q, k, v, p: softmax(q, k, v) @ v),
        [dropout_is_off_in_use],
    ),
    "dropout of the context": (
        drop_wrongly(lambda q, k, v, p: dropout(softmax(q, k, v) @ v, p)),
        [dropout_drops_whole_shares],
    ),
    "dropout of the values": (
        drop_wrongly(lambda q, k, v, p: softmax(q, k, v) @ dropout(v, p)),
        [dropout_drops_whole_shares],
    ),
    "dropout of the scores": (
        drop_wrongly(
            lambda q, k, v, p: softmax(q, k, v, hide=lambda s: dropout(s, p)) @ v
        ),
        [dropout_drops_whole_shares, dropout_keeps_the_mean],
    ),
    "dropout without growth": (
        drop_wrongly(
            lambda q, k, v, p: (
                (softmax(q, k, v) * dropout(torch.ones(T, T), p).sign()) @ v
            )
        ),
        [dropout_drops_whole_shares, dropout_keeps_the_mean],
    ),
    "dropout, then renormalised": (
        drop_wrongly(
            lambda q, k, v, p: (
                nn.functional.normalize(dropout(softmax(q, k, v), p), p=1, dim=-1) @ v
            )
        ),
        [dropout_drops_whole_shares, dropout_keeps_the_mean],
    ),
    "dropout by the rate kept": (
        drop_wrongly(
            lambda q, k, v, p: dropout(softmax(q, k, v), 1 - p if p else p) @ v
        ),
        [dropout_drops_whole_shares],
    ),
    "one dropout for all heads": (
        drop_wrongly(lambda q, k, v, p: of_one_pattern(softmax(q, k, v), -3, p) @ v),
        [dropout_drops_whole_shares],
    ),
    "one dropout for all queries": (
        drop_wrongly(lambda q, k, v, p: of_one_pattern(softmax(q, k, v), -2, p) @ v),
        [dropout_drops_whole_shares],
    ),
    "one dropout for all keys": (
        drop_wrongly(lambda q, k, v, p: of_one_pattern(softmax(q, k, v), -1, p) @ v),
        [dropout_drops_whole_shares],
    ),
    "one dropout for all texts": (
        drop_wrongly(lambda q, k, v, p: of_one_pattern(softmax(q, k, v), 0, p) @ v),
        [dropout_drops_whole_shares],
    ),
    "weights are kept": (subclass(KeepsItsWeights), [a_call_leaves_no_trace]),
    "the input is changed": (subclass(ScalesItsInput), [a_call_leaves_no_trace]),
    "calls are counted": (subclass(CountsCalls), [a_call_leaves_no_trace]),
}


def test_without_a_mistake_every_property_holds() -> None:
    subject = function(correct, causal=True, drops=True)
    for holds, applies in PROPERTIES.items():
        if applies(subject):
            holds(subject)


@pytest.mark.parametrize(
    ("holds", "name"),
    [
        pytest.param(holds, name, id=f"{holds.__name__}: {name}")
        for name, (_, properties) in MISTAKES.items()
        for holds in properties
    ],
)
def test_property_finds_the_mistake(holds: Property, name: str) -> None:
    with pytest.raises(AssertionError):
        holds(MISTAKES[name][0])


def test_every_property_finds_a_mistake() -> None:
    assert {
        holds for _, properties in MISTAKES.values() for holds in properties
    } == set(PROPERTIES)


MASK_MISTAKES: dict[str, tuple[Attend, MaskProperty]] = {
    "aligned to the first key": (
        lambda q, k, v, mask: attention(
            q,
            k,
            v,
            mask=mask if q.shape[-2] == S else torch.ones_like(mask).tril(),
        ),
        the_last_query_belongs_to_the_last_key,
    ),
    "nan for a fully masked row": (
        lambda q, k, v, mask: (
            scaled(q, k).masked_fill(~mask, -torch.inf).softmax(dim=-1) @ v
        ),
        who_sees_nothing_gets_nothing,
    ),
    "the mean for a fully masked row": (
        lambda q, k, v, mask: (
            scaled(q, k).masked_fill(~mask, -1e300).softmax(dim=-1) @ v
        ),
        who_sees_nothing_gets_nothing,
    ),
    "nan hidden afterwards, still in the gradient": (
        lambda q, k, v, mask: (
            scaled(q, k).masked_fill(~mask, -torch.inf).softmax(dim=-1) @ v
        ).masked_fill(~mask.any(dim=-1, keepdim=True), 0.0),
        who_sees_nothing_gets_nothing,
    ),
    "hidden keys are counted": (
        lambda q, k, v, mask: (scaled(q, k).softmax(dim=-1) * mask) @ v,
        a_hidden_key_might_as_well_not_exist,
    ),
    "the mask hides queries": (
        lambda q, k, v, mask: attention(q, k, v, mask=mask.all(-1, keepdim=True)),
        a_hidden_key_might_as_well_not_exist,
    ),
}


@pytest.mark.parametrize("name", MASK_MISTAKES)
def test_property_of_masks_finds_the_mistake(name: str) -> None:
    wrong, holds = MASK_MISTAKES[name]
    with pytest.raises(AssertionError):
        holds(wrong)


def test_every_property_of_masks_finds_a_mistake() -> None:
    assert {holds for _, holds in MASK_MISTAKES.values()} == set(MASK_PROPERTIES)
