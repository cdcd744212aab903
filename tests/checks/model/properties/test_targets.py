"""Targets change no logits, and the loss is of the next token."""

from fnmatch import fnmatch
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from tests.checks.model import models
from tests.checks.model.asking import ask
from tests.checks.model.building import build


class Shifts(models.Nano):
    """The logits that the loss is of are those of the token before."""

    def forward(self, idx: Tensor, targets: Any = None) -> Any:
        logits, loss = super().forward(idx, targets)
        return logits if targets is None else (logits.roll(1, 1), loss)


class Labels(models.Plain):
    """Logits are given in any case; with labels they are doubled."""

    def forward(self, ids: Tensor, labels: Any = None) -> Tensor:
        logits = super().forward(ids)
        return logits if labels is None else self.told(logits)

    def told(self, logits: Tensor) -> Tensor:
        return 2 * logits


class LossAlone(Labels):
    """With labels it gives a loss."""

    def told(self, logits: Tensor) -> Tensor:
        return logits.sum()


@pytest.mark.parametrize(
    ("kind", "verdict"),
    [
        (models.Nano, "passed"),
        (Shifts, "failed"),
        (Labels, "failed"),
        (LossAlone, "not applicable"),
    ],
)
def test_targets_change_no_logits(kind: type[nn.Module], verdict: str) -> None:
    assert ask("targets", kind).verdict == verdict


def loss_of(logits: Tensor, targets: Tensor, shift: int) -> Tensor:
    """Compare logits at t with targets at t + shift, one token after the other."""
    T = logits.shape[1]
    shares = logits.float().softmax(-1)
    terms = [
        -shares[b, t, targets[b, t + shift]].log()
        for b in range(len(logits))
        for t in range(T)
        if 0 <= t + shift < T
    ]
    return torch.stack(terms).mean()


def model_with(name: str, shift: int, *, alone: bool = False) -> type[nn.Module]:
    """Make a model whose loss is of a token so far ahead of its target."""

    class WithLoss(models.Plain):
        def forward(self, ids: Tensor, targets: Any = None, labels: Any = None) -> Any:
            logits = super().forward(ids)
            given = targets if labels is None else labels
            if given is None:
                return logits[:, [-1]] if alone else logits
            return loss_of(logits, given, shift), logits

    class Labels(WithLoss):
        def forward(self, ids: Tensor, labels: Any = None) -> Any:
            return super().forward(ids, labels=labels)

    class Targets(WithLoss):
        def forward(self, ids: Tensor, targets: Any = None) -> Any:
            return super().forward(ids, targets=targets)

    return Labels if name == "labels" else Targets


BEFORE, TWICE = "of the token before", "of the token after the next: targets are moved"
IDS = "the loss is of the next token if {} are the ids"


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize(
    ("name", "shift", "verdict", "words"),
    [
        ("labels", 1, "passed", f"{IDS.format('labels')}."),
        ("labels", 0, "failed", "of the token that is read, and not of the next"),
        ("labels", 2, "failed", TWICE),
        ("labels", -1, "failed", BEFORE),
        ("targets", 0, "passed", "of the next token if targets are the next ids."),
        ("targets", 1, "note", f"{IDS.format('targets')}, since they are moved by one"),
        ("targets", 2, "failed", TWICE),
        ("targets", -1, "failed", BEFORE),
        ("targets", 3, "passed", "the loss is none that is known here."),
    ],
)
def test_the_loss_is_of_the_next_token(
    name: str, shift: int, verdict: str, words: str, alone: bool
) -> None:
    outcome = ask("targets", model_with(name, shift, alone=alone))
    assert outcome.verdict == verdict
    assert words in outcome.sentence


def test_what_sees_all_tokens_is_asked_for_the_token_itself() -> None:
    outcome = ask("targets", model_with("labels", 0), causal=False)
    assert outcome.verdict == "passed"


class Result:
    """What models of transformers give: attributes, and no list."""

    def __init__(self, loss: Tensor | None, logits: Tensor) -> None:
        self.loss, self.logits = loss, logits


class WithResult(models.Plain):
    def forward(self, ids: Tensor, labels: Any = None) -> Any:
        logits = super().forward(ids)
        loss = None
        if labels is not None:
            loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten())
        return Result(loss, logits)


def test_a_loss_is_an_attribute_of_what_comes_back() -> None:
    outcome = ask("targets", WithResult)
    assert outcome.verdict == "failed"
    assert outcome.sentence.endswith("compare logits[:, :-1] with labels[:, 1:].")


