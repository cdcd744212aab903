"""An output is the recorded one or is not, and a reader is told where it differs."""

import decimal
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from pytest_proofread.output.compare import difference, same

# The same examples in every run: what is red here is red everywhere.
examples = settings(
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)


def elsewhere(recorded: str, printed: str) -> bool:
    """Compare as on another machine, in both directions, and ask both functions."""
    answer = same(recorded, printed, exact=False)
    assert same(printed, recorded, exact=False) is answer
    assert (difference(recorded, printed, exact=False) == "") is answer
    return answer


EQUAL = [
    # one unit of the last place
    ("tensor([0.1385, 0.2379])", "tensor([0.1386, 0.2379])"),
    ("tensor([1., 2., 3.])", "tensor([1.0000, 2.0000, 3.0001])"),
    ("-0.00", "0.01"),
    ("+0.50", "0.50"),
    ("12.5%", "12.6%"),
    ("0.5s", "0.6s"),
    ("12,288.50", "12,288.51"),
    ("6.0760e+37", "6.0761e+37"),
    ("9.9999e-05", "1.0000e-04"),
    ("9.9990e-05", "0.0001"),
    ("tensor([1.0000e+00, 2.0000e-04])", "tensor([1.0000, 0.0002])"),
    ("1.19E-05", "1.18e-05"),
    ("100.0049", "1.0000e+02"),
    ("1.5+2.0j", "1.5+2.1j"),
    # zeros left out
    ("0.3", "0.30000000000000004"),
    ("0.5", "0.500001"),
    ("-1.0", "-0.9999999403953552"),
    ("0.0", "5.960464477539063e-08"),
    ("1e-05", "9.999999999999999e-06"),
    ("[0.25 0.5 ]", "[0.25000001 0.5       ]"),
    ("tensor(2.)", "tensor(1.9999)"),
    ("tensor([1234567.])", "tensor([1.2346e+06])"),
    # an error of zero
    ("max err 1.19e-07", "max err 5.96e-08"),
    ("0.00e+00", "1.19E-07"),
    ("9.99e-07", "5.00e-07"),
    ("tensor(0.)", "tensor(5.9605e-08)"),
    # signs of zero
    ("[0., 1.]", "[-0., 1.]"),
    ("tensor([1.-0.j])", "tensor([1.+0.j])"),
    # numpy, before and since 2
    ("[0.5, 2]", "[np.float64(0.5), np.int64(2)]"),
    ("np.float32(0.5)", "np.float32(0.6)"),
    # a quote that does not end in its line opens no string
    ("'a 0.5\nb'", "'a 0.6\nb'"),
    ("it's 0.5 o'clock", "it's 0.6 o'clock"),
    # grad_fn, and where it stands
    ("tensor(1., grad_fn=<A>)", "tensor(1.,\n       grad_fn=<torch::B.c>)"),
    # where a tensor, an array or a list is wrapped
    ("tensor([1, 2,\n        3])", "tensor([1,\n        2, 3])"),
    ("array([1, 2,\n       3], dtype=int8)", "array([1, 2, 3],\n      dtype=int8)"),
    ("[[1. 2.]\n [3. 4.]]", "[[1. 2.] [3. 4.]]"),
    ("tensor([[1],\n\n        [2]])", "tensor([[1],\n        [2]])"),
    ("[{1: 2},\n {3: 4}]", "[{1: 2}, {3: 4}]"),
    # a bracket that is text does not change what follows
    ("[0, 1)\ntensor([1,\n2])", "[0, 1)\ntensor([1, 2])"),
    (":(\ntensor([1,\n2])", ":(\ntensor([1, 2])"),
    # spaces that only separate
    ("tensor([[ 0.5000, -0.0000]])", "tensor([[0.5000, 0.0000]])"),
    ("a  -0.0  b\n", "a 0.0 b  \n"),
    ("a\tb [ 1,2 ]", "a b [1, 2]"),
]
DIFFERENT = [
    # numbers
    ("0.1385", "0.1387"),
    ("-0.01", "0.01"),
    ("0.3", "0.39"),
    ("0.0", "0.04"),
    ("0.0", "9.51e-05"),
    ("0.5", "0.50002"),
    ("1.0000", "1.0002e+00"),
    ("1.5+2.0j", "1.5-2.0j"),
    ("12,288.50", "12,288.52"),
    # no decimals
    ("2", "3"),
    ("12,288", "12,289"),
    ("torch.Size([2, 6, 3])", "torch.Size([2, 6, 4])"),
    ("tensor([1., 0.])", "tensor([0., 1.])"),
    ("tensor(1.)", "tensor(1.0002)"),
    ("1e-05", "2e-05"),
    ("1e-08", "1e-12"),
    ("[1.E-08]", "[1.E-12]"),
    ("1", "1.0"),
    ("12288", "12,288"),
    ("7", "007"),
    # errors of zero that are none
    ("1.00e-07", "0.50"),
    ("9.90e-07", "1.10e-06"),
    ("0.0000001", "0.0000005"),
    ("0", "1.19e-07"),
    # not numbers
    ("nan", "inf"),
    ("inf", "-inf"),
    ("nan", "0.5"),
    ("[nan+nanj]", "[nan+infj]"),
    # words
    ("tensor(1)", "array(1)"),
    ("tensor([True, False])", "tensor([True, True])"),
    ("dtype=torch.float64", "dtype=torch.float16"),
    ("x0.5", "x0.6"),
    ("2.13.0", "2.13.1"),
    ("GPT-2", "GPT-3"),
    ("0.5s", "0.5ms"),
    ("0.5", "0.5s"),
    ("requires_grad=True", "requires_grad=False"),
    ("tensor([], size=(0, 3))", "tensor([], size=(0, 4))"),
    # strings in quotes
    ("'0.5'", "'0.6'"),
    ("'a 0.5'", "'a 0.6'"),
    ("'a  b'", "'a b'"),
    ("'0.5'", "0.5"),
    ("'0.5'", '"0.5"'),
    ("b'0.5'", "b'0.6'"),
    (r"'\' 0.5'", r"'\' 0.6'"),
    # numpy
    ("np.float32(0.5)", "np.float64(0.5)"),
    ("np.float32(0.5)", "'0.5'"),
    ("np.float64(0.5)", "tensor(0.5)"),
    # grad_fn
    ("tensor(1., grad_fn=<A>)", "tensor(1.)"),
    ("tensor(1., grad_fn=<A>)", "tensor(1., requires_grad=True)"),
    # structure
    ("[1, 2]", "[1, 2"),
    ("[1, 2]", "(1, 2)"),
    ("[[1], [2]]", "[[1, 2]]"),
    ("[1, 2]", "[1, 2, 3]"),
    ("[1, ..., 2]", "[1, 3, 2]"),
    ("[1 2]", "[12]"),
    ("1 -2", "1-2"),
    ("a b", "ab"),
    ("", "a"),
    ("", "\n"),
    # lines
    ("a\nb\n", "a b\n"),
    ("a\n\nb\n", "a\nb\n"),
    ("a\n", "a"),
    ("a\rb", "a b"),
    ("f(1,\n2)", "f(1, 2)"),
    ("a tensor (1,\n2)", "a tensor (1, 2)"),
    ("{1,\n2}", "{1, 2}"),
    ("[1,\n2", "[1, 2"),
    ("[0, 1)\na\n]", "[0, 1) a\n]"),
    (":(\na\nb)", ":(\na b)"),
    ("[1]\n[2]", "[1] [2]"),
]


