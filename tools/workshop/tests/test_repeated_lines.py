"""What repeats the programs above is found by statements, from the top, and no more."""

import pytest

from workshop.repeated_lines import repeated

FIRST = """import torch

from headway import attention, six_tokens


def f(x):
    return x + 1


@torch.no_grad()
def g(x):
    return x + 2


words, inputs = six_tokens()  # six
print(f(inputs))
"""
# What a program has that comes after it, and how many of its lines are as above.
PROGRAMS = {
    "all but the last": (FIRST, 15),
    "to the first new statement, with the empty lines above it": (
        FIRST.replace("def g(x)", "def h(x)"),
        9,
    ),
    "not a function that differs inside": (FIRST.replace("+ 1", "+ 3"), 0),
    "not a decorator that differs": (FIRST.replace("no_grad", "enable_grad"), 9),
    "nor one that is gone": (FIRST.replace("@torch.no_grad()\n", ""), 9),
    "nor a comment that is new": (FIRST.replace("def f(x)", "# new\ndef f(x)"), 0),
    "nor one behind a statement": (FIRST.replace("# six", "# 6"), 14),
    "in another order": (
        "words, inputs = six_tokens()  # six\nimport torch\nprint(f(inputs))\nx = 1\n",
        3,
    ),
    "an import of less": (
        "import torch\nfrom headway import six_tokens\n"
        "words, inputs = six_tokens()  # six\nprint(1)\n",
        3,
    ),
    "not an import of more": (
        "import torch\nfrom headway import six_tokens, masks\n"
        "words, inputs = six_tokens()  # six\nprint(1)\n",
        0,
    ),
    "nor one from elsewhere": (
        "import torch\nfrom headpath import six_tokens\n"
        "words, inputs = six_tokens()  # six\nprint(1)\n",
        0,
    ),
    "nor one of another name": (
        "import torch\nfrom headway import six_tokens as f\n"
        "words, inputs = six_tokens()  # six\nprint(1)\n",
        0,
    ),
    "not two lines, with empty ones": (
        "import torch\n\n\nfrom headway import attention\n\n\nprint(1)\n",
        0,
    ),
    "not what is only a part of a line": (
        "import torch; x = 1\nfrom headway import attention\nimport torch\nprint(1)\n",
        0,
    ),
    "nothing": ("", 0),
    "no program": ("this is none\n" * 4, 0),
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_how_many_lines_are_as_above(what: str) -> None:
    code, count = PROGRAMS[what]
    assert repeated(code, ["no program either", FIRST]) == count
    assert repeated(code, []) == 0


def test_what_stands_in_several_programs_counts() -> None:
    parts = FIRST.partition("@")
    assert repeated(FIRST, [parts[0], "@" + parts[2]]) == 15


def test_a_comment_that_is_known_is_as_above() -> None:
    code = FIRST.replace("def f(x)", "# as known\ndef f(x)")
    assert repeated(code, [code]) == 16


def test_a_new_line_ends_it() -> None:
    assert repeated(FIRST, [FIRST], [16]) == 15
    assert repeated(FIRST, [FIRST], [15]) == 14
    assert repeated(FIRST, [FIRST], [7, 15]) == 0
    assert repeated(FIRST, [FIRST], [1]) == 0
