"""What a check of a model takes, and what it is checked in if that is too much."""

import os
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from headway.checks.model import memory
from headway.checks.model.memory import free_bytes, told_of_memory, types_that_fit
from tests.checks.support.asking import refused

WIDE, SINGLE, BRAIN, HALF = torch.float64, torch.float32, torch.bfloat16, torch.float16
CPU = torch.device("cpu")
FREE = "MemTotal:  90000 kB\nMemFree:  3 kB\nMemAvailable:   7000 kB\n"


def layer(dtype: torch.dtype, inside: int = 7, outside: int = 5) -> nn.Module:
    """Make a layer, by default of 35 numbers; on no device, so it takes no memory."""
    return nn.Linear(inside, outside, bias=False, device="meta", dtype=dtype)


@pytest.fixture
def linux(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Give a file in which 7000 kB are free, as Linux tells it."""
    file = tmp_path / "meminfo"
    file.write_text(FREE, "utf-8")
    monkeypatch.setattr(memory, "_MEMORY", file)
    return file


def told(names: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a system that is no Linux tell these numbers, and no others."""
    monkeypatch.setattr(os, "sysconf_names", names, raising=False)
    monkeypatch.setattr(os, "sysconf", names.__getitem__, raising=False)


# Five copies of 35 numbers take 1400 bytes in 64 bits, 700 in 32, and 350 in 16.
@pytest.mark.parametrize(
    ("dtype", "room", "types"),
    [
        (SINGLE, 1401, [WIDE, SINGLE]),
        (SINGLE, 1399, [SINGLE]),
        (WIDE, 701, [SINGLE]),
        (BRAIN, 1401, [WIDE, SINGLE]),
        (BRAIN, 701, [SINGLE]),
        (BRAIN, 699, [BRAIN]),
        (HALF, 351, [HALF]),
    ],
)
def test_a_model_is_checked_in_the_most_precise_types_that_fit(
    dtype: torch.dtype, room: int, types: list[torch.dtype]
) -> None:
    assert [*types_that_fit(layer(dtype), "it", room / 1e9)] == types


@pytest.mark.parametrize(
    ("outside", "types"), [(5000, [WIDE, SINGLE]), (5001, [SINGLE])]
)
def test_more_than_50_million_numbers_are_not_widened(
    outside: int, types: list[torch.dtype]
) -> None:
    large = layer(SINGLE, 10_000, outside)
    assert [*types_that_fit(large, "it", 1000)] == types


def test_what_is_stored_twice_counts_once_and_whole_numbers_do_not() -> None:
    both = nn.Sequential(layer(SINGLE), layer(SINGLE))
    both.register_buffer("scale", torch.ones(3))
    both.register_buffer("ids", torch.arange(1000))
    room = 5 * (35 + 35 + 3) * 4
    assert types_that_fit(both, "it", (room + 1) / 1e9) == [SINGLE]
    with pytest.raises(ValueError, match=r"^memory must be "):
        types_that_fit(both, "it", (room - 1) / 1e9)
    both[1].weight = both[0].weight
    assert types_that_fit(both, "it", 5 * 39 * 4 / 1e9) == [SINGLE]


def test_a_function_takes_none(linux: Path) -> None:
    linux.write_text("MemAvailable: 0 kB\n", "utf-8")
    assert types_that_fit(len, "len", None) == [WIDE, SINGLE]
    assert told_of_memory(len, WIDE) == ""


@pytest.mark.refusal
@pytest.mark.parametrize("room", [0, -3, float("nan")])
def test_no_memory_at_all_is_refused(room: float) -> None:
    with refused(
        f"memory must be a positive number of gigabytes; got memory={room!r}."
    ):
        types_that_fit(layer(SINGLE), "it", room)


@pytest.mark.refusal
@pytest.mark.parametrize(
    ("dtype", "least"), [(BRAIN, "20.0"), (SINGLE, "40.0"), (WIDE, "40.0")]
)
def test_what_fits_in_no_type_is_refused(
    dtype: torch.dtype, least: str, linux: Path
) -> None:
    large = layer(dtype, 40_000, 50_000)
    kind = "bfloat16" if dtype == BRAIN else "float32"
    sentence = f"memory must be {least} gigabytes for it, for 5 copies of 2000 million "
    sentence += f"numbers in {kind}; got memory="
    with refused(f"{sentence}19.5."):
        types_that_fit(large, "it", 19.5)
    linux.write_text("MemAvailable: 3000000 kB\n", "utf-8")
    with refused(f"{sentence}None, and 3.1 are free on meta."):
        types_that_fit(large, "it", None)


@pytest.mark.parametrize(
    ("outside", "words"),
    [
        (5000, "2.0 gigabytes at the most: 5 copies of 50 million numbers in float64"),
        (2500, "1.0 gigabytes at the most: 5 copies of 25 million numbers in float64"),
        (2499, ""),
    ],
)
def test_a_gigabyte_is_told(outside: int, words: str) -> None:
    assert told_of_memory(layer(SINGLE, 10_000, outside), WIDE) == words


def test_linux_tells_what_is_free(linux: Path) -> None:
    assert free_bytes(CPU) == 7000 * 1024


@pytest.mark.parametrize("text", [None, "MemFree: 3 kB\n"])
def test_other_systems_tell_how_much_there_is(
    text: str | None, linux: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    linux.unlink() if text is None else linux.write_text(text, "utf-8")
    told({"SC_PHYS_PAGES": 11, "SC_PAGE_SIZE": 4096}, monkeypatch)
    assert free_bytes(CPU) == 11 * 4096


def test_where_nobody_tells_it_is_as_much_as_one_likes(
    linux: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    linux.unlink()
    told({}, monkeypatch)
    assert free_bytes(CPU) == float("inf")
    monkeypatch.delattr(os, "sysconf_names")
    assert free_bytes(CPU) == float("inf")
    assert types_that_fit(layer(SINGLE), "it", None) == [WIDE, SINGLE]


def test_a_device_tells_what_is_free_on_it(
    linux: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tells(device: Any) -> tuple[int, int]:
        assert device == torch.device("cuda", 1)
        return 17, 19

    monkeypatch.setattr(torch.cuda, "mem_get_info", tells)
    assert free_bytes(torch.device("cuda", 1)) == 17


def test_all_that_is_free_may_be_used(linux: Path) -> None:
    assert types_that_fit(layer(SINGLE, 190, 1000), "it", None) == [SINGLE]
    assert types_that_fit(layer(SINGLE, 170, 1000), "it", None) == [WIDE, SINGLE]
