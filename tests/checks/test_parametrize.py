"""Each property is an item of pytest, with the verdict that a report has."""

import subprocess
import sys
from collections.abc import Callable

import pytest
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from headway.checks import parametrize_checks
from headway.checks.attention.properties import PROPERTIES
from headway.checks.model.properties import PROPERTIES as OF_MODELS
from tests.support.mistakes.mistake import AGAIN, EQUATION, LEAK

NAMES = [one.id for one in PROPERTIES]
CODE = """
import torch
from headway.checks import check, parametrize_checks

calls = []

def attend(q, k, v):
    calls.append(1)
    return (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v

def unscaled(q, k, v):
    return (q @ k.mT).softmax(-1) @ v

def refuses(x):
    raise RuntimeError("not for you")

class Keeps(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = (torch.nn.Linear(5, 7) for _ in range(3))

    def forward(self, x):
        self.attn = (self.q(x) @ self.k(x).mT / 7 ** 0.5).softmax(-1)
        return self.attn @ self.v(x)

@parametrize_checks(attend)
def test_right(check):
    if not calls:
        print("nothing was called before")
    check()

def test_once():
    before = len(calls)
    check(attend)
    assert len(calls) == 2 * before

@parametrize_checks(unscaled)
def test_wrong(check):
    check()

@parametrize_checks(unscaled, expected={"equation": "it is meant"})
def test_expected(check):
    check()

def sees_all(q, k, v, causal=True):
    return attend(q, k, v)

@parametrize_checks(sees_all, expected={"equation:no-mask": "it is meant"})
def test_covered(check):
    check()

@parametrize_checks(sees_all, expected={"equation:no-scale": "it was so"})
def test_other_mistake(check):
    check()

STALE = {"equation": "it was so", "leak": "it was so"}

@parametrize_checks(attend, expected=STALE)
def test_stale(check):
    check()

@parametrize_checks(refuses, d_in=3, expected={"equation": "it was so"})
def test_refuses(check):
    check()

@parametrize_checks(Keeps())
def test_keeps(check):
    check()

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.out = torch.nn.Embedding(17, 5), torch.nn.Linear(5, 17)

    def forward(self, ids):
        return self.out(self.embedding(ids).cumsum(1).flip(1))

LEAK = {"leak": "it reads backwards"}

@parametrize_checks(Model(), vocab_size=17, expected=LEAK)
def test_model(check):
    check()

@parametrize_checks(Model(), model=True, expected=LEAK)
def test_model_of_any_vocabulary(check):
    check()
"""
_RUN: dict[str, dict[str, tuple[str, str]]] = {}


@pytest.fixture
def ends(pytester: pytest.Pytester) -> dict[str, dict[str, tuple[str, str]]]:
    """Say of each item how it ended, and what it said; they are run once."""
    if not _RUN:
        pytester.makeini("[pytest]\n")
        pytester.makepyfile(CODE)
        # In the order of the file, whatever shuffles the tests around it.
        without = [f"-pno:{one}" for one in ("cacheprovider", "xdist", "randomly")]
        result = pytester.inline_run(*without)
        for report in result.getreports("pytest_runtest_logreport"):
            if report.when == "call":
                test, _, name = report.nodeid.partition("::")[2].partition("[")
                end = "xfailed" if hasattr(report, "wasxfail") else report.outcome
                said = " ".join(f"{report.longrepr} {report.capstdout}".split())
                _RUN.setdefault(test, {})[name.removesuffix("]")] = end, said
    return _RUN


Ends = dict[str, dict[str, tuple[str, str]]]


def failing(ends: dict[str, tuple[str, str]]) -> list[str]:
    return [name for name, (end, _) in ends.items() if end == "failed"]


def test_every_property_is_a_test_with_its_name(ends: Ends) -> None:
    assert [*ends["test_right"]] == NAMES
    assert {end for end, _ in ends["test_right"].values()} == {"passed", "skipped"}
    assert ends["test_right"][EQUATION][0] == "passed"
    end, why = ends["test_right"][LEAK]
    assert end == "skipped"
    assert "It is not meant to hide the future." in why


def test_the_code_is_checked_once_and_not_before_a_test_runs(ends: Ends) -> None:
    said = [why for _, why in ends["test_right"].values()]
    assert said[0].endswith("nothing was called before")
    assert not any("nothing was called" in why for why in said[1:])
    assert ends["test_once"][""][0] == "passed"


