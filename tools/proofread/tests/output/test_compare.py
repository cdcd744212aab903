import decimal
import time
from typing import Any

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from proofread.output import diff as listing
from proofread.output.compare import Number, Word, difference, numbers, same, tokens

# The same examples in every run: what is red here is red everywhere.
law = settings(deadline=None, derandomize=True, database=None, max_examples=100)


def elsewhere(recorded: str, printed: str) -> bool:
    """Compare as on another machine, in both directions, and ask both functions."""
    answer = same(recorded, printed, exact=False)
    assert same(printed, recorded, exact=False) is answer
    assert (difference(recorded, printed, exact=False) == "") is answer
    return answer


# What a comparison has to get right in the output of PyTorch.
FIFTEEN = {
    "last digit up": ("tensor([0.1385, 0.2379])", "tensor([0.1386, 0.2379])", True),
    "no decimals needed": ("tensor(1.)", "tensor(1.0000)", True),
    "integral row": ("tensor([1., 2., 3.])", "tensor([1.0000, 2.0000, 3.0001])", True),
    "scientific": (
        "tensor([1.0000e+00, 2.0000e-04])",
        "tensor([1.0000, 0.0002])",
        True,
    ),
    "negative zero": ("tensor([-0., 1.])", "tensor([0., 1.])", True),
    "column width": (
        "tensor([[ 0.5000, -0.0000],\n        [ 0.2500,  0.1250]])",
        "tensor([[0.5000, 0.0000],\n        [0.2500, 0.1250]])",
        True,
    ),
    "0.1 + 0.2": ("0.30000000000000004", "0.3", True),
    "an error of zero": ("max err 1.19e-07", "max err 5.96e-08", True),
    "numpy 2": ("0.214", "np.float64(0.214)", True),
    "shape": ("torch.Size([2, 6, 3])", "torch.Size([2, 6, 4])", False),
    "integer": ("tensor([1, 2, 3])", "tensor([1, 2, 4])", False),
    "one per cent": ("tensor([0.1385])", "tensor([0.1399])", False),
    "dtype": (
        "tensor([0.5000], dtype=torch.float64)",
        "tensor([0.5000], dtype=torch.float16)",
        False,
    ),
    "large integer": ("124439808", "124439809", False),
    "bool": ("tensor([True, False])", "tensor([True, True])", False),
}


@pytest.mark.parametrize(
    ("recorded", "printed", "answer"), FIFTEEN.values(), ids=FIFTEEN.keys()
)
def test_the_fifteen_cases(recorded: str, printed: str, answer: bool) -> None:
    assert elsewhere(recorded, printed) is answer
    assert elsewhere(f"a\n{recorded}\nb\n", f"a\n{printed}\nb\n") is answer
    assert not same(recorded, printed, exact=True)


EQUAL = [
    # one unit of the last place
    ("0.1385", "0.1384"),
    ("-0.00", "0.01"),
    ("+0.50", "0.50"),
    ("12.5%", "12.6%"),
    ("0.5s", "0.6s"),
    ("12,288.50", "12,288.51"),
    ("6.0760e+37", "6.0761e+37"),
    ("9.9999e-05", "1.0000e-04"),
    ("9.9990e-05", "0.0001"),
    ("1.19E-05", "1.18e-05"),
    ("1E-05", "1e-05"),
    ("9.5E-06", "1.0e-05"),
    ("100.0049", "1.0000e+02"),
    ("1.5+2.0j", "1.5+2.1j"),
    # zeros left out
    ("0.5", "0.500001"),
    ("1.0", "0.9999999403953552"),
    ("-1.0", "-0.9999999403953552"),
    ("0.0", "5.960464477539063e-08"),
    ("1e-05", "1.0000000000000003e-05"),
    ("1e-05", "9.999999999999999e-06"),
    ("[0.25 0.5 ]", "[0.25000001 0.5       ]"),
    ("tensor(2.)", "tensor(1.9999)"),
    ("tensor([1234567.])", "tensor([1.2346e+06])"),
    # an error of zero
    ("0.00e+00", "1.19e-07"),
    ("9.99e-07", "5.00e-07"),
    ("1.19E-07", "5.96E-08"),
    ("-9.99e-07", "1.00e-12"),
    ("tensor(0.)", "tensor(5.9605e-08)"),
    ("0.0", "1.1e-07"),
    # signs of zero
    ("[0., 1.]", "[-0., 1.]"),
    ("tensor([0.5000-0.0000j])", "tensor([0.5000+0.0000j])"),
    ("tensor([1.-0.j])", "tensor([1.+0.j])"),
    # numpy, before and since 2
    ("[0.5, 2]", "[np.float64(0.5), np.int64(2)]"),
    ("[np.uint8(4)]", "[4]"),
    ("np.float32(0.5)", "np.float32(0.6)"),
    # a quote that does not end in its line opens no string
    ("'a 0.5\nb'", "'a 0.6\nb'"),
    ('"a 0.5\nb"', '"a 0.6\nb"'),
    ("it's 0.5 o'clock", "it's 0.6 o'clock"),
    ("'tis 0.5, it's 'a'", "'tis 0.6, it's 'a'"),
    # grad_fn, and where it stands
    ("tensor(1., grad_fn=<AddBackward0>)", "tensor(1., grad_fn=<SumBackward1>)"),
    ("tensor(1., grad_fn=<A>)", "tensor(1.,\n       grad_fn=<torch::B.c>)"),
    # where a tensor, an array or a list is wrapped
    ("tensor([1, 2,\n        3])", "tensor([1,\n        2, 3])"),
    ("array([1, 2,\n       3], dtype=int8)", "array([1, 2, 3],\n      dtype=int8)"),
    ("Array([0.5],\n dtype=bf16)", "Array([0.5], dtype=bf16)"),
    ("[[1. 2.]\n [3. 4.]]", "[[1. 2.] [3. 4.]]"),
    ("tensor([[1],\n\n        [2]])", "tensor([[1],\n        [2]])"),
    ("{'a': tensor([1,\n 2])}", "{'a': tensor([1, 2])}"),
    ("[{1: 2},\n {3: 4}]", "[{1: 2}, {3: 4}]"),
    ("[(1, 2),\n (3, 4)]", "[(1, 2), (3, 4)]"),
    # a bracket that is text does not change what follows
    ("[1, ), [2,\n3]", "[1, ), [2, 3]"),
    ("[0, 1)\ntensor([1,\n2])", "[0, 1)\ntensor([1, 2])"),
    (":(\ntensor([1,\n2])", ":(\ntensor([1, 2])"),
    # spaces that only separate
    ("a  -0.0  b\n", "a 0.0 b  \n"),
    ("a\tb", "a b"),
    ("[ 1,2 ]", "[1, 2]"),
]


