"""Each property finds the mistakes that break it.

A leak, a wrong axis or a lost scale changes no shape and seldom a training curve. The
mistakes are those that the checks of others' modules are tried on.
"""

from collections.abc import Iterable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from headway import attention
from tests.properties.of_attention import (
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
from tests.properties.of_masks import (
    MASK_PROPERTIES,
    Attend,
    MaskProperty,
    a_hidden_key_might_as_well_not_exist,
    the_last_query_belongs_to_the_last_key,
    who_sees_nothing_gets_nothing,
)
from tests.properties.subjects import D_IN, WIDTH, Subject, Weights, in_layers, scaled
from tests.support.attention_in_steps import Attention, Sizes
from tests.support.mistakes import INVISIBLE_IN_RESULTS, MISTAKES
from tests.support.mistakes.mistake import (
    AGAIN,
    ALONE,
    DROPOUT,
    EQUATION,
    EVAL,
    HALF,
    LEAK,
    NUMBERS,
    ORDER,
    PAST,
    SUM,
    TEXTS,
    Mistake,
)
from tests.support.sizes import H, S, T


class OfAnyShape(nn.Module):
    """Attention in steps, of a batch or of a single text."""

    def __init__(self, inner: nn.Module):
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x) if x.ndim == 3 else self.inner(x.unsqueeze(0))[0]


def subject(mistake: Mistake, **options: Any) -> Subject:
    causal = (mistake.options | options).get("causal", True)

    def build(weights: Weights, p: float) -> nn.Module:
        sizes = Sizes(D_IN, WIDTH, H, T, H * WIDTH)
        module = Attention(sizes, causal=causal, bias=False, p=p, **mistake.steps)
        in_layers(module.double(), weights)
        return OfAnyShape(module)

    return Subject(build, causal=causal, heads=H, drops=True)


# What a check asks, and the property that asks it here.
ASKED_HERE = {
    EQUATION: shares_follow_the_scaled_scores,
    LEAK: the_future_moves_nothing,
    NUMBERS: every_visible_token_counts,
    PAST: every_visible_token_counts,
    SUM: shares_sum_to_one,
    ORDER: the_past_has_no_order,
    TEXTS: texts_do_not_touch_each_other,
    ALONE: a_batch_is_each_text_alone,
    AGAIN: a_call_leaves_no_trace,
    EVAL: dropout_is_off_in_use,
    DROPOUT: dropout_drops_whole_shares,
    HALF: every_precision_works,
}
# What shows in another property.
ELSEWHERE = {
    "scale: scaled before and after the softmax": shares_sum_to_one,
    "scale: all heads' root after the softmax": shares_sum_to_one,
    "axis: softmax over all heads": shares_sum_to_one,
    "axis: divided by the number of tokens": contexts_lie_between_the_values,
    "axis: the naive softmax": the_future_moves_nothing,
    "mask: in training only": the_future_moves_nothing,
    "mask: in eval only": the_future_moves_nothing,
    "mask: of the first call": a_call_leaves_no_trace,
    "heads: shared v": contexts_lie_between_the_values,
    "dropout: dropout of a fixed rate": dropout_drops_whole_shares,
    "dropout: dropout by the rate kept": dropout_keeps_the_mean,
}
# The subjects have one size, float64, no biases, no groups, and a projection that does
# nothing.
NOT_SEEN_HERE = {
    "scale: a group's root",
    "mask: shorter than the text",
    "mask: in 32 bits",  # raises an error of PyTorch's
    "mask: too low for 16 bits",
    "heads: out_proj is never used",
    "heads: biases are lost",
    "heads: the bias of queries is lost",
    "heads: the bias of values is lost",
    "heads: the bias of the output is lost",
    "heads: all biases are lost",
    "heads: groups are tiled",
    "heads: groups: k tiled",
    "heads: groups: v tiled",
    "heads: groups: v reversed",
    "heads: groups: queries dealt",
    "heads: heads of groups are merged in another order",
    "call: fixed sizes",
    "call: detached",
    "call: the input is detached",
}
# And what more than one property finds.
ALSO: dict[Property, list[str]] = {
    the_future_moves_nothing: ["axis: softmax over the queries"],
    every_visible_token_counts: [
        "mask: inverted",
        "mask: flipped",
        "heads: split by a view",
        "heads: merged by a view",
    ],
    shares_sum_to_one: [
        "mask: the result of masked_fill is lost",
        "mask: zeros",
        "mask: its own place is hidden",
        "heads: roles qvk",
    ],
    a_shift_of_all_scores_changes_nothing: [
        "axis: softmax over the heads",
        "axis: softmax over the queries, unmasked",
        "heads: roles kkv",
    ],
    contexts_lie_between_the_values: [
        "axis: softmax over the heads",
        "heads: roles qvk",
    ],
    a_batch_is_each_text_alone: ["call: the mean of the batch"],
    dropout_is_off_in_use: ["dropout: no dropout at all"],
    dropout_keeps_the_mean: [
        "dropout: dropout of scores",
        "dropout: dropout without growth",
        "dropout: dropout, then renormalised",
        "dropout: dropout grows too much",
    ],
    a_call_leaves_no_trace: ["call: a mean is kept"],
}


def pairs() -> Iterable[tuple[Property, str]]:
    for name, mistake in (MISTAKES | INVISIBLE_IN_RESULTS).items():
        if name not in NOT_SEEN_HERE:
            yield ELSEWHERE.get(name) or ASKED_HERE[mistake.fails], name
    for holds, names in ALSO.items():
        yield from ((holds, name) for name in names)


@pytest.mark.parametrize("causal", [True, False])
def test_without_a_mistake_every_property_holds(causal: bool) -> None:
    correct = subject(Mistake("", {}), causal=causal)
    for holds, applies in PROPERTIES.items():
        if applies(correct):
            holds(correct)


@pytest.mark.parametrize(
    ("holds", "name"),
    [pytest.param(*pair, id=f"{pair[0].__name__}: {pair[1]}") for pair in pairs()],
)
def test_property_finds_the_mistake(holds: Property, name: str) -> None:
    with pytest.raises(AssertionError):
        holds(subject((MISTAKES | INVISIBLE_IN_RESULTS)[name]))


def test_order_counts_where_everything_is_seen() -> None:
    positions = MISTAKES["call: positions that nobody names"]
    with pytest.raises(AssertionError):
        order_only_orders_the_result(subject(positions, causal=False))


def test_every_property_finds_a_mistake() -> None:
    tried = {holds for holds, _ in pairs()} | {order_only_orders_the_result}
    assert tried == set(PROPERTIES)
    assert NOT_SEEN_HERE | ELSEWHERE.keys() <= MISTAKES.keys()


# Mistakes of a function with masks of other shapes than (T, T).
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
