"""An answer is judged by hidden numbers, and a mistake bears its name."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

from headway.practice.judging.judge import KnownResults, judge, passes
from headway.practice.judging.verdict import Verdict
from headway.practice.task.library import Library
from tests.practice.small import HALF, small_set

Answer = Callable[[Tensor], object]


def of(library: Library, name: str, answer: Answer, seed: int = 0) -> Verdict:
    return judge(library[name], {name: answer}, seed=seed)


@pytest.mark.parametrize("seed", [0, 1, 77])
def test_what_is_right_passes(library: Library, seed: int) -> None:
    verdict = of(library, "double", lambda x: x + x, seed)
    assert verdict.state == "passed"
    assert verdict.sentence == "Twice a number is the number and itself."


def test_one_mistake_is_named(library: Library) -> None:
    verdict = of(library, "double", lambda x: x + x + x)
    assert verdict.mistakes == ("it is three times as much",)
    assert verdict.sentence.startswith("50 of 50 numbers are wrong, the farthest by")
    assert verdict.hint == "Count again."
    assert verdict.read == ("basics/masks/#what-breaks-it", "What breaks it")


def test_the_museum_is_named(library: Library) -> None:
    verdict = of(library, "double", lambda x: x * x)
    assert verdict.exhibits == ("museum/pieces/#x",)


def test_two_mistakes_are_named_together(library: Library) -> None:
    verdict = of(library, "double", lambda x: 3 * x + 1)
    assert verdict.mistakes == ("it is three times as much", "one is added")


def test_the_smallest_case_is_shown(library: Library) -> None:
    verdict = of(library, "double", lambda x: 2 * x + (len(x) > 1))
    assert [line.split()[0] for line in verdict.case] == ["with", "yours", "must"]
    assert verdict.case[0].count(",") == 1  # two tokens of one number


def test_what_is_not_known_is_said_so(library: Library) -> None:
    verdict = of(library, "double", lambda x: x * 5)
    assert verdict.sentence.endswith("No mistake known here explains it.")
    assert verdict.mistakes == ()


def test_a_property_tells_more_where_no_mistake_does(library: Library) -> None:
    verdict = of(library, "half", lambda x: x / 2 + 1)
    assert verdict.sentence.endswith(
        "It must hold that half of nothing is nothing. It does not."
    )


def test_numbers_can_be_right_and_a_property_broken(library: Library) -> None:
    verdict = of(library, "half", lambda x: x / 2 if x.any() else x + 1)
    assert verdict.sentence == (
        "The numbers are right, but it must hold that half of nothing is nothing. "
        "It does not."
    )


def test_a_property_that_cannot_be_asked_is_broken(library: Library) -> None:
    def nothing_is_refused(x: Tensor) -> Tensor:
        if not x.any():
            raise RuntimeError("nothing")
        return x / 2

    verdict = of(library, "half", nothing_is_refused)
    assert verdict.sentence.endswith("nothing. It raised RuntimeError: nothing")


def test_an_answer_may_be_wrong_at_some_sizes_alone(library: Library) -> None:
    verdict = of(library, "double", lambda x: 2 * x + (x.shape[0] == x.shape[1]))
    assert verdict.sentence.startswith("16 of 16 numbers are wrong")
    assert verdict.case[0] == f"with     double({verdict.case[0][16:]}"


def test_what_is_wrong_at_large_sizes_alone_has_no_smallest_case(
    library: Library,
) -> None:
    verdict = of(library, "double", lambda x: 2 * x + (x.numel() > 20))
    assert verdict.sentence.startswith("50 of 50 numbers are wrong")
    assert verdict.case == ()


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        (lambda x: x / 2, True),
        (lambda x: x / 3, False),
        (lambda x: x / 2 if x.any() else x + 1, False),
        (lambda x: x.div_(2), False),
    ],
)
def test_an_answer_is_right_or_not(
    library: Library, answer: Answer, right: bool
) -> None:
    drawings = KnownResults(library["half"], 3).trials
    assert passes(library["half"], {"half": answer}, drawings) is right


def test_two_edits_that_make_no_program_together_explain_nothing(
    tmp_path: Path,
) -> None:
    more = """third"),
        Wrong("return x", "return (x", "a bracket is opened"),
        Wrong(" x / 2", " x / 2)", "a bracket is closed"),
    ]"""
    other = HALF.replace('third")]', more).replace("return x / 2", "return  x / 2")
    other = other.replace('Wrong("return x"', 'Wrong("return "')
    other = other.replace('"return (x"', '"return ( "')
    library = small_set(tmp_path / "other", half=other)
    assert of(library, "half", lambda x: x * 7).mistakes == ()


def test_what_is_not_called_as_it_was_drawn_is_shown_without_a_call(
    tmp_path: Path,
) -> None:
    asked = HALF.replace("    covers=", "    ask=lambda f, x: f(x) + 1,\n    covers=")
    library = small_set(tmp_path / "other", half=asked)
    case = of(library, "half", lambda x: x * 7).case
    assert case[0].startswith("with     x = [[")


@pytest.mark.parametrize(
    "draw",
    [
        "lambda d: (d.normal(d.T, d.D - 2),)",  # sizes less than none
        "lambda d: (d.normal(d.T, d.D)[:, :2] * (1 if d.T > 1 else None),)",
    ],
)
def test_small_sizes_that_do_not_fit_are_left_out(tmp_path: Path, draw: str) -> None:
    other = HALF.replace("lambda d: (d.normal(d.T, d.D),)", draw)
    library = small_set(tmp_path / "other", half=other)
    assert of(library, "half", lambda x: x * 7).case


def test_small_sizes_that_the_solution_refuses_are_left_out(tmp_path: Path) -> None:
    other = HALF.replace(
        "return x / 2", "y = x[:, 1:].reshape(-1, 1)[1]; return x / 2"
    ).replace('"x / 2", "x / 3"', '"x / 2", "x / 3"')
    library = small_set(tmp_path / "other", half=other)
    case = of(library, "half", lambda x: x * 7).case
    assert "[[" in case[0]
    assert case[0].count(",") > 1


def test_an_error_is_told_with_the_readers_lines(library: Library) -> None:
    verdict = of(library, "double", lambda x: x.trill())  # type: ignore[attr-defined]
    assert verdict.sentence.startswith("It raised AttributeError: ")
    assert "in <lambda>\n" in verdict.traceback
    assert "torch" not in verdict.traceback.splitlines()[0]
    assert "No mistake" not in verdict.sentence


def test_an_error_where_the_solution_raises_none_may_have_a_name(
    tmp_path: Path,
) -> None:
    raising = HALF.replace('"x / 3", "it is', '"x @ x", "it is')
    library = small_set(tmp_path / "other", half=raising)
    verdict = of(library, "half", lambda x: torch.matmul(x, x))
    assert verdict.mistakes == ("it is a third",)


# What the exercise itself is to blame for is told of no answer, but raised.


@pytest.mark.parametrize(
    ("old", "new", "answer", "raised"),
    [
        ("return x / 2", "x / 2; return [][2]", 2, IndexError),
        ("    covers=", "    ask=lambda f, x: f(x)[9999],\n    covers=", 2, IndexError),
        ("not f(0 * x).any()", "[][f(x)]", 2, TypeError),
        ("not f(0 * x).any()", "[][f(x)]", 7, TypeError),
        (
            "    covers=",
            "    report=lambda f: f.failed,\n    covers=",
            7,
            AttributeError,
        ),
        # The solution does not come there.
        ("not f(0 * x).any()", "not f(0 * x).any() or missing", 7, NameError),
        (
            "(d.normal(d.T, d.D),)",
            "(d.normal(d.T * 1) if d.S > 3 else no,)",
            7,
            NameError,
        ),
    ],
)
def test_a_mistake_in_an_exercise_is_raised(
    tmp_path: Path, old: str, new: str, answer: int, raised: type[Exception]
) -> None:
    assert old in HALF
    library = small_set(tmp_path / "broken", half=HALF.replace(old, new))
    with pytest.raises(raised):
        # With one more, what has no half has one.
        of(library, "half", lambda x: x / answer + answer // 7)


def test_an_answer_may_make_an_exercise_raise(tmp_path: Path) -> None:
    asked = HALF.replace("    covers=", "    ask=lambda f, x: f(x)[0],\n    covers=")
    verdict = of(small_set(tmp_path / "set", half=asked), "half", lambda x: None)
    assert verdict.sentence.startswith("It raised TypeError: 'NoneType' object is not")


def test_the_hole_may_still_be_open(library: Library) -> None:
    def stub(x: Tensor) -> Tensor:
        raise NotImplementedError

    assert of(library, "double", stub).state == "open"


def test_a_method_that_torch_does_not_find_is_no_open_hole(library: Library) -> None:
    class Double(torch.nn.Module):
        def foward(self, x: Tensor) -> Tensor:
            return x * 2

    verdict = of(library, "double", Double())
    assert verdict.state == "failed"
    assert 'missing the required "forward"' in verdict.sentence
    assert "Does the class have a method of exactly this name" in verdict.sentence


def test_a_name_that_is_missing_is_asked_for(library: Library) -> None:
    verdict = judge(library["double"], {"doubel": len})
    assert verdict.sentence == ("The file must define double. Did you mean doubel?")
    assert judge(library["double"], {}).sentence == "The file must define double."


def test_arguments_must_not_be_changed(library: Library) -> None:
    verdict = of(library, "double", lambda x: x.mul_(2))
    assert verdict.sentence == (
        "The result is right, but it changes its arguments in place: x += y writes "
        "into x, and x = x + y does not."
    )


def test_a_report_of_check_names_what_the_exercise_does_not(tmp_path: Path) -> None:
    reporting = HALF.replace(
        "    covers=",
        "    report=lambda f: checks.check(f, d_in=5, causal=True),\n    covers=",
    ).replace("# --- your", "from headway import checks\n\n# --- your")
    library = small_set(tmp_path / "other", half=reporting)
    verdict = of(library, "half", lambda x: x.mean(dim=-2, keepdim=True) + x * 3)
    assert "headway check says: " in verdict.sentence

    nothing = reporting.replace(
        "lambda f: checks.check(f, d_in=5, causal=True)",
        "lambda f: type('Report', (), {'failed': ()})",
    )
    library = small_set(tmp_path / "nothing", half=nothing)
    assert "headway check" not in of(library, "half", lambda x: x * 3).sentence


def test_what_cannot_be_checked_is_judged_without_a_check(tmp_path: Path) -> None:
    reporting = HALF.replace(
        "    covers=", "    report=lambda f: checks.check(f, d_in=5),\n    covers="
    ).replace("# --- your", "from headway import checks\n\n# --- your")
    library = small_set(tmp_path / "other", half=reporting)
    verdict = of(library, "half", lambda x: x * 3 if x.ndim == 2 else [])
    assert "It must hold that half of nothing" not in verdict.sentence
    assert verdict.sentence.endswith("No mistake known here explains it.")


def test_the_readers_random_numbers_stay(library: Library) -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    of(library, "double", lambda x: x * 2)
    assert torch.equal(torch.rand(3), expected)
