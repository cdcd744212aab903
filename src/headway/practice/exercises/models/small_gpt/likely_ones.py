"""Draw from the likely ones

A model that draws from all tokens draws a bad one now and then, because there are so
many. Write `likely_ones(logits, temperature, share)`: the shares to draw from, where
only the likely tokens are left (top-p, or nucleus sampling).

`logits` (B, V) are the last rows of B texts. Divide by the temperature and make shares.
For each text keep as few tokens as possible, the likeliest first, so that their shares
add up to `share` at least; so the token is kept with which the sum gets there, and a
sum that is the share exactly is enough. Of equally likely tokens, too, no more are kept
than it takes; which of them does not matter. The others get zero, and what is kept is
divided by its sum. Each token stays in its column.
"""

from headway.practice import Exercise

# --- your file ---
import torch
from torch import Tensor


def likely_ones(logits: Tensor, temperature: float, share: float) -> Tensor:
    """Give the shares (B, V) to draw from, for logits (B, V); 0 < share < 1."""
    # --- write ---
    shares = torch.softmax(logits / temperature, dim=-1)
    falling, order = shares.sort(dim=-1, descending=True)
    before = falling.cumsum(dim=-1) - falling
    kept = torch.where(before < share, falling, 0.0)
    found = torch.zeros_like(shares).scatter(-1, order, kept)
    return found / found.sum(dim=-1, keepdim=True)
    # --- written ---


if __name__ == "__main__":
    logits = torch.tensor([[0.15, 0.5, 0.05, 0.3]]).log()
    for share in (0.4, 0.6, 0.9):
        print(likely_ones(logits, 1.0, share))
    # tensor([[0., 1., 0., 0.]])
    # tensor([[0.0000, 0.6250, 0.0000, 0.3750]])
    # tensor([[0.1579, 0.5263, 0.0000, 0.3158]])
# --- end of your file ---


# Temperatures and shares; the last two have tokens that are equally likely.
CASES = [(0.8, 0.7), (2.0, 0.4), (0.7, 0.9), (1.0, 0.6), (0.5, 0.5)]


def draw(d):  # type: ignore[no-untyped-def]
    temperature, share = CASES[d.case]
    logits = d.normal(d.B, d.V)
    if d.case == 3:
        logits = d.integers(3, d.B, d.V).double()
    if d.case == 4:  # each token has a share of a fourth, exactly
        logits = logits[:, :1].expand(d.B, 4).clone()
    return logits, temperature, share


def run(likely_ones, logits, temperature, share):  # type: ignore[no-untyped-def]
    """Ask for shares, where of equal tokens those that come first are the kept ones."""
    found = likely_ones(logits, temperature, share)
    if not isinstance(found, Tensor) or found.shape != logits.shape:
        return found
    falling, order = found.sort(dim=-1, descending=True, stable=True)
    rank = logits.gather(-1, order).argsort(dim=-1, descending=True, stable=True)
    columns = logits.argsort(dim=-1, descending=True, stable=True)
    return torch.zeros_like(found).scatter(-1, columns, falling.gather(-1, rank))


EXERCISE = Exercise(
    answer="likely_ones",
    read=("models/small_gpt/#what-temperature-does", "What temperature does"),
    hints=(
        "In which order must tokens stand, so that the ones to keep come first? And "
        "what must be known of each of them to decide?",
        "Sort the shares, and add up what comes before each token: it is kept while "
        "that is less than the share asked for. Then bring each back to its column.",
        "sort gives the order as well; scatter puts numbers where an order says, which "
        "undoes a sort, and gather does not. Divide by the sum at the end.",
    ),
    draw=draw,
    ask=run,
    trials=(
        {},
        {"B": 4, "V": 4, "case": 1},
        {"B": 7, "V": 29, "case": 2},
        {"V": 29, "case": 1},
        {"V": 19, "case": 3},
        {"V": 4, "case": 4},
        {"V": 7, "loud": 4.0, "case": 1},
    ),
    law="What is left adds up to one again, and never nothing is left: before the "
    "likeliest token the sum is zero.",
    right=[
        """
        # Logits of minus infinity, as libraries do it: other filters can be chained.
        logits = logits / temperature
        falling, order = logits.sort(dim=-1, descending=True)
        passed = falling.softmax(dim=-1).cumsum(dim=-1) >= share
        drop = torch.nn.functional.pad(passed[:, :-1], (1, 0), value=False)
        hidden = torch.zeros_like(drop).scatter(-1, order, drop)
        return logits.masked_fill(hidden, -torch.inf).softmax(dim=-1)
        """,
        """
        # A text at a time: it can be seen how many are kept, and where they go.
        rows = []
        for one in (logits / temperature).softmax(dim=-1):
            falling, order = one.sort(descending=True)
            count = int((falling.cumsum(dim=0) < share).sum()) + 1
            kept = torch.zeros_like(one)
            kept[order[:count]] = falling[:count]
            rows.append(kept / kept.sum())
        return torch.stack(rows)
        """,
        """
        # Without a sort: how much lies above each token. Short, but V x V numbers.
        shares = torch.softmax(logits / temperature, dim=-1)
        column = torch.arange(shares.shape[-1])
        one, other = shares[:, :, None], shares[:, None, :]
        above = (other > one) | (other == one) & (column < column[:, None])
        kept = shares * ((above * shares[:, None, :]).sum(dim=-1) < share)
        return kept / kept.sum(dim=-1, keepdim=True)
        """,
    ],
    survivors={
        "-1 -> 1": "each table has two axes",
    },
    minutes=20,
)