@pytest.mark.parametrize(("recorded", "printed"), EQUAL)
def test_these_are_equal_elsewhere(recorded: str, printed: str) -> None:
    assert elsewhere(recorded, printed)
    assert not same(recorded, printed, exact=True)


DIFFERENT = [
    # numbers
    ("0.1385", "0.1387"),
    ("-0.01", "0.01"),
    ("0.3", "0.5"),
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
    ("tensor([1., 0.])", "tensor([0., 1.])"),
    ("tensor(1.)", "tensor(1.0002)"),
    ("1e-05", "2e-05"),
    ("1e-05", "1e-04"),
    ("1e-08", "1e-12"),
    ("1e-05", "1.0002e-05"),
    ("[1.e-08]", "[1.e-12]"),
    ("[1.E-08]", "[1.E-12]"),
    ("1", "1.0"),
    ("tensor([1, 2])", "tensor([1., 2.])"),
    ("12288", "12,288"),
    ("7", "007"),
    # errors of zero that are none
    ("1e-07", "0.5"),
    ("1.00e-07", "0.50"),
    ("9.90e-07", "1.10e-06"),
    ("5.00e-07", "1.00e-06"),
    ("0.0000001", "0.0000005"),
    ("0", "1.19e-07"),
    # not numbers
    ("nan", "inf"),
    ("inf", "-inf"),
    ("nan", "0.5"),
    ("0.5", "inf"),
    ("[nan+nanj]", "[nan+infj]"),
    ("nan", "None"),
    # words
    ("tensor(1)", "array(1)"),
    ("True", "False"),
    ("float32", "float64"),
    ("x0.5", "x0.6"),
    ("version 2.1", "release 2.1"),
    ("2.13.0", "2.13.1"),
    ("GPT-2", "GPT-3"),
    ("3x4", "3x5"),
    ("1e5", "2e5"),
    ("0.5s", "0.5ms"),
    ("0.5", "0.5s"),
    ("device='cuda:0'", "device='cuda:1'"),
    ("requires_grad=True", "requires_grad=False"),
    ("tensor([], size=(0, 3))", "tensor([], size=(0, 4))"),
    # strings in quotes
    ("'0.5'", "'0.6'"),
    ('"0.5"', '"0.6"'),
    ("'a 0.5'", "'a 0.6'"),
    ("'a  b'", "'a b'"),
    ("'0.5'", "0.5"),
    ("'0.5'", '"0.5"'),
    ("b'0.5'", "b'0.6'"),
    (r"'\' 0.5'", r"'\' 0.6'"),
    ("'([0.5'", "'([0.6'"),
    # numpy
    ("np.float32(0.5)", "np.float64(0.5)"),
    ("np.float32(0.5)", "'0.5'"),
    ("np.float64(0.5)", "tensor(0.5)"),
    ("np.float64(0.5)", "np.float64(0.5"),
    # grad_fn
    ("tensor(1., grad_fn=<A>)", "tensor(1.)"),
    ("tensor(1., grad_fn=<A>)", "tensor(1., requires_grad=True)"),
    ("tensor(1., grad_fn=<A>)", "tensor(1., grad_fn=None)"),
    # structure
    ("[1, 2]", "[1, 2"),
    ("[1, 2]", "(1, 2)"),
    ("[[1], [2]]", "[[1, 2]]"),
    ("[1, 2]", "[1, 2, 3]"),
    ("[1, ..., 2]", "[1, 2]"),
    ("[1, ..., 2]", "[1, 3, 2]"),
    ("...", ".."),
    ("[1 2]", "[12]"),
    ("1 -2", "1 - 2"),
    ("1 -2", "1-2"),
    ("a b", "ab"),
    ("", "a"),
    ("", "\n"),
    # lines
    ("a\nb\n", "a b\n"),
    ("a\n\nb\n", "a\nb\n"),
    ("a\n", "a"),
    ("a\rb", "a b"),
    ("(1,\n2)", "(1, 2)"),
    ("f(1,\n2)", "f(1, 2)"),
    ("a tensor (1,\n2)", "a tensor (1, 2)"),
    ("tensor, (1,\n2)", "tensor, (1, 2)"),
    ("{1,\n2}", "{1, 2}"),
    ("[1,\n2", "[1, 2"),
    ("[1,\n2)", "[1, 2)"),
    ("[0, 1)\na\n]", "[0, 1) a\n]"),
    ("[0, 1)\na [1]\nb", "[0, 1) a [1]\nb"),
    ("]\na\n[", "] a\n["),
    (":(\na\nb)", ":(\na b)"),
    ("[1]\n[2]", "[1] [2]"),
    ("tensor([1])\ntensor([2])", "tensor([1]) tensor([2])"),
]


@pytest.mark.parametrize(("recorded", "printed"), DIFFERENT)
def test_these_differ_everywhere(recorded: str, printed: str) -> None:
    assert not elsewhere(recorded, printed)
    assert not same(recorded, printed, exact=True)
    assert difference(recorded, printed, exact=True)


