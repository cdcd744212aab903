"""`--vocab` checks a whole model from a terminal."""

import inspect
import json
from pathlib import Path

import griffe
import pytest

from headway import checks
from headway.checks.cli import main
from headway.checks.command.worker import answer

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
    assert main([f"{file}:LM", "--vocab", "31", "--width", "20"], ask=answer) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Checked LM"
    assert "  sizes     3 texts of 11 tokens of 31" in lines
    assert "passed  no leak from the future" in [line[:31] for line in lines]


def test_a_model_that_leaks(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([f"{file}:Leaks", "--vocab", "31", "--json"], ask=answer) == 1
    report = json.loads(capsys.readouterr().out)
    failed = [row["id"] for row in report["rows"] if row["verdict"] == "failed"]
    assert failed == ["leak"]


def test_a_model_that_is_meant_to_see_both_sides(file: Path) -> None:
    arguments = [f"{file}:Leaks", "--vocab", "31", "--no-causal", "--call", "m(ids)"]
    assert main([*arguments, "--context-length", "20"], ask=answer) == 0


def test_a_vocabulary_that_is_too_small(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([f"{file}:LM", "--vocab", "1"], ask=answer) == 2
    told = capsys.readouterr().err
    assert told == (
        "headway check: vocab_size must be a whole number of at least 2; "
        "got vocab_size=1.\n"
    )


PADDED = """
import torch
from torch import nn


class LM(nn.Module):
    def __init__(self, vocab_size, positions="learned"):
        super().__init__()
        self.kind = positions
        self.tokens, self.places = nn.Embedding(vocab_size, 12), nn.Embedding(160, 12)
        self.qkv, self.head = nn.Linear(12, 36), nn.Linear(12, vocab_size)

    def forward(self, ids, real=None, places=None, pair=None):
        T, before = ids.shape[1], 0 if pair is None else pair[0].shape[1]
        S = T + before
        places = torch.arange(before, S) if places is None else places
        x = self.tokens(ids) + self.places(places)
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        if pair is not None:
            k, v = torch.cat([pair[0], k], 1), torch.cat([pair[1], v], 1)
        seen = torch.ones(T, S, dtype=torch.bool).tril(before)
        seen = seen if real is None else seen & real[:, None].bool()
        x = x + nn.functional.scaled_dot_product_attention(q, k, v, seen)
        return self.head(x), (k, v)
"""


def test_names_of_arguments_a_cache_and_a_compiler(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "padded.py"
    path.write_text(PADDED)
    told = ["--vocab", "31", "--mask-argument", "real", "--compile", "eager"]
    told += ["--positions-argument", "places", "--cached", "m(ids, pair=past)"]
    assert (
        main([f"{path}:LM", *told, "--positions", "rotary", "--json"], ask=answer) == 0
    )
    report = json.loads(capsys.readouterr().out)
    assert report["facts"]["mask"]["value"] == "real, 1 for tokens, 0 for padding"
    assert report["facts"]["cache"]["value"] == "m(ids, pair=past)"
    found = {row["id"]: row["verdict"] for row in report["rows"]}
    for name in ("padding-left", "cache"):
        assert found[name] == "passed"
    assert found["compile"] == "passed"
    assert main([f"{path}:LM", "--vocab", "31", "--json"], ask=answer) == 0
    report = json.loads(capsys.readouterr().out)
    assert "mask" not in report["facts"]
    assert "cache" not in report["facts"]


def test_the_same_in_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "padded.py").write_text(PADDED)
    file = tmp_path / "pyproject.toml"
    words = 'vocab_size = 31\nmask = "real"\npositions = "places"\ncompile = false\n'
    table = '[tool.headway.checks."padded.py:LM"]\n'
    file.write_text(table + words)
    monkeypatch.chdir(tmp_path)
    assert main(["padded.py:LM", "--json"], ask=answer) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["facts"]["mask"]["value"].startswith("real")
    file.write_text(table + "vocab_size = 31\ncompile = 3\n")
    assert main(["padded.py:LM"], ask=answer) == 2
    assert "compile must be true, false or the name" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "name"),
    [("--mask-argument", "mask"), ("--compile", "compile")],
)
def test_attention_is_told_nothing_of_a_model(
    file: Path, option: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([f"{file}:LM", "31", option, "real"], ask=answer) == 2
    told = capsys.readouterr().err
    assert f"vocab_size must be given with {name}, which is of a whole" in told


def test_all_arguments_are_explained_in_order() -> None:
    root = Path(__file__).parents[3]
    package = griffe.load("headway.checks", search_paths=[root / "src"])
    docstring = package["check_model"].docstring
    assert docstring is not None
    found = {one.kind.value: one.value for one in docstring.parse("google")}
    written = [one.name for one in found["parameters"]]
    assert written == [*inspect.signature(checks.check_model).parameters]
    assert {"returns", "raises", "examples"} <= found.keys()
