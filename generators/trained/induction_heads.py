"""Record two heads as they learn.

    python -m generators.trained.induction_heads [--check]

It takes half a minute on one thread, and writes what a live figure shows: the weights
of a short text at some steps of the training, and how well the model does there.
Training does not end in the same digits on every processor, so with `--check` nothing
is trained: the command fails if what is there does not show what the book says.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from typing import TypedDict

import torch

from generators import GENERATED
from headway import (
    copying_loss,
    induction_score,
    previous_token_score,
    recorded_weights,
    train_induction,
    words_guessing_loss,
    words_task,
)

RECORDING = GENERATED / "trained" / "induction_heads.json"
COMMAND = "python -m generators.trained.induction_heads"
TEXT, NEXT = "lemonlemo", "n"
# Not at equal distances: most happens between the fiftieth step and the eightieth.
STEPS = (1, 10, 20, 30, 40, 50, 55, 60, 65, 70, 80, 150)


class Recording(TypedDict):
    """One text, and a number with two decimals for each step."""

    text: str
    next: str
    steps: list[int]
    loss: list[float]  # of 200 texts, as are both scores
    back: list[float]
    follows: list[float]
    right: list[float]  # the share that the letter gets that is next
    # The weights in hundredths: a row for each letter, up to itself.
    first: list[list[list[int]]]
    second: list[list[list[int]]]


def numbers(text: str) -> torch.Tensor:
    """Number the letters as the task does."""
    return torch.tensor([ord(letter) - ord("a") for letter in text])


@torch.no_grad()
def record(seed: int = 0) -> Recording:
    """Train anew up to each of the steps, on one thread, and look."""
    torch.set_num_threads(1)
    ids, asked = words_task(200, generator=torch.Generator().manual_seed(1))
    letters = numbers(TEXT)
    found = Recording(
        text=TEXT,
        next=NEXT,
        steps=[*STEPS],
        loss=[],
        back=[],
        follows=[],
        right=[],
        first=[],
        second=[],
    )
    for steps in STEPS:
        with torch.enable_grad():
            model = train_induction(steps=steps, seed=seed)
        first, second = recorded_weights(model, ids)
        shares = model(letters)[-1].softmax(dim=-1)
        found["loss"].append(rounded(copying_loss(model, ids, asked)))
        found["back"].append(rounded(previous_token_score(first)))
        found["follows"].append(rounded(induction_score(second, ids)))
        found["right"].append(rounded(shares[numbers(NEXT)]))
        first, second = recorded_weights(model, letters)
        found["first"].append(in_hundredths(first[0]))
        found["second"].append(in_hundredths(second[0]))
    return found


def rounded(fact: torch.Tensor) -> float:
    """Give one number with two decimals."""
    return round(fact.item(), 2)


def in_hundredths(weights: torch.Tensor) -> list[list[int]]:
    """Round weights, and leave out what is in the future."""
    rows = weights.mul(100).round().int().tolist()
    return [row[: t + 1] for t, row in enumerate(rows)]


def problems(found: Recording) -> list[str]:
    """Say where a recording does not show what the book says."""
    floor = words_guessing_loss()
    loss, back, follows = found["loss"], found["back"], found["follows"]
    held = {
        "The loss must begin above the floor.": loss[0] > floor + 0.5,
        "The loss must end below 0.5.": loss[-1] < 0.5,
        "The first head must begin without a stripe.": back[0] < 0.3,
        "The first head must end with a stripe.": back[-1] > 0.8,
        "The second head must begin without a stripe.": follows[0] < 0.3,
        "The second head must end with a stripe.": follows[-1] > 0.8,
        "The model must not begin with the letter.": found["right"][0] < 0.3,
        "The model must end with the letter.": found["right"][-1] > 0.8,
    }
    # The text is one of many: its own stripes are those that a reader sees.
    last = len(found["text"]) - 1
    ends = {
        "The last letter must look one back.": found["first"][-1][last][last - 1],
        "The last letter must look at what followed.": found["second"][-1][last][4],
    }
    held.update({said: share > 80 for said, share in ends.items()})
    return [said for said, is_so in held.items() if not is_so]


def read() -> Recording:
    """Read the recording that the book shows."""
    found: Recording = json.loads(RECORDING.read_text("utf-8"))
    return found


def write(found: Recording) -> None:
    """Keep a recording, without a space that nobody needs."""
    text = json.dumps(found, separators=(",", ":")) + "\n"
    RECORDING.write_text(text, encoding="utf-8", newline="\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Train and write, or check what is there."""
    parser = argparse.ArgumentParser(prog=COMMAND)
    parser.add_argument("--check", action="store_true", help="train and write nothing")
    if not parser.parse_args(arguments).check:
        write(record())
    found = problems(read())
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