NUMBERS = {
    "0.1385 -1.2e-05 2": ["0.1385", "-1.2e-05", "2"],
    "1.19E-07 1e-05 1.0e-4951": ["1.19E-07", "1e-05", "1.0e-4951"],
    "1e5 1e-12345": [],
    # words
    "x1 float32 d_in2 torch.float64 v1.2 e-5": [],
    "GPT-2 layers.0.weight 0.weight 2.13.0 1_000": [],
    "3x4 0x1f 0xff 0b11 5f3a 2_x 5_": [],
    "nano info inflate nan-safe inf.x x.inf": [],
    # units
    "2x 50% 0.5s 1.5GB 1st $5 #6": ["2", "50", "0.5", "1.5", "1", "5", "6"],
    # between numbers
    "1-2 3/4 5:6 7*8 9=-1": ["1", "2", "3", "4", "5", "6", "7", "8", "9", "-1"],
    "1 -2 (-3) x=+4 5 - 6": ["1", "-2", "-3", "+4", "5", "6"],
    "(1)-2 [1]-2 {1}-2 1.-2": ["1", "2", "1", "2", "1", "2", "1", "2"],
    "2024-01-02": ["2024", "01", "02"],
    # commas
    "12,288 1,234,567.50": ["12,288", "1,234,567.50"],
    "[1,2] (2,3) 1,23 1,2345 0,123": [
        "1",
        "2",
        "2",
        "3",
        *("1", "23", "1", "2345", "0", "123"),
    ],
    "1,234,5": ["1", "234", "5"],
    "1, 234": ["1", "234"],
    # points
    "There are 5. Or 0.5.": ["5", "0.5"],
    "5.": ["5"],
    "5...": ["5"],
    ".5 -.5 1..2": [".5", "-.5", "1", "2"],
    "tensor(1.) array(2.) [3. 4.]": ["1.", "2.", "3.", "4."],
    "tensor([5., 6.])": ["5.", "6."],
    "[1.e-05 2.]": ["1.e-05", "2."],
    # infinite
    "nan inf -inf +inf. (nan)": ["nan", "inf", "-inf", "+inf", "nan"],
    "1-inf": ["1", "inf"],
    # complex
    "1.5+2j (1-0j) 1e-05-2.0e-05j": ["1.5", "+2", "1", "-0", "1e-05", "-2.0e-05"],
    "[1.+2.j 3.-0.j]": ["1.", "+2.", "3.", "-0."],
    "inf-1.0000j nan+nanj": ["inf", "-1.0000", "nan"],
    # numpy and quotes
    "np.float64(0.214) np.int64(-3) np.uint8(4)": ["0.214", "-3", "4"],
    "np.float32(nan) np.bool(1)": ["nan", "1"],
    "'0.50' \"-2\" 'a 1' '3 4' b'5' 'x'": ["0.50", "-2"],
    "it's 5 o'clock, 6' 7\" 'tis 8": ["5", "6", "7", "8"],
    "'0.5' x'0.6' '0.7'x": ["0.5", "0.6", "0.7"],
    "": [],
}


@pytest.mark.parametrize(("text", "found"), NUMBERS.items())
def test_what_is_a_number(text: str, found: list[str]) -> None:
    assert numbers(text) == found
    assert numbers(f"a: {text}\nb") == found


def test_a_text_is_taken_apart() -> None:
    text = "loss: np.float64(-0.5)s\n[1.,\n 2] 'a b' 5.\n"
    assert tokens(text) == [
        Word("loss", 0),
        Word(":", 4),
        Number("np.float64(-0.5)", 6),
        Word("s", 22),
        Word("\n", 23),
        Word("[", 24),
        Number("1.", 25),
        Word(",", 27),
        Number("2", 30),
        Word("]", 31),
        Word("'a b'", 33),
        Number("5", 39),
        Word(".", 40),
        Word("\n", 41),
    ]


