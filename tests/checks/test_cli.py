"""The command says what the report says, and its exit status can be relied on."""

import io
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import Any
from xml.etree import ElementTree as Tree

import pytest
import torch

from headway import __version__
from headway._pipes import NOBODY_READS
from headway.checks import Fact, check
from headway.checks.attention import run as run_of_checks
from headway.checks.cli import main
from headway.checks.command.own_process import LIMIT, Reply, Request
from headway.checks.command.worker import answer
from headway.checks.core import progress
from headway.cli import main as headway
from tests.checks.support.timers import AtOnce
from tests.support.processes import PATIENCE

CODE = '''
"""Attention, right and wrong, in one file."""
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

print("this file talks")

class Attend(nn.Module):
    def __init__(self, d_in, d_out, num_heads=1, *, qkv_bias=False, dropout=0.0):
        super().__init__()
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.p = dropout

    def split(self, x):
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def forward(self, x):
        q, k, v = (self.split(w(x)) for w in (self.W_query, self.W_key, self.W_value))
        rows = scaled_dot_product_attention(q, k, v)
        return rows.transpose(1, 2).flatten(2)

class Odd(nn.Module):
    def __init__(self, d_in):
        super().__init__()
        self.first = nn.Linear(d_in, 5)
        self.second = nn.Linear(d_in, 5)
        self.third = nn.Linear(d_in, 5)

    def forward(self, x, context):
        return scaled_dot_product_attention(
            self.first(x), self.second(context), self.third(context))

built = Attend(12, 20, 4)

def attend(q, k, v, is_causal=False):
    return scaled_dot_product_attention(q, k, v, is_causal=is_causal)

def leaks(q, k, v, causal=False):
    return scaled_dot_product_attention(q, k, v)

def tells(x):
    raise RuntimeError("not for you")

class Once(nn.Module):
    """It works while its sizes are found, and never again."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def __deepcopy__(self, memo):
        return self

    def forward(self, x):
        self.calls.append(1)
        if len(self.calls) > 1:
            raise MemoryError("no more")
        return x

class Ends(nn.Linear):
    def __init__(self, d_in, how=SystemExit, early=False):
        super().__init__(d_in, d_in)
        self.how = how
        if early:
            raise how(5)

    def forward(self, x):
        raise (KeyboardInterrupt if self.how == "key" else SystemExit)(5)
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with code; what is imported from it is forgotten."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_COLOR", raising=False)
    (tmp_path / "mine.py").write_text(CODE)
    path, modules = [*sys.path], {*sys.modules}
    yield tmp_path
    sys.path[:] = path
    for name in {*sys.modules} - modules:
        del sys.modules[name]


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


Output = pytest.CaptureFixture[str]


def run(*words: str) -> int:
    """Check in this process, where that is as good as one of its own."""
    return main(words, ask=answer)


def facts(captured: Output) -> dict[str, str]:
    """Give each fact as the table shows it."""
    found: dict[str, Any] = json.loads(captured.readouterr().out)
    return {name: str(Fact(**fact)) for name, fact in found["facts"].items()}


# The exit status


def test_0_if_no_property_fails(folder: Path, capsys: Output) -> None:
    assert run("mine.py:Attend", "--d-in", "12", "--d-out", "20") == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("Checked Attend\n  called    m(x) (guessed)\n")
    assert re.search(r"\n\d+ passed, 0 failed, \d+ not applicable\n$", printed.out)


def test_1_if_a_property_fails(folder: Path, capsys: Output) -> None:
    assert run("mine.py:leaks", "--causal") == 1
    printed = capsys.readouterr()
    assert "FAILED  no leak from the future" in printed.out
    assert "Checked leaks\n" in printed.out
    assert printed.err == "this file talks\n"


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            "mine.py",
            "target must be one of mine.py:Attend, mine.py:Odd, mine.py:Once, "
            "mine.py:Ends, mine.py:built, mine.py:attend, mine.py:leaks; got "
            "'mine.py'.",
        ),
        (
            "mine.py:Attend --d-in=12 --d-out=x",
            "Attend could not be built: TypeError: ",
        ),
        ("mine.py:built x", "built is built already; got 'x'."),
        (
            "mine.py:built --weights query",
            "weights must be ROLE=NAME; got 'query'.",
        ),
        ("mine.py:built --expect leak", "expect must be ID=REASON; got 'leak'."),
        (
            "mine.py:built --expect 'large score=so'",
            "expected must name a property by its id, such as 'large-scores'; got "
            "expected='large score'.",
        ),
        (
            "mine.py:built --window 0",
            'window must be a positive whole number or "none"; got window=0.',
        ),
        (
            "",
            "target must be given, file.py:Name or package.module:Name, or configured "
            "in pyproject.toml below [tool.headway.checks]; got none.",
        ),
        ("mine.py:built --call 'x ='", "call must be an expression; got call='x ='."),
        ("mine.py:built --fact causal", "fact must be NAME=VALUE; got 'causal'."),
        (
            "mine.py:built --fact casual=true",
            "facts must have known keys, such as 'causal'",
        ),
        (
            "mine.py:tells",
            "d_in must be given for tells, such as d_in=12, or --d-in 12; got "
            "d_in=None.",
        ),
        (
            "mine.py:tells --d-in 12",
            "tells must take tokens of shape (3, 7, 12), called as m(x); got "
            "RuntimeError: not for you at mine.py:46. If it takes another "
            "width, say d_in; if it wants another call, say call.",
        ),
        (
            "mine.py:Once --d-in 12",
            "mine.py:Once could not be checked: MemoryError: no more.",
        ),
        (
            "mine.py:Ends --d-in 12",
            "mine.py:Ends could not be checked: SystemExit: 5.",
        ),
        (
            "mine.py:Ends --d-in 12 --early",
            "Ends could not be built: SystemExit: 5 at mine.py:69.",
        ),
    ],
)
def test_2_and_a_sentence_if_it_could_not_be_checked(
    line: str, sentence: str, folder: Path, capsys: Output
) -> None:
    assert run(*shlex.split(line)) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    output = printed.err.removeprefix("this file talks\n")
    assert output.startswith(f"headway check: {sentence}")
    assert output.endswith(".\n")
    assert output.count("\n") == 1


def test_130_and_no_traceback_if_somebody_ends_it(folder: Path, capsys: Output) -> None:
    assert run("mine.py:Ends", "--d-in", "12", "--how", "key") == 130
    sentence = "headway check: interrupted at mine.py:72.\n"
    assert capsys.readouterr().err.endswith(sentence)


def test_so_it_is_if_somebody_ends_the_command_itself(capsys: Output) -> None:
    def interrupted(_: Request) -> Reply:
        raise KeyboardInterrupt

    assert main(["a.py:A"], ask=interrupted) == 130
    assert capsys.readouterr().err == "headway check: interrupted.\n"


@pytest.mark.parametrize("seconds", ["0", "-1", "inf", "nan"])
def test_a_limit_is_a_positive_number(seconds: str, capsys: Output) -> None:
    assert run("a.py:A", f"--limit={seconds}") == 2
    assert capsys.readouterr().err == (
        "headway check: limit must be a positive number of seconds; got "
        f"limit={float(seconds)}.\n"
    )


def test_a_limit_is_handed_on(configured: Path) -> None:
    limits: list[float] = []

    def told(request: Request) -> Reply:
        limits.append(request.limit)
        return Reply(0, "")

    table = '[tool.headway.checks."a.py:A"]\nlimit = 300\n'
    (configured / "pyproject.toml").write_text(table)
    for words in (["b.py:B"], ["a.py:A"], [], ["a.py:A", "--limit", "7"]):
        main(words, ask=told)
    assert limits == [LIMIT, 300, 300, 7]


def test_strict_is_handed_on(configured: Path) -> None:
    given: list[bool | None] = []

    def told(request: Request) -> Reply:
        given.append(request.target.options.get("strict"))
        return Reply(0, "")

    table = '[tool.headway.checks."a.py:A"]\nstrict = true\n'
    (configured / "pyproject.toml").write_text(table)
    for words in (["b.py:B"], ["a.py:A"], ["b.py:B", "--strict"]):
        main(words, ask=told)
    assert given == [None, True, True]


@pytest.mark.parametrize(
    "where",
    ["attention.run.gather", "command.imports._free_name", "command.load.build"],
)
def test_a_mistake_of_headway_is_told_as_one(
    folder: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    def accident(*_: object) -> None:
        _one, _other = [1]

    # As if it stood in the checks. A refusal is a ValueError, too.
    code = accident.__code__.replace(co_filename=run_of_checks.__file__)
    monkeypatch.setattr(f"headway.checks.{where}", FunctionType(code, {}))
    assert run("mine.py:built") == 2
    said = capsys.readouterr().err
    assert "Traceback (most recent call last):" in said
    assert said.splitlines()[-1] == (
        "headway check: mine.py:built could not be checked because of a "
        "mistake in Headway: ValueError: not enough values to unpack (expected 2, got "
        "1). Please report it with the output above."
    )


def test_what_else_leaves_a_check_is_no_mistake_of_headway(
    folder: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object) -> None:
        raise SystemExit(3)

    monkeypatch.setattr(run_of_checks, "gather", stopped)
    assert run("mine.py:built") == 2
    assert capsys.readouterr().err.endswith(
        "headway check: mine.py:built could not be checked: SystemExit: 3.\n"
    )


@pytest.mark.parametrize(
    "line",
    [
        "chek",
        "check a.py:A --d-in x",
        "check a.py:A --scale x",
        "check a.py:A --format xml",
        "check a.py:A --limit x",
    ],
)
def test_2_and_the_usage_if_the_command_line_is_wrong(
    line: str, capsys: Output
) -> None:
    with pytest.raises(SystemExit) as caught:
        headway(line.split())
    assert caught.value.code == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("usage: headway")


@pytest.mark.parametrize(
    "words", [["--json"], ["--format", "junit"], ["--format=sarif"]]
)
def test_a_wrong_command_line_is_told_in_the_format_that_it_asks_for(
    words: list[str], capsys: Output
) -> None:
    with pytest.raises(SystemExit) as caught:
        run("a.py:A", "--heads", *words, "--scale", "x")
    assert caught.value.code == 2
    printed = capsys.readouterr()
    sentence = "argument --scale: invalid float value: 'x'"
    if words == ["--json"]:
        assert json.loads(printed.out)["error"] == sentence
    elif "junit" in words:
        [error] = Tree.fromstring(printed.out).iter("error")  # noqa: S314  # ours
        assert error.get("message") == sentence
    else:
        [told] = json.loads(printed.out)["runs"][0]["invocations"]
        [note] = told["toolExecutionNotifications"]
        assert sentence in note["message"]["text"]
    assert printed.err.startswith("usage: headway check")
    assert printed.err.endswith(f"error: {sentence}\n")


def test_2_and_the_commands_if_nothing_is_asked_for(capsys: Output) -> None:
    assert headway([]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("usage: headway")
    assert "practice" in printed.err


def test_help_says_what_the_file_and_the_status_mean(capsys: Output) -> None:
    assert run("--help") == 0
    output = " ".join(capsys.readouterr().out.split())
    for words in (
        "path/to/file.py:Name or package.module:Name",
        "--d-in N how many numbers in a token",
        "--context-length N how many tokens in the longest text",
        "--num-heads N how many heads",
        "--causal, --no-causal whether it hides the future",
        "--weights ROLE=NAME [ROLE=NAME ...]",
        "The exit status is 0 if no property fails, 1 if one does, and 2 if the code "
        "could not be checked.",
    ):
        assert words in output


def test_help_on_a_target_lists_what_it_takes(folder: Path, capsys: Output) -> None:
    assert run("mine.py:Attend", "--help") == 0
    printed = capsys.readouterr()
    assert printed.out.startswith(
        "arguments of Attend:\n"
        "  --d-in                     must be given\n"
        "  --d-out                    must be given\n"
        "  --num-heads                1 if it is not given\n"
        "  --qkv-bias, --no-qkv-bias  False if it is not given\n"
        "  --dropout                  0.0 if it is not given\n"
        "\nusage: headway check "
    )
    assert printed.err == "this file talks\n"
    assert run("mine.py:Atend", "-h") == 2
    assert "did you mean Attend?" in capsys.readouterr().err


def test_the_program_says_what_it_is_and_which(capsys: Output) -> None:
    with pytest.raises(SystemExit):
        headway(["--help"])
    shown = capsys.readouterr().out
    assert "\nCheck attention code, or practise writing it.\n" in shown
    assert re.search(
        r"\n +check +check what .+\n.+\n? +practice .+ +write each", shown, re.S
    )
    with pytest.raises(SystemExit) as caught:
        headway(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"headway {__version__}\n"


# What is printed


def test_json_is_all_that_is_printed_and_holds_what_check_found(
    folder: Path, capsys: Output
) -> None:
    name = "torch.nn:MultiheadAttention"
    assert run(name, "--embed-dim", "12", "--num-heads", "4", "--json") == 1
    printed = json.loads(capsys.readouterr().out)
    report = check(torch.nn.MultiheadAttention(12, 4), num_heads=4)
    assert printed == json.loads(report.to_json())
    assert [row["id"] for row in printed["rows"] if row["verdict"] == "failed"] == [
        "fully-masked"
    ]


def test_what_the_code_prints_is_no_part_of_the_report(
    folder: Path, capsys: Output
) -> None:
    assert run("mine.py:built", "--json") == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["ok"] is True
    assert printed.err == "this file talks\n"


def test_the_format_for_github_stands_at_the_class(
    folder: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    line = CODE.splitlines().index("def leaks(q, k, v, causal=False):") + 1
    assert run("mine.py:leaks", "--causal", "--format", "github") == 1
    *errors, last = capsys.readouterr().out.splitlines()
    at = f"::error file=mine.py,line={line},title=leaks%3A "
    [error] = errors
    assert error.startswith(
        f"{at}equals the equation [equation]::It is exactly what comes"
    )
    assert " What follows: [leak] [earlier-rows]. In a terminal: headway " in error
    assert re.fullmatch(r"leaks: \d+ passed, 3 failed, \d+ not applicable", last)


def test_github_is_told_what_could_not_be_checked(folder: Path, capsys: Output) -> None:
    assert run("mine.py:tells", "--format=github") == 2
    out = capsys.readouterr().out
    assert out.startswith("::error::headway check: d_in must be given for tells")
    assert out.count("\n") == 1


def test_the_short_form_of_json_is_the_long_one(folder: Path, capsys: Output) -> None:
    assert run("mine.py:built", "--json") == 0
    short = capsys.readouterr().out
    assert run("mine.py:built", "--format", "json") == 0
    assert capsys.readouterr().out == short


@pytest.mark.parametrize("form", ["json", "junit", "sarif"])
def test_what_an_option_lacks_is_told_in_one_document(
    form: str, folder: Path, capsys: Output
) -> None:
    assert run("mine.py:built", "--update-baseline", "--format", form) == 2
    sentence = "baseline must be given with update_baseline; got none."
    printed = capsys.readouterr()
    assert printed.err == f"headway check: {sentence}\n"
    assert sentence in printed.out
    if form == "junit":
        assert "<testsuites " in printed.out
    else:
        assert json.loads(printed.out)


def test_what_is_expected_is_told_with_its_reason(folder: Path, capsys: Output) -> None:
    reasons = {
        "equation": "nothing is hidden, a = b",
        "leak": "none",
        "earlier-rows": "none",
    }
    words = [word for one in reasons.items() for word in ("--expect", "=".join(one))]
    assert run("mine.py:leaks", "--causal", *words, "--json") == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    shown = {row["id"]: row["reason"] for row in rows if row["verdict"] == "expected"}
    assert shown == reasons


def test_designs_are_told_to_the_check_and_to_the_constructor(
    folder: Path, capsys: Output
) -> None:
    (folder / "designed.py").write_text(DESIGNED)
    words = ["--scale", "0.5", "--normalize", "softmax", "--rotary-base", "500"]
    words += ["--window", "4", "--cached", "m(x, past)"]
    run("designed.py:Designed", *words, "--json")
    captured = capsys.readouterr()
    assert captured.err == "built with 0.5, softmax, 500.0, 4\n"
    found = json.loads(captured.out)["facts"]
    declared = {
        name: one["value"] for name, one in found.items() if one["origin"] == "declared"
    }
    assert declared == {
        "scale": "0.5",
        "normalize": "softmax",
        "rotary_base": "500",
        "window": "4",
        "cached": "m(x, past)",
    }


DESIGNED = """
from torch import nn

class Designed(nn.Linear):
    def __init__(self, scale, normalize, rotary_base, window):
        super().__init__(5, 5)
        print(f"built with {scale}, {normalize}, {rotary_base}, {window}")
"""


# What pyproject.toml says


TABLES = """
[tool.headway.checks."mine.py:Attend"]
arguments = { d_out = 20 }
d_in = 12
num_heads = 4

[tool.headway.checks."mine.py:leaks"]
causal = true
expected = { "equation" = "so", "leak" = "so" }
"""


@pytest.fixture
def configured(folder: Path) -> Path:
    (folder / "pyproject.toml").write_text(TABLES)
    return folder


FIVE = "--d-in 13 --d-out 15 --num-heads 5"
SEEN = "seen (measured; say causal=True if that is wrong)"
WIDE = "2 texts of 7 tokens, 13 wide"


@pytest.mark.parametrize(
    ("tables", "line", "status", "found"),
    [
        # What is configured need not be said; what is said goes before.
        (
            True,
            "Attend",
            0,
            {"heads": "4 (declared)", "sizes": "2 texts of 7 tokens, 12 wide"},
        ),
        (True, f"Attend {FIVE}", 0, {"heads": "5 (declared)", "sizes": WIDE}),
        # Arguments of the constructor go by name and by place.
        (
            False,
            f"Attend {FIVE} --qkv-bias --dropout 0.1",
            0,
            {"heads": "5 (declared)", "sizes": WIDE},
        ),
        (False, "Attend 13 15 5", 0, {"heads": "5 (guessed)", "sizes": WIDE}),
        # The future is told by a flag; a function gets its own.
        (False, "built", 0, {"future": SEEN}),
        (False, "built --causal", 1, {"future": "hidden (declared)"}),
        (False, "built --no-causal", 0, {"future": "seen (declared)"}),
        (False, "attend --is-causal", 0, {"future": "hidden (guessed)"}),
        # Heads, width and context are told to the check, too.
        (
            False,
            "built --d-in 12 --num-heads 4 --context-length 6",
            0,
            {"heads": "4 (declared)", "sizes": "2 texts of 6 tokens, 12 wide"},
        ),
    ],
)
def test_what_is_told_are_facts(
    tables: bool,
    line: str,
    status: int,
    found: dict[str, str],
    folder: Path,
    capsys: Output,
) -> None:
    (folder / "pyproject.toml").write_text(TABLES if tables else "")
    assert run(*f"mine.py:{line} --json".split()) == status
    seen = facts(capsys)
    assert {name: seen[name] for name in found} == found


DECLARING = """
from mine import Attend

class Declaring(Attend):
    attention_facts = {"causal": True, "num_heads": 3, "positions": "bias"}
"""


def test_facts_of_the_command_line_go_before_those_of_a_file_and_of_a_class(
    configured: Path, capsys: Output
) -> None:
    (configured / "declaring.py").write_text(DECLARING)
    words = ["declaring.py:Declaring", "--d-out", "20", "--json"]
    run(*words, "--d-in", "12")
    assert facts(capsys)["positions"] == "bias (declared)"
    (configured / "pyproject.toml").write_text(
        '[tool.headway.checks."declaring.py:Declaring"]\n'
        'd_in = 12\ncausal = false\nfacts = { positions = "absolute", scale = 0.5 }\n'
    )
    run(*words)
    found = facts(capsys)
    assert found["future"] == "seen (declared)"
    assert (found["positions"], found["scale"]) == (
        "absolute (declared)",
        "0.5 (declared)",
    )
    run(*words, "--fact", "positions=none", "--fact", "causal=true", "--scale", "0.25")
    found = facts(capsys)
    assert found["future"] == "hidden (declared)"
    assert found["positions"] == "none (declared)"
    assert found["scale"] == "0.25 (declared)"


IN_HALF = """
import torch
from mine import Attend

class InHalf(Attend):
    def forward(self, x):
        return super().forward(x.masked_fill(x.isnan(), -1e9))
"""


@pytest.mark.parametrize(
    ("fact", "verdict", "status"), [("", "note", 0), ("true", "failed", 1)]
)
def test_16_bits_are_declared_as_a_fact(
    fact: str, verdict: str, status: int, configured: Path, capsys: Output
) -> None:
    (configured / "in_half.py").write_text(IN_HALF)
    words = ["in_half.py:InHalf", "12", "20", "4", "--only", "half-precision,sizes"]
    declared = ["--fact", f"half_precision={fact}"] if fact else []
    assert run(*words, *declared, "--json") == status
    rows = {row["id"]: row for row in json.loads(capsys.readouterr().out)["rows"]}
    assert rows["half-precision"]["verdict"] == verdict
    assert "In float16 it raised" in rows["half-precision"]["sentence"]


def test_facts_may_be_tables(folder: Path, capsys: Output) -> None:
    masks = "masks={'attn_mask': 'True may look'}"
    run("torch.nn.functional:scaled_dot_product_attention", "--fact", masks, "--json")
    assert facts(capsys)["masks"] == "attn_mask (T, S), True may look (declared)"


def test_expectations_are_added_to_those_that_are_configured(
    configured: Path, capsys: Output
) -> None:
    assert run("mine.py:leaks") == 1
    assert "FAILED  earlier rows stay" in capsys.readouterr().out
    assert run("mine.py:leaks", "--expect", "earlier-rows=so") == 0
    assert "0 failed, 3 expected to fail" in capsys.readouterr().out


CHOSEN = """
[tool.headway.checks."mine.py:built"]
only = ["leak", "past", "sizes"]
skip = ["past"]
"""


@pytest.mark.parametrize(
    ("table", "words", "asked"),
    [
        ("", ["--only", "leak,past", "--only", "order"], ["leak", "past", "order"]),
        ("", ["--only", "leak,past", "--skip", "past"], ["leak"]),
        (CHOSEN, [], ["leak", "sizes"]),
        (CHOSEN, ["--skip", "leak"], ["past", "sizes"]),
    ],
)
def test_properties_are_chosen_and_left_out(
    table: str, words: list[str], asked: list[str], folder: Path, capsys: Output
) -> None:
    (folder / "pyproject.toml").write_text(table)
    run("mine.py:built", *words, "--json")
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["id"] for row in rows] == asked


def test_without_a_target_all_that_are_configured_are_checked(
    configured: Path, capsys: Output
) -> None:
    assert run() == 1
    tables = capsys.readouterr().out.split("\n\nChecked ")
    assert [table.split("\n")[0] for table in tables] == ["Checked Attend", "leaks"]
    assert "\n  called    m(x) (guessed)\n" in tables[0]


def test_without_a_target_json_is_a_list(configured: Path, capsys: Output) -> None:
    assert run("--json") == 1
    reports = json.loads(capsys.readouterr().out)
    assert [one["subject"] for one in reports] == ["Attend", "leaks"]
    assert [one["ok"] for one in reports] == [True, False]


def test_what_cannot_be_checked_does_not_stop_the_others(
    configured: Path, capsys: Output
) -> None:
    table = '[tool.headway.checks."mine.py:tells"]\n'
    (configured / "pyproject.toml").write_text(table + TABLES)
    assert run("--expect", "earlier-rows=so") == 2
    captured = capsys.readouterr()
    assert "headway check: d_in must be given for tells" in captured.err
    assert captured.out.startswith("Checked Attend")
    assert "\n\nChecked leaks" in captured.out


def test_a_whole_model_is_configured_by_its_vocabulary(
    folder: Path, capsys: Output
) -> None:
    (folder / "models.py").write_text(MODEL)
    (folder / "pyproject.toml").write_text(
        '[tool.headway.checks."models.py:Model"]\nvocab_size = 17\n'
        'expected = { "past" = "it is a bigram" }\n'
    )
    for words in ([], ["models.py:Model"], ["models.py:Model", "--vocab", "19"]):
        assert run(*words, "--format", "github") == 0
        assert ", 0 failed, 1 expected to fail, " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("limit", "status", "sentence"),
    [
        ("3", 0, ""),
        ("0.5", 0, ""),
        ("0", 2, "memory must be a positive number of gigabytes; got memory=0.0."),
        (
            "1e-6",
            2,
            "memory must be 0.0 gigabytes for Model, for 5 copies of 0 million numbers "
            "in float32; got memory=1e-06.",
        ),
    ],
)
def test_memory_is_limited(
    limit: str, status: int, sentence: str, folder: Path, capsys: Output
) -> None:
    (folder / "models.py").write_text(MODEL)
    words = ["models.py:Model", "--vocab", "17", "--only", "leak"]
    assert run(*words, "--memory-limit", limit) == status
    told = capsys.readouterr().err
    assert told == (f"headway check: {sentence}\n" if sentence else "")


def test_a_limit_of_memory_is_a_number_and_of_a_model(
    folder: Path, capsys: Output
) -> None:
    with pytest.raises(SystemExit) as ended:
        run("mine.py:attend", "--memory-limit", "much")
    assert ended.value.code == 2
    assert "--memory-limit: invalid float value: 'much'" in capsys.readouterr().err
    assert run("mine.py:attend", "--memory-limit", "3") == 2
    assert (
        "vocab_size must be given with memory, which is of" in capsys.readouterr().err
    )


MODEL = """
from torch import nn

class Model(nn.Sequential):
    def __init__(self, vocab_size):
        super().__init__(nn.Embedding(vocab_size, 5), nn.Linear(5, vocab_size))
"""


def test_json_says_what_could_not_be_checked(configured: Path, capsys: Output) -> None:
    assert run("mine.py:tells", "--json") == 2
    captured = capsys.readouterr()
    told = json.loads(captured.out)
    assert [*told] == ["ok", "subject", "error"]
    assert not told["ok"]
    assert told["subject"] == "mine.py:tells"
    assert told["error"].startswith("d_in must be given for tells")
    assert captured.err.endswith(f"headway check: {told['error']}\n")

    table = '[tool.headway.checks."mine.py:tells"]\n'
    (configured / "pyproject.toml").write_text(table + TABLES)
    assert run("--json") == 2
    first, *others = json.loads(capsys.readouterr().out)
    assert first == told
    assert [one["subject"] for one in others] == ["Attend", "leaks"]


def test_all_targets_stand_in_one_document_of_junit(
    configured: Path, capsys: Output
) -> None:
    table = '[tool.headway.checks."mine.py:tells"]\n'
    (configured / "pyproject.toml").write_text(table + TABLES)
    assert run("--format", "junit") == 2
    captured = capsys.readouterr()
    suites = [*Tree.fromstring(captured.out)]  # noqa: S314
    assert [one.get("name") for one in suites] == [
        "mine.py:tells",
        "mine.py:Attend",
        "mine.py:leaks",
    ]
    assert [one.get("errors") for one in suites] == ["1", "0", "0"]
    assert [one.get("failures") for one in suites] == ["0", "0", "1"]
    assert "headway check: d_in must be given for tells" in captured.err


def test_all_targets_stand_in_one_log_of_sarif(
    configured: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    table = '[tool.headway.checks."mine.py:tells"]\n'
    target = '[tool.headway.checks."torch.nn:MultiheadAttention"]\n'
    theirs = target + "arguments = { embed_dim = 12, num_heads = 4 }\n"
    (configured / "pyproject.toml").write_text(table + theirs + TABLES)
    assert run("--format", "sarif") == 2
    [found] = json.loads(capsys.readouterr().out)["runs"]
    places = [
        (one["ruleId"], where["physicalLocation"]["artifactLocation"]["uri"])
        for one in found["results"]
        for where in one["locations"]
    ]
    assert places == [
        ("fully-masked", "pyproject.toml"),
        ("equation", "mine.py"),
        ("leak", "mine.py"),
        ("earlier-rows", "mine.py"),
    ]
    [invocation] = found["invocations"]
    [said] = invocation["toolExecutionNotifications"]
    assert said["message"]["text"].startswith("mine.py:tells: d_in must be given")


def test_a_baseline_excuses_what_failed_at_first_and_nothing_else(
    configured: Path, capsys: Output
) -> None:
    known = configured / "known.json"
    assert run("--baseline", "known.json") == 2
    assert "which --update-baseline writes; got known.json." in capsys.readouterr().err
    write = ("--baseline", "known.json", "--update-baseline")
    assert run(*write) == 0
    assert capsys.readouterr().out == "known.json holds 1 known failure\n"
    assert json.loads(known.read_text("utf-8")) == {"mine.py:leaks": ["earlier-rows"]}
    assert run("--baseline", "known.json") == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "Expected: it is in known.json, which --update-baseline renews." in out

    # More fails: the file stays, and says nothing of it.
    before = known.read_text("utf-8")
    table = (configured / "pyproject.toml").read_text("utf-8")
    less = table.replace(', "leak" = "so"', "")
    (configured / "pyproject.toml").write_text(less)
    assert run(*write) == 1
    assert capsys.readouterr().out.splitlines() == [
        "known.json holds 1 known failure",
        "mine.py:leaks fails, and not as it is known to: leak",
    ]
    assert known.read_text("utf-8") == before

    # Nothing fails any more: the file must shrink.
    code = (configured / "mine.py").read_text("utf-8")
    mended = code.replace(
        "return scaled_dot_product_attention(q, k, v)\n\ndef tells",
        "return scaled_dot_product_attention(q, k, v, is_causal=causal)\n\ndef tells",
    )
    assert mended != code
    (configured / "mine.py").write_text(mended)
    (configured / "pyproject.toml").write_text(table.partition("expected")[0])
    assert run("--baseline", "known.json") == 1
    assert "It was expected to fail" in capsys.readouterr().out
    assert run(*write) == 0
    assert capsys.readouterr().out == "known.json holds 0 known failures\n"
    assert run("--baseline", "known.json") == 0


def test_a_reason_goes_before_that_of_a_baseline(
    configured: Path, capsys: Output
) -> None:
    known = '{"mine.py:leaks": ["earlier-rows", "leak"]}'
    (configured / "known.json").write_text(known)
    words = ("mine.py:leaks", "--baseline", "known.json", "--json")
    assert run(*words, "--expect", "earlier-rows=of mine") == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    reasons = {row["id"]: row["reason"] for row in rows if row["verdict"] == "expected"}
    assert reasons == {"equation": "so", "leak": "so", "earlier-rows": "of mine"}


def test_no_baseline_is_written_of_what_could_not_be_checked(
    configured: Path, capsys: Output
) -> None:
    table = '[tool.headway.checks."mine.py:tells"]\n'
    (configured / "pyproject.toml").write_text(TABLES + table)
    assert run("--baseline", "known.json", "--update-baseline") == 2
    assert not (configured / "known.json").exists()
    assert run("--update-baseline") == 2
    assert capsys.readouterr().err.endswith(
        "headway check: baseline must be given with update_baseline; got none.\n"
    )


def test_only_what_a_change_concerns_is_checked(
    configured: Path, capsys: Output
) -> None:
    identity = ["-c", "user.name=A", "-c", "user.email=a@b.c"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        subprocess.run(["git", *identity, *words], check=True)
    assert run("--changed-since", "HEAD") == 0
    sentence = "No target reaches what has changed since HEAD.\n"
    assert capsys.readouterr().out == sentence
    assert run("mine.py:built", "--changed-since", "HEAD", "--json") == 0
    assert json.loads(capsys.readouterr().out) == []
    with (configured / "mine.py").open("a", encoding="utf-8") as file:
        file.write("# more\n")
    assert run("--changed-since", "HEAD", "--expect", "earlier-rows=so") == 1
    assert capsys.readouterr().out.startswith("Checked Attend")


def test_arguments_of_a_constructor_need_a_target(
    configured: Path, capsys: Output
) -> None:
    assert run("--d-out=20") == 2
    assert capsys.readouterr().err == (
        "headway check: target must be given with arguments of its constructor; got "
        "--d-out.\n"
    )


def test_colours_are_for_a_terminal(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for stream, value, coloured in (
        (Terminal(), None, True),
        (Terminal(), "", True),
        (Terminal(), "1", False),
        (io.StringIO(), None, False),
    ):
        monkeypatch.setattr(sys, "stdout", stream)
        if value is not None:
            monkeypatch.setenv("NO_COLOR", value)
        run("mine.py:built")
        assert ("\x1b[32mpassed\x1b[0m" in stream.getvalue()) is coloured
        assert ("\x1b" in stream.getvalue()) is coloured
        monkeypatch.delenv("NO_COLOR", raising=False)


def test_json_has_no_colours(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stdout", stream)
    assert run("mine.py:built", "--json") == 0
    assert json.loads(stream.getvalue())["subject"] == "Attend"


# What is reported


def test_a_slow_check_says_what_it_does(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "Timer", AtOnce)
    assert run("mine.py:built") == 0
    shown = stream.getvalue()
    assert "build it small" in shown
    assert "\r\x1b[Kgradients arrive ..." in shown
    assert shown.endswith("\r\x1b[K")


VALUES = """
class Keep:
    def __init__(self, **given):
        raise ValueError(sorted(given.items()))
"""


@pytest.mark.parametrize(
    ("line", "given"),
    [
        ("--a 3", {"a": 3}),
        ("--a=3", {"a": 3}),
        ("--a=-3 --b -0.5", {"a": -3, "b": -0.5}),
        ("--a-b 1e-5", {"a_b": 1e-5}),
        ("--a flash", {"a": "flash"}),
        ("""--a "'3'" """, {"a": "3"}),
        ("--a=", {"a": ""}),
        ("--a=b=c", {"a": "b=c"}),
        ("--a", {"a": True}),
        ("--no-a-b", {"a_b": False}),
        ("--a --b 5 --no-c", {"a": True, "b": 5, "c": False}),
        ("--a True --b False --c None", {"a": True, "b": False, "c": None}),
        ("--a true --b false --c none", {"a": True, "b": False, "c": None}),
        ("""--a '(3, 5)' --b "{'c': 7}" """, {"a": (3, 5), "b": {"c": 7}}),
        ("--a '{[]: 1}' --b '1 +'", {"a": "{[]: 1}", "b": "1 +"}),
        ("--a 3 --d-in 5 --b 7", {"a": 3, "b": 7}),
    ],
)
def test_a_value_is_read_as_python_if_it_is(
    line: str, given: dict[str, Any], folder: Path, capsys: Output
) -> None:
    (folder / "keeping.py").write_text(VALUES)
    assert run("keeping.py:Keep", *shlex.split(line)) == 2
    assert capsys.readouterr().err == (
        "headway check: Keep could not be built: ValueError: "
        f"{sorted(given.items())} at keeping.py:4.\n"
    )


def test_the_call_and_the_weights_are_told(folder: Path, capsys: Output) -> None:
    name = "mine.py:Odd"
    words = ["--d-in", "13", "--call", "m(x, x)", "--json"]
    names = ["query=first.weight", "key=second.weight", "value=third.weight"]
    assert run(name, *words, "--weights", *names) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["facts"]["called"]["value"] == "m(x, x)"
    assert printed["facts"]["weights"] == {
        "value": "first.weight, second.weight, third.weight",
        "origin": "declared",
        "hint": "",
    }
    assert printed["rows"][0]["id"] == "equation"
    assert printed["rows"][0]["verdict"] == "passed"


# In a process of its own


def command(
    folder: Path, *words: str, stdout: int = subprocess.PIPE
) -> subprocess.CompletedProcess[str]:
    """Run the command with nothing of this process but the interpreter."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, "-m", "headway.cli", *words],
        cwd=folder,
        env=environment,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_it_runs_in_an_empty_folder(tmp_path: Path) -> None:
    words = ["torch.nn:MultiheadAttention", "--embed-dim", "12", "--num-heads", "4"]
    done = command(tmp_path, "check", *words)
    assert done.returncode == 1
    assert done.stdout.startswith("Checked MultiheadAttention\n")
    assert "FAILED  fully masked rows do no harm" in done.stdout
    assert "\x1b" not in done.stdout
    assert done.stderr == ""
    assert [*tmp_path.iterdir()] == []


def test_it_ends_quietly_if_nobody_reads_on(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    words = ["check", "torch.nn:Identity", "--d-in", "13"]
    done = command(tmp_path, *words, stdout=writer)
    os.close(writer)
    assert (done.stderr, done.returncode) == ("", NOBODY_READS)
