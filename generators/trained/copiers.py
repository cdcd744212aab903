"""Train the models that copy: `python -m generators.trained.copiers [--check]`.

It takes seconds on one thread, and writes what the models have learned, in 16 bits.
Training does not end in the same digits on every processor, so with `--check` nothing
is trained: the command fails if what is there does not do what the book says.
"""

import argparse
import sys
from collections.abc import Sequence

import torch

from generators import ROOT
from headway import (
    LanguageModel,
    copying_loss,
    guessing_loss,
    induction_model,
    induction_score,
    previous_token_score,
    recorded_weights,
    repeat_task,
    silenced_heads,
    train_induction,
    two_head_model,
    words_guessing_loss,
    words_task,
)

DATA = ROOT / "src" / "headway" / "models" / "data"
COPIES = 0.5  # a loss, in nats a token, well below the floors of guessing
# What each model learns from, by its number of heads, and the floor of that.
TASKS = {
    1: (words_task, words_guessing_loss()),
    2: (repeat_task, guessing_loss()),
}


def train(num_heads: int) -> LanguageModel:
    """Train a model anew, on one thread."""
    torch.set_num_threads(1)
    task, _ = TASKS[num_heads]
    return train_induction(num_heads=num_heads, task=task, seed=num_heads - 1)


def write() -> None:
    """Train both models, and write what they have learned."""
    for name, num_heads in (("induction", 1), ("two_heads", 2)):
        state = train(num_heads).half().state_dict()
        torch.save(state, DATA / f"{name}.pt")


@torch.no_grad()
def loss_without(model: LanguageModel, layer: int, heads: Sequence[int]) -> float:
    """Measure the loss while some heads are silent."""
    attention = model.blocks[layer].attention
    task, _ = TASKS[attention.num_heads]
    texts = task(200, generator=torch.Generator().manual_seed(1))
    with silenced_heads(attention, heads):
        return copying_loss(model, *texts).item()


def problems(model: LanguageModel) -> list[str]:
    """Say where a model, however it came to be, does not copy as the book says."""
    task, floor = TASKS[model.blocks[0].attention.num_heads]
    ids, _ = task(200, generator=torch.Generator().manual_seed(1))
    first, second = recorded_weights(model, ids)
    every = range(first.shape[-3])
    measured = {
        "loss below 0.5": loss_without(model, 0, []) < COPIES,
        "loss above the floor without layer 1": loss_without(model, 0, every) > floor,
        "loss above the floor without layer 2": loss_without(model, 1, every) > floor,
        "head in layer 1 that looks one back": previous_token_score(first).max() > 0.7,
        "induction heads in layer 2": induction_score(second, ids).min() > 0.8,
    }
    return [
        f"The model must have: {name}." for name, holds in measured.items() if not holds
    ]


def spare_heads(model: LanguageModel) -> list[str]:
    """Say where the stored model of two heads is not the one the book reads."""
    floor = guessing_loss()
    losses = {
        (layer, head): loss_without(model, layer, [head])
        for layer in (0, 1)
        for head in (0, 1)
    }
    needed = [heads for heads, loss in losses.items() if loss > floor]
    spare = [heads for heads, loss in losses.items() if loss < COPIES]
    if needed == [(0, 1)] and spare == [(0, 0), (1, 0), (1, 1)]:
        return []
    return [f"Head 1 of layer 1 alone must be needed; got losses={losses}."]


def main(arguments: Sequence[str] | None = None) -> int:
    """Train and write, or check what is there."""
    parser = argparse.ArgumentParser(prog="python -m generators.trained.copiers")
    parser.add_argument("--check", action="store_true", help="train and write nothing")
    if not parser.parse_args(arguments).check:
        write()
    two = two_head_model()
    found = [*problems(induction_model()), *problems(two), *spare_heads(two)]
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