# What a reader is told, to the letter.
DIFFERENCES = {
    "numbers": (
        "x\ntensor([[0.1385, 0.2379],\n        [   nan, 3.0000]])\ny\n",
        "x\ntensor([[0.1387, 0.2380],\n        [0.5000, 2.0000]])\ny\n",
        """\
  x
- tensor([[0.1385, 0.2379],
?          ^^^^^^
+ tensor([[0.1387, 0.2380],
?          ^^^^^^
-         [   nan, 3.0000]])
?             ^^^  ^^^^^^
+         [0.5000, 2.0000]])
?          ^^^^^^  ^^^^^^
  y
number 1: recorded 0.1385, printed 0.1387, off by 0.0002 (2 units of the last place)
number 3: recorded nan, printed 0.5000
number 4: recorded 3.0000, printed 2.0000, off by 1.0000 (10000 units of the last place)
""",
    ),
    "all kinds of numbers": (
        "1\n2\n'0.5'\n1.5e-05\n[3.]\nnp.float32(0.5)\n0.5\n",
        "2\n2.0\n'0.6'\n1.5e-03\n[4.]\nnp.float64(0.5)\n0.75\n",
        """\
- 1
? ^
+ 2
? ^
- 2
? ^
+ 2.0
? ^^^
- '0.5'
? ^^^^^
+ '0.6'
? ^^^^^
- 1.5e-05
? ^^^^^^^
+ 1.5e-03
? ^^^^^^^
- [3.]
?  ^^
+ [4.]
?  ^^
- np.float32(0.5)
? ^^^^^^^^^^^^^^^
+ np.float64(0.5)
? ^^^^^^^^^^^^^^^
- 0.5
? ^^^
+ 0.75
? ^^^^
number 1: recorded 1, printed 2, off by 1
number 2: recorded 2, printed 2.0, one of them an integer
number 3: recorded '0.5', printed '0.6', in quotes
number 4: recorded 1.5e-05, printed 1.5e-03, off by 0.001485
number 5: recorded 3., printed 4., off by 1
number 6: recorded np.float32(0.5), printed np.float64(0.5), the same number printed \
otherwise
number 7: recorded 0.5, printed 0.75, off by 0.25
""",
    ),
    "a few lines around": (
        "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n",
        "1\n2\n3\n4\n6\n6\n7\n8\n9\n10\n11\n12\n",
        """\
@@ line 2 @@
  2
  3
  4
- 5
? ^
+ 6
? ^
  6
  7
  8
number 5: recorded 5, printed 6, off by 1
""",
    ),
    "two places": (
        "1\n\n\n\n\n\n\n\n1\n",
        "2\n\n\n\n\n\n\n\n2\n",
        """\
- 1
? ^
+ 2
? ^



@@ line 6 @@



- 1
? ^
+ 2
? ^
number 1: recorded 1, printed 2, off by 1
number 2: recorded 1, printed 2, off by 1
""",
    ),
    "a word": (
        "a\nb\ntensor(0.5)\n",
        "a\nb\narray(0.9)\n",
        """\
  a
  b
- tensor(0.5)
? ^^^^^^
+ array(0.9)
? ^^^^^
line 3: recorded 'tensor', printed 'array'
""",
    ),
    "a number and a word": (
        "a 0.5 b 1\n",
        "a 0.9 c 2\n",
        """\
- a 0.5 b 1
?   ^^^ ^
+ a 0.9 c 2
?   ^^^ ^
number 1: recorded 0.5, printed 0.9, off by 0.4 (4 units of the last place)
line 1: recorded 'b', printed 'c'
""",
    ),
    "a line too few": (
        "a\nb\nc\n",
        "a\nc\n",
        "  a\n- b\n? ^\n  c\nline 2: recorded 'b', printed nothing\n",
    ),
    "a line too many": (
        "a\nc\n",
        "a\nb\nc\n",
        "  a\n+ b\n? ^\n  c\nline 2: recorded nothing, printed 'b'\n",
    ),
    "a line too many in front": (
        "b\n",
        "a\nb\n",
        "+ a\n? ^\n  b\nline 1: recorded nothing, printed 'a'\n",
    ),
    "an early end": (
        "a\nb\n",
        "a\n",
        "  a\n- b\n? ^\nline 2: recorded 'b', printed no more\n",
    ),
    "a late end": (
        "a\n",
        "a\nb\n",
        "  a\n+ b\n? ^\nline 2: recorded no more, printed 'b'\n",
    ),
    "nothing": ("a\n", "", "- a\n? ^\nline 1: recorded 'a', printed no more\n"),
    "a line broken": (
        "a b\n",
        "a\nb\n",
        "- a b\n?   ^\n+ a\n+ b\nline 1: recorded 'b', printed the end of the line\n",
    ),
    "no line end": (
        "a\n",
        "a",
        "- a\n+ a<no line end>\n"
        "line 1: recorded the end of the line, printed no more\n",
    ),
    "a row of a tensor": (
        "a\ntensor([[1, 2],\n        [3, 4],\n        [5, 6]])\n",
        "a\ntensor([[1, 2],\n        [5, 6]])\n",
        """\
  a
  tensor([[1, 2],
-         [3, 4],
?         ^^^^^^^
          [5, 6]])
line 3: recorded '[3, 4],', printed nothing
""",
    ),
    "an element of a tensor": (
        "tensor([[1., 2.],\n        [3., 5.],\n        [5., 6.]])\n",
        "tensor([[1., 2.],\n        [4.],\n        [5., 6.]])\n",
        """\
  tensor([[1., 2.],
-         [3., 5.],
?          ^^^
+         [4.],
?          ^^^
          [5., 6.]])
number 3: recorded 3., printed 4., off by 1
line 2: recorded ',', printed ']'
""",
    ),
    "a tensor that is cut short": (
        "tensor([1, 2, 3])\n",
        "tensor([1, ..., 3])\n",
        "- tensor([1, 2, 3])\n?            ^\n"
        "+ tensor([1, ..., 3])\n?            ^^^\n"
        "line 1: recorded '2', printed '...'\n",
    ),
    "an empty line": (
        "a\n\nb\n",
        "a\nb\n",
        "  a\n-\n  b\nline 2: recorded an empty line, printed nothing\n",
    ),
    "nothing but an empty line": (
        "",
        "\n",
        "+\nline 1: recorded no more, printed an empty line\n",
    ),
    "many lines": (
        "a\nb 1 \nc 2\nd\n",
        "a\nd\n",
        "  a\n- b 1\n? ^^^\n- c 2\n  d\nline 2: recorded 'b 1', printed nothing\n",
    ),
    "signs that a terminal obeys": (
        "\x1b[1m\tx 1\n",
        "\x1b[1m\tx 2\n",
        "- \\x1b[1m\\tx 1\n?            ^\n+ \\x1b[1m\\tx 2\n?            ^\n"
        "number 2: recorded 1, printed 2, off by 1\n",
    ),
}


@pytest.mark.parametrize(
    ("recorded", "printed", "text"), DIFFERENCES.values(), ids=DIFFERENCES.keys()
)
def test_a_difference_is_told(recorded: str, printed: str, text: str) -> None:
    assert difference(recorded, printed, exact=False) + "\n" == text