@pytest.mark.parametrize(("recorded", "printed"), EQUAL)
def test_these_are_equal_elsewhere(recorded: str, printed: str) -> None:
    assert elsewhere(recorded, printed)
    assert elsewhere(f"a\n{recorded}\nb\n", f"a\n{printed}\nb\n")
    assert not same(recorded, printed, exact=True)


@pytest.mark.parametrize(("recorded", "printed"), DIFFERENT)
def test_these_differ_everywhere(recorded: str, printed: str) -> None:
    assert not elsewhere(recorded, printed)
    assert not elsewhere(f"a\n{recorded}\nb\n", f"a\n{printed}\nb\n")
    assert difference(recorded, printed, exact=True)


def test_the_decimals_of_the_program_under_test_do_not_matter() -> None:
    with decimal.localcontext() as context:
        context.prec = 1
        context.traps[decimal.Inexact] = True
        assert same("123.4567", "123.4568", exact=False)
        assert not same("1.0001e+01", "10.0024", exact=False)
        text = difference("123.4567", "123.4579", exact=False)
        assert "off by 0.0012 (12 units of the last place)" in text


# What a reader is told, to the letter: recorded, printed, exactly or not.
DIFFERENCES = {
    "numbers": (
        "x\ntensor([[0.1385, 0.2379],\n        [   nan, 3.0000]])\ny\n",
        "x\ntensor([[0.1387, 0.2380],\n        [0.5000, 2.0000]])\ny\n",
        False,
        """\
@@ -1,4 +1,4 @@
 x
-tensor([[0.1385, 0.2379],
-        [   nan, 3.0000]])
+tensor([[0.1387, 0.2379],
+        [   0.5000, 2.0000]])
 y
number 1: recorded 0.1385, printed 0.1387, off by 0.0002 (2 units of the last place)
number 3: recorded nan, printed 0.5000
number 4: recorded 3.0000, printed 2.0000, off by 1.0000 (10000 units of the last place)
""",
    ),
    "all kinds of numbers": (
        "7\n2\n'0.5'\n1.5e-05\n[3.]\nnp.float32(0.5)\n",
        "8\n2.0\n'0.6'\n1.5e-03\n[4.]\nnp.float64(0.5)\n",
        False,
        """\
@@ -1,6 +1,6 @@
-7
-2
-'0.5'
-1.5e-05
-[3.]
-np.float32(0.5)
+8
+2.0
+'0.6'
+1.5e-03
+[4.]
+np.float64(0.5)
number 1: recorded 7, printed 8, off by 1
number 2: recorded 2, printed 2.0, the same number printed otherwise
number 3: recorded '0.5', printed '0.6', in quotes
number 4: recorded 1.5e-05, printed 1.5e-03, off by 0.001485
number 5: recorded 3., printed 4., off by 1
number 6: recorded np.float32(0.5), printed np.float64(0.5), the same number printed \
otherwise
""",
    ),
    "only what matters is shown as changed": (
        "a 0.5  b\ntensor([1, 2,\n        3])\nc 1\n",
        "a 0.6 b\ntensor([1, 2, 3])\nc 2\n",
        False,
        """\
@@ -1,4 +1,4 @@
 a 0.5  b
 tensor([1, 2,
         3])
-c 1
+c 2
number 5: recorded 1, printed 2, off by 1
""",
    ),
    "a word, below a number that is near enough": (
        "a 0.5\ntensor(0.5)\n",
        "a 0.6\narray(0.9)\n",
        False,
        "@@ -1,2 +1,2 @@\n a 0.5\n-tensor(0.5)\n+array(0.9)\n",
    ),
    "a line too few": (
        "1\n2\n3\n",
        "1\n3\n",
        False,
        "@@ -1,3 +1,2 @@\n 1\n-2\n 3\n",
    ),
    "a row of a tensor": (
        "tensor([[1, 2],\n        [3, 4],\n        [5, 6]])\n",
        "tensor([[1, 2],\n        [5, 6]])\n",
        False,
        "@@ -1,3 +1,2 @@\n tensor([[1, 2],\n-        [3, 4],\n         [5, 6]])\n",
    ),
    "nothing": ("a\n", "", False, "@@ -1 +0,0 @@\n-a\n"),
    "a few lines around": (
        "".join(f"{n}\n" for n in range(12)),
        "".join(f"{n}\n" for n in range(12)).replace("5", "x"),
        False,
        "@@ -3,7 +3,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n",
    ),
    "signs that a terminal obeys": (
        "\x1b[1m\tx 1\n",
        "\x1b[1m\tx 2\n",
        False,
        "@@ -1 +1 @@\n-\\x1b[1m\\tx 1\n+\\x1b[1m\\tx 2\n"
        "number 2: recorded 1, printed 2, off by 1\n",
    ),
    "exactly: all that differs": (
        "[-0.0, 1.5]\ntensor(1., grad_fn=<A>)\n",
        "[0.0, 1.6]\ntensor(1., grad_fn=<B>)\n",
        True,
        """\
@@ -1,2 +1,2 @@
-[-0.0, 1.5]
-tensor(1., grad_fn=<A>)
+[0.0, 1.6]
+tensor(1., grad_fn=<B>)
number 1: recorded -0.0, printed 0.0, the same number printed otherwise
number 2: recorded 1.5, printed 1.6, off by 0.1 (1 unit of the last place)
""",
    ),
    "exactly: white space": (
        "a b\tc\nd  e\nf\n",
        "a b c\nd e\nf\n",
        True,
        "@@ -1,3 +1,3 @@\n-a·b\\tc\n-d··e\n+a·b·c\n+d·e\n f\n"
        "only white space differs\n",
    ),
    "the last line end": (
        "a b\n",
        "a b",
        False,
        "@@ -1 +1 @@\n-a·b\n+a·b<no line end>\nonly white space differs\n",
    ),
}


