"""What `pyproject.toml` says of a target is found, and refused if it means nothing."""

from pathlib import Path

import pytest

from headway.checks.command.configuration import (
    ConfiguredTarget,
    all_configured,
    configured,
)
from tests.checks.support.asking import refused

TABLES = """
[tool.other]
checks = 3

[tool.headway.checks."src/mine.py:Attend"]
arguments = { d_out = 20 }
d_in = 12
causal = true
scale = 1
expected = { "large-scores" = "known" }

[tool.headway.checks."torch.nn:MultiheadAttention"]
num_heads = 4
"""
MINE = ConfiguredTarget(
    "src/mine.py:Attend",
    {"d_in": 12, "causal": True, "scale": 1, "expected": {"large-scores": "known"}},
    {"d_out": 20},
)
THEIRS = ConfiguredTarget("torch.nn:MultiheadAttention", {"num_heads": 4}, {})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "project" / "src").mkdir(parents=True)
    (tmp_path / "project" / "pyproject.toml").write_text(TABLES)
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


@pytest.mark.parametrize("name", ["src/mine.py:Attend", "./src/../src/mine.py:Attend"])
def test_a_target_is_found_however_its_file_is_called(name: str, folder: Path) -> None:
    assert configured(name) == MINE._replace(name=name)
    whole = f"{folder.as_posix()}/src/mine.py:Attend"
    assert configured(whole) == MINE._replace(name=whole)


def test_a_file_is_looked_up_from_its_folder_upwards(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    name = "project/src/mine.py:Attend"
    assert configured(name) == MINE._replace(name=name)
    monkeypatch.chdir(folder / "src")
    assert configured("mine.py:Attend") == MINE._replace(name="mine.py:Attend")


def test_the_nearest_file_that_speaks_of_checks_counts(folder: Path) -> None:
    (folder / "src" / "pyproject.toml").write_text("[tool.other]\n")
    assert configured("src/mine.py:Attend") == MINE
    (folder / "src" / "pyproject.toml").write_text("[tool.headway.checks]\n")
    assert configured("src/mine.py:Attend") == ConfiguredTarget(
        "src/mine.py:Attend", {}, {}
    )


def test_the_working_directory_is_asked_of_files_elsewhere(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = (tmp_path_factory.mktemp("other") / "mine.py").as_posix()
    (folder / "pyproject.toml").write_text(
        f'[tool.headway.checks."{other}:Attend"]\nd_in = 3\n'
    )
    name = f"{other}:Attend"
    assert configured(name) == ConfiguredTarget(name, {"d_in": 3}, {})


def test_a_module_is_looked_up_in_the_working_directory(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert configured(THEIRS.name) == THEIRS
    monkeypatch.chdir(folder / "src")
    assert configured(THEIRS.name) == ConfiguredTarget(THEIRS.name, {}, {})


def test_a_file_may_stand_alone(folder: Path) -> None:
    (folder / "pyproject.toml").write_text(
        '[tool.headway.checks."src/mine.py"]\nd_in = 3\n'
    )
    assert configured("src/mine.py") == ConfiguredTarget("src/mine.py", {"d_in": 3}, {})
    assert configured("src/mine.py:Attend") == ConfiguredTarget(
        "src/mine.py:Attend", {}, {}
    )
    assert all_configured() == [ConfiguredTarget("src/mine.py", {"d_in": 3}, {})]


@pytest.mark.parametrize("name", ["src/mine.py:attend", "src/his.py:Attend", "mine"])
def test_of_other_targets_nothing_is_said(name: str, folder: Path) -> None:
    assert configured(name) == ConfiguredTarget(name, {}, {})


def test_what_is_found_once_is_not_changed_by_who_uses_it(folder: Path) -> None:
    configured(THEIRS.name).options["d_in"] = 3
    assert configured(THEIRS.name) == THEIRS


def test_all_targets_are_listed_as_one_would_call_them(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert all_configured() == [MINE, THEIRS]
    monkeypatch.chdir(folder / "src")
    assert all_configured() == [MINE._replace(name="mine.py:Attend"), THEIRS]
    (folder / "src" / "deep").mkdir()
    monkeypatch.chdir(folder / "src" / "deep")
    above = f"{folder.as_posix()}/src/mine.py:Attend"
    assert all_configured() == [MINE._replace(name=above), THEIRS]


def test_a_file_on_a_drive_is_a_file(folder: Path) -> None:
    (folder / "pyproject.toml").write_text(
        '[tool.headway.checks."C:/src/mine.py"]\nd_in = 3\n'
    )
    name = "C:/src/../src/mine.py"
    assert configured(name) == ConfiguredTarget(name, {"d_in": 3}, {})


@pytest.mark.parametrize("memory", [3, 0.5])
def test_memory_is_a_number_of_gigabytes(memory: float, folder: Path) -> None:
    file = folder / "pyproject.toml"
    file.write_text(f'[tool.headway.checks."a.py:A"]\nmemory = {memory}\n')
    assert configured("a.py:A") == ConfiguredTarget("a.py:A", {"memory": memory}, {})


NONE = (
    "target must be given, file.py:Name or package.module:Name, or configured in "
    "pyproject.toml below [tool.headway.checks]; got none."
)


@pytest.mark.parametrize(
    "content", [None, "", "[tool.headway]", "[tool.headway.checks]"]
)
@pytest.mark.refusal
def test_no_target_at_all_is_refused(content: str | None, folder: Path) -> None:
    (folder / "pyproject.toml").unlink()
    if content is not None:
        (folder / "pyproject.toml").write_text(content)
    with refused(NONE):
        all_configured()


TABLE = '[tool.headway.checks."a.py:A"]'


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("tool.headway = 3", "tool.headway must be a table in FILE; got 3."),
        (
            "tool.headway.checks = [5]",
            "tool.headway.checks must be a table in FILE; got [5].",
        ),
        ("[tool.headway.check]", "tool.headway must have checks alone; got 'check'."),
        (
            '[tool.headway.checks]\n"a.py:A" = 5',
            "HERE must be a table in FILE; got 5.",
        ),
        (
            f'{TABLE}\nfacts = "rotary"',
            "facts must be a table of facts in HERE; got facts='rotary'.",
        ),
        (
            f"{TABLE}\nd-in = 5",
            "HERE must have known keys, such as 'd_in'; got 'd-in'.",
        ),
        (
            f"{TABLE}\nd_in = true",
            "d_in must be a whole number in HERE; got d_in=True.",
        ),
        (
            f"{TABLE}\ncausal = 1",
            "causal must be true or false in HERE; got causal=1.",
        ),
        (
            f'{TABLE}\nmemory = "3 GB"',
            "memory must be a number of gigabytes in HERE; got memory='3 GB'.",
        ),
        (
            f'{TABLE}\nexpected = ["large-scores"]',
            "expected must be a table of reasons in HERE; got "
            "expected=['large-scores'].",
        ),
    ],
)
@pytest.mark.refusal
def test_what_means_nothing_is_refused(
    content: str, sentence: str, folder: Path
) -> None:
    file = folder / "pyproject.toml"
    file.write_text(content)
    sentence = sentence.replace("HERE", "tool.headway.checks.'a.py:A'")
    with refused(sentence.replace("FILE", str(file))):
        configured("a.py:A")


@pytest.mark.parametrize("content", [b"[tool", b"\xff"])
def test_what_is_no_toml_is_refused(content: bytes, folder: Path) -> None:
    (folder / "pyproject.toml").write_bytes(content)
    with pytest.raises(ValueError, match=r"pyproject.toml must be TOML; got .+\.$"):
        configured("a.py:A")