EXACT_DIFFERENCES = {
    "all that differs is marked": (
        "[-0.0, 1.5, 1.5]\ntensor(1., grad_fn=<A>)\n",
        "[0.0, 1.6, 1.5]\ntensor(1., grad_fn=<B>)\n",
        """\
- [-0.0, 1.5, 1.5]
?  ^^^^  ^^^
+ [0.0, 1.6, 1.5]
?  ^^^  ^^^
- tensor(1., grad_fn=<A>)
?            ^^^^^^^^^^^
+ tensor(1., grad_fn=<B>)
?            ^^^^^^^^^^^
number 1: recorded -0.0, printed 0.0, the same number printed otherwise
number 2: recorded 1.5, printed 1.6, off by 0.1 (1 unit of the last place)
line 2: recorded 'grad_fn=<A>', printed 'grad_fn=<B>'
""",
    ),
    "white space": (
        "a b\tc\nd  e\nf\n",
        "a b c\nd e\nf\n",
        "- a·b\\tc\n+ a·b·c\n- d··e\n+ d·e\n  f\nonly white space differs\n",
    ),
    "white space at the end of a line, and a number": (
        "a \nb 1\n",
        "a\nb 2\n",
        "- a·\n+ a\n- b 1\n?   ^\n+ b 2\n?   ^\n"
        "number 1: recorded 1, printed 2, off by 1\n",
    ),
    "a wrapped tensor": (
        "tensor([1, 2,\n        3])\n",
        "tensor([1,\n        2,\n        3])\n",
        """\
- tensor([1,·2,
+ tensor([1,
+ ········2,
          3])
only white space differs
""",
    ),
}


@pytest.mark.parametrize(
    ("recorded", "printed", "text"),
    EXACT_DIFFERENCES.values(),
    ids=EXACT_DIFFERENCES.keys(),
)
def test_an_exact_difference_is_told(recorded: str, printed: str, text: str) -> None:
    assert difference(recorded, printed, exact=True) + "\n" == text


def test_lines_that_are_equal_elsewhere_are_not_listed_as_changed() -> None:
    recorded = "a 0.5  b\ntensor([1, 2,\n        3])\nc 1\n"
    printed = "a 0.6 b\ntensor([1, 2, 3])\nc 2\n"
    assert difference(recorded, printed, exact=False) == (
        "  a 0.5  b\n  tensor([1, 2,\n          3])\n- c 1\n?   ^\n+ c 2\n?   ^\n"
        "number 5: recorded 1, printed 2, off by 1"
    )


def test_in_a_tensor_too_only_the_lines_that_differ_are_listed_as_changed() -> None:
    recorded = "tensor([[0.50],\n        [0.75]])\n"
    printed = "tensor([[0.51],\n        [0.25]])\n"
    assert difference(recorded, printed, exact=False) == (
        "  tensor([[0.50],\n-         [0.75]])\n?          ^^^^\n"
        "+         [0.25]])\n?          ^^^^\n"
        "number 2: recorded 0.75, printed 0.25, off by 0.50 "
        "(50 units of the last place)"
    )


def test_a_row_that_happens_to_stand_in_both_is_no_structure() -> None:
    recorded = "tensor([0,\n        1, 1,\n        1, 1,\n        2])\n"
    printed = "tensor([0, 1,\n        1, 1,\n        1, 3])\n"
    told = difference(recorded, printed, exact=False)
    sentences = [line for line in told.splitlines() if line[0] not in "-+? "]
    assert sentences == ["number 6: recorded 2, printed 3, off by 1"]


def test_lines_are_counted_in_what_was_recorded() -> None:
    told = difference("b\n1\nc\n", "a\nb\n1\nx\ny\n", exact=False)
    sentences = [line for line in told.splitlines() if line[0] not in "-+? "]
    assert sentences == [
        "line 1: recorded nothing, printed 'a'",
        "line 3: recorded 'c', printed 'x'",
    ]


def test_a_tensor_wrapped_otherwise_is_marked_on_both_sides() -> None:
    recorded = "tensor([1, 2,\n        3])\n"
    assert difference(recorded, "tensor([1, 2, 4])\n", exact=False) == (
        "- tensor([1, 2,\n-         3])\n?         ^\n"
        "+ tensor([1, 2, 4])\n?               ^\n"
        "number 3: recorded 3, printed 4, off by 1"
    )


@pytest.mark.parametrize(
    ("count", "end"),
    [
        (26, "and 16 more"),
        (27, "and 17 more"),
        (11, "and 1 more"),
        (10, "off by 0.4 (4 units of the last place)"),
    ],
)
def test_long_differences_are_cut_short(count: int, end: str) -> None:
    recorded = "".join(f"{i}.5\n" for i in range(count))
    printed = "".join(f"{i}.9\n" for i in range(count))
    told = difference(recorded, printed, exact=False)
    rows = [line for line in told.splitlines() if line[0] in "-+?"]
    # A number takes four rows.
    assert len(rows) == min(4 * count, 80)
    assert told.count("\nnumber ") == 10
    assert told.endswith(end)
    cut = f"{rows[-1]}\n... and {4 * count - 80} more\nnumber 1: "
    assert (cut in told) is (count > 20)


def test_just_as_many_rows_as_are_listed() -> None:
    rows = [listing.Row("-", "a")] * 80
    assert listing.listing(rows) == ["- a"] * 80
    assert listing.listing([*rows, *rows[:1]]) == ["- a"] * 80 + ["... and 1 more"]


def test_long_texts_are_aligned_in_time() -> None:
    recorded, printed = "a\n" * 5000 + "b\n", "c\n" + "a\n" * 5000
    start = time.perf_counter()
    assert difference(recorded, printed, exact=False)
    assert time.perf_counter() - start < 5
    # Below that size even lines that stand there often are aligned.
    assert len(listing.opcodes("a" * 999 + "b", "c" + "a" * 999)) == 3


def test_a_usual_output_is_compared_in_a_millisecond() -> None:
    recorded = f"weights\n{torch.linspace(0, 1, 36).view(6, 6)}\n"
    printed = recorded.replace("0.0286", "0.0287")
    assert printed != recorded
    times = []
    for _ in range(20):
        start = time.perf_counter()
        assert same(recorded, printed, exact=False)
        times.append(time.perf_counter() - start)
    assert min(times) < 1e-3