@pytest.mark.parametrize(
    "change",
    [
        lambda loss, logits: (None, logits),  # no number at all
        lambda loss, logits: (loss * torch.nan, logits),
        lambda loss, logits: (loss + 1, logits),
    ],
)
def test_of_what_is_not_known_nothing_is_said(change: Any) -> None:
    class Changed(models.Plain):
        def forward(self, ids: Tensor, targets: Any = None) -> Any:
            logits = super().forward(ids)
            if targets is None:
                return logits
            return change(loss_of(logits, targets, 2), logits)

    assert ask("targets", Changed).verdict != "failed"


class Narrow(models.Plain):
    """It has too few logits for all ids, with targets alone or in any case."""

    widths = (7, 7)

    def forward(self, ids: Tensor, targets: Any = None) -> Any:
        logits = super().forward(ids)
        if targets is None:
            return logits[..., : self.widths[0]]
        return torch.tensor(1.0), logits[..., : self.widths[1]]


def test_logits_have_the_same_shape_with_targets() -> None:
    narrow = build(Narrow)
    assert ask("targets", narrow, vocab_size=31).verdict == "passed"
    narrow.widths = (31, 7)
    outcome = ask("targets", narrow)
    assert outcome.verdict == "failed"
    assert outcome.sentence == (
        "With targets there are 7 logits for a token, and 31 without."
    )


class Constant(models.Plain):
    """All ids are equally likely everywhere, so the loss tells nothing of a place."""

    def forward(self, ids: Tensor, targets: Any = None) -> Any:
        logits = 0 * super().forward(ids)
        return logits if targets is None else (loss_of(logits, targets, 0), logits)


def test_where_all_losses_are_alike_nothing_is_said() -> None:
    assert "none that is known" in ask("targets", Constant).sentence


class TimeFirst(models.Plain):
    def forward(self, ids: Tensor, targets: Any = None) -> Any:
        logits = super().forward(ids.mT)
        by_time = logits.transpose(0, 1)
        return by_time if targets is None else (loss_of(logits, targets.mT, 2), by_time)


def test_ids_may_have_time_first() -> None:
    assert TWICE in ask("targets", TimeFirst, layout="time first").sentence


def test_a_model_may_take_no_targets() -> None:
    assert ask("targets", models.Plain).verdict == "not applicable"


def model_with_ignored(name: str, loss: Any) -> type[nn.Module]:
    """Make a model whose loss is of the next token, and may leave out some."""

    class Labels(models.Plain):
        def forward(self, ids: Tensor, labels: Any = None) -> Any:
            logits = super().forward(ids)
            if labels is None:
                return logits
            rows, expected = logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten()
            return loss(rows, expected), logits

    class Targets(models.Plain):
        def forward(self, ids: Tensor, targets: Any = None) -> Any:
            logits = super().forward(ids)
            if targets is None:
                return logits
            return loss(logits.flatten(0, 1), targets.flatten()), logits

    return Labels if name == "labels" else Targets


def ignoring(number: int) -> Any:
    return lambda rows, ids: F.cross_entropy(rows, ids, ignore_index=number)


def of_all(rows: Tensor, ids: Tensor) -> Tensor:
    return F.cross_entropy(rows, ids, reduction="none").mean()


def gathered(rows: Tensor, ids: Tensor) -> Tensor:
    return -rows.log_softmax(-1).gather(1, ids[:, None]).mean()


def clamped(rows: Tensor, ids: Tensor) -> Tensor:
    return F.cross_entropy(rows, ids.clamp(min=0))


COUNTS = "{} of -100, which are to be left out of the loss, count {}."
RAISED = "labels of -100, which say in most code that a token does not count, raised *"


@pytest.mark.parametrize(
    ("name", "loss", "verdict", "words"),
    [
        ("labels", ignoring(-100), "passed", "*"),
        ("targets", ignoring(-100), "passed", "*"),
        ("targets", ignoring(-1), "passed", "*"),
        ("targets", gathered, "passed", "*"),
        ("labels", gathered, "note", RAISED),
        ("labels", of_all, "failed", COUNTS.format("labels", "in the mean")),
        ("targets", of_all, "failed", COUNTS.format("targets", "in the mean")),
        ("labels", clamped, "failed", COUNTS.format("labels", "as tokens")),
    ],
)
def test_targets_that_do_not_count_leave_the_loss(
    name: str, loss: Any, verdict: str, words: str
) -> None:
    outcome = ask("targets", model_with_ignored(name, loss))
    assert outcome.verdict == verdict
    assert fnmatch(outcome.sentence, words)
    wrong = ("loss-counts-ignored",) if verdict == "failed" else ()
    assert outcome.mistakes == wrong
