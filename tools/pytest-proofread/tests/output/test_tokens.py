"""A printed output is taken apart into numbers and words."""

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_proofread.output.tokens import Number, Word, numbers, tokens

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
    "[1,2] (2,3) 1,23 0,123": ["1", "2", "2", "3", "1", "23", "0", "123"],
    "1,2345 1,234,5 1, 234": ["1", "2345", "1", "234", "5", "1", "234"],
    # points
    "There are 5. Or 0.5.": ["5", "0.5"],
    "5...": ["5"],
    ".5 -.5 1..2": [".5", "-.5", "1", "2"],
    "tensor(1.) array(2.) [3. 4.]": ["1.", "2.", "3.", "4."],
    "[1.e-05 2.]": ["1.e-05", "2."],
    # infinite
    "nan inf -inf +inf. (nan) 1-inf": [
        *("nan", "inf", "-inf", "+inf", "nan", "1", "inf")
    ],
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


SIGNS = "0123456789.,eE+-xj'\"\\ \n([])naif_tensor"


@settings(
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=200,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(st.one_of(st.text(SIGNS, max_size=30), st.text(max_size=20)))
def test_only_space_is_dropped(text: str) -> None:
    place = 0
    for token in tokens(text):
        assert text[place : token.start].strip(" \t\n") == ""
        assert text.startswith(token.text, token.start)
        place = token.start + len(token.text)
    assert text[place:].strip(" \t\n") == ""


@pytest.mark.parametrize("precision", [1, 4, 8])
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_every_number_of_a_tensor_is_seen(scale: float, precision: int) -> None:
    tensor = scale * torch.randn(3, 5, dtype=torch.float64)
    tensor[0, 0], tensor[1, 1] = float("nan"), float("-inf")
    torch.set_printoptions(precision=precision)
    try:
        found = [float(text) for text in numbers(repr(tensor))]
    finally:
        torch.set_printoptions(profile="default")
    near = 10.0**-precision
    assert found == pytest.approx(
        tensor.flatten().tolist(), rel=near, abs=near, nan_ok=True
    )


PARTS = (
    "1,234, 234, ' \" 1 1.1. a. [ ] (a np.float64( 1+1 grad_fn=< \\ '\\' 1e a- tensor("
)


@pytest.mark.parametrize("part", [*PARTS.split(" "), "[\n", "- ", "1 1,111", "']'"])
def test_no_text_takes_for_ever(part: str) -> None:
    # An expression that tries every way to read this would not come back.
    assert tokens(f"{part * 5_000}5")