def test_the_decimals_of_the_program_under_test_do_not_matter() -> None:
    with decimal.localcontext() as context:
        context.prec = 1
        context.traps[decimal.Inexact] = True
        assert same("123.4567", "123.4568", exact=False)
        # They are 1.4 units apart.
        assert not same("1.0001e+01", "10.0024", exact=False)
        told = difference("123.4567", "123.4579", exact=False)
        assert told.endswith("off by 0.0012 (12 units of the last place)")


# Pieces of outputs, and of what could be taken for one.
PIECES = [
    *("tensor(", "array(", "f(", "(", ")", "[", "]", "{", "}", "],", "])", "...", ","),
    *("0.1385", "1.", "-0.", "2", "-3", "nan", "-inf", "1e-05", "1.19e-07", "12,288"),
    *(
        "x1",
        "tensor",
        "float32",
        "True",
        "grad_fn=<A>",
        "grad_fn=<",
        "np.float64(",
        "j",
    ),
    *("'", '"', "'a b'", "'0.5'", "b", "-", "+", ".", "=", ":", "%", "\\", "_", "\r"),
    *(" ", "  ", "\t", "\n", "\n", "\n\n", "é", "²", "\u0663", "\x1b["),
]
pieces = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)
texts = st.one_of(
    pieces, st.text(max_size=30), st.text("01.,e+-xj'\" \n([])", max_size=20)
)


@law
@given(texts)
def test_every_text_equals_itself(text: str) -> None:
    for exact in (True, False):
        assert same(text, text, exact=exact)
        assert difference(text, text, exact=exact) == ""


@law
@given(texts, texts)
def test_both_ways_the_answer_is_one(recorded: str, printed: str) -> None:
    exactly = same(recorded, printed, exact=True)
    assert exactly is (recorded == printed)
    assert (difference(recorded, printed, exact=True) == "") is exactly
    assert elsewhere(recorded, printed) >= exactly


@law
@given(st.data())
def test_so_it_is_for_texts_that_are_nearly_equal(data: st.DataObject) -> None:
    parts = data.draw(st.lists(st.sampled_from(PIECES), min_size=1, max_size=15))
    index = data.draw(st.integers(0, len(parts) - 1))
    other = [*parts]
    other[index] = data.draw(st.sampled_from(PIECES))
    recorded, printed = "".join(parts), "".join(other)
    elsewhere(recorded, printed)
    assert (difference(recorded, printed, exact=True) == "") is (recorded == printed)


SLOW = [
    "1,234,",
    "234,",
    "'",
    '"',
    "1",
    "1.1.",
    "a.",
    "[",
    "]",
    "(a",
    "np.float64(",
    "1+1",
]
SLOW += [
    "grad_fn=<",
    "\\",
    "'\\'",
    "1e",
    "a-",
    "tensor(",
    "[\n",
    "- ",
    "1 1,111",
    "']'",
]


@pytest.mark.parametrize("part", SLOW)
def test_no_text_takes_for_ever(part: str) -> None:
    text = part * 20_000
    start = time.perf_counter()
    same(f"{text}5", f"{text}a", exact=False)
    assert time.perf_counter() - start < 5


@law
@given(texts)
def test_tokens_are_the_text_without_its_spaces(text: str) -> None:
    found = tokens(text)
    place = 0
    for token in found:
        # Line ends in the brackets of a list are the only others that are dropped.
        assert text[place : token.start].strip(" \t\n") == ""
        assert text.startswith(token.text, token.start)
        place = token.start + len(token.text)
    assert text[place:].strip(" \t\n") == ""
    assert numbers(text) == [one.digits for one in found if isinstance(one, Number)]


# Outputs of which the structure is known: words apart from each other, in lines.
WORDS = [
    "tensor",
    "x1",
    "True",
    "float64",
    "'a b'",
    ",",
    "...",
    "->",
    "nan",
    "7",
    "0.25",
]
lines = st.lists(st.sampled_from([*WORDS, *"()[]{}"]), max_size=6)
outputs = st.lists(lines, min_size=1, max_size=4)


def written(output: list[list[str]]) -> str:
    return "".join(" ".join(line) + "\n" for line in output)


@law
@given(outputs, st.data())
def test_a_word_more_or_less_is_found(
    output: list[list[str]], data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(output) - 1))
    line = output[place]
    index = data.draw(st.integers(0, len(line)))
    word = data.draw(st.sampled_from([*WORDS, *"()[]{}"]))
    more = [*output[:place], [*line[:index], word, *line[index:]], *output[place + 1 :]]
    assert not elsewhere(written(output), written(more))


@law
@given(outputs, st.data())
def test_another_word_is_found(output: list[list[str]], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(output) - 1))
    assume(output[place])
    line = output[place]
    index = data.draw(st.integers(0, len(line) - 1))
    word = data.draw(st.sampled_from([*WORDS, *"()[]{}"]))
    assume(word != line[index])
    other = [
        *output[:place],
        [*line[:index], word, *line[index + 1 :]],
        *output[place + 1 :],
    ]
    assert not elsewhere(written(output), written(other))


@law
@given(outputs, st.data())
def test_a_line_more_or_less_is_found(
    output: list[list[str]], data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(output)))
    extra = data.draw(lines)
    more = [*output[:place], extra, *output[place:]]
    # A list may be wrapped and hold empty lines; nothing else may.
    wrapped = "[" in written(output) and not extra
    assert wrapped or not elsewhere(written(output), written(more))


@law
@given(st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4), min_size=2))
def test_where_a_line_ends_counts(output: list[list[str]]) -> None:
    joined = [[*output[0], *output[1]], *output[2:]]
    assert not elsewhere(written(output), written(joined))
    shifted = [output[0][:-1], [output[0][-1], *output[1]], *output[2:]]
    assert not elsewhere(written(output), written(shifted))


