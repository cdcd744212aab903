"""Of whole models: norms, halves of a block, a loss, a draw, and heads taken away."""

from collections.abc import Mapping
from typing import Any

import torch

from headway.checks.core.book_sections import Section

from .ask import D, Property, Seen, T, draw, far

BLOCK = Section("A block", "What breaks it", "models/transformer_block/#what-breaks-it")
GPT = Section(
    "A model that writes", "What breaks it", "models/small_gpt/#what-breaks-it"
)
INDUCTION = Section(
    "Heads that continue a pattern",
    "What breaks it",
    "models/induction/#what-breaks-it",
)
WORDS = 7


# ---- A block: block(x, half), rms_norm(x), swiglu(x, gate, up), gelu(x) ----


def _adds_nothing(made: Mapping[str, Any]) -> Seen:
    x = draw(2, T, D)
    return Seen(
        far(made["block"](x, torch.zeros_like), x),
        "What a block adds is zero, and its tokens change.",
    )


def _mean_square(made: Mapping[str, Any]) -> Seen:
    x = 1000 * draw(T, D) + 2000  # so large that no eps counts, and of no mean zero
    squares = made["rms_norm"](x).square().mean(-1)
    return Seen(
        far(squares, torch.ones_like(squares)),
        "The squares of the result do not have a mean of one.",
    )


def _in_16_bits(made: Mapping[str, Any]) -> Seen:
    x = (300 * (draw(T, D) + 3)).half()
    wide = x.double()
    right = wide / wide.square().mean(-1, keepdim=True).sqrt()
    lost = int(((made["rms_norm"](x).double() - right).abs() > 0.01).sum())
    return Seen(lost, f"In float16, {lost} of {x.numel()} numbers are wrong.")


def _linear_in_up(made: Mapping[str, Any]) -> Seen:
    x, gate, up = draw(T, D), draw(D, 5, seed=2), draw(D, 5, seed=3)
    twice = made["swiglu"](x, gate, 2 * up)
    return Seen(
        far(twice, 2 * made["swiglu"](x, gate, up)),
        "Weights of the ungated half are doubled, and the result is not.",
    )


def _gelu_of_gpt(made: Mapping[str, Any]) -> Seen:
    x = torch.linspace(-5, 5, 101, dtype=torch.float64)
    right = torch.nn.functional.gelu(x, approximate="tanh")
    return Seen(
        far(made["gelu"](x), right),
        "The activation is not the one that GPT-2 was trained with.",
    )


# ---- A model that writes: loss(logits, ids), shares(scores, temperature) ----


def _no_loss_when_sure(made: Mapping[str, Any]) -> Seen:
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(WORDS, (2, T), generator=generator)
    logits = torch.zeros(2, T, WORDS, dtype=torch.float64)
    logits[:, :-1].scatter_(2, ids[:, 1:, None], 50.0)
    return Seen(
        float(made["loss"](logits, ids)),
        "Each next token is known for sure, and there is a loss.",
    )


def _temperature_divides(made: Mapping[str, Any]) -> Seen:
    scores = draw(WORDS)
    apart = 0.0
    for temperature in (0.5, 1.0, 2.0):
        logs = made["shares"](scores, temperature).log() * temperature
        apart = max(apart, far(logs - logs[0], scores - scores[0]))
    return Seen(
        apart,
        "Shares do not stand in the ratio of the scores divided by the temperature.",
    )


# ---- Heads: found(x) and out(found), with without(x, head); texts; a score ----


def _taken_away(made: Mapping[str, Any]) -> Seen:
    x, apart = draw(2, T, made["width"]), {}
    for head in range(made["heads"]):
        found = made["found"](x).clone()
        found[:, head] = 0
        right = made["out"](found)
        apart[head] = far(made["without"](x, head), right)
    worst = max(apart, key=apart.__getitem__)
    return Seen(
        apart[worst],
        "A head is taken away, and the result is not what the other heads make.",
    )


def _left_as_it_was(made: Mapping[str, Any]) -> Seen:
    x = draw(2, T, made["width"])
    before = made["out"](made["found"](x))
    made["without"](x, 0)
    return Seen(
        far(made["out"](made["found"](x)), before),
        "A head was taken away for one call, and the next call does without it, too.",
    )


def _no_distance_alone(made: Mapping[str, Any]) -> Seen:
    ids = made["texts"](50)
    explained = [d for d in range(1, 20) if bool((ids[:, d:] == ids[:, :-d]).all())]
    return Seen(
        len(explained),
        f"In all texts each token is the one {min(explained, default=0)} places back, "
        "so nothing needs to be matched.",
    )


def _perfect_scores_one(made: Mapping[str, Any]) -> Seen:
    at, apart = torch.arange(T), {}
    for distance in (3, 5):
        looks = torch.where(at < distance, at, at + 1 - distance)
        weights = torch.eye(T, dtype=torch.float64)[looks]
        apart[distance] = abs(1 - float(made["induction_score"](weights, distance)))
    worst = max(apart, key=apart.__getitem__)
    return Seen(
        apart[worst],
        "A head that always looks behind the earlier copy does not get a score of one.",
    )


KINDS: dict[str, list[Property]] = {
    "block": [
        Property("nothing-added", "nothing added changes nothing", BLOCK, _adds_nothing)
    ],
    "rms_norm": [
        Property("mean-square", "squares have a mean of one", BLOCK, _mean_square),
        Property("sixteen-bits", "16 bits are enough", BLOCK, _in_16_bits),
    ],
    "swiglu": [
        Property("linear-up", "twice the up, twice the result", BLOCK, _linear_in_up)
    ],
    "gelu": [
        Property("activation", "the activation is the trained one", BLOCK, _gelu_of_gpt)
    ],
    "loss": [Property("no-loss", "sure of the next, no loss", GPT, _no_loss_when_sure)],
    "shares": [
        Property("temperature", "temperature divides, once", GPT, _temperature_divides)
    ],
    "without": [
        Property(
            "left-as-it-was", "the model is left as it was", INDUCTION, _left_as_it_was
        ),
        Property("others-stay", "the others stay as they are", INDUCTION, _taken_away),
    ],
    "texts": [
        Property(
            "no-distance", "no distance tells it all", INDUCTION, _no_distance_alone
        )
    ],
    "induction_score": [
        Property(
            "perfect-score", "a perfect head scores one", INDUCTION, _perfect_scores_one
        )
    ],
}
