"""What is found in calls is named by an id, and what may be several things by none."""

import pytest

from tests.checks.support.asking import rows_of
from tests.support.attention_in_steps import KeyMasked
from tests.support.mistakes import CALLER_MASKS, MISTAKES, OTHER_CALLS, build

NAMED = {
    "mask: added": (),
    "mask: cut one row too low": ("mask-shows-next",),
    "mask: flipped": ("mask-flipped",),
    "mask: inverted": ("mask-inverted",),
    "mask: no mask": (),
    "mask: not low enough": ("mask-fills-too-high",),
    "mask: not with dropout": ("mask-hangs-on-mode",),
    "mask: the next token is seen": ("mask-shows-next",),
    "dropout: dropout by the rate kept": ("dropout-rate-inverted",),
    "dropout: dropout in eval": ("dropout-in-eval",),
    "dropout: dropout of scores": ("dropout-on-scores",),
    "dropout: no dropout at all": ("dropout-never-acts",),
    "call: detached": ("gradient-detached",),
    "call: the input is changed": ("input-changed-in-place",),
    "nothing of the others": ("keys-and-values-from-queries",),
    "the past is not looked at": ("cache-not-read",),
    "values beside other keys": ("cache-keys-and-values-crossed",),
}
OF_CALLERS = {
    "the mask hides rows": ("mask-hides-queries",),
    "the mask is applied after the softmax": ("mask-after-softmax",),
    "the mask is ignored": ("mask-ignored",),
    "the mask is multiplied": ("mask-fills-near-zero",),
    "the mask or the past": ("mask-or-causal",),
    "only the first text's mask": ("mask-of-first-text-for-all",),
}


@pytest.mark.parametrize(("name", "ids"), NAMED.items())
def test_a_mistake_that_calls_show_is_named(name: str, ids: tuple[str, ...]) -> None:
    mistake = (MISTAKES | OTHER_CALLS)[name]
    [row] = rows_of(build("five heads", mistake), mistake.fails)
    assert (row.verdict, row.mistakes) == ("failed", ids)


@pytest.mark.parametrize(("name", "ids"), OF_CALLERS.items())
def test_a_mistake_with_a_mask_is_named(name: str, ids: tuple[str, ...]) -> None:
    mistake = CALLER_MASKS[name]._replace(kind=KeyMasked)
    [row] = rows_of(build("five heads", mistake), mistake.fails)
    assert (row.verdict, row.mistakes) == ("failed", ids)
