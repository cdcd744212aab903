"""Let a model write

Write `write_on(model, pick, ids, count, temperature)`: the text `ids`, continued by
`count` tokens.

`ids` (T) are whole numbers. `model(ids)` takes the whole text so far, of any length,
and gives logits (T, V): row t guesses the token after t. Divide the logits by the
temperature, and make shares of them. `pick(shares)` takes shares (V), and gives the
next token as a tensor of shape (1). Give all tokens, (T + count); without a cache.
"""

from headway.practice import Exercise, Wrong

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
    wrong=[
        Wrong(
            "model(ids)[-1]",
            "model(ids)[0]",
            "the first row is taken, which guesses the second token of the text",
        ),
        Wrong(
            "model(ids)[-1]",
            "model(ids)[-2]",
            "the row before the last is taken, which guesses the last token again",
        ),
        Wrong(
            "    for _ in range(count):\n"
            "        logits = model(ids)[-1] / temperature\n"
            "        shares = torch.softmax(logits, dim=-1)\n"
            "        ids = torch.cat([ids, pick(shares)])\n"
            "    return ids",
            "    shares = torch.softmax(model(ids)[-1] / temperature, dim=-1)\n"
            "    return torch.cat([ids, *(pick(shares) for _ in range(count))])",
            "the model is asked about the same text each time: what was picked is not "
            "put behind it before the next turn",
        ),
        Wrong(
            "        logits = model(ids)[-1] / temperature\n"
            "        shares = torch.softmax(logits, dim=-1)\n",
            "        shares = torch.softmax(model(ids) / temperature, dim=0)[-1]\n",
            "the softmax runs over the places of the text, and not over the tokens "
            "that may come",
        ),
        Wrong(
            "model(ids)[-1]",
            "model(ids[-1:])[-1]",
            "the model reads the last token alone, and forgets the text",
        ),
        Wrong(
            "model(ids)[-1]",
            "model(ids).mean(dim=0)",
            "the mean of all rows is taken, and not the last one",
        ),
        Wrong(
            "[-1] / temperature",
            "[-1] * temperature",
            "logits are multiplied by the temperature",
        ),
        Wrong("[-1] / temperature", "[-1]", "the temperature is not used"),
        Wrong(
            "[-1] / temperature",
            "[-1] / temperature / temperature",
            "the temperature is used twice",
            exhibit="models/#cooled-twice",
        ),
        Wrong(
            "shares = torch.softmax(logits, dim=-1)",
            "shares = torch.softmax(logits * temperature, dim=-1) / temperature",
            "shares are divided by the temperature, and not logits",
        ),
        Wrong(
            "torch.softmax(logits, dim=-1)",
            "logits",
            "logits are handed to pick, and no shares are made of them",
        ),
        Wrong(
            "torch.softmax(logits, dim=-1)",
            "torch.log_softmax(logits, dim=-1)",
            "logarithms of the shares are handed to pick",
        ),
        Wrong(
            "[ids, pick(shares)]",
            "[pick(shares), ids]",
            "the new token is put in front of the text",
        ),
        Wrong(
            "ids = torch.cat([ids, pick(shares)])",
            "ids = torch.cat([ids[1:], pick(shares)])",
            "the first token is dropped in each turn, so that the text never grows",
        ),
        Wrong(
            "pick(shares)",
            "shares.argmax(dim=-1, keepdim=True)",
            "the likeliest token is taken each time, and pick is not asked",
        ),
        Wrong(
            "range(count)",
            "range(count - len(ids))",
            "count is taken for the length of the whole text",
        ),
        Wrong(
            "    return ids\n",
            "    return ids[-count:]\n",
            "only the new tokens are given back",
        ),
        Wrong(
            "    return ids\n",
            "        return ids\n",
            "the return stands in the loop, so that one token is written",
        ),
        Wrong(
            "pick(shares)",
            "torch.multinomial(shares, 1)",
            "a token is drawn here, and pick is not asked",
        ),
        Wrong(
            "range(count)",
            "range(count + 1)",
            "one token too many is written",
        ),
        Wrong(
            "range(count)",
            "range(count - 1)",
            "one token too few is written",
        ),
        Wrong(
            "model(ids)[-1] / temperature",
            "model(ids[-1:])[-1]",
            "the model reads the last token alone, and the temperature is not used",
        ),
        Wrong(
            "model(ids)[-1] / temperature",
            "model(ids)[0]",
            "the first row is taken, and the temperature is not used",
        ),
        Wrong(
            "model(ids)[-1]",
            "model(ids)[:, -1]",
            "the last column of the logits is taken, which is that of one "
            "token; it should be the last row",
        ),
        Wrong(
            "model(ids)[-1]",
            "model(ids)[len(ids)]",
            "row len(ids) is asked for: rows are counted from zero, and the "
            "last one is len(ids) - 1",
        ),
        Wrong(
            "model(ids)[-1]",
            "model(ids)",
            "all rows are handed on; only the last one should be",
        ),
        Wrong(
            "model(ids)[-1]",
            "model(ids).sum(dim=0)",
            "the sum of all rows is taken; it should be the last one",
        ),
        Wrong(
            "model(ids)[-1]",
            "model(ids[:-1])[-1]",
            "the model does not read the last token",
            same_as="the row before the last is taken, which guesses the last "
            "token again",
        ),
        Wrong(
            "model(ids)[-1]",
            "model(ids[1:])[-1]",
            "the model does not read the first token",
        ),
        Wrong(
            "torch.softmax(logits, dim=-1)",
            "torch.softmax(torch.softmax(logits, dim=-1), dim=-1)",
            "the softmax is taken twice",
        ),
        Wrong(
            "torch.softmax(logits, dim=-1)",
            "torch.exp(logits)",
            "exponentials are handed to pick, which do not sum to one",
        ),
        Wrong(
            "torch.softmax(logits, dim=-1)",
            "torch.sigmoid(logits)",
            "a sigmoid is taken of each logit; a softmax should share out one",
        ),
        Wrong(
            "torch.softmax(logits, dim=-1)",
            "logits / logits.sum()",
            "logits are divided by their sum: their exponentials are forgotten",
        ),
        Wrong(
            "torch.softmax(logits, dim=-1)",
            "torch.softmax(-logits, dim=-1)",
            "logits get a minus, so that the unlikeliest token is the likeliest",
        ),
        Wrong(
            "[-1] / temperature",
            "[-1] - temperature",
            "the temperature is taken off, which changes nothing",
            same_as="the temperature is not used",
        ),
        Wrong(
            "[-1] / temperature",
            "[-1] ** temperature",
            "logits are raised to the power of the temperature",
        ),
        Wrong(
            "[-1] / temperature",
            "[-1] / temperature**0.5",
            "logits are divided by the root of the temperature",
        ),
        Wrong(
            "[-1] / temperature",
            "[-1] / temperature**2",
            "logits are divided by the square of the temperature",
            same_as="the temperature is used twice",
        ),
        Wrong(
            "        ids = torch.cat([ids, pick(shares)])\n    return ids",
            "        pick(shares)\n    return ids",
            "what was picked is not put behind the text",
        ),
        Wrong(
            "    for _ in range(count):\n"
            "        logits = model(ids)[-1] / temperature\n"
            "        shares = torch.softmax(logits, dim=-1)\n"
            "        ids = torch.cat([ids, pick(shares)])\n"
            "    return ids",
            "    for _ in range(count):\n"
            "        logits = model(ids)[-1] / temperature\n"
            "        shares = torch.softmax(logits, dim=-1)\n"
            "        new = pick(shares)\n"
            "    return torch.cat([ids, new])",
            "only what was picked last is put behind the text, and the model "
            "never reads it",
        ),
        Wrong(
            "    for _ in range(count):\n"
            "        logits = model(ids)[-1] / temperature\n"
            "        shares = torch.softmax(logits, dim=-1)\n"
            "        ids = torch.cat([ids, pick(shares)])\n"
            "    return ids",
            "    start = ids\n"
            "    for _ in range(count):\n"
            "        logits = model(start)[-1] / temperature\n"
            "        shares = torch.softmax(logits, dim=-1)\n"
            "        ids = torch.cat([ids, pick(shares)])\n"
            "    return ids",
            "the model is asked about the given text in each turn, though the "
            "new one grows",
            same_as="the model is asked about the same text each time: what "
            "was picked is not put behind it before the next turn",
        ),
        Wrong(
            "range(count)",
            "range(len(ids))",
            "as many tokens are written as the text has; it should be `count`",
        ),
        Wrong(
            "[ids, pick(shares)]",
            "[ids, pick(shares), pick(shares)]",
            "two tokens are picked in each turn",
        ),
        Wrong(
            "[ids, pick(shares)]",
            "[ids, pick(logits)]",
            "logits are handed to pick, which are divided, but are no shares",
            same_as="logits are handed to pick, and no shares are made of them",
        ),
        Wrong(
            "pick(shares)",
            "pick(shares[None])",
            "shares are handed to pick with an axis of length one in front",
            same_as="all rows are handed on; only the last one should be",
        ),
        Wrong(
            "    return ids\n",
            "    return pick(shares)\n",
            "only the last new token is given back, drawn once more",
        ),
        Wrong(
            "    for _ in range(count):\n"
            "        logits = model(ids)[-1] / temperature\n"
            "        shares = torch.softmax(logits, dim=-1)\n"
            "        ids = torch.cat([ids, pick(shares)])\n"
            "    return ids",
            "    text = ids\n"
            "    for _ in range(count):\n"
            "        logits = model(ids)[-1] / temperature\n"
            "        ids = pick(torch.softmax(logits, dim=-1))\n"
            "        text = torch.cat([text, ids])\n"
            "    return text",
            "from the second turn on the model reads the new token alone, and "
            "forgets the text",
        ),
        Wrong(
            "[ids, pick(shares)]",
            "[ids, ids[-1:]]",
            "the last token is put behind the text once more, and nothing is picked",
        ),
        Wrong(
            "torch.cat([ids, pick(shares)])",
            "torch.stack([ids, pick(shares)])",
            "text and new token are stacked, which takes equal shapes; torch.cat "
            "joins them",
        ),
        Wrong(
            "torch.cat([ids, pick(shares)])",
            "torch.cat([ids, pick(shares)[0]])",
            "the axis of the new token is taken off, and a single number cannot be "
            "joined",
        ),
        Wrong(
            "torch.cat([ids, pick(shares)])",
            "torch.cat(ids, pick(shares))",
            "torch.cat is given two tensors; it takes a list of them",
        ),
        Wrong(
            "torch.cat([ids, pick(shares)])",
            "ids + pick(shares)",
            "the new token is added to all numbers of the text; it should be put "
            "behind it",
        ),
        Wrong(
            "model(ids)[-1]",
            "model(ids[None])[0, -1]",
            "the text gets an axis for a batch, which this model does not take",
        ),
        Wrong(
            "model(ids)[-1]",
            "model(ids[-8:])[-1]",
            "the model reads the last eight tokens alone; it takes the whole text",
        ),
        Wrong(
            "torch.softmax(logits, dim=-1)",
            "torch.softmax(logits, dim=-1) / temperature",
            "the temperature divides the shares once more",
        ),
        Wrong(
            "torch.softmax(logits, dim=-1)",
            "torch.softmax(logits, dim=-1).cumsum(dim=-1)",
            "the shares are added up before pick",
        ),
        Wrong(
            "    return ids\n",
            "    return ids[None]\n",
            "the text gets an axis of length one in front",
        ),
        Wrong(
            "    return ids\n",
            "    return ids.tolist()\n",
            "a list is given; it should be a tensor",
        ),
        Wrong(
            "    return ids\n",
            "    return ids, shares\n",
            "the last shares are given as well; the text alone is asked for",
        ),
        Wrong(
            "range(count)",
            "range(len(ids), count)",
            "the loop counts from the length of the text to `count`",
            same_as="count is taken for the length of the whole text",
        ),
        Wrong(
            "    for _ in range(count):",
            "    start = ids\n    while len(ids) < count:",
            "it is written until the text has `count` tokens",
            same_as="count is taken for the length of the whole text",
        ),
        Wrong(
            "    for _ in range(count):\n"
            "        logits = model(ids)[-1] / temperature\n"
            "        shares = torch.softmax(logits, dim=-1)\n"
            "        ids = torch.cat([ids, pick(shares)])\n"
            "    return ids",
            "    new = []\n"
            "    for _ in range(count):\n"
            "        logits = model(ids)[-1] / temperature\n"
            "        ids = torch.cat([ids, pick(torch.softmax(logits, dim=-1))])\n"
            "        new.append(ids[-1:])\n"
            "    return torch.cat(new)",
            "the new tokens are gathered and given alone",
            same_as="only the new tokens are given back",
        ),
        Wrong(
            "    for _ in range(count):\n"
            "        logits = model(ids)[-1] / temperature\n"
            "        shares = torch.softmax(logits, dim=-1)\n"
            "        ids = torch.cat([ids, pick(shares)])\n"
            "    return ids",
            "    rows = torch.softmax(model(ids) / temperature, dim=-1)[-count:]\n"
            "    return torch.cat([ids, *(pick(row) for row in rows)])",
            "the model is asked once, and the last `count` rows are picked from; they "
            "guess tokens that are there",
        ),
        Wrong(
            "torch.cat([ids, pick(shares)])",
            "torch.cat([ids, pick(shares)[None]])",
            "the new token gets an axis more, though it has shape (1) already",
            same_as="all rows are handed on; only the last one should be",
        ),
        Wrong(
            "model(ids)[-1]",
            "model(ids)[-1].argmax(dim=-1)",
            "the likeliest token is taken in place of the logits",
            same_as="the axis of the new token is taken off, and a single number "
            "cannot be joined",
        ),
        Wrong(
            "torch.softmax(logits, dim=-1)",
            "torch.softmax(logits * temperature, dim=-1) ** (1 / temperature)",
            "shares are raised to one over the temperature, and no longer sum to one",
        ),
        Wrong(
            "torch.softmax(logits, dim=-1)",
            "torch.softmax(logits[None], dim=0)[0]",
            "the softmax runs over an axis of size one, so that all shares are one",
        ),
        Wrong(
            "torch.softmax(logits, dim=-1)",
            "torch.softmax(logits, dim=-1).sort(descending=True).values",
            "the shares are sorted, so that a place is no longer that of its token",
        ),
        Wrong(
            "[ids, pick(shares)]",
            "[ids, pick(shares) + 1]",
            "one is added to what was picked",
        ),
        Wrong(
            "[ids, pick(shares)]",
            "[ids, pick(shares).item()]",
            "the new token is turned into a plain number, which torch.cat cannot join",
        ),
        Wrong(
            "        ids = torch.cat([ids, pick(shares)])",
            "        ids.append(pick(shares))",
            "a tensor has no append; torch.cat joins",
        ),
        Wrong(
            "    for _ in range(count):",
            "    while len(ids) <= count:",
            "it is written until the text is longer than `count`",
        ),
        Wrong(
            "model(ids)[-1]",
            "model(ids[-10:])[-1]",
            "the model reads the last ten tokens alone; it takes the whole text",
        ),
        Wrong(
            "model(ids)[-1]",
            "model(ids[-count:])[-1]",
            "the model reads the last `count` tokens alone; it takes the whole text",
        ),
        Wrong(
            "    for _ in range(count):\n"
            "        logits = model(ids)[-1] / temperature\n"
            "        shares = torch.softmax(logits, dim=-1)\n"
            "        ids = torch.cat([ids, pick(shares)])\n"
            "    return ids",
            "    T = len(ids)\n"
            "    for _ in range(count):\n"
            "        logits = model(ids[-T:])[-1] / temperature\n"
            "        ids = torch.cat([ids, pick(torch.softmax(logits, dim=-1))])\n"
            "    return ids",
            "the model reads only as many tokens as the text had at first; it takes "
            "the whole text so far",
        ),
        Wrong(
            "    for _ in range(count):\n"
            "        logits = model(ids)[-1] / temperature\n"
            "        shares = torch.softmax(logits, dim=-1)\n"
            "        ids = torch.cat([ids, pick(shares)])\n"
            "    return ids",
            "    T = len(ids)\n"
            "    for _ in range(count):\n"
            "        logits = model(ids)[T - 1] / temperature\n"
            "        ids = torch.cat([ids, pick(torch.softmax(logits, dim=-1))])\n"
            "    return ids",
            "the row of the first text's end is taken in each turn; the last one "
            "moves on",
            same_as="the model is asked about the same text each time: what was "
            "picked is not put behind it before the next turn",
        ),
        Wrong(
            "model(ids)[-1] / temperature",
            "model(ids)[0] * temperature",
            "the first row is taken, and logits are multiplied by the temperature",
        ),
        Wrong(
            "model(ids)[-1] / temperature",
            "model(ids[-1:])[-1] * temperature",
            "the model reads the last token alone, and logits are multiplied by the "
            "temperature",
        ),
        Wrong(
            "model(ids)[-1] / temperature",
            "model(ids)[-2]",
            "the row before the last is taken, and the temperature is not used",
        ),
        Wrong(
            "model(ids)[-1] / temperature",
            "model(ids).mean(dim=0)",
            "the mean of all rows is taken, and the temperature is not used",
        ),
        Wrong(
            "model(ids)[-1] / temperature",
            "temperature / model(ids)[-1]",
            "the temperature is divided by the logits; it should be the other way "
            "round",
        ),
        Wrong(
            "torch.softmax(logits, dim=-1)",
            "torch.softmax(logits, dim=-1) ** temperature",
            "shares are raised to the temperature as well",
        ),
        Wrong(
            "[ids, pick(shares)]",
            "[shares.argmax(dim=-1, keepdim=True), ids]",
            "the likeliest token is put in front of the text, and pick is not asked",
        ),
    ],
    stars=1,
    minutes=10,
)
