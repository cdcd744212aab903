"""Scores become weights as loops say: with caps, biases, masks, windows and sinks."""

import math

import pytest
import torch

from headway.checks.attention.evidence.design import Design
from headway.checks.attention.oracle.recipe import Recipe
from headway.checks.attention.oracle.scores_to_weights import weigh
from tests.support.compare import close
from tests.support.sizes import B, H, S, T, draw

SCALE = 0.3
WINDOW = 3


def looped(scores, sees, *, cap=None, bias=None, sinks=None):
    """Weigh scores, one row at a time."""
    weights = torch.zeros_like(scores)
    for b, h, t in torch.cartesian_prod(*map(torch.arange, scores.shape[:3])).tolist():
        row = {}
        for s in range(scores.shape[3]):
            if sees(t, s):
                score = float(scores[b, h, t, s])
                score = score if cap is None else cap * math.tanh(score / cap)
                row[s] = math.exp(score + (0 if bias is None else float(bias[h, t, s])))
        whole = sum(row.values()) + (0 if sinks is None else math.exp(sinks[h]))
        for s, share in row.items():
            weights[b, h, t, s] = share / whole
    return weights


def past(t, s):
    return s <= t


@pytest.mark.parametrize("keys", [T, S])
@pytest.mark.parametrize("causal", [True, False])
def test_a_design_of_everything_equals_loops(keys, causal):
    scores, bias, sinks = 4 * draw(B, H, T, keys), draw(H, T, keys), draw(H)
    design = Design(bias=bias, softcap=1.5, sinks=sinks)
    expected = looped(
        scores,
        past if causal else lambda t, s: True,
        cap=1.5,
        bias=bias,
        sinks=sinks,
    )
    close(weigh(scores, SCALE, Recipe(), design, causal), expected)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(
    ("how", "width"), [("right", 3), ("wider", 4), ("narrower", 2)]
)
def test_a_window_counts_the_token_itself(causal, how, width):
    scores = draw(B, H, T, T)

    def sees(t, s):
        return 0 <= t - s < width if causal else abs(t - s) < width

    found = weigh(scores, SCALE, Recipe(window=how), Design(window=WINDOW), causal)
    close(found, looped(scores, sees))


def test_a_window_that_is_forgotten_or_open():
    scores, design = draw(B, H, T, T), Design(window=WINDOW)
    close(
        weigh(scores, SCALE, Recipe(window="none"), design, True), looped(scores, past)
    )
    found = weigh(scores, SCALE, Recipe(window="open"), design, True)
    close(found, looped(scores, lambda t, s: t - s < WINDOW))


@pytest.mark.parametrize(
    ("mask", "sees"),
    [
        ("next", lambda t, s: s <= t + 1),
        ("not itself", lambda t, s: s < t),
        ("flipped", lambda t, s: s >= t),
        ("none", lambda t, s: True),
    ],
)
def test_a_wrong_mask_is_what_its_name_says(mask, sees):
    scores = draw(B, H, T, T)
    found = weigh(scores, SCALE, Recipe(mask=mask), Design(), True)
    # The first row is left out: it may see nothing at all.
    expected = looped(scores[:, :, 1:], lambda t, s: sees(t + 1, s))
    close(found[:, :, 1:], expected)
