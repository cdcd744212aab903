"""A set of exercises is proved: what is wrong with one is said."""

from pathlib import Path

import pytest

from headway.practice.proof.prove import prove
from tests.practice.small import HALF, small_set

RIGHT = '    right=["return 0.5 * x"],\n'


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("return x / 2", "return x / 2 + 0 * x", "A mutant passes, and survivors does"),
        ('"x / 3", "it', '"x / 2.0", "it', "A mistake passes: it is a third."),
        ('"x / 2", "x / 3"', '"x / 9", "x / 3"', "A mistake does not apply: old must"),
        ('"Divide."', '"Say return x / 2 there."', "A hint contains a line of the"),
        ('"Divide."', '"Divide"', "A hint must end a sentence: Divide"),
        ('"Divide.", ', "", "An exercise must have three hints; got 2."),
        ("is the number.", "is the number", "law must be a sentence."),
        ('right=["return 0.5 * x"]', "right=[]", "a right answer besides its"),
        ("return 0.5 * x", "return 0.4 * x", "A right answer fails: half  FAILED"),
        (
            "return 0.5 * x",
            "return (0.5 if x.dtype.itemsize > 4 else 0.4) * x",
            "A right answer fails: half  FAILED",
        ),
        ("# tensor(1.5000)", "# tensor(2.5000)", "The solution fails: half  FAILED"),
        ("    # tensor(1.5000)\n", "", "must have a worked example"),
        ("Write `half", r"Write \\\\ `half", "must have no backslash"),
        (
            "EXERCISE = ",
            "OTHER = ",
            "It could not be read: half.py must define EXERCISE, an Exe",
        ),
        (
            'third")]',
            'third"), Wrong("x / 2", "x / 3 * 1", "it is one of three")]',
            "A mistake is not named: it is one of three; it says ('it is a third',).",
        ),
        (
            'third")]',
            'third"), Wrong("x / 2", "x / 4", "it is a third")]',
            "Two mistakes bear one name: it is a third.",
        ),
        (
            "    covers=",
            '    survivors={"2 -> 3": "none"},\n    covers=',
            "survivors names a mutant that fails: 2 -> 3.",
        ),
        (
            'third")]',
            'third"), Wrong("x / 2", "x / (", "it is no program")]',
            "A mistake is not named: it is no program; it says (\"SyntaxError: '(' was",
        ),
        (
            "return x / 2",
            'raise ValueError("too many") if x.numel() > 20 else 0\n    return x / 2',
            "In trial 0 the solution raises ValueError: too many at <half>:6.",
        ),
        (
            "lambda d: (d.normal(d.T, d.D),)",
            "lambda d: d.normals(d.T)",
            "It could not be read: AttributeError: 'Draw' object has no attribute "
            "'normals' at ",
        ),
        (
            "    covers=",
            '    forbids=[Forbidden("By sums.", "x", ("add",))],\n    covers=',
            "A forbidden way is not seen: By sums. half  FAILED",
        ),
        (
            "    # --- write ---",
            "    return x / 2\n    # --- write ---",
            "The stub is judged passed: ",
        ),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in HALF
    library = small_set(tmp_path / "set", half=HALF.replace(old, new))
    proof = prove(library["half"])
    assert not proof.ok
    assert any(said in one for one in proof.problems), proof.problems
    assert "FAILED" in str(proof)


def test_a_forbidden_way_that_is_seen_is_no_problem(tmp_path: Path) -> None:
    by_sums = (
        '    forbids=[Forbidden("By no sum.", "return x - x + x / 2", ("add",))],\n'
        "    covers="
    )
    half = HALF.replace("    covers=", by_sums)
    assert prove(small_set(tmp_path / "set", half=half)["half"]).ok


def test_two_that_give_the_same_may_be_declared(tmp_path: Path) -> None:
    twin = 'third"), Wrong("x / 2", "x / 3 * 1", "one", same_as="it is a third")]'
    library = small_set(tmp_path / "set", half=HALF.replace('third")]', twin))
    assert prove(library["half"]).ok


def test_a_mutant_may_be_no_program(tmp_path: Path) -> None:
    begin, end = HALF.index("def half"), HALF.index('if __name__ == "__main__"')
    table = """# --- write ---
parts = [0.5, 1.0]
half = {0: lambda x: parts[0] * x}[0]
# --- written ---


"""
    other = (HALF[:begin] + table + HALF[end:]).replace(
        "return 0.5", "half = lambda x: 0.5"
    )
    other = other.replace('"x / 2", "x / 3"', '"0.5", "1 / 3"')
    proof = prove(small_set(tmp_path / "set", half=other)["half"])
    assert proof.survivors == ("1.0 -> 3.0",)  # a key that is missing is seen
    assert "0 -> 1" not in str(proof)


def test_what_is_good_is_counted(tmp_path: Path) -> None:
    proof = prove(small_set(tmp_path / "set")["double"])
    assert proof.ok, proof.problems
    assert (proof.wrong, proof.alone, proof.survivors) == (3, 3, ())
    assert proof.mutants >= 2


def test_a_right_answer_that_fails_is_told_once(tmp_path: Path) -> None:
    half = HALF.replace("return 0.5 * x", "return 0.4 * x")
    problems = prove(small_set(tmp_path / "set", half=half)["half"]).problems
    assert len(problems) == 1