@law
@given(outputs, st.sampled_from(["  ", "\t", " \t "]))
def test_how_many_spaces_there_are_does_not_count(
    output: list[list[str]], space: str
) -> None:
    text = written(output)
    assume("'" not in text)
    assert elsewhere(text, text.replace(" ", space).replace("\n", " \n"))


# A number as a sign, its digits, how many of them are decimals, and an exponent.
signs = st.sampled_from(["", "-"])
exponents = st.one_of(st.just(""), st.integers(-5, 38).map("e{:+03d}".format))
AROUND = [
    "{}",
    "tensor([{}, 1.0000])",
    "loss: {}\n",
    "a={}, b",
    "({}%)",
    "{}s\n",
    "[{}]",
]
arounds = st.sampled_from(AROUND)


def decimal_text(units: int, decimals: int) -> str:
    """Write so many units of the last place."""
    digits = f"{abs(units):0{decimals + 1}d}"
    sign = "-" if units < 0 else ""
    return f"{sign}{digits[:-decimals]}.{digits[-decimals:]}"


@law
@given(
    st.integers(-(10**8), 10**8),
    st.integers(-3, 3),
    st.integers(1, 8),
    exponents,
    arounds,
)
def test_one_unit_of_the_last_place_is_forgiven_and_no_more(
    units: int, moved: int, decimals: int, exponent: str, around: str
) -> None:
    recorded = decimal_text(units, decimals) + exponent
    printed = decimal_text(units + moved, decimals) + exponent
    small = max(abs(float(recorded)), abs(float(printed))) < 1e-6
    assume(not (small and exponent))
    answer = elsewhere(around.format(recorded), around.format(printed))
    assert answer is (abs(moved) <= 1)
    if abs(moved) > 1:
        told = difference(recorded, printed, exact=False)
        assert f"({abs(moved)} units of the last place)" in told


@law
@given(st.integers(0, 10**12), st.integers(1, 10**12), signs, arounds, st.booleans())
def test_any_other_integer_is_found(
    number: int, more: int, sign: str, around: str, grouped: bool
) -> None:
    recorded, printed = number, number + more
    form = f"{sign}{{:,}}" if grouped else f"{sign}{{}}"
    one, other = form.format(recorded), form.format(printed)
    assert numbers(around.format(one))[0] == one
    assert not elsewhere(around.format(one), around.format(other))
    assert not elsewhere(around.format(one), around.format(f"{one}.0"))


@law
@given(st.sampled_from(["nan", "inf", "-inf"]), st.floats(), arounds)
def test_what_is_not_finite_equals_only_itself(
    recorded: str, number: float, around: str
) -> None:
    printed = repr(number)
    answer = elsewhere(around.format(recorded), around.format(printed))
    assert answer is (printed == recorded)


@law
@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(1, 8))
def test_a_number_equals_itself_in_any_notation(number: float, decimals: int) -> None:
    fixed, scientific = f"{number:.{decimals}f}", f"{number:.{decimals}e}"
    assert elsewhere(fixed, scientific)
    assert elsewhere(scientific, f"{number:.{decimals}E}")
    shortest = repr(number)
    wrapped = f"np.float64({shortest})"
    assert elsewhere(shortest, wrapped)
    assert numbers(f"{fixed} {scientific} {wrapped}") == [fixed, scientific, shortest]


@law
@given(st.floats(1e-5, 1e15), st.floats(0.001, 1), signs)
def test_zeros_that_are_left_out_count(number: float, more: float, sign: str) -> None:
    # Python prints as many digits as it needs, so that 0.5 says as much as 0.5000001.
    recorded, printed = f"{sign}{number:.1f}", f"{sign}{number * (1 + more):.9f}"
    far = abs(float(printed) - float(recorded)) > 1e-5 * abs(float(printed))
    assume(far)
    assert not elsewhere(recorded, printed)


# Whatever torch can print.
DTYPES = [
    *(torch.float32, torch.float64, torch.float16, torch.bfloat16),
    *(torch.complex64, torch.complex128),
    *(torch.int64, torch.int32, torch.uint8, torch.bool),
]
shapes = st.lists(st.integers(0, 5), max_size=3).map(tuple)
OPTIONS = {
    "precision": st.integers(1, 8),
    "sci_mode": st.sampled_from([None, True, False]),
    "linewidth": st.integers(20, 160),
    "threshold": st.sampled_from([3, 10, 1000]),
    "edgeitems": st.integers(1, 3),
}
options = st.fixed_dictionaries(OPTIONS)


def show(tensor: torch.Tensor, how: dict[str, Any]) -> str:
    """Print a tensor with these options, and leave the options as they were."""
    torch.set_printoptions(**how)
    try:
        return f"{tensor!r}\n"  # a format would print the number of a 0-d tensor
    finally:
        torch.set_printoptions(profile="default")


@st.composite
def tensors(draw: st.DrawFn, dtypes: list[torch.dtype] = DTYPES) -> torch.Tensor:
    """Draw a tensor, with zeros of either sign, numbers of any size, nan and inf."""
    dtype, shape = draw(st.sampled_from(dtypes)), draw(shapes)
    generator = torch.Generator().manual_seed(draw(st.integers(0, 1000)))
    tensor = torch.randn(shape, dtype=torch.float64, generator=generator)
    tensor *= 10.0 ** draw(st.integers(-9, 9))
    if draw(st.booleans()):
        tensor = tensor.round()
    if dtype.is_complex:
        tensor = torch.complex(tensor, -tensor.roll(1))
    special = draw(st.sampled_from([0.0, -0.0, float("nan"), float("-inf"), 1e-7]))
    if dtype.is_floating_point or dtype.is_complex:
        hit = torch.rand(shape, generator=generator) < draw(st.sampled_from([0, 0.3]))
        tensor = tensor.masked_fill(hit, special).to(dtype)
        kind = draw(st.sampled_from(["leaf", "requires_grad", "grad_fn"]))
        tensor.requires_grad_(kind != "leaf")
        return tensor * 1 if kind == "grad_fn" else tensor
    return tensor.clamp(-(10**6), 10**6).abs().to(dtype)


