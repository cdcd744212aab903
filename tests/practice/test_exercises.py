"""Every exercise of the book is proved, and stands where the book does."""

import pytest

from headway.practice.library import book
from headway.practice.prove import prove


@pytest.mark.parametrize("name", book())
def test_an_exercise_is_proved(name: str) -> None:
    proof = prove(book()[name])
    assert proof.ok, str(proof)
