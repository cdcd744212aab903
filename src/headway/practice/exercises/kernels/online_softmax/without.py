"""Take a piece away

A text has been read with a note in front of it. You have the rows and the log-sum-exps
of attention to all keys, and of attention to those of the note. Write
`without(rows, lse, note, lse_note)`: rows and log-sum-exps over the other keys, with no
look at any key.

`rows` and `note` are (T, V), `lse` and `lse_note` (T). For ln(exp(a) - exp(b)) write
a + ln(1 - exp(b - a)), and for 1 - exp(x) write -torch.expm1(x), which keeps the digits
of small x. Log-sum-exps may be large.
"""

from headway.practice import Exercise, Wrong

# --- your file ---
import torch
from torch import Tensor


def without(
    rows: Tensor, lse: Tensor, note: Tensor, lse_note: Tensor
) -> tuple[Tensor, Tensor]:
    """Give rows (T, V) and log-sum-exps (T) over the keys that are not the note's."""
    # --- write ---
    rest = lse + torch.log(-torch.expm1(lse_note - lse))
    whole = torch.exp(lse - rest)[:, None]
    part = torch.exp(lse_note - rest)[:, None]
    return whole * rows - part * note, rest
    # --- written ---


if __name__ == "__main__":
    rows, note = torch.tensor([[25.0]]), torch.tensor([[10.0]])
    lse, lse_note = torch.tensor([4.0]).log(), torch.tensor([1.0]).log()
    rest, lse_rest = without(rows, lse, note, lse_note)
    print(rest, lse_rest.exp())
    # tensor([[30.]]) tensor([3.])
# --- end of your file ---


def draw(d):  # type: ignore[no-untyped-def]
    note, lse_note = d.normal(d.S, d.V) / d.loud, d.normal(d.S)
    # What is left has a share of its own size, or its digits would be gone.
    other, lse_other = d.normal(d.S, d.V) / d.loud, lse_note + d.normal(d.S) / d.loud
    lse = torch.logaddexp(lse_note, lse_other)
    if d.G == 0:  # a note of zeros with nearly all the mass: digits can be kept
        note, lse_note = torch.zeros_like(note), lse_note / 1000
        lse = torch.logaddexp(lse_note, lse_note - 23)
        return -torch.expm1(lse_note - lse)[:, None] * other, lse, note, lse_note
    share = torch.exp(lse_note - lse)[:, None]
    return share * note + (1 - share) * other, lse, note, lse_note


