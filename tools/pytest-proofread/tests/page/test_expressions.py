"""A computed number is what its expression says, and nothing else can be computed."""

import re
from decimal import Decimal, getcontext, localcontext

import pytest

from pytest_proofread.page.expressions import Outputs, evaluate

ABOVE = "tensor([[0.1400, -0.2500],\n        [2., nan]])\n3,145,728 of 12\n"
OUTPUTS = Outputs(ABOVE, "7 8\n", {("cost", 1): "0.5\n", ("cost", 2): "6 -inf\n"})
NOWHERE = Outputs(None, None, {})


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("out[1]", "0.1400"),
        (" out[ 2 ] ", "-0.2500"),
        ("out[3]", "2"),
        ("out[4]", "nan"),
        ("out[5]", "3,145,728"),
        ("out[1, 2]", "-0.2500"),
        ("out[2, 1]", "2"),
        ("out[3, 2]", "12"),
        ("next[2]", "8"),
        ("next[1, 2]", "8"),
        ('at("cost")[1]', "0.5"),
        ("at('cost', 2)[1]", "6"),
        ("at('cost', 2)[1, 2]", "-inf"),
        ("out[1]:.1f", "0.1"),
        ("out[1]: .2f", "0.14"),
        ("out[5]:", "3,145,728"),
        ("out[3]:.1f", "2.0"),
        ("out[1]:.0%", "14%"),
        ("next[1] * 10**6:,", "7,000,000"),
        ("out[5] / 1000:,.1f", "3,145.7"),
        ("out[5] / 10**6:.2f", "3.15"),
        ("12345:.0f", "12345"),
        ("-out[2]", "0.2500"),
        ("out[1] + out[2]", "-0.1100"),
        ("out[1] - out[2]", "0.3900"),
        ("out[6] * next[1]", "84"),
        ("next[1] / next[2]", "0.875"),
        ("(next[1] + 1) ** 2", "64"),
        ("2 ** 0.5:.4f", "1.4142"),
        ("1e3", "1000"),
        ("1e22", "10000000000000000000000"),
        ("0.1 + 0.2", "0.3"),
        ("round(next[1] / 3, 2) * 3", "6.99"),
        ("round(0.125, 2)", "0.12"),
        ('at("cost")[1] + next[1]', "7.5"),
    ],
)
def test_what_is_computed(expression, result):
    assert evaluate(expression, OUTPUTS) == result


FORM = "have a format such as :, or :.2f or :,.1f or :.0%"
ARITHMETIC = "be arithmetic over out, next, at and round"
WHOLE = "count places in whole numbers"
NAME = "name a heading, and a program of it that prints"


@pytest.mark.parametrize(
    ("expression", "must"),
    [
        ("", "be an expression"),
        ("out[", "be an expression"),
        ("out[1]; out[2]", "be an expression"),
        ("out[1]\n+1", "be an expression"),
        ("x = 1", "be an expression"),
        ("out[1]:d", FORM),
        ("out[1]:.2", FORM),
        ("out[1]:>99999999", FORM),
        ("out[1]:.200f", FORM),
        ("1 / 0", "not divide by zero"),
        ("1 / (out[1] - out[1])", "not divide by zero"),
        ("0 / 0", "have a result"),
        ("(0 - 8) ** 0.5", "have a result"),
        ("round(1, 99)", "have a result"),
        ("round(1, 10**30)", "have a result of less than a hundred digits"),
        ("1j", "have a result"),
        ("out[4] + 1", "have a result"),
        ("-at('cost', 2)[2]", "have a result"),
        ("9**9**9", "have a result of less than a hundred digits"),
        ("9**-9**9", "have a result of less than a hundred digits"),
        ("1e99 * 10", "have a result of less than a hundred digits"),
        ("1 / 3 / 10**99", "have a result of less than a hundred digits"),
        ("1e999", "have a result of less than a hundred digits"),
        ("out", ARITHMETIC),
        ("True", ARITHMETIC),
        ("'1'", ARITHMETIC),
        ("...", ARITHMETIC),
        ("1 < 2", ARITHMETIC),
        ("out[1].real", ARITHMETIC),
        ("len(out)", ARITHMETIC),
        ("__import__('os')", ARITHMETIC),
        ("abs(out[1])", ARITHMETIC),
        ("inputs[1]", ARITHMETIC),
        ("[n for n in (1, 2)]", ARITHMETIC),
        ("round(1)", ARITHMETIC),
        ("1 << 2", ARITHMETIC),
        ("out[1, 2, 3]", ARITHMETIC),
        ("out[1][1]", ARITHMETIC),
        ("at()[1]", ARITHMETIC),
        ("at('cost', 1, 2)[1]", ARITHMETIC),
        ("out['1']", WHOLE),
        ("out[True]", WHOLE),
        ("out[1.5]", WHOLE),
        ("out[1:2]", WHOLE),
        ("round(1, '1')", WHOLE),
        ("at('cost', 1.5)[1]", WHOLE),
        ("out[0]", "pick one of the 6 numbers of that output, counted from 1"),
        ("out[-1]", "pick one of the 6 numbers of that output, counted from 1"),
        ("out[7]", "pick one of the 6 numbers of that output, counted from 1"),
        ("out[0, 1]", "pick one of the 3 lines of that output, counted from 1"),
        ("out[4, 1]", "pick one of the 3 lines of that output, counted from 1"),
        ("out[1, 3]", "pick one of the 2 numbers of that line, counted from 1"),
        ("at('cost', 3)[1]", NAME),
        ("at('prize')[1]", NAME),
        ("at(3)[1]", NAME),
        ("at('cost', 2)[2]:.2f", "be computed from numbers"),
    ],
)
def test_what_is_refused(expression, must):
    sentence = f"a computed number must {must}; got {expression}."
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        evaluate(expression, OUTPUTS)


@pytest.mark.parametrize(
    ("expression", "must"),
    [
        ("out[1]", "have an output above it"),
        ("next[1]", "have an output below it"),
        ("at('cost')[1]", NAME),
    ],
)
def test_where_nothing_is_printed(expression, must):
    sentence = f"a computed number must {must}; got {expression}."
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        evaluate(expression, NOWHERE)


def test_the_decimals_of_the_program_around_are_left_alone():
    with localcontext() as around:
        around.prec = 2
        assert evaluate("1 / 3:.9f", OUTPUTS) == "0.333333333"
        assert getcontext().prec == 2
        assert Decimal(1) / 3 == Decimal("0.33")
