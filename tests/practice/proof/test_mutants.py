"""Small changes of a solution are made by rule."""

from headway.practice.proof.mutants import mutants
from headway.practice.task.source import cut
from tests.practice.small import DOUBLE


def test_each_rule_changes_one_thing_in_the_hole() -> None:
    lines = """
    flag = not (len(x) < 3) or len(x) is None
    y = x.mT[1:] @ (x * 2.0 - 1) & ~x if True else -x
    return torch.stack([y], dim=0).contiguous() / x**2
    """
    program = DOUBLE.replace("    y = x * 2\n    return y\n", lines[1:].rstrip(" "))
    names = {name for name, _ in mutants(cut(program))}
    assert "len(x) < 3 -> len(x) <= 3" in names
    assert "not len(x) < 3 -> len(x) < 3" in names
    assert "len(x) is None -> len(x) is not None" in names
    assert "x.mT -> x" in names
    assert "2.0 -> 5.0" in names
    assert "True -> False" in names
    assert "1 -> 2" in names
    assert "-x -> x" in names
    assert "~x -> x" in names
    assert "x ** 2 -> x * 2" in names
    assert "torch.stack([y], dim=0).contiguous() -> torch.stack([y], dim=0)" in names
    assert not any(name.startswith("torch.stack([y], dim=0) ->") for name in names)


def test_two_that_are_the_same_program_are_one() -> None:
    program = DOUBLE.replace("x * 2\n", "x.mT.mT\n")
    assert [name for name, _ in mutants(cut(program))] == ["x.mT.mT -> x.mT"]


def test_functions_of_modules_are_no_methods() -> None:
    line = "torch.nn.functional.relu(x) + x.data.neg()\n"
    names = [name for name, _ in mutants(cut(DOUBLE.replace("x * 2\n", line)))]
    assert "x.data.neg() -> x.data" in names
    assert not any(name.startswith("torch.nn.functional.relu(x) ->") for name in names)


def test_what_stands_outside_the_hole_stays() -> None:
    for _, program in mutants(cut(DOUBLE)):
        assert "torch.tensor([1.5])" in program
