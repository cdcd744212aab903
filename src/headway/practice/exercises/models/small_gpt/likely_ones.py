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

from headway.practice import Exercise, Wrong

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
    wrong=[
        Wrong(
            "before = falling.cumsum(dim=-1) - falling",
            "before = falling.cumsum(dim=-1)",
            "the token with which the sum gets there is left out",
        ),
        Wrong(
            "    return found / found.sum(dim=-1, keepdim=True)\n",
            "    return found\n",
            "what is kept is not divided by its sum",
        ),
        Wrong(
            "found = torch.zeros_like(shares).scatter(-1, order, kept)",
            "found = kept",
            "the order of the sort is not undone: the likeliest token stands in the "
            "first column",
        ),
        Wrong(
            "torch.zeros_like(shares).scatter(-1, order, kept)",
            "kept.gather(-1, order)",
            "the order is applied a second time by gather; scatter would undo it",
        ),
        Wrong(
            ", descending=True",
            "",
            "the least likely tokens come first, and are kept",
        ),
        Wrong(
            "logits / temperature",
            "logits",
            "the temperature is not used",
        ),
        Wrong(
            "logits / temperature",
            "logits * temperature",
            "logits are multiplied by the temperature",
        ),
        Wrong(
            "logits / temperature",
            "logits / temperature / temperature",
            "the temperature is used twice",
            exhibit="models/#cooled-twice",
        ),
        Wrong(
            "    falling, order = shares.sort(dim=-1, descending=True)\n"
            "    before = falling.cumsum(dim=-1) - falling\n",
            "    plain = torch.softmax(logits, dim=-1)\n"
            "    plain, order = plain.sort(dim=-1, descending=True)\n"
            "    falling = shares.gather(-1, order)\n"
            "    before = plain.cumsum(dim=-1) - plain\n",
            "what is kept is chosen before the temperature is used, and not after it",
        ),
        Wrong(
            "before < share",
            "falling >= share",
            "each token is kept whose own share is large enough; their sum should be",
        ),
        Wrong(
            "before < share",
            "falling >= share * falling[:, :1]",
            "each token is kept that has a part of the likeliest one's share (min-p)",
        ),
        Wrong(
            "before < share",
            "before < 1 - share",
            "`share` is taken for what may be lost, and not for what is kept",
        ),
        Wrong(
            "before < share",
            "before >= share",
            "the likely tokens are left out, and the others kept",
        ),
        Wrong(
            "before < share",
            "torch.arange(logits.shape[-1]) < share * logits.shape[-1]",
            "a part of the tokens is kept by their number, whatever their shares are",
        ),
        Wrong(
            "found / found.sum(dim=-1, keepdim=True)",
            "torch.softmax(found, dim=-1)",
            "a second softmax is taken of shares, so that no token has zero",
        ),
        Wrong(
            "found / found.sum(dim=-1, keepdim=True)",
            "torch.softmax((found > 0) * logits / temperature, dim=-1)",
            "logits of the others become zero, and not minus infinity, so that they "
            "can still be drawn",
        ),
        Wrong(
            "falling.cumsum(dim=-1)",
            "falling.cumsum(dim=0)",
            "shares are added up over the texts, and not over the tokens",
        ),
        Wrong(
            "logits / temperature, dim=-1)",
            "logits / temperature, dim=0)",
            "the softmax runs over the texts, and not over the vocabulary",
        ),
        Wrong(
            "found.sum(dim=-1, keepdim=True)",
            "found.sum()",
            "it is divided by the sum over all texts",
        ),
        Wrong(
            "found / found.sum(dim=-1, keepdim=True)",
            "(found > 0) / (found > 0).sum(dim=-1, keepdim=True).to(found)",
            "all tokens that are kept get equal shares",
        ),
        Wrong(
            "before = falling.cumsum(dim=-1) - falling",
            "before = (falling.cumsum(dim=-1) - falling)[:, :-1]\n"
            "    before = torch.nn.functional.pad(before, (1, 0))",
            "one token too many is kept: the sum was there already",
        ),
        Wrong(
            "    kept = torch.where(before < share, falling, 0.0)\n",
            "    last = (before < share).sum(dim=-1, keepdim=True) - 1\n"
            "    kept = torch.where(falling >= falling.gather(-1, last), falling, "
            "0.0)\n",
            "all tokens are kept that are as likely as the last one kept, though "
            "fewer of them reach the share",
        ),
        Wrong(
            "before < share",
            "before <= share",
            "one token too many is kept where the sum is the share exactly, by <= in "
            "place of <",
        ),
        Wrong(
            "before < share",
            "(before < share).any(dim=0)",
            "one number of tokens is kept in all texts, the largest that any of them "
            "needs",
        ),
        Wrong(
            "before < share",
            "(before < share).all(dim=0)",
            "one number of tokens is kept in all texts, the smallest that any of "
            "them needs",
        ),
        Wrong(
            "before < share",
            "(before < share)[0]",
            "one number of tokens is kept in all texts, that of the first",
        ),
        Wrong(
            "before < share",
            "before + falling <= share",
            "a token is kept only while the sum with it is at most the share, so "
            "that the one that gets there is left out",
        ),
        Wrong(
            "    found = torch.zeros_like(shares).scatter(-1, order, kept)\n",
            "    found = torch.where(before < share, shares, 0.0)\n",
            "what is decided for sorted tokens is applied to the columns as they stand",
        ),
        Wrong(
            "torch.zeros_like(shares).scatter(-1, order, kept)",
            "shares * (before < share).gather(-1, order)",
            "the mask of the sorted tokens is brought back by gather; scatter "
            "would undo the sort",
        ),
        Wrong(
            "falling, order = shares.sort(dim=-1, descending=True)",
            "falling, order = shares, torch.arange(shares.shape[-1]).expand_as(shares)",
            "shares are added up in the order of the columns, and not the "
            "likeliest first",
        ),
        Wrong(
            "    return found / found.sum(dim=-1, keepdim=True)\n",
            "    return (found / found.sum(dim=-1, "
            "keepdim=True))[:1].expand_as(found)\n",
            "all texts get the shares of the first",
        ),
        Wrong(
            "    kept = torch.where(before < share, falling, 0.0)\n",
            "    last = (before < share).sum(dim=-1, keepdim=True) - 1\n"
            "    kept = torch.where(falling > falling.gather(-1, last), falling, "
            "0.0)\n",
            "only tokens are kept that are likelier than the one with which the "
            "sum gets there; it should be kept, too",
        ),
        Wrong(
            "found / found.sum(dim=-1, keepdim=True)",
            "torch.softmax(shares.masked_fill(found == 0, -torch.inf), dim=-1)",
            "a second softmax is taken of the shares that are kept; they should "
            "be divided by their sum",
        ),
        Wrong(
            "found / found.sum(dim=-1, keepdim=True)",
            "torch.softmax(logits.masked_fill(found == 0, -torch.inf), dim=-1)",
            "the temperature chooses what is kept, and is left out of the shares "
            "that are given",
        ),
        Wrong(
            "found / found.sum(dim=-1, keepdim=True)",
            "found / share",
            "what is kept is divided by `share`; its sum is more than that as a rule",
        ),
        Wrong(
            "found / found.sum(dim=-1, keepdim=True)",
            "found / found.sum(dim=0)",
            "it is divided by sums over the texts, and not over the tokens",
        ),
        Wrong(
            "found / found.sum(dim=-1, keepdim=True)",
            "found / found.sum(dim=-1)",
            "keepdim is missing, so that the sums of the texts are laid along the "
            "tokens",
        ),
        Wrong(
            "before = falling.cumsum(dim=-1) - falling",
            "before = (logits / temperature).gather(-1, order)\n"
            "    before = before.cumsum(dim=-1) - before",
            "logits are added up; shares should be",
        ),
        Wrong(
            "torch.softmax(logits / temperature, dim=-1)",
            "torch.softmax(logits, dim=-1) / temperature",
            "shares are divided by the temperature; logits should be, before the "
            "softmax",
        ),
        Wrong(
            "before < share",
            "torch.arange(logits.shape[-1]) < max(1, int(share * logits.shape[-1]))",
            "a part of the tokens is kept by their number, rounded down, whatever "
            "their shares are",
        ),
        Wrong(
            "    return found / found.sum(dim=-1, keepdim=True)\n",
            "    return torch.multinomial(found, 1)\n",
            "a token is drawn; the shares to draw from should be given",
        ),
        Wrong(
            "    before = falling.cumsum(dim=-1) - falling\n",
            "    after = falling.cumsum(dim=-1)\n"
            "    before = torch.cat([after[:, :1], after[:, :-1]], dim=-1)\n",
            "the sums are moved by one place and the first one stays, so that "
            "nothing is left where the likeliest token alone has the share",
        ),
        Wrong(
            "before < share",
            "falling < share",
            "a token is kept if its own share is less than `share`, whatever the "
            "sum before it is",
        ),
        Wrong(
            "before < share",
            "(before + falling < share) | (before == 0.0)",
            "the token with which the sum gets there is left out, unless it is "
            "the likeliest",
        ),
        Wrong(
            "before < share",
            "(before + falling <= share) | (before == 0.0)",
            "a token is kept only while the sum with it is at most the share, and "
            "the likeliest always",
        ),
        Wrong(
            "    return found / found.sum(dim=-1, keepdim=True)\n",
            "    return shares\n",
            "no token is left out: all keep their shares",
        ),
        Wrong(
            "    falling, order = shares.sort(dim=-1, descending=True)\n",
            "    found, total = torch.zeros_like(shares), 0.0\n"
            "    for text, row in enumerate(shares):\n"
            "        for token in row.argsort(descending=True):\n"
            "            found[text, token] = row[token]\n"
            "            total += row[token]\n"
            "            if total >= share:\n"
            "                break\n"
            "    return found / found.sum(dim=-1, keepdim=True)\n"
            "    falling, order = shares.sort(dim=-1, descending=True)\n",
            "the sum goes on from one text to the next; it should begin at zero "
            "in each",
        ),
        Wrong(
            "falling.cumsum(dim=-1) - falling",
            "falling.flatten().cumsum(dim=0).view_as(falling) - falling",
            "the sum goes on through all texts, one behind the other",
        ),
    ],
    survivors={
        "-1 -> 1": "each table has two axes",
    },
    minutes=20,
)
