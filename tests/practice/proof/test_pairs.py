"""The pairs that a reader may be told of are listed."""

from pathlib import Path

from headway.practice.proof.pairs import pairs
from headway.practice.task.library import Library, book
from tests.practice.small import HALF, small_set


def test_pairs_are_listed_as_they_are_read(library: Library) -> None:
    assert [*pairs(library["double"])] == [
        "it is three times as much, and when one is added",
        "it is squared, and when one is added",
    ]
    assert [*pairs(library["half"])] == []


def test_pairs_that_contain_some_texts_are_listed_alone(library: Library) -> None:
    assert [*pairs(library["double"], ["added", "squared"])] == [
        "it is squared, and when one is added"
    ]
    assert [*pairs(library["double"], ["squared", "three times"])] == []


def test_pairs_that_are_right_or_bear_one_name_are_left_out(tmp_path: Path) -> None:
    half = HALF.replace("return x / 2", "y = x / 2\n    return y").replace(
        'third")]',
        """third"),
        Wrong("return y", "return y * 1.5", "it is more"),
        Wrong("return y", "return (y", "it is no program"),
    ]""",
    )
    assert [*pairs(small_set(tmp_path / "set", half=half)["half"])] == []


def test_the_sentences_of_a_pair_do_not_contradict_each_other() -> None:
    """These were told to readers, and each half denied the other."""
    for name, first, second in (
        ("rotate", "numbers half a vector apart", "the turned pairs are laid half"),
        ("delta", "nothing is taken off", "the whole memory fades"),
        (
            "both_halves",
            "the feed-forward part reads tokens that are not normal",
            "the second half has a norm",
        ),
    ):
        assert [*pairs(book()[name], [first, second])] == []
