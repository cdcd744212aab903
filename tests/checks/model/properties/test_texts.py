"""Texts of a batch, and texts that go on."""

from tests.checks.model.asking import ask, embeds, refuse


def test_the_number_of_texts_must_not_count() -> None:
    model = embeds(lambda m, x: x * len(x))
    assert ask("alone", model).verdict == "failed"
    outcome = ask("alone", refuse("full", lambda ids: len(ids) > 4))
    assert outcome.verdict == "note"
    assert outcome.sentence == "8 texts at once raised RuntimeError: full."


def test_the_length_must_not_count() -> None:
    model = embeds(lambda m, x: x * x.shape[1])
    outcome = ask("earlier-rows", model)
    assert outcome.verdict == "failed"
    assert "depends on how long it is" in outcome.sentence
    outcome = ask("earlier-rows", refuse("one", lambda ids: ids.shape[1] == 1))
    assert outcome.verdict == "note"
