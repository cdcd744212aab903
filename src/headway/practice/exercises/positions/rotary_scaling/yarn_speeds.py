"""Slow down the slow pairs

For a text s times as long as in training, YaRN keeps the speeds of the fast pairs,
divides those of the slow ones by s, and blends between.

Write `yarn_speeds(speeds, s, first, last)`: `speeds` (D / 2), in 64 bits, are those of
training, the fastest first. Pairs up to number `first` are kept, pairs from number
`last` on are divided, both counted from zero. Between them, what is kept falls along a
straight line from one to zero, and the new speed is that share of the old speed, plus
the rest of the old speed divided by s. Compute the share in 64 bits, too.
"""

from headway.practice import Exercise, Wrong

# --- your file ---
import torch
from torch import Tensor


def yarn_speeds(speeds: Tensor, s: float, first: int, last: int) -> Tensor:
    """Blend the speeds (D / 2) of pairs with slower ones, by the number of the pair."""
    # --- write ---
    pair = torch.arange(len(speeds), dtype=torch.float64)
    divided = ((pair - first) / (last - first)).clamp(0, 1)
    return (1 - divided) * speeds + divided * speeds / s
    # --- written ---


if __name__ == "__main__":
    speeds = 10_000.0 ** (-torch.arange(8, dtype=torch.float64) / 8)
    print(speeds / yarn_speeds(speeds, 16.0, first=2, last=6))
    # tensor([ 1.0000,  1.0000,  1.0000,  1.3061,  1.8824,  3.3684, 16.0000,
    #         16.0000], dtype=torch.float64)
# --- end of your file ---


def draw(d):  # type: ignore[no-untyped-def]
    if not d.G < d.T < d.S:
        raise ValueError("the ramp has no room")
    speeds = 1000.0 ** (-torch.arange(d.S, dtype=torch.float64) / d.S)
    return speeds, 2.0 + d.W, d.G, d.T