def test_a_property_that_fails_fails_its_test_alone(ends: Ends) -> None:
    assert failing(ends["test_wrong"]) == [EQUATION]
    why = ends["test_wrong"][EQUATION][1]
    assert why.startswith("unscaled FAILED equals the equation")
    assert "It is exactly what comes out when scores are not scaled. Read" in why
    assert "parametrize.py" not in why


def test_what_is_expected_to_fail_is_excused(ends: Ends) -> None:
    assert ends["test_expected"][EQUATION][0] == "xfailed"
    assert failing(ends["test_expected"]) == []


def test_what_an_expected_mistake_explains_is_excused_with_it(ends: Ends) -> None:
    assert failing(ends["test_covered"]) == []
    excused = [one for one, end in ends["test_covered"].items() if end[0] == "xfailed"]
    assert excused == [EQUATION, LEAK, "earlier-rows"]
    assert failing(ends["test_other_mistake"]) == [EQUATION, LEAK, "earlier-rows"]
    why = ends["test_other_mistake"][EQUATION][1]
    assert (
        "It was expected to fail by no-scale (it was so), and fails otherwise." in why
    )


def test_what_was_to_fail_and_does_not_fails(ends: Ends) -> None:
    assert failing(ends["test_stale"]) == [EQUATION, LEAK]
    for name, came in ((EQUATION, "it passes"), (LEAK, "it could not be checked")):
        why = ends["test_stale"][name][1]
        assert f"It was expected to fail (it was so), but {came}: remove it" in why
        assert "Read" not in why


def test_what_cannot_be_checked_fails_each_test_with_one_sentence(ends: Ends) -> None:
    assert failing(ends["test_refuses"]) == NAMES
    for _, why in ends["test_refuses"].values():
        assert why.startswith("refuses must take tokens of shape (2, 7, 3)")


def test_a_note_fails_nothing(ends: Ends) -> None:
    assert ends["test_keeps"][AGAIN][0] == "passed"
    assert failing(ends["test_keeps"]) == []


@pytest.mark.parametrize("test", ["test_model", "test_model_of_any_vocabulary"])
def test_a_model_has_the_properties_of_models(test: str, ends: Ends) -> None:
    assert [*ends[test]] == [one.id for one in OF_MODELS]
    assert ends[test][LEAK][0] == "xfailed"


def test_a_name_that_is_no_property_is_refused_where_it_stands() -> None:
    sentence = r"^expected must name a property by its id, such as 'leak'"
    with pytest.raises(ValueError, match=sentence):
        parametrize_checks(lambda x: x, expected={"a leak from the future": "why"})


def test_an_error_that_is_no_refusal_is_kept_with_its_traceback() -> None:
    calls: list[int] = []

    def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        calls.append(1)
        return scaled_dot_product_attention(query, key, value)

    def broken(*given: object) -> None:
        raise ValueError("of ours")

    asked = items(attend)
    lines = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("headway.checks.attention.run.gather", broken)
        for ask in asked:
            with pytest.raises(ValueError, match="of ours") as caught:
                ask()
            lines.append([frame.name for frame in caught.traceback])
            once = len(calls) if len(lines) == 1 else once
    assert len(calls) == once > 0
    assert all(one == lines[0] for one in lines)
    assert lines[0][-1] == "broken"


def test_an_interruption_is_not_kept() -> None:
    interrupted: list[bool] = []

    def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        if not interrupted:
            interrupted.append(True)
            raise KeyboardInterrupt
        return scaled_dot_product_attention(query, key, value)

    first, *_ = items(attend)
    with pytest.raises(KeyboardInterrupt):
        first()
    first()


def test_only_what_is_chosen_is_a_test() -> None:
    attend = scaled_dot_product_attention
    chosen = parametrize_checks(attend, only=[LEAK, EQUATION, AGAIN], skip=[AGAIN])
    tests = chosen.mark.args[1]
    assert [one.id for one in tests] == [EQUATION, LEAK]
    tests[0].values[0]()
    with pytest.raises(ValueError, match=r"^only must name a property by its id"):
        parametrize_checks(attend, only=["leaks"])


def items(target: Callable[..., Tensor]) -> list[Callable[[], None]]:
    """List what each test of a target is handed."""
    mark = parametrize_checks(target).mark
    return [one.values[0] for one in mark.args[1]]


def test_the_package_does_not_import_pytest() -> None:
    code = "import sys, headway.checks; sys.exit('pytest' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
