"""`--vocab` checks a whole model from a terminal."""

import inspect
import json
from pathlib import Path

import griffe
import pytest

from headway import checks
from headway.checks.cli import main

CODE = '''
"""Two language models in one file."""
import torch
from torch import nn


class LM(nn.Module):
    def __init__(self, vocab_size, width=12, causal=True):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, width)
        self.attention = nn.MultiheadAttention(width, 2, batch_first=True)
        self.head = nn.Linear(width, vocab_size)
        self.hides = causal

    def forward(self, ids):
        x = self.tokens(ids)
        T = ids.shape[1]
        mask = torch.ones(T, T, dtype=torch.bool).triu(1) if self.hides else None
        rows, _ = self.attention(x, x, x, attn_mask=mask, need_weights=False)
        return self.head(x + rows)


class Leaks(LM):
    def __init__(self, vocab_size):
        super().__init__(vocab_size, causal=False)
'''


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "language_models.py"
    path.write_text(CODE)
    return path


def test_a_right_model(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", f"{file}:LM", "--vocab", "31", "--width", "20"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Checked LM"
    assert "  sizes     3 texts of 11 tokens of 31" in lines
    assert "passed  no leak from the future" in [line[:31] for line in lines]


def test_a_model_that_leaks(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", f"{file}:Leaks", "--vocab", "31", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    failed = [row["name"] for row in report["rows"] if row["verdict"] == "failed"]
    assert failed == ["no leak from the future"]


def test_a_model_that_is_meant_to_see_both_sides(file: Path) -> None:
    arguments = [f"{file}:Leaks", "--vocab", "31", "--no-causal", "--call", "m(ids)"]
    assert main(["check", *arguments, "--context-length", "20"]) == 0


def test_a_vocabulary_that_is_too_small(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", f"{file}:LM", "--vocab", "1"]) == 2
    told = capsys.readouterr().err
    assert told == (
        "headway check: vocab_size must be a whole number of at least 2; "
        "got vocab_size=1.\n"
    )


def test_all_arguments_are_explained_in_order() -> None:
    root = Path(__file__).parents[3]
    package = griffe.load("headway.checks", search_paths=[root / "src"])
    docstring = package["check_model"].docstring
    assert docstring is not None
    found = {one.kind.value: one.value for one in docstring.parse("google")}
    written = [one.name for one in found["parameters"]]
    assert written == [*inspect.signature(checks.check_model).parameters]
    assert {"returns", "raises", "examples"} <= found.keys()