@pytest.mark.parametrize("name", DIFFERENCES)
def test_a_difference_is_told(name: str) -> None:
    recorded, printed, exact, text = DIFFERENCES[name]
    head = "--- recorded\n+++ printed\n"
    assert difference(recorded, printed, exact=exact) + "\n" == head + text


def test_a_long_difference_is_cut_short() -> None:
    recorded = "".join(f"{i}.5\n" for i in range(50))
    printed = "".join(f"{i}.9\n" for i in range(50))
    lines = difference(recorded, printed, exact=False).splitlines()
    assert lines[79:82] == ["+26.9", "... and 23 more", lines[81]]
    assert [line for line in lines if line.startswith("number ")] == lines[81:91]
    assert lines[91:] == ["and 40 more"]


def test_in_a_long_table_only_what_matters_is_shown_as_changed() -> None:
    recorded = "".join(f"{n}.5\n" for n in range(300))
    printed = recorded.replace(".5", ".6").replace("\n150.6\n", "\n150.7\n")
    lines = difference(recorded, printed, exact=False).splitlines()
    changed = [line for line in lines[2:] if line[0] in "-+"]
    assert changed == ["-150.5", "+150.7"]


@pytest.mark.parametrize("exact", [True, False])
def test_a_long_difference_is_found(exact: bool) -> None:
    recorded, printed = "a\n" * 4000 + "b\n", "c\n" + "a\n" * 4000
    lines = difference(recorded, printed, exact=exact).splitlines()
    assert lines[:2] == ["--- recorded", "+++ printed"]
    assert lines[-1].startswith("... and ")


