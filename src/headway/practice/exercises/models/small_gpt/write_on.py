"""Let a model write

Write `write_on(model, pick, ids, count, temperature)`: the text `ids`, continued by
`count` tokens.

`ids` (T) are whole numbers. `model(ids)` takes the whole text so far, of any length,
and gives logits (T, V): row t guesses the token after t. Divide the logits by the
temperature, and make shares of them. `pick(shares)` takes shares (V), and gives the
next token as a tensor of shape (1). Give all tokens, (T + count); without a cache.
"""

from headway.practice import Exercise

# --- your file ---
from collections.abc import Callable

import torch
from torch import Tensor


def write_on(
    model: Callable[[Tensor], Tensor],
    pick: Callable[[Tensor], Tensor],
    ids: Tensor,
    count: int,
    temperature: float,
) -> Tensor:
    """Give (T + count) tokens: those of the text, and those that follow."""
    # --- write ---
    for _ in range(count):
        logits = model(ids)[-1] / temperature
        shares = torch.softmax(logits, dim=-1)
        ids = torch.cat([ids, pick(shares)])
    return ids
    # --- written ---


if __name__ == "__main__":

    def next_number(ids: Tensor) -> Tensor:
        return 9.0 * torch.nn.functional.one_hot((ids + 1) % 10, 10)

    def likeliest(shares: Tensor) -> Tensor:
        return shares.argmax(dim=-1, keepdim=True)

    print(write_on(next_number, likeliest, torch.tensor([3, 4]), 5, 0.7))
    # tensor([3, 4, 5, 6, 7, 8, 9])
# --- end of your file ---


def run(write_on, embedding, head, ids, count, temperature):  # type: ignore[no-untyped-def]
    seen = []

    def model(ids: Tensor) -> Tensor:
        if ids.ndim != 1:
            raise ValueError(f"ids must be (T); got {tuple(ids.shape)}.")
        return embedding[ids].cumsum(dim=0) @ head

    def pick(shares: Tensor) -> Tensor:
        seen.append(shares.clone())
        passed = shares.cumsum(dim=-1) > [0.8, 0.15, 0.5][len(seen) % 3]
        return passed.int().argmax(dim=-1, keepdim=True)

    return write_on(model, pick, ids, count, temperature), seen


def draw(d):  # type: ignore[no-untyped-def]
    text = d.integers(d.V, d.T)
    temperature = [0.5, 2.0, 0.7][d.case]
    return d.normal(d.V, d.D) / 2, d.normal(d.D, d.V) / 2, text, 4, temperature


EXERCISE = Exercise(
    answer="write_on",
    read=("models/small_gpt/#it-writes", "It writes"),
    hints=(
        "Of all the rows that the model gives, which one guesses a token that is not "
        "in the text yet?",
        "Take the last row, divide, make shares, pick; put what was picked behind the "
        "text, and ask the model again.",
        "In each of `count` turns the text becomes one token longer: torch.cat joins "
        "it with what pick gives.",
    ),
    draw=draw,
    trials=[
        {"case": 0},
        dict.fromkeys("BHGTSDVEW", 4) | {"case": 1},
        {"case": 2, "T": 30},
    ],
    ask=run,
    law="Writing is a loop: last row, softmax, draw, append. A cache makes it fast and "
    "changes nothing.",
    right=[
        """
        # A list that grows, and shares by hand: exponentials over their sum.
        text = list(ids)
        while len(text) < len(ids) + count:
            warm = (model(torch.stack(text))[len(text) - 1] / temperature).exp()
            text += [*pick(warm / warm.sum())]
        return torch.stack(text)
        """,
        """
        # A function that calls itself: one token, and then the rest.
        if count == 0:
            return ids
        shares = torch.softmax(model(ids)[-1].div(temperature), dim=0)
        longer = torch.cat((ids, pick(shares)))
        return write_on(model, pick, longer, count - 1, temperature)
        """,
        """
        # Room for the whole text first: nothing is joined, and places are written.
        T = len(ids)
        text = ids.new_empty(T + count)
        text[:T] = ids
        for t in range(T, T + count):
            logits = model(text[:t])[t - 1]
            text[t : t + 1] = pick((logits / temperature).softmax(-1))
        return text
        """,
    ],
    stars=1,
    minutes=10,
)
