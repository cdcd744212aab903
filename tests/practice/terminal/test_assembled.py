"""The small model is made of the reader's own functions."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest
import torch
from torch import Tensor

from headway.models.small_gpt import Characters, small_gpt, small_text
from headway.practice.task.library import book
from headway.practice.terminal.assembled import (
    PARTS,
    Assembled,
    Parts,
    answer,
    parts_of,
    write,
)

BEGIN = "Mr. Darcy"


@pytest.fixture(scope="module")
def parts() -> Parts:
    return parts_of(book(), {})


def written(parts: Parts, count: int = 3) -> Any:
    return write(parts, BEGIN, count, 0.5, seed=3)


def test_it_is_the_model_of_the_book_beyond_its_window(parts: Parts) -> None:
    model = small_gpt().double()
    ids = Characters(small_text()).encode(small_text()[:100])
    assembled = Assembled(model, parts)
    for end in (5, *range(6, 101)):
        logits = assembled(ids[:end])
    torch.testing.assert_close(logits, model(ids), rtol=0.0, atol=1e-9)
    assert assembled(ids) is logits  # nothing new
    assert assembled(ids[1:]).shape == (99, 66)  # another text


def test_it_writes_and_nothing_leaks(parts: Parts) -> None:
    found = written(parts, 40)
    assert found["text"].startswith(BEGIN)
    assert len(found["text"]) == len(BEGIN) + 40
    assert found["text"] == written(parts, 40)["text"]
    assert found["text"] != write(parts, BEGIN, 40, 0.5, seed=4)["text"]
    assert found["leaks"] is False
    assert found["off"] < 1e-9


@pytest.mark.parametrize("name", PARTS)
def test_each_part_is_called(parts: Parts, name: str) -> None:
    class CalledError(Exception):
        pass

    def raises(*_: object) -> NoReturn:
        raise CalledError

    with pytest.raises(CalledError):
        written({**parts, name: raises})


def _without_scale(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return torch.softmax(query @ key.mT, dim=-1) @ value


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("causal_mask", lambda T, S: torch.ones(T, S, dtype=torch.bool)),
        ("padding_mask", lambda lengths, S: torch.ones(1, 1, S, dtype=torch.bool)),
        ("softmax", lambda scores: torch.softmax(0.9 * scores, dim=-1)),
        ("attention", _without_scale),
        ("rotate", lambda x, angles: x),
        ("repeat_groups", lambda keys, H: keys.repeat(1, H // 2, 1, 1)),
        ("online", lambda blocks, values: torch.softmax(blocks[0], -1) @ values[0]),
        ("keep_tail", lambda kept, key, W: (torch.cat([kept, key], 1)[:, -9:],) * 2),
    ],
)
def test_a_broken_part_makes_another_model(
    parts: Parts, name: str, wrong: Callable[..., Any]
) -> None:
    found = written({**parts, name: wrong}, 12)
    assert found["off"] > 1e-3
    assert found["leaks"] is (name == "causal_mask")


def test_a_file_of_the_reader_is_run(tmp_path: Path) -> None:
    source = book()["leaks"].source
    path = tmp_path / "leaks.py"
    path.write_text("\ufeff" + source.filled_with("return True"), encoding="utf-8")
    assert answer(request(leaks=str(path))) == json.dumps(
        {**written(parts_of(book(), {})), "leaks": True}
    )


def request(**files: str) -> dict[str, Any]:
    asked = {"begin": BEGIN, "count": 3, "temperature": 0.5, "seed": 3}
    return {"set": str(book().folder), "files": files, "write": asked}


def test_what_raises_is_named(tmp_path: Path) -> None:
    softmax, leaks = tmp_path / "softmax.py", tmp_path / "leaks.py"
    source = book()["softmax"].source
    softmax.write_text(source.filled_with("return scores / 'a'"))
    leaks.write_text(book()["leaks"].source.solution)
    found = json.loads(answer(request(softmax=str(softmax), leaks=str(leaks))))
    assert found == {
        "raised": "softmax raised TypeError: unsupported operand type(s) for /: "
        "'Tensor' and 'str'"
    }
    # What it gives fits nothing, and others raise.
    softmax.write_text(source.filled_with("return 'none'"))
    found = json.loads(answer(request(softmax=str(softmax))))
    assert found["raised"].startswith("It raised TypeError: ")