EXERCISE = Exercise(
    answer="yarn_speeds",
    read=("positions/rotary_scaling/#which-pairs-are-slow", "Which pairs are slow?"),
    hints=(
        "Which pairs must keep their speed, so that neighbours can be told apart?",
        "Make a ramp over the numbers of the pairs: zero up to `first`, one from "
        "`last` on, straight between. clamp cuts off what goes beyond.",
        "The ramp is how far a pair is behind `first`, as a share of the way to "
        "`last`. Mix the old speeds and the divided ones by it.",
    ),
    draw=draw,
    trials=(
        {"G": 1, "T": 4},
        {"S": 9, "W": 14, "G": 2, "T": 6},
        {"S": 6, "W": 1, "G": 1, "T": 3},
        {"S": 8, "G": 0, "T": 5},
    ),
    law="The fastest pair keeps its speed, the slowest is divided by s, and with s = 1 "
    "nothing changes.",
    right=[
        """
        # A loop over the pairs: the words of the task, with what is kept and the rest.
        new = []
        for i, speed in enumerate(speeds):
            share = min(max((last - i) / (last - first), 0.0), 1.0)
            new.append(share * speed + (1 - share) * speed / s)
        return torch.stack(new)
        """,
        """
        # Three pieces, joined: no number has to be cut off.
        keep = 1 - torch.linspace(0, 1, last - first + 1, dtype=torch.float64)
        ones = torch.ones(first, dtype=torch.float64)
        zeros = torch.zeros(len(speeds) - last - 1, dtype=torch.float64)
        return speeds * torch.cat([ones, keep + (1 - keep) / s, zeros + 1 / s])
        """,
        """
        # torch.lerp blends by a share: from the old speeds to the divided ones.
        pair = torch.arange(len(speeds)).to(speeds.dtype)
        divided = ((pair - first) / (last - first)).clamp(0, 1)
        return torch.lerp(speeds, speeds / s, divided)
        """,
    ],
    wrong=[
        Wrong(
            "(1 - divided) * speeds + divided * speeds / s",
            "divided * speeds + (1 - divided) * speeds / s",
            "the ramp is upside down: the fast pairs are divided, and the slow kept",
            exhibit="positions/#inverted-ramp",
        ),
        Wrong(
            ".clamp(0, 1)",
            "",
            "the ramp goes on beyond both ends; it should be cut off at zero and "
            "at one",
        ),
        Wrong(
            ".clamp(0, 1)",
            ".clamp(max=1)",
            "the ramp goes on before pair `first`, so that the fastest pairs get "
            "faster: what is kept must not go above one, and what is divided not "
            "below zero",
        ),
        Wrong(
            ".clamp(0, 1)",
            ".clamp(min=0)",
            "the ramp goes on behind pair `last`, so that the slowest pairs get "
            "too slow: what is kept must not go below zero, and what is divided "
            "not above one",
        ),
        Wrong(
            "return (1 - divided) * speeds + divided * speeds / s",
            "return speeds / s",
            "all pairs are divided, which is the linear rule: neighbours are no longer "
            "told apart",
            exhibit="positions/#all-divided",
        ),
        Wrong(
            "(1 - divided) * speeds + divided * speeds / s",
            "speeds / (1 - divided + divided * s)",
            "the divisors are blended, and not the speeds",
        ),
        Wrong(
            ".clamp(0, 1)",
            ".round().clamp(0, 1)",
            "there is a step halfway; it should be a ramp",
        ),
        Wrong(
            "(pair - first) / (last - first)",
            "(pair - first + 1) / (last - first + 1)",
            "pairs are counted from one",
        ),
        Wrong(
            "divided * speeds / s",
            "divided * speeds * s",
            "slow pairs are made faster; they should be slower",
        ),
        Wrong(
            "(pair - first) / (last - first)",
            "(speeds[first] - speeds) / (speeds[first] - speeds[last])",
            "the ramp is over the speeds, as the paper prints it; it should be "
            "over the numbers of the pairs",
        ),
        Wrong(
            ".clamp(0, 1)",
            ".floor().clamp(0, 1)",
            "the pairs between are kept; they should be blended",
        ),
        Wrong(
            "((pair - first) / (last - first)).clamp(0, 1)",
            "pair / (len(speeds) - 1)",
            "the ramp goes over all pairs, from the fastest to the slowest",
        ),
        Wrong(
            ".clamp(0, 1)",
            ".ceil().clamp(0, 1)",
            "the pairs between are divided; they should be blended",
        ),
        Wrong(
            "torch.arange(len(speeds), dtype=torch.float64)",
            "torch.arange(1, len(speeds) + 1, dtype=torch.float64)",
            "the ramp begins one pair too early: pairs are counted from one, and "
            "first and last from zero",
        ),
        Wrong(
            "divided * speeds / s",
            "divided * s",
            "the second share is of s, and not of the old speed divided by s",
        ),
        Wrong(
            "    return (1 - divided) * speeds + divided * speeds / s",
            "    return (1 - divided) * speeds",
            "the rest is dropped, so that slow pairs stand still",
        ),
        Wrong(
            "    return (1 - divided) * speeds + divided * speeds / s",
            "    return speeds / s**divided",
            "powers of s are blended, and not the speeds",
        ),
        Wrong(
            "(last - first)",
            "(last - first - 1)",
            "the ramp is one pair too short: pair number last must be the first "
            "that is all divided",
        ),
        Wrong(
            "((pair - first) / (last - first)).clamp(0, 1)",
            "(pair >= (first + last) / 2).double()",
            "there is a step between first and last, from the middle on",
        ),
        Wrong(
            "torch.arange(len(speeds), dtype=torch.float64)",
            "torch.arange(len(speeds))",
            "the ramp is computed in 32 bits",
        ),
        Wrong(
            "    return (1 - divided) * speeds",
            "    between = (pair > first) & (pair < last)\n"
            "    divided = torch.where(between, 1 - divided, divided)\n"
            "    return (1 - divided) * speeds",
            "only the ends of the ramp are right: between them it rises where it "
            "should fall",
        ),
        Wrong(
            "(last - first)",
            "(last - first + 1)",
            "the ramp is one pair too long: pair number last must be the first "
            "that is all divided",
        ),
        Wrong(
            "torch.arange(len(speeds), dtype=torch.float64)",
            "torch.arange(0, 2 * len(speeds), 2, dtype=torch.float64)",
            "numbers of a vector are counted; it should be pairs",
        ),
        Wrong(
            "return (1 - divided) * speeds + divided * speeds / s",
            "return divided * speeds / s",
            "the share that is kept is dropped, so that fast pairs stand still",
        ),
        Wrong(
            "return (1 - divided) * speeds + divided * speeds / s",
            "return speeds",
            "nothing is divided",
        ),
        Wrong(
            "((pair - first) / (last - first)).clamp(0, 1)",
            "(0.5 - 0.5 * torch.cos(torch.pi * ((pair - first) / (last - "
            "first)).clamp(0, 1)))",
            "the ramp is a wave; it should be a straight line",
        ),
        Wrong(
            "((pair - first) / (last - first)).clamp(0, 1)",
            "((pair - first) / (last - first)).clamp(0, 1) ** 2",
            "the share is squared; it should fall along a straight line",
        ),
        Wrong(
            "((pair - first) / (last - first)).clamp(0, 1)",
            "((pair - first) / last).clamp(0, 1)",
            "the ramp is divided by last; it should be by the way from first to last",
        ),
        Wrong(
            "((pair - first) / (last - first)).clamp(0, 1)",
            "(pair / last).clamp(0, 1)",
            "the ramp begins at pair zero; it should begin at first",
        ),
        Wrong(
            "((pair - first) / (last - first)).clamp(0, 1)",
            "((pair - first) / (len(speeds) - first)).clamp(0, 1)",
            "the ramp ends behind the last pair of all; it should end at last",
        ),
        Wrong(
            "((pair - first) / (last - first)).clamp(0, 1)",
            "((pair - first) / (len(speeds) - 1 - first)).clamp(0, 1)",
            "the ramp ends at the last pair of all; it should end at number last",
        ),
        Wrong(
            "return (1 - divided) * speeds + divided * speeds / s",
            "return (1 - divided) * speeds + divided * (speeds - s)",
            "s is subtracted; the speed should be divided by it",
        ),
        Wrong(
            "return (1 - divided) * speeds + divided * speeds / s",
            "return ((1 - divided) * speeds + divided * speeds) / s",
            "both shares are divided by s; only the second should be",
            same_as="all pairs are divided, which is the linear rule: neighbours "
            "are no longer told apart",
        ),
        Wrong(
            "((pair - first) / (last - first)).clamp(0, 1)",
            "((1 / speeds - 1 / speeds[first]) / (1 / speeds[last] - 1 / "
            "speeds[first])).clamp(0, 1)",
            "the ramp is over the wavelengths; it should be over the numbers of "
            "the pairs",
        ),
        Wrong(
            "    return (1 - divided) * speeds + divided * speeds / s",
            "    between = (divided > 0) & (divided < 1)\n"
            "    divided = divided.masked_fill(between, 0.5)\n"
            "    return (1 - divided) * speeds + divided * speeds / s",
            "all pairs between get the mean of both speeds; the share should fall "
            "along a line",
        ),
        Wrong(
            "    return (1 - divided) * speeds + divided * speeds / s",
            "    keep = (1 - divided).masked_fill(pair > last, 1.0)\n"
            "    return keep * speeds + (1 - keep) * speeds / s",
            "pairs behind `last` are kept",
        ),
        Wrong(
            "    return (1 - divided) * speeds + divided * speeds / s",
            "    keep = (1 - divided).masked_fill(pair < first, 0.0)\n"
            "    return keep * speeds + (1 - keep) * speeds / s",
            "pairs before `first` are divided; they should be kept",
        ),
        Wrong(
            "return (1 - divided) * speeds + divided * speeds / s",
            "return (1 - divided) * speeds + divided / s",
            "the rest is divided by s without the old speed",
        ),
        Wrong(
            "return (1 - divided) * speeds + divided * speeds / s",
            "return (1 - divided) * speeds + speeds / s",
            "the divided speed is added whole; it should be the rest of it",
        ),
        Wrong(
            "return (1 - divided) * speeds + divided * speeds / s",
            "return divided",
            "the ramp itself is given, and not the speeds",
        ),
        Wrong(
            "return (1 - divided) * speeds + divided * speeds / s",
            "return ((1 - divided) * speeds + divided * speeds / s).repeat(2)",
            "the speeds are given twice, for each number of a vector; it should be "
            "once for each pair",
        ),
        Wrong(
            "((pair - first) / (last - first)).clamp(0, 1)",
            "((pair - first) / (last - first)).clamp(0, 1).square() * (\n"
            "        3 - 2 * ((pair - first) / (last - first)).clamp(0, 1)\n"
            "    )",
            "the ramp is smoothed at both ends; it should be a straight line",
        ),
        Wrong(
            "((pair - first) / (last - first)).clamp(0, 1)",
            "((pair - first - 1) / (last - first)).clamp(0, 1)",
            "the ramp begins one pair too late",
        ),
        Wrong(
            "((pair - first) / (last - first)).clamp(0, 1)",
            "(pair - first).clamp(0, 1) / (last - first)",
            "clamp comes before the division, so that the ramp stays low",
        ),
        Wrong(
            "((pair - first) / (last - first)).clamp(0, 1)",
            "((pair - first) / (last - first)).clamp(0, 1).flip(0)",
            "the ramp is read from its end",
        ),
        Wrong(
            "return (1 - divided) * speeds + divided * speeds / s",
            "return (1 - divided) * speeds * s + divided * speeds",
            "fast pairs are multiplied by s; slow ones should be divided",
        ),
        Wrong(
            "((pair - first) / (last - first)).clamp(0, 1)",
            "(pair - first / (last - first)).clamp(0, 1)",
            "brackets are missing around pair - first",
        ),
        Wrong(
            "((pair - first) / (last - first)).clamp(0, 1)",
            "((pair - first) / last - first).clamp(0, 1)",
            "brackets are missing around last - first",
        ),
        Wrong(
            "return (1 - divided) * speeds + divided * speeds / s",
            "return 1 - divided * speeds + divided * speeds / s",
            "brackets are missing around 1 - divided",
        ),
        Wrong(
            "return (1 - divided) * speeds + divided * speeds / s",
            "return speeds + divided * speeds / s",
            "the old speed is kept whole, and the divided share is added",
        ),
        Wrong(
            "(pair - first) / (last - first)",
            "pair / (last - first)",
            "first is not subtracted from the number of the pair",
        ),
    ],
    stars=2,
    minutes=12,
)