@law
@given(tensors(), options, st.integers(20, 160))
def test_a_tensor_may_be_wrapped_at_any_width(
    tensor: torch.Tensor, how: dict[str, Any], linewidth: int
) -> None:
    recorded, printed = show(tensor, how), show(tensor, {**how, "linewidth": linewidth})
    assert elsewhere(recorded, recorded)
    assert elsewhere(f"x = {recorded}end\n", f"x = {printed}end\n")
    assert elsewhere(f"[{recorded}, 1]", f"[{printed}, 1]")
    # What stands around it still counts.
    assert not elsewhere(f"x = {recorded}end\n", f"x = {printed}\nend\n")


@law
@given(tensors(), options)
def test_a_tensor_may_be_printed_in_scientific_notation(
    tensor: torch.Tensor, how: dict[str, Any]
) -> None:
    fixed = show(tensor, {**how, "sci_mode": False})
    assert elsewhere(fixed, show(tensor, {**how, "sci_mode": True}))


@law
@given(tensors(), options)
def test_a_tensor_of_another_shape_is_found(
    tensor: torch.Tensor, how: dict[str, Any]
) -> None:
    recorded = show(tensor, how)
    assert not elsewhere(recorded, show(tensor.unsqueeze(0), how))
    if tensor.dim() > 1 and tensor.numel() > 1:
        assert not elsewhere(recorded, show(tensor.flatten(), how))
    if tensor.dim() and tensor.numel() and tensor.numel() < how["threshold"] - 5:
        assert not elsewhere(recorded, show(torch.cat([tensor, tensor]), how))
        assert not elsewhere(recorded, show(tensor[1:], how))


@law
@given(tensors(), options, st.sampled_from(DTYPES))
def test_a_tensor_of_another_type_is_found(
    tensor: torch.Tensor, how: dict[str, Any], dtype: torch.dtype
) -> None:
    assume(tensor.numel() and dtype != tensor.dtype)
    # Torch warns of an imaginary part that is lost.
    assume(dtype.is_complex or not tensor.is_complex())
    tensor = tensor.detach()
    assert not elsewhere(show(tensor, how), show(tensor.to(dtype), how))


@law
@given(tensors(DTYPES[:6]), options)
def test_whether_a_tensor_has_a_gradient_is_found(
    tensor: torch.Tensor, how: dict[str, Any]
) -> None:
    leaf = tensor.detach()
    grown = leaf.clone().requires_grad_()
    viewed = grown.view(grown.shape)
    prints = [show(one, how) for one in (leaf, grown, viewed, grown.clone())]
    assert not any(elsewhere(prints[0], one) for one in prints[1:])
    assert not any(elsewhere(prints[1], one) for one in prints[2:])
    # Only the name of the function is forgiven.
    assert prints[2] != prints[3]
    assert elsewhere(prints[2], prints[3])


@law
@given(tensors(DTYPES[:2]), options)
def test_every_number_of_a_tensor_is_seen(
    tensor: torch.Tensor, how: dict[str, Any]
) -> None:
    assume(tensor.numel())
    found = numbers(show(tensor, {**how, "threshold": 1000}))
    assert len(found) == tensor.numel()
    near = 10.0 ** -how["precision"]
    for text, number in zip(found, tensor.flatten().tolist(), strict=True):
        assert float(text) == pytest.approx(number, rel=near, abs=near, nan_ok=True)


@law
@given(tensors(DTYPES[:2]), options, st.data())
def test_a_number_that_moves_is_found(
    tensor: torch.Tensor, how: dict[str, Any], data: st.DataObject
) -> None:
    assume(tensor.numel())
    recorded = show(tensor, how)
    shown = [one for one in tokens(recorded) if isinstance(one, Number)]
    shown = [one for one in shown if one.decimals and abs(one.value) >= 1e-6]
    assume(shown)
    number = data.draw(st.sampled_from(shown))
    step = decimal.Decimal((0, (data.draw(st.integers(2, 9)),), number.place))
    mantissa, letter, exponent = number.text.partition("e")
    moved = decimal.Decimal(mantissa)
    moved += step.scaleb(-int(exponent)) if exponent else step
    assume(abs(moved) < 10 or not exponent)
    end = number.start + len(number.text)
    text = f"{moved:f}{letter}{exponent}"
    printed = recorded[: number.start] + text + recorded[end:]
    assert not elsewhere(recorded, printed)
    assert f"recorded {number.text}, printed {text}, off by " in difference(
        recorded, printed, exact=False
    )


@law
@given(options, st.integers(0, 1000))
def test_a_tensor_that_moves_is_found(how: dict[str, Any], seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    tensor = torch.rand(7, dtype=torch.float64, generator=generator) * 8 + 1
    other = tensor.clone()
    other[0] += 3 * 10.0 ** -how["precision"]
    assert not elsewhere(show(tensor, how), show(other, how))
    # Half a unit is at most one when printed.
    other[0] = tensor[0] + 0.5 * 10.0 ** -how["precision"]
    assert elsewhere(show(tensor, how), show(other, how))


def test_a_tensor_without_data_is_compared_by_its_words() -> None:
    meta = f"{torch.empty(2, 3, device='meta')!r}\n"
    assert elsewhere(meta, meta)
    assert not elsewhere(meta, meta.replace("3", "4"))
    assert not elsewhere(meta, meta.replace("meta", "cuda"))
