"""Train the models that the wheel carries: `python -m generators.trained [--check]`.

It takes a minute on one thread. It writes what the models have learned, in 16 bits, and
how the loss of the one that writes fell. Training does not end in the same digits on
every processor, so with `--check` nothing is trained: the command fails if what is
there does not do as well as the book says.
"""

import argparse
import json
import sys
from collections.abc import Sequence

import torch
from torch import nn

from generators import GENERATED, ROOT
from generators.trained import copiers, induction_heads
from headway import (
    Characters,
    LanguageModel,
    bigram_loss,
    draw_passages,
    passage_loss,
    small_gpt,
    small_text,
)

STATE = ROOT / "src" / "headway" / "models" / "data" / "small_gpt.pt"
CURVE = GENERATED / "trained" / "small_gpt.json"

STEPS, WARM_UP, PASSAGES, LENGTH, FASTEST = 2000, 50, 16, 64, 0.01
EVERY = 50  # steps between two points of the curve
# In nats a character, on the last tenth of the text.
BIGRAM, TRAINED = (2.38, 2.41), 1.55
LARGEST = 160_000  # bytes of the state


def text() -> tuple[torch.Tensor, torch.Tensor, int]:
    """Give what is learned from, what is held out, and the number of characters."""
    characters = Characters(small_text())
    ids = characters.encode(small_text())
    cut = len(ids) * 9 // 10
    return ids[:cut], ids[cut:], len(characters)


def rate(step: int) -> float:
    """Give the learning rate: up in the first steps, then down to nothing."""
    return FASTEST * min((step + 1) / WARM_UP, 1.0) * (1.0 - step / STEPS)


def train(seed: int = 7) -> tuple[LanguageModel, dict[str, object]]:
    """Train the model anew, on one thread."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    learned, held_out, vocab_size = text()
    model = small_gpt(trained=False)
    optimizer = torch.optim.Adam(model.parameters(), lr=FASTEST)
    points, recent = [(0, passage_loss(model, held_out, LENGTH).item(), None)], []
    for step in range(STEPS):
        optimizer.param_groups[0]["lr"] = rate(step)
        x, y = draw_passages(learned, PASSAGES, LENGTH)
        loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        recent.append(loss.item())
        if (step + 1) % EVERY == 0:
            mean = sum(recent) / len(recent)
            held = passage_loss(model, held_out, LENGTH).item()
            points.append((step + 1, held, mean))
            recent.clear()
    curve = {
        "bigram": round(bigram_loss(learned, held_out, vocab_size).item(), 4),
        "steps": [step for step, _, _ in points],
        "held out": [round(loss, 3) for _, loss, _ in points],
        "learned from": [loss and round(loss, 3) for _, _, loss in points],
    }
    return model, curve


def problems(model: LanguageModel) -> list[str]:
    """Say where a model, or the text, is not as the book says."""
    learned, held_out, vocab_size = text()
    bigram = bigram_loss(learned, held_out, vocab_size).item()
    loss = passage_loss(model, held_out, LENGTH).item()
    found = []
    if not BIGRAM[0] < bigram < BIGRAM[1]:
        found.append(f"The bigram table must lose within {BIGRAM}; got {bigram:.3f}.")
    if not loss < TRAINED:
        found.append(f"The model must lose less than {TRAINED}; got {loss:.3f}.")
    return found


def stale() -> list[str]:
    """Say where the files are not those of one training."""
    found = []
    if STATE.stat().st_size > LARGEST:
        found.append(f"{STATE} must have at most {LARGEST} bytes.")
    _, held_out, _ = text()
    loss = passage_loss(small_gpt(), held_out, LENGTH).item()
    last = json.loads(CURVE.read_text("utf-8"))["held out"][-1]
    if abs(loss - last) > 0.01:
        found.append(f"{CURVE} must end where the model is, at {loss:.3f}; got {last}.")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Train and write, or check what is there."""
    parser = argparse.ArgumentParser(prog="python -m generators.trained")
    parser.add_argument("--check", action="store_true", help="train and write nothing")
    if not parser.parse_args(arguments).check:
        model, curve = train()
        halves = {name: kept.half() for name, kept in model.state_dict().items()}
        torch.save(halves, STATE)
        CURVE.parent.mkdir(parents=True, exist_ok=True)
        CURVE.write_text(json.dumps(curve) + "\n", encoding="utf-8", newline="\n")
    found = [*problems(small_gpt()), *stale()]
    print(*found, sep="\n", end="\n" if found else "")
    others = (copiers.main(arguments), induction_heads.main(arguments))
    return max(1 if found else 0, *others)


if __name__ == "__main__":
    sys.exit(main())