# ---- Properties --------------------------------------------------------------------


PIECES = [
    *("0.5", "-1", "0.1386", "1e-07", "nan", "inf", "12,288", "1.", "np.float64(0.5)"),
    *("tensor", "x1", "True", "grad_fn=<A>", "...", "e", "0x1f", "GPT-2"),
    *("(", ")", "[", "]", "[[", "]]", "{", "}", ",", ", ", "tensor([", "])", "array("),
    *("'", '"', "'a b'", "'0.5'", "b", "-", "+", ".", "=", ":", "%", "\\", "_", "\r"),
    *(" ", "  ", "\t", "\n", "\n\n", "é", "\u0663", "\x1b["),
]
texts = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)


@examples
@given(texts, texts, st.data())
def test_two_texts_are_one_or_differ_in_all_directions(
    recorded: str, printed: str, data: st.DataObject
) -> None:
    assert elsewhere(recorded, recorded)
    place = data.draw(st.integers(0, len(recorded)))
    for other in (printed, recorded[:place] + printed[:2] + recorded[place:]):
        exactly = same(recorded, other, exact=True)
        assert exactly is (recorded == other)
        assert (difference(recorded, other, exact=True) == "") is exactly
        assert elsewhere(recorded, other) >= exactly


WORDS = ["tensor", "x1", "True", "'a b'", ",", "...", "->", "nan", "7", "0.25"]
outputs = st.lists(
    st.lists(st.sampled_from([*WORDS, *"()[]{}"]), min_size=1, max_size=6),
    min_size=1,
    max_size=4,
)


def written(output: list[list[str]]) -> str:
    return "".join(" ".join(line) + "\n" for line in output)


@examples
@given(outputs, st.data())
def test_a_word_more_or_less_or_another_is_found(
    output: list[list[str]], data: st.DataObject
) -> None:
    line = data.draw(st.integers(0, len(output) - 1))
    place = data.draw(st.integers(0, len(output[line]) - 1))
    word = data.draw(st.sampled_from([*WORDS, *"()[]{}"]))
    before, at, after = output[line][:place], output[line][place], output[line][place:]
    for new in ([*before, word, *after], [*before, *after[1:]], [*before, word]):
        assume(word != at)
        assert not elsewhere(
            written(output), written([*output[:line], new, *output[line + 1 :]])
        )


AROUND = ["{}", "tensor([{}, 1.0000])", "loss: {}\n", "a={}, b", "({}%)", "{}s\n"]
arounds = st.sampled_from(AROUND)


def decimal_text(units: int, decimals: int) -> str:
    """Write so many units of the last place."""
    digits = f"{abs(units):0{decimals + 1}d}"
    return f"{'-' * (units < 0)}{digits[:-decimals]}.{digits[-decimals:]}"


