"""An answer is judged by hidden numbers, and a mistake bears its name."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from headway.practice.judging import judge as judging
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


class Sorted:
    """Sorts what it is given."""

    limit = 3

    def __init__(self, x: list[int]) -> None:
        x.sort()
        self.x = x

    def __iter__(self) -> Iterator[int]:
        return iter(self.x)


def add_in_place(x: Tensor) -> Tensor:
    x += x
    return x


def set_in_place(x: Tensor) -> Tensor:
    x[:] = x.clone() * 2
    return x


# There is no text of it.
TWICE = eval("lambda x: x.mul_(2)")  # noqa: S307


def count_and_sort(x: list[int]) -> list[int]:
    count, rest = 0, []
    for one in x:
        count += one
        rest.append(one)
    rest.append(count)
    x.sort()
    return x


def alias(x: Tensor) -> Tensor:
    y = x.T
    y += x.T.clone()
    return x


def sort_list(x: list[int]) -> list[int]:
    x.sort()
    return x


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (alias, ": x += y writes into x, and x = x + y does not."),
        (add_in_place, ": x += y writes into x, and x = x + y does not."),
        (lambda x: x.mul_(2), ": .mul_() writes into its tensor, and .mul() does not."),
        (set_in_place, ", such as by x[0] = y, by .sort() of a list, or by a method"),
        (TWICE, ", such as by x[0] = y, by .sort() of a list, or"),
    ],
)
def test_arguments_must_not_be_changed(
    library: Library, answer: Answer, said: str
) -> None:
    verdict = of(library, "double", answer)
    told = "The result is right, but it changes its arguments in place"
    assert verdict.sentence.startswith(told + said)


def test_a_change_of_arguments_is_told_before_a_property(library: Library) -> None:
    def half(x: Tensor) -> Tensor:
        if not x.any():
            return x + 1
        x /= 2
        return x

    assert of(library, "half", half).sentence == (
        "The result is right, but it changes its arguments in place: x += y writes "
        "into x, and x = x + y does not."
    )


def test_a_change_of_arguments_is_told_of_a_wrong_result(library: Library) -> None:
    def half(x: Tensor) -> Tensor:
        x /= 2
        return x + 1

    verdict = of(library, "half", half)
    assert "numbers are wrong" in verdict.sentence
    assert verdict.sentence.endswith(
        " It changes its arguments in place: x += y writes into x, and x = x + y "
        "does not."
    )


@pytest.mark.parametrize("answer", [sort_list, count_and_sort, Sorted])
def test_a_list_must_not_be_changed(tmp_path: Path, answer: Any) -> None:
    half = HALF.replace("(d.normal(d.T, d.D),)", "([3, 1, 2],)").replace(
        "return x / 2", "return sorted(x)"
    )
    half = half.replace('"x / 2", "x / 3"', '"sorted(x)", "x"')
    half = half.replace("    covers=", "    ask=lambda f, x: [*f(x)],\n    covers=")
    half = half.replace("not f(0 * x).any()", "True")
    library = small_set(tmp_path / "other", half=half)
    assert of(library, "half", answer).sentence == (
        "The result is right, but it changes its arguments in place: .sort() changes "
        "its list. Copy it first, as by list(x)."
    )


LAYERS = HALF.replace(
    "    covers=",
    "    ask=lambda f, x: f(x, [torch.nn.Linear(1, 1)]),\n    covers=",
).replace("from torch import Tensor\n", "import torch\nfrom torch import Tensor\n")
LAYERS = LAYERS.replace("def half(x: Tensor)", "def half(x: Tensor, layers=())")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda one: one.requires_grad_(requires_grad=False), "requires_grad"),
        (lambda one: one.eval(), "training"),
        (lambda one: one(torch.ones(1)).backward(), ".grad"),
        (lambda one: one.state_dict(), ""),
    ],
)
def test_what_is_given_must_stay_able_to_learn(
    tmp_path: Path, change: Callable[[torch.nn.Module], object], said: str
) -> None:
    def half(x: Tensor, layers: Sequence[torch.nn.Module] = ()) -> Tensor:
        for one in layers:
            change(one)
        return x / 2

    verdict = of(small_set(tmp_path / "other", half=LAYERS), "half", half)  # type: ignore[arg-type]
    assert verdict.ok is not bool(said)
    if said:
        assert verdict.sentence == (
            f"The result is right, but it changes {said} of what it was given."
        )


def test_the_solution_may_change_what_it_is_given(tmp_path: Path) -> None:
    frozen = LAYERS.replace(
        "return x / 2", "[one.eval() for one in layers]\n    return x / 2"
    )

    def half(x: Tensor, layers: Sequence[torch.nn.Module] = ()) -> Tensor:
        return sum((one.eval() is None for one in layers), x / 2)

    library = small_set(tmp_path / "other", half=frozen)
    assert of(library, "half", half).ok  # type: ignore[arg-type]


def test_a_second_call_must_give_the_same(library: Library) -> None:
    kept: dict[float, Tensor] = {}

    def sum_up(x: Tensor) -> Tensor:
        kept[x.sum().item()] = kept.get(x.sum().item(), 0) + 2 * x
        return kept[x.sum().item()]

    assert of(library, "double", sum_up).sentence == (
        "The result is right. A second call with the same arguments gives something "
        "else: it keeps something from one call to the next."
    )
    calls: list[int] = []

    def count(x: Tensor) -> Tensor:
        calls.append(1)
        return 5 * x + len(calls)

    assert of(library, "double", count).sentence.endswith("one call to the next.")


def test_what_random_numbers_give_is_told(library: Library) -> None:
    verdict = of(library, "double", lambda x: 2 * x + torch.rand(1).double())
    assert verdict.sentence.endswith(
        "Other random numbers give something else, and the right result hangs on none."
    )


def test_a_solution_may_draw_random_numbers(tmp_path: Path) -> None:
    noise = HALF.replace("return x / 2", "return x / 2 + torch.rand(1).double()")
    noise = noise.replace("from torch import Tensor", "import torch", 1).replace(
        "x: Tensor) -> Tensor", "x)", 1
    )
    noise = noise.replace("not f(0 * x).any()", "True")
    library = small_set(tmp_path / "other", half=noise)
    assert of(library, "half", lambda x: x / 2 + torch.rand(1).double()).ok


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (
            lambda x: (2 * x).float(),
            "The numbers are right, but in 32 bits (float32); make it with "
            "dtype=x.dtype.",
        ),
        (
            lambda x: (3 * x).float(),
            " Its type is wrong, too: in 32 bits (float32); make it with "
            "dtype=x.dtype.",
        ),
        (
            lambda x: (7 * x).float(),
            " Its type is wrong, too: in 32 bits (float32); make it with "
            "dtype=x.dtype.",
        ),
        (
            lambda x: 2 * x + 1e-8 * x.abs().max(),
            "or a small number is added.",
        ),
        (
            lambda x: (2 * x)[None],
            "The numbers are right, but of shape (1, 5, 10), and must be of shape "
            "(5, 10).",
        ),
        (lambda x: (7 * x)[None], "Its shape is (1, 5, 10), but must be (5, 10)."),
        (
            lambda x: (3 * x)[None],
            " Its shape is wrong, too: of shape (1, 5, 10), and must be of shape "
            "(5, 10).",
        ),
        (
            lambda x: (2 * x).t(),
            "The numbers are right, but with axes 0 and 1 exchanged: .transpose(0, 1) "
            "puts them right.",
        ),
        (
            lambda x: (2 * x).t().float(),
            "The numbers are right, but with axes 0 and 1 exchanged: .transpose(0, 1) "
            "puts them right, and in 32 bits (float32); make it with dtype=x.dtype.",
        ),
    ],
)
def test_what_explains_itself_is_told_alone(
    library: Library, answer: Answer, sentence: str
) -> None:
    verdict = of(library, "double", answer)
    assert verdict.sentence.endswith(sentence)
    thrice = answer(torch.ones(1)) == 3
    assert verdict.mistakes == (("it is three times as much",) if thrice else ())
    right = verdict.sentence.startswith("The numbers are right, but")
    assert bool(verdict.case) is not right


@pytest.mark.parametrize("answer", [lambda x: (x + 1).float(), lambda x: x[None] + 1])
def test_no_property_is_asked_of_another_type_or_shape(
    library: Library, answer: Answer
) -> None:
    assert "It must hold" not in of(library, "half", answer).sentence


@pytest.mark.parametrize(
    ("draw", "ask", "said"),
    [
        ("(d.integers(9, 3), d.normal(4))", "", "dtype=y.dtype."),
        ("(d.integers(9, 3), 1)", "", "dtype=torch.float64."),
        ("(d.normal(3), 1)", "    ask=lambda f, x, y: f(x),\n", "dtype=x.dtype."),
    ],
)
def test_the_type_of_which_argument_fits_is_told(
    tmp_path: Path, draw: str, ask: str, said: str
) -> None:
    half = HALF.replace("(d.normal(d.T, d.D),)", draw)
    half = half.replace("x: Tensor) ->", "x: Tensor, y: object = 0) ->")
    half = half.replace("return x / 2", "return x.double() / 2")
    half = half.replace("    covers=", f"{ask}    covers=")
    half = half.replace("lambda f, x: not f(0 * x).any()", "lambda *_: True")
    library = small_set(tmp_path / "other", half=half)

    def other(x: Tensor, y: object = 0) -> Tensor:
        return x.float() / 2

    verdict = of(library, "half", other)
    assert verdict.sentence.endswith(said)


def test_a_way_that_the_task_forbids_is_told(tmp_path: Path) -> None:
    forbids = 'forbids=[Forbidden("By no sum.", "return x", ("add",))],\n    covers='
    half = HALF.replace("covers=", forbids)
    library = small_set(tmp_path / "other", half=half)
    verdict = of(library, "half", lambda x: x - x + x / 2)
    assert verdict.sentence == "The result is right. By no sum."
    assert not verdict.ok
    assert of(library, "half", lambda x: x * 0.5).ok
    assert "By no sum" not in of(library, "half", lambda x: x + x).sentence


def test_two_pairs_that_give_the_same_are_not_named(tmp_path: Path) -> None:
    library = small_set(tmp_path / "other")
    path = library["double"].path
    path.write_text(
        path.read_text().replace(
            '"x * 3", "it is three times as much", hint="Count again."),',
            """"x * 3", "it is three times as much"),
        Wrong("x * 2", "x * 3 + 0.5", "a half is added to three times as much"),
        Wrong("return y", "return y + 0.5", "a half is added"),""",
        )
    )
    verdict = of(Library(library.folder), "double", lambda x: 3 * x + 1)
    assert verdict.mistakes == ()
    verdict = of(Library(library.folder), "double", lambda x: x**2 + 0.5)
    assert verdict.mistakes == ("a half is added", "it is squared")


def test_a_pair_in_one_statement_is_named_where_no_other_gives_the_same(
    tmp_path: Path,
) -> None:
    half = HALF.replace("return x / 2", "y = (x + 0) / 2 - 0\n    return y").replace(
        'Wrong("x / 2", "x / 3", "it is a third")',
        """Wrong("x + 0", "x + 2", "two is added first"),
        Wrong("/ 2", "/ 4", "it is a quarter"),""",
    )
    named = ("two is added first", "it is a quarter")
    library = small_set(tmp_path / "one", half=half)
    assert of(library, "half", lambda x: x / 4 + 0.5).mistakes == named
    half = half.replace(
        '"it is a quarter"),',
        """"it is a quarter"),
        Wrong("- 0", "+ 1", "one is added"),
        Wrong("return y", "return y / 2", "it is halved again"),
        Wrong("return y", "return y + 0.5", "a half is added"),""",
    )
    library = small_set(tmp_path / "other", half=half)
    assert of(library, "half", lambda x: x / 4 + 0.5).mistakes == ()


def test_a_pair_that_never_ends_explains_nothing(tmp_path: Path) -> None:
    half = HALF.replace(
        "return x / 2",
        "n = 0.0\n    while n < 1:\n        n += 0.5\n    return x * n / 2",
    ).replace(
        '"x / 2", "x / 3", "it is a third")',
        """"n += 0.5", "n += 0.5 if n <= 0.6 else 0.0", "none"),
        Wrong("n < 1", "n < 2", "two turns more"),
        Wrong("/ 2", "/ 3", "it is a third")""",
    )
    library = small_set(tmp_path / "other", half=half)
    none, longer, _ = library["half"].exercise.wrong
    known = KnownResults(library["half"], 0)
    two, _ = known.pairs
    [endless] = [program for both, program in two if both == (none, longer)]
    assert known.result(endless, 0) is None
    assert of(library, "half", lambda x: x * 7).mistakes == ()
    assert of(library, "half", lambda x: x * 2 / 3).mistakes == (
        "two turns more",
        "it is a third",
    )


def test_pairs_are_tried_for_a_time_only(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "_SECONDS", -1.0)
    assert of(library, "double", lambda x: 3 * x + 1).mistakes == ()


def test_a_case_of_nan_is_looked_for_where_nan_is_told(tmp_path: Path) -> None:
    library = small_set(tmp_path / "other")

    def nan_if_loud(x: Tensor) -> Tensor:
        return (2 * x).masked_fill(x.abs() > 60, torch.nan)

    verdict = of(library, "double", nan_if_loud)
    assert verdict.sentence.startswith("It gives nan.")
    assert "nan" in verdict.case[1]
    path = library["half"].path
    loud = 'trials=[{}, {"loud": 2000.0}],\n    covers='
    path.write_text(path.read_text().replace("covers=", loud))
    verdict = of(
        Library(library.folder),
        "half",
        lambda x: (x / 2).masked_fill(x.abs() > 600, torch.nan),
    )
    assert "nan" in verdict.case[1]

    def wrong_and_nan(x: Tensor) -> Tensor:
        return 2 * x + (x.numel() < 3) + (torch.nan if x.numel() > 10 else 0)

    verdict = of(library, "double", wrong_and_nan)
    assert verdict.sentence.startswith("It gives nan. ")
    assert "nan" in verdict.case[1]

    def sometimes(x: Tensor) -> Tensor:
        return 2 * x + (x.numel() < 3) + (torch.nan if x.numel() > 40 else 0)

    verdict = of(library, "double", sometimes)
    assert verdict.sentence.startswith(
        "It gives nan, but not in the case below, which is wrong, too."
    )
    assert "nan" not in verdict.case[1]


def test_an_exercise_has_small_sizes_of_its_own(tmp_path: Path) -> None:
    small = HALF.replace("    covers=", '    small=[{"T": 3, "D": 1}],\n    covers=')
    library = small_set(tmp_path / "other", half=small)
    verdict = of(library, "half", lambda x: x / 2 + (len(x) > 2))
    assert verdict.case[0].count(",") == 2  # three numbers


def test_where_trials_are_cases_the_first_that_differs_is_shown(
    tmp_path: Path,
) -> None:
    cases = HALF.replace("(d.normal(d.T, d.D),)", "(d.normal(1) + 10 * d.case,)")
    cases = cases.replace(
        "    covers=", "    trials=[{'case': 0}, {'case': 5}],\n    covers="
    )
    library = small_set(tmp_path / "other", half=cases)
    verdict = of(library, "half", lambda x: x / 2 + (x > 9))
    assert verdict.case[0].startswith("with     half([5")


def test_where_the_type_is_wrong_too_the_case_shows_what_else_is(
    library: Library,
) -> None:
    def answer(x: Tensor) -> Tensor:
        return x.float() * (2 if len(x) < 3 else 3)

    verdict = of(library, "double", answer)
    assert "Its type is wrong, too" in verdict.sentence
    assert verdict.case[0].count("]") == 4  # of three tokens, not of one


def test_an_error_of_the_smallest_case_is_told(library: Library) -> None:
    def one_is_refused(x: Tensor) -> Tensor:
        if x.numel() == 1:
            raise ValueError("one is too few.")
        return 5 * x

    verdict = of(library, "double", one_is_refused)
    assert verdict.case[1] == "yours    ValueError: one is too few"


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


def test_gradients_that_an_answer_leaves_off_are_on_for_the_next(
    library: Library,
) -> None:
    def double(x: Tensor) -> Tensor:
        torch.set_grad_enabled(False)
        return x * 2

    assert of(library, "double", double).state == "passed"
    assert torch.is_grad_enabled()