EXERCISE = Exercise(
    answer="without",
    read=(
        "kernels/online_softmax/#the-property-any-pieces-in-any-order",
        "The property: any pieces, in any order",
    ),
    hints=(
        "A row is a sum of exponentials times values, divided by the sum of "
        "exponentials. What is left of both when the note's part is taken off?",
        "Find the log-sum-exp of the rest first. Then each row counts by exp of its "
        "own log-sum-exp minus that of the rest, once added and once taken off.",
        "The rest is lse plus the logarithm of the share that the note did not have: "
        "-torch.expm1(...) of the difference of two log-sum-exps.",
    ),
    draw=draw,
    trials=({}, dict.fromkeys("BHGTSDVEW", 4), {"loud": 900.0}, {"G": 0}),
    law="What was merged can be taken apart; but if the note has nearly all the mass, "
    "the rest is a small difference of large numbers, and its digits are gone.",
    right=[
        """
        # By shares of the whole: what is left is divided by its own share.
        share = torch.exp(lse_note - lse)
        left = -torch.expm1(lse_note - lse)
        kept = (rows - share[:, None] * note) / left[:, None]
        return kept, lse + left.log()
        """,
        """
        # By one ratio, the note's mass to that of the rest: one exponential.
        rest = lse + (-torch.expm1(lse_note - lse)).log()
        ratio = (lse_note - rest).exp().unsqueeze(1)
        return rows + ratio * (rows - note), rest
        """,
    ],
    wrong=[
        Wrong(
            "whole * rows - part * note",
            "rows - note",
            "the rows are subtracted as they are, without their shares",
        ),
        Wrong(
            "whole * rows - part * note",
            "rows - torch.exp(lse_note - lse)[:, None] * note",
            "the note is taken off, and what is left is not divided by its share",
        ),
        Wrong(
            "whole * rows - part * note",
            "part * rows - whole * note",
            "the two factors are exchanged",
        ),
        Wrong(
            "whole * rows - part * note",
            "whole * rows + part * note",
            "the note is added once more; it should be taken off",
        ),
        Wrong(
            "lse + torch.log(-torch.expm1(lse_note - lse))",
            "torch.log(torch.exp(lse) - torch.exp(lse_note))",
            "exponentials are taken of the log-sum-exps themselves, and overflow",
            exhibit="pieces/#a-logarithm-without-its-maximum",
        ),
        Wrong(
            "lse + torch.log(-torch.expm1(lse_note - lse))",
            "lse - lse_note",
            "logarithms are subtracted, where sums should be",
        ),
        Wrong(
            "lse + torch.log(-torch.expm1(lse_note - lse))",
            "torch.logaddexp(lse, -lse_note)",
            "the note's log-sum-exp gets a minus, which divides and does not subtract",
        ),
        Wrong(
            "lse + torch.log(-torch.expm1(lse_note - lse))",
            "torch.logaddexp(lse, lse_note)",
            "the note is merged a second time, and not taken away",
        ),
        Wrong(
            "lse + torch.log(-torch.expm1(lse_note - lse))",
            "torch.log(-torch.expm1(lse_note - lse))",
            "the logarithm of the rest's share is taken for its log-sum-exp",
        ),
        Wrong(
            "torch.expm1(lse_note - lse)",
            "torch.expm1(lse - lse_note)",
            "the logarithm of a negative number is taken: the minus before expm1 is "
            "missing, or the difference in it is turned round",
        ),
        Wrong(
            "part * note, rest\n",
            "part * note, rest - lse\n",
            "the rows are right, and the logarithm of their share is given for their "
            "log-sum-exp",
        ),
        Wrong(
            "    rest = lse + torch.log(-torch.expm1(lse_note - lse))\n"
            "    whole = torch.exp(lse - rest)[:, None]\n"
            "    part = torch.exp(lse_note - rest)[:, None]\n"
            "    return whole * rows - part * note, rest",
            "    whole, part = torch.exp(lse)[:, None], torch.exp(lse_note)[:, None]\n"
            "    rest = torch.log(whole - part)[:, 0]\n"
            "    return (whole * rows - part * note) / (whole - part), rest",
            "rows are multiplied by whole sums of exponentials, which overflow",
        ),
        Wrong(
            "lse + torch.log(-torch.expm1(lse_note - lse))",
            "lse_note + torch.log(-torch.expm1(lse_note - lse))",
            "the logarithm of the rest's share is added to the note's log-sum-exp, "
            "and not to that of all keys",
        ),
        Wrong(
            "whole * rows - part * note",
            "whole * (rows - note)",
            "the note is taken off without its own factor",
        ),
        Wrong(
            "whole * rows - part * note",
            "rows / whole - note / part",
            "both factors are turned upside down",
        ),
        Wrong(
            "    return whole * rows - part * note, rest",
            "    whole, part = torch.exp(lse)[:, None], torch.exp(lse_note)[:, None]\n"
            "    return (whole * rows - part * note) / torch.exp(rest)[:, None], rest",
            "the log-sum-exps are right, but rows are multiplied by whole sums of "
            "exponentials, which overflow",
        ),
        Wrong(
            "-torch.expm1(lse_note - lse)",
            "1 - torch.exp(lse_note - lse)",
            "1 - exp(x) is computed as it stands, which loses the digits of small x: "
            "-torch.expm1(x) keeps them",
        ),
        Wrong(
            "    whole = torch.exp(lse - rest)[:, None]\n"
            "    part = torch.exp(lse_note - rest)[:, None]\n",
            "    whole = torch.exp(lse - rest)\n"
            "    part = torch.exp(lse_note - rest)\n",
            "the factors get no axis for the numbers of a row: [:, None] is missing",
        ),
        Wrong(
            "    whole = torch.exp(lse - rest)[:, None]\n"
            "    part = torch.exp(lse_note - rest)[:, None]\n"
            "    return whole * rows - part * note, rest",
            "    whole = torch.exp(lse - rest)\n"
            "    part = torch.exp(lse_note - rest)\n"
            "    return rows * whole - note * part, rest",
            "the factors are laid along the numbers of a row: [:, None] is missing",
        ),
        Wrong(
            "    return whole * rows - part * note, rest",
            "    share = torch.exp(lse_note - lse)[:, None]\n"
            "    return (rows - share * note) / (1 - share), rest",
            "the log-sum-exps are right, but rows are divided by 1 - exp(x) as "
            "it stands, which loses the digits of small x",
        ),
        Wrong(
            "torch.exp(lse_note - rest)",
            "torch.exp(lse_note - lse)",
            "the note is taken off by its share of all; it should be its ratio "
            "to the rest",
        ),
        Wrong(
            "    return whole * rows - part * note, rest",
            "    return rows - part * note, rest",
            "the rows are not multiplied by their own factor",
        ),
        Wrong(
            "    return whole * rows - part * note, rest",
            "    return whole * rows - part * note, lse",
            "the rows are right; the log-sum-exp of all keys is given for theirs",
        ),
        Wrong(
            "    return whole * rows - part * note, rest",
            "    return whole * rows - part * note",
            "the rows are given alone, without their log-sum-exps",
        ),
        Wrong(
            "    return whole * rows - part * note, rest",
            "    return rest, whole * rows - part * note",
            "the two results are given in the opposite order",
        ),
        Wrong(
            "    return whole * rows - part * note, rest",
            "    return whole * rows - part * note, rest.exp()",
            "the sum of exponentials is given; its logarithm is asked for",
        ),
        Wrong(
            "    return whole * rows - part * note, rest",
            "    return whole * rows - part * note, rest[:, None]",
            "the log-sum-exps keep an axis of length one",
        ),
        Wrong(
            "    return whole * rows - part * note, rest",
            "    a, b = lse[:, None], lse_note[:, None]\n"
            "    return (a * rows - b * note) / (a - b), rest",
            "the log-sum-exps themselves are taken for shares: their "
            "exponentials are forgotten",
        ),
        Wrong(
            "    return whole * rows - part * note, rest",
            "    return whole * rows - part * note, lse - lse_note",
            "the rows are right; the difference of the log-sum-exps is given "
            "for theirs",
        ),
        Wrong(
            "    return whole * rows - part * note, rest",
            "    return part * note - whole * rows, rest",
            "the difference is turned round: the rows get the opposite sign",
        ),
        Wrong(
            "    return whole * rows - part * note, rest",
            "    return whole * rows - whole * part * note, rest",
            "the note is multiplied by both factors; its own is enough",
        ),
        Wrong(
            "    return whole * rows - part * note, rest",
            "    return (rows - torch.exp(lse_note - lse)[:, None] * note) * "
            "whole.reciprocal(), rest",
            "what is left is multiplied by its share; it should be divided by it",
        ),
        Wrong(
            "-torch.expm1(lse_note - lse)",
            "torch.exp(lse_note - lse)",
            "the note's share is taken for that of the rest",
        ),
        Wrong(
            "torch.log(-torch.expm1(lse_note - lse))",
            "-torch.expm1(lse_note - lse)",
            "the rest's share is added to a log-sum-exp; its logarithm should be",
        ),
        Wrong(
            "lse + torch.log",
            "lse - torch.log",
            "the logarithm of the rest's share is taken off; it should be added",
        ),
        Wrong(
            "lse + torch.log(-torch.expm1(lse_note - lse))",
            "torch.log(lse - lse_note)",
            "the logarithm is taken of a difference of log-sum-exps; it should "
            "be taken of their exponentials'",
        ),
        Wrong(
            "lse + torch.log(-torch.expm1(lse_note - lse))",
            "lse.clone()",
            "the log-sum-exp of all keys is taken for that of the rest",
        ),
        Wrong(
            "lse + torch.log(-torch.expm1(lse_note - lse))",
            "lse + torch.log(-torch.expm1(lse_note))",
            "the note's log-sum-exp is taken without the difference to that of "
            "all keys",
        ),
        Wrong(
            "torch.log(",
            "torch.log2(",
            "the logarithm is to the base of two; exponentials need the natural one",
        ),
        Wrong(
            "    return whole * rows - part * note, rest",
            "    return whole * rows - note, rest",
            "the note is taken off as it is, without a factor",
        ),
        Wrong(
            "    return whole * rows - part * note, rest",
            "    return rows + part * (note - rows), rest",
            "the note is mixed in by its ratio to the rest; it should be taken off",
        ),
        Wrong(
            "    return whole * rows - part * note, rest",
            "    share = torch.exp(lse_note - lse)[:, None]\n"
            "    return (rows - share * note) / share, rest",
            "what is left is divided by the note's share; it should be by its own",
        ),
        Wrong(
            "    return whole * rows - part * note, rest",
            "    return whole * rows - part * note, rest - lse_note",
            "the rows are right; the log-sum-exp of the rest is given less that of "
            "the note",
        ),
        Wrong(
            "    return whole * rows - part * note, rest",
            "    return whole * rows - part * note, lse_note",
            "the rows are right; the log-sum-exp of the note is given for theirs",
        ),
        Wrong(
            "    return whole * rows - part * note, rest",
            "    return torch.cat([whole * rows - part * note, rest[:, None]], dim=1)",
            "rows and log-sum-exps are joined to one table; it should be a pair",
        ),
        Wrong(
            "lse + torch.log(-torch.expm1(lse_note - lse))",
            "lse * -torch.expm1(lse_note - lse)",
            "the log-sum-exp is multiplied by the share of the rest; its logarithm "
            "should be added",
        ),
        Wrong(
            "    return whole * rows - part * note, rest",
            "    one, two = torch.softmax(torch.stack([lse, lse_note]), dim=0)[..., "
            "None]\n"
            "    return one * rows - two * note, rest",
            "numbers are weighted by a softmax of the two log-sum-exps",
        ),
        Wrong(
            "    return whole * rows - part * note, rest",
            "    return (rows + note) / 2, rest",
            "the mean of both rows is taken",
        ),
        Wrong(
            "lse + torch.log(-torch.expm1(lse_note - lse))",
            "lse + torch.log(1 - lse_note / lse)",
            "the share of the rest is made of the log-sum-exps; it should be made of "
            "their exponentials",
        ),
        Wrong(
            "torch.log(-torch.expm1(lse_note - lse))",
            "torch.log(torch.expm1(lse_note - lse).abs() + 1e-6)",
            "a small number is added before the logarithm, which changes small shares",
        ),
        Wrong(
            "torch.exp(lse_note - rest)",
            "torch.exp(lse - lse_note)",
            "the factor of the note is the ratio of all keys to it; it should be that "
            "of the note to the rest",
        ),
        Wrong(
            "    whole = torch.exp(lse - rest)[:, None]\n"
            "    part = torch.exp(lse_note - rest)[:, None]",
            "    whole = (lse - rest)[:, None]\n    part = (lse_note - rest)[:, None]",
            "the factors are differences of log-sum-exps: their exponentials are "
            "forgotten",
        ),
        Wrong(
            "torch.log(-torch.expm1(lse_note - lse))",
            "torch.log((-torch.expm1(lse_note - lse)).clamp(min=1e-9))",
            "the share of the rest is kept away from zero by a limit that small "
            "shares fall below",
        ),
        Wrong(
            "whole = torch.exp(lse - rest)[:, None]\n"
            "    part = torch.exp(lse_note - rest)[:, None]\n"
            "    return whole * rows - part * note, rest",
            "whole, part = lse.exp()[:, None], lse_note.exp()[:, None]\n"
            "    return (whole * rows - part * note) / (whole - part), rest",
            "exponentials are taken of the log-sum-exps themselves, which overflow",
        ),
    ],
    stars=3,
    minutes=12,
)
