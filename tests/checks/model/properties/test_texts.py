"""Texts of a batch, and texts that go on."""

from checks.model.asking import ask, embeds, refuse


def test_the_number_of_texts_must_not_count() -> None:
    model = embeds(lambda m, x: x * len(x))
    assert ask("the same alone as in a batch", model).verdict == "failed"
    outcome = ask(
        "the same alone as in a batch", refuse("full", lambda ids: len(ids) > 4)
    )
    assert outcome.verdict == "note"
    assert outcome.sentence == "8 texts at once raised RuntimeError: full."


def test_the_length_must_not_count() -> None:
    model = embeds(lambda m, x: x * x.shape[1])
    outcome = ask("a longer text keeps its logits", model)
    assert outcome.verdict == "failed"
    assert "depends on how long it is" in outcome.sentence
    outcome = ask(
        "a longer text keeps its logits", refuse("one", lambda ids: ids.shape[1] == 1)
    )
    assert outcome.verdict == "note"