@examples
@given(
    st.integers(-(10**8), 10**8), st.integers(-3, 3), st.integers(1, 8), arounds
)  # fmt: skip
def test_one_unit_of_the_last_place_is_forgiven_and_no_more(
    units: int, moved: int, decimals: int, around: str
) -> None:
    recorded, printed = (decimal_text(n, decimals) for n in (units, units + moved))
    answer = elsewhere(around.format(recorded), around.format(printed))
    assert answer is (abs(moved) <= 1)
    if abs(moved) > 1:
        text = difference(recorded, printed, exact=False)
        assert f"({abs(moved)} units of the last place)" in text
    # Of an integer nothing was rounded away.
    assert elsewhere(str(units), str(units + moved)) is (moved == 0)


@examples
@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(1, 8))
def test_a_number_equals_itself_in_any_notation(number: float, decimals: int) -> None:
    scientific = f"{number:.{decimals}e}"
    assert elsewhere(f"{number:.{decimals}f}", scientific)
    assert elsewhere(scientific, scientific.upper())
    assert elsewhere(repr(number), f"np.float64({number!r})")


# Whatever torch can print.
DTYPES = [
    *(torch.float32, torch.float64, torch.bfloat16, torch.complex64),
    *(torch.int64, torch.uint8, torch.bool),
]
options = st.fixed_dictionaries(
    {
        "precision": st.integers(1, 8),
        "sci_mode": st.sampled_from([None, True, False]),
        "linewidth": st.integers(20, 160),
        "threshold": st.sampled_from([3, 1000]),
        "edgeitems": st.integers(1, 3),
    }
)


def show(tensor: torch.Tensor, how: dict[str, Any]) -> str:
    """Print a tensor with these options, and leave the options as they were."""
    torch.set_printoptions(**how)
    try:
        return f"{tensor!r}\n"  # a format would print the number of a 0-d tensor
    finally:
        torch.set_printoptions(profile="default")


@st.composite
def tensors(draw: st.DrawFn) -> torch.Tensor:
    """Draw a tensor, with zeros of either sign, numbers of any size, nan and inf."""
    dtype = draw(st.sampled_from(DTYPES))
    shape = draw(st.lists(st.integers(0, 5), max_size=3).map(tuple))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 1000)))
    tensor = torch.randn(shape, dtype=torch.float64, generator=generator)
    tensor *= 10.0 ** draw(st.integers(-9, 9))
    if draw(st.booleans()):
        tensor = tensor.round()
    if not (dtype.is_floating_point or dtype.is_complex):
        return tensor.clamp(-(10**6), 10**6).abs().to(dtype)
    special = draw(st.sampled_from([0.0, -0.0, float("nan"), float("-inf"), 1e-7]))
    hit = torch.rand(shape, generator=generator) < draw(st.sampled_from([0, 0.3]))
    tensor = tensor.masked_fill(hit, special).to(dtype)
    if dtype.is_complex:
        tensor = tensor * (1 - 1j)
    return tensor.requires_grad_() * 1 if draw(st.booleans()) else tensor


@examples
@given(tensors(), options, st.integers(20, 160))
def test_a_tensor_may_be_wrapped_at_any_width(
    tensor: torch.Tensor, how: dict[str, Any], linewidth: int
) -> None:
    recorded, printed = show(tensor, how), show(tensor, {**how, "linewidth": linewidth})
    assert elsewhere(f"x = {recorded}end\n", f"x = {printed}end\n")
    assert elsewhere(f"[{recorded}, 1]", f"[{printed}, 1]")
    # What stands around it still counts.
    assert not elsewhere(f"x = {recorded}end\n", f"x = {printed}\nend\n")


@examples
@given(tensors(), options, st.sampled_from(DTYPES))
def test_another_shape_type_or_gradient_is_found(
    tensor: torch.Tensor, how: dict[str, Any], dtype: torch.dtype
) -> None:
    recorded = show(tensor, how)
    assert not elsewhere(recorded, show(tensor.unsqueeze(0), how))
    if tensor.dim() and tensor.numel() and tensor.numel() < how["threshold"] - 5:
        assert not elsewhere(recorded, show(torch.cat([tensor, tensor]), how))
        assert not elsewhere(recorded, show(tensor[1:], how))
    leaf = tensor.detach()
    # Torch warns of an imaginary part that is lost.
    if tensor.numel() and dtype != tensor.dtype and not tensor.is_complex():
        assert not elsewhere(show(leaf, how), show(leaf.to(dtype), how))
    if tensor.requires_grad:
        assert not elsewhere(recorded, show(leaf, how))
        assert not elsewhere(recorded, show(leaf.requires_grad_(), how))
        # Only the name of the function is forgiven.
        assert elsewhere(recorded, show(tensor.clone(), how))
