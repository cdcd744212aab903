"""Every id can be read and predicted."""

from torch import nn

from tests.checks.model import models
from tests.checks.model.asking import ask, refuse
from tests.checks.model.building import build


def test_the_vocabulary_fits() -> None:
    name = "vocabulary"
    outcome = ask(name, models.Plain, vocab_size=30)
    assert outcome.verdict == "note"
    assert "the last 1 are no tokens" in outcome.sentence
    model = build(models.Plain)
    model.head = nn.Linear(models.WIDTH, 29)
    outcome = ask(name, model, vocab_size=31)
    assert outcome.verdict == "failed"
    assert "2 tokens can never be predicted" in outcome.sentence
    outcome = ask(name, refuse("an end", lambda ids: ids.shape[1] == 2))
    assert outcome.sentence == "The ids 0 and 30 raised RuntimeError: an end."
