"""Merge two halves

Two machines have each attended to half of the keys. Write `merge(a, lse_a, b, lse_b)`:
what attention to all keys gives.

`a` and `b` are rows (T, V); `lse_a` and `lse_b` (T) are the log-sum-exp of the scores
that went into them: a half without a key to see has minus infinity there, and zeros as
its row. If both have none, the row is zero. Give the rows, and their log-sum-exp.
Log-sum-exps may be far above zero, and far below.
"""

from headway.practice import Exercise, Wrong

# --- your file ---
import torch
from torch import Tensor


def merge(a: Tensor, lse_a: Tensor, b: Tensor, lse_b: Tensor) -> tuple[Tensor, Tensor]:
    """Merge rows (T, V) with log-sum-exps (T) into one."""
    # --- write ---
    lse = torch.logaddexp(lse_a, lse_b)
    finite = lse.masked_fill(lse == -torch.inf, 0.0)
    share_a = torch.exp(lse_a - finite)[:, None]
    share_b = torch.exp(lse_b - finite)[:, None]
    return share_a * a + share_b * b, lse
    # --- written ---


if __name__ == "__main__":
    a, b = torch.tensor([[10.0]]), torch.tensor([[30.0]])
    rows, lse = merge(a, torch.tensor([1.0]).log(), b, torch.tensor([3.0]).log())
    print(rows, lse.exp())
    # tensor([[25.]]) tensor([4.])
# --- end of your file ---


def draw(d):  # type: ignore[no-untyped-def]
    def half():  # type: ignore[no-untyped-def]
        return d.normal(d.S, d.V) / d.loud, d.normal(d.S)

    (a, lse_a), (b, lse_b) = half(), half()
    a[0], lse_a[0], b[-1], lse_b[-1] = 0.0, -torch.inf, 0.0, -torch.inf
    if len(a) > 1:
        a[1], lse_a[1], b[1], lse_b[1] = 0.0, -torch.inf, 0.0, -torch.inf
    if len(a) > 3:
        lse_a[2], lse_b[2] = lse_a[2] - 4 * d.loud, lse_b[2] - 4 * d.loud
        lse_a[3] += 4 * d.loud
    return a, lse_a, b, lse_b


EXERCISE = Exercise(
    answer="merge",
    read=(
        "kernels/online_softmax/#the-property-any-pieces-in-any-order",
        "The property: any pieces, in any order",
    ),
    hints=(
        "Which part of the whole sum of exponentials did each half have?",
        "Each row counts by its share, the exponential of its log-sum-exp minus that "
        "of the whole; logaddexp gives the latter without overflow.",
        "Minus infinity minus minus infinity is nan: put a zero in place of the "
        "whole's before you subtract, where nothing is seen.",
    ),
    draw=draw,
    trials=({}, dict.fromkeys("BHGTSDVEW", 4), {"loud": 900.0}),
    law="The order of merging does not matter, and a half that saw nothing counts "
    "for nothing.",
    right=[
        """
        # A softmax over two log-sum-exps: the halves are like two keys.
        both = torch.stack([lse_a, lse_b])
        shares = torch.softmax(both, dim=0).nan_to_num(0.0)
        rows = (shares[..., None] * torch.stack([a, b])).sum(dim=0)
        return rows, both.logsumexp(dim=0)
        """,
        """
        # A sigmoid: how much one half counts, from one difference.
        share = torch.sigmoid(lse_a - lse_b).nan_to_num(0.0)[:, None]
        rows = torch.lerp(b, a, share)
        return rows, torch.logaddexp(lse_a, lse_b)
        """,
    ],
    survivors={"0.0 -> 1.0": "minus infinity minus any number is minus infinity"},
    wrong=[
        Wrong(
            "share_a * a + share_b * b",
            "(a + b) / 2",
            "the plain mean is taken",
            exhibit="pieces/#merged-by-plain-means",
        ),
        Wrong(
            "torch.logaddexp(lse_a, lse_b)",
            "torch.log(torch.exp(lse_a) + torch.exp(lse_b))",
            "exponentials are taken without their largest, and overflow",
            exhibit="pieces/#a-logarithm-without-its-maximum",
        ),
        Wrong(
            "lse.masked_fill(lse == -torch.inf, 0.0)",
            "lse",
            "minus infinity is taken off minus infinity where nobody sees a key, so "
            "that such rows are nan",
            exhibit="pieces/#two-empty-pieces",
        ),
        Wrong(
            "share_a * a + share_b * b",
            "share_b * a + share_a * b",
            "the shares are exchanged",
        ),
        Wrong(
            "torch.logaddexp(lse_a, lse_b)",
            "torch.logaddexp2(lse_a, lse_b)",
            "logarithms to base two are added",
            exhibit="pieces/#a-logarithm-to-base-two",
        ),
        Wrong(
            "torch.logaddexp(lse_a, lse_b)",
            "torch.maximum(lse_a, lse_b)",
            "the larger log-sum-exp is taken for that of both",
        ),
        Wrong(
            "torch.logaddexp(lse_a, lse_b)",
            "lse_a + lse_b",
            "logarithms are added, where sums should be",
        ),
        Wrong(
            "share_a * a + share_b * b",
            "a + b",
            "both are added, without their shares",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    return share_a * a + share_b * b, torch.maximum(lse_a, lse_b)",
            "the rows are right, and the larger log-sum-exp is given for that of both",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    return share_a * a + share_b * b, lse_a + lse_b",
            "the rows are right, but their log-sum-exps are added as they are",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    share_a, share_b = lse_a.exp()[:, None], lse_b.exp()[:, None]\n"
            "    return (share_a * a + share_b * b) / (share_a + share_b), lse",
            "the rows are multiplied by whole sums of exponentials, which overflow, "
            "or are both zero",
            exhibit="pieces/#a-logarithm-without-its-maximum",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    share_a, share_b = lse_a.exp()[:, None], lse_b.exp()[:, None]\n"
            "    return share_a * a + share_b * b, lse",
            "each row counts by its whole sum of exponentials, and is not divided by "
            "that of both",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    share_a, share_b = lse_a[:, None], lse_b[:, None]\n"
            "    return (share_a * a + share_b * b) / (share_a + share_b), lse",
            "the log-sum-exps themselves are taken for shares: their exponentials "
            "are forgotten",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    largest = torch.maximum(lse_a, lse_b)\n"
            "    both = torch.exp(lse_a - largest) + torch.exp(lse_b - largest)\n"
            "    return share_a * a + share_b * b, largest + both.log()",
            "the largest is taken off by hand, and where it is minus infinity, that "
            "gives nan for the log-sum-exp",
            exhibit="pieces/#two-empty-pieces",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    return share_a * a + share_b * b, finite",
            "the log-sum-exp of a row that sees no key is given as zero, and not as "
            "minus infinity",
        ),
        Wrong(
            "    share_a = torch.exp(lse_a - finite)[:, None]\n"
            "    share_b = torch.exp(lse_b - finite)[:, None]\n",
            "    share_a = torch.exp(lse_a - finite)\n"
            "    share_b = torch.exp(lse_b - finite)\n",
            "the shares get no axis for the numbers of a row: [:, None] is missing",
        ),
        Wrong(
            "    share_a = torch.exp(lse_a - finite)[:, None]\n"
            "    share_b = torch.exp(lse_b - finite)[:, None]\n"
            "    return share_a * a + share_b * b, lse",
            "    share_a = torch.exp(lse_a - finite)\n"
            "    share_b = torch.exp(lse_b - finite)\n"
            "    return a * share_a + b * share_b, lse",
            "the shares are laid along the numbers of a row: [:, None] is missing",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    both = torch.stack([lse_a, lse_b])\n"
            "    shares = torch.softmax(both, dim=-1).nan_to_num(0.0)\n"
            "    return shares[0][:, None] * a + shares[1][:, None] * b, lse",
            "the softmax runs over the rows; it should run over the two halves",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    return share_a * a + share_b * b, (lse_a + lse_b) / 2",
            "the rows are right; of their log-sum-exps the mean is given",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    return share_a * a + share_b * b, lse.nan_to_num()",
            "the log-sum-exp of a row that sees no key is given as the lowest "
            "number, and not as minus infinity",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    return torch.where((lse_a > lse_b)[:, None], a, b), lse",
            "the row of the half with more mass is taken, and the other is forgotten",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    return share_a * a + share_b * b",
            "the rows are given alone, without their log-sum-exps",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    return share_a * a + share_b * b, lse.exp()",
            "the sum of exponentials is given; its logarithm is asked for",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    return lse, share_a * a + share_b * b",
            "the two results are given in the opposite order",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    return share_a * a + share_b * b, lse[:, None]",
            "the log-sum-exps keep an axis of length one",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    return (share_a * a + share_b * b) / 2, lse",
            "the shared rows are halved, though the shares sum to one",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    return (a * lse_a[:, None] + b * lse_b[:, None]) / lse[:, None], lse",
            "rows are weighed by their log-sum-exps, divided by that of both: "
            "the exponentials are forgotten",
        ),
        Wrong(
            "torch.logaddexp(lse_a, lse_b)",
            "torch.exp(lse_a) + torch.exp(lse_b)",
            "the exponentials are added, and the logarithm is not taken again",
        ),
        Wrong(
            "torch.logaddexp(lse_a, lse_b)",
            "torch.log(lse_a + lse_b)",
            "the logarithm of the sum is taken of the log-sum-exps; it should "
            "be taken of their exponentials",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    shift = torch.maximum(lse_a, lse_b)\n"
            "    share_a = torch.exp(lse_a - shift)[:, None]\n"
            "    share_b = torch.exp(lse_b - shift)[:, None]\n"
            "    return (share_a * a + share_b * b) / (share_a + share_b), lse",
            "the largest is taken off by hand, and where it is minus infinity, "
            "that gives nan for the row",
            same_as="minus infinity is taken off minus infinity where nobody sees a "
            "key, so that such rows are nan",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    shift = torch.maximum(lse_a, lse_b)\n"
            "    share_a = torch.exp(lse_a - shift)[:, None]\n"
            "    share_b = torch.exp(lse_b - shift)[:, None]\n"
            "    total = share_a + share_b\n"
            "    return (share_a * a + share_b * b) / total, shift + total[:, "
            "0].log()",
            "the largest is taken off by hand, and where it is minus infinity, "
            "that gives nan for the row and the log-sum-exp",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    shift = torch.maximum(lse_a, lse_b)\n"
            "    share_a = torch.exp(lse_a - shift)[:, None].nan_to_num()\n"
            "    share_b = torch.exp(lse_b - shift)[:, None].nan_to_num()\n"
            "    return share_a * a + share_b * b, lse",
            "the largest is taken off, and nothing divides by the sum of both",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    return share_a * a + (1 - share_a) * b, lse.logsumexp(0)",
            "one log-sum-exp is given for all rows; each row has its own",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    share = torch.sigmoid(lse_a - lse_b)[:, None]\n"
            "    return share * a + (1 - share) * b, lse",
            "a sigmoid is taken of a difference that is nan where nobody sees a key",
            same_as="minus infinity is taken off minus infinity where nobody sees a "
            "key, so that such rows are nan",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    share = torch.sigmoid(lse_b - lse_a).nan_to_num(0.0)[:, None]\n"
            "    return share * a + (1 - share) * b, lse",
            "the sigmoid is taken of the difference the other way round, so that the "
            "shares are exchanged",
            same_as="the shares are exchanged",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    ratio = torch.exp(lse_b - lse_a)[:, None]\n"
            "    return (a + ratio * b) / (1 + ratio), lse",
            "the shares are made from the ratio of both sums, which is infinite, or "
            "nan, where a half saw nothing or the other has far more",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    ratio = torch.exp(lse_a - lse_b)[:, None]\n"
            "    return (ratio * a + b) / (ratio + 1), lse",
            "the shares are made from the ratio of both sums, and infinity over "
            "infinity is nan where one half has far more",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    both = torch.stack([lse_a, lse_b])\n"
            "    shares = torch.softmax(both, dim=0)\n"
            "    rows = (shares[..., None] * torch.stack([a, b])).sum(dim=0)\n"
            "    return rows, lse",
            "the softmax over two log-sum-exps that are both minus infinity is nan",
            same_as="minus infinity is taken off minus infinity where nobody sees a "
            "key, so that such rows are nan",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    return torch.stack([share_a * a, share_b * b]), lse",
            "both halves keep an axis of their own; they should be added",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    return torch.cat([share_a * a, share_b * b]), lse",
            "both halves are put below each other; they should be added",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    return share_a * a + share_b * b, torch.stack([lse_a, lse_b])",
            "both log-sum-exps are given as they were; that of the whole is asked for",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    return (share_a * a + share_b * b).nan_to_num(), "
            "lse.nan_to_num(neginf=0.0)",
            "minus infinity is replaced by zero in the log-sum-exps",
            same_as="the log-sum-exp of a row that sees no key is given as zero, and "
            "not as minus infinity",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    return share_a * a + share_b * b, lse + 0.6931471805599453",
            "the logarithm of two is added to the log-sum-exp",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    return share_a * a + share_b * b, lse - 0.6931471805599453",
            "the mean of the sums is given: the logarithm of two is taken off",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    shift = torch.maximum(lse_a, lse_b).nan_to_num(neginf=0.0)\n"
            "    share_a = torch.exp(lse_a - shift)[:, None]\n"
            "    share_b = torch.exp(lse_b - shift)[:, None]\n"
            "    return (share_a * a + share_b * b) / (share_a + share_b), lse",
            "the largest is taken off, but where nobody sees a key, zero is divided "
            "by zero",
            same_as="minus infinity is taken off minus infinity where nobody sees a "
            "key, so that such rows are nan",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    nobody = (lse_a == -torch.inf) | (lse_b == -torch.inf)\n"
            "    rows = share_a * a + share_b * b\n"
            "    return rows.masked_fill(nobody[:, None], 0.0), lse",
            "a row is zero if one half saw nothing; both must have seen nothing",
        ),
        Wrong(
            "torch.logaddexp(lse_a, lse_b)",
            "torch.log1p(torch.exp(lse_a + lse_b))",
            "the sum is put under the exponential; each log-sum-exp should be",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    shift = torch.maximum(lse_a, lse_b).clamp(min=-1e9)\n"
            "    share_a = torch.exp(lse_a - shift)[:, None]\n"
            "    share_b = torch.exp(lse_b - shift)[:, None]\n"
            "    total = (share_a + share_b).clamp(min=1e-9)\n"
            "    return (share_a * a + share_b * b) / total, shift + total[:, 0].log()",
            "minus infinity is cut off at a large negative number, which comes out as "
            "the log-sum-exp of a row that sees nothing",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    shift = torch.maximum(lse_a, lse_b).max()\n"
            "    share_a = torch.exp(lse_a - shift)[:, None]\n"
            "    share_b = torch.exp(lse_b - shift)[:, None]\n"
            "    total = share_a + share_b\n"
            "    rows = ((share_a * a + share_b * b) / total).nan_to_num()\n"
            "    return rows, shift + total[:, 0].log()",
            "one maximum is subtracted from all rows, so that far smaller ones become "
            "zero",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    return torch.where((lse_a == -torch.inf)[:, None], b, a), lse",
            "the first half's row is taken wherever it saw a key, and nothing is "
            "shared",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    lse = torch.cat([lse_a, lse_b]).logsumexp(0)\n"
            "    share_a = torch.exp(lse_a - lse)[:, None]\n"
            "    share_b = torch.exp(lse_b - lse)[:, None]\n"
            "    return share_a * a + share_b * b, lse",
            "all rows share one log-sum-exp; each should have its own",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    return torch.where((lse_a == -torch.inf)[:, None], a, share_a * a + "
            "share_b * b), lse",
            "a row is left as it is where the first half saw nothing; the second "
            "half's should stand there",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    share_a = (lse_a / (lse_a + lse_b))[:, None]\n"
            "    return share_a * a + (1 - share_a) * b, lse",
            "the shares are the log-sum-exps over their sum, and the other one is "
            "what is left to one: the exponentials are forgotten",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    share_a, share_b = lse_a.exp()[:, None], lse_b.exp()[:, None]\n"
            "    rows = (share_a * a + share_b * b) / (share_a + share_b)\n"
            "    return rows.nan_to_num(), lse",
            "the rows are multiplied by whole sums of exponentials, which overflow, "
            "and the nan that comes of it is replaced by zero",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    return torch.cat([a, b]), torch.cat([lse_a, lse_b])",
            "both halves are put below each other as they are; they should be merged",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    shift = torch.maximum(lse_a, lse_b).nan_to_num(neginf=0.0)\n"
            "    share_a = torch.exp(lse_a - shift)[:, None]\n"
            "    share_b = torch.exp(lse_b - shift)[:, None]\n"
            "    return (share_a * a + share_b * b) / 2, lse",
            "the largest is taken off, and it is divided by two; it should be by the "
            "sum of both shares",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    return (a + b) / 2, (lse_a + lse_b) / 2",
            "rows and log-sum-exps are both averaged",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    return (a + b) / 2, lse_a + lse_b",
            "the plain mean of the rows is taken, and the log-sum-exps are added",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    return (a + b) / 2, torch.maximum(lse_a, lse_b)",
            "the plain mean of the rows is taken, and the larger log-sum-exp",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    return a + b, lse_a + lse_b",
            "rows and log-sum-exps are both added",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    return torch.where((lse_a > lse_b)[:, None], a, b), "
            "torch.maximum(lse_a, lse_b)",
            "row and log-sum-exp of the half with more mass are taken, and the other "
            "is forgotten",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    total = (lse_a + lse_b)[:, None]\n"
            "    return (lse_a[:, None] * a + lse_b[:, None] * b) / total, lse_a + "
            "lse_b",
            "the log-sum-exps are taken for masses, which weigh the rows and are "
            "added: the exponentials are forgotten",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    return share_a * a, lse",
            "only the first half's share is given",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    return share_b * b, lse",
            "only the second half's share is given",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    return share_a * a - share_b * b, lse",
            "the second half is taken off; it should be added",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    return a + share_b * b, lse",
            "the first half counts in full, and the second by its share",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    return share_a * a + b, lse",
            "the second half counts in full, and the first by its share",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    return (lse_a - finite)[:, None] * a + (lse_b - finite)[:, None] * "
            "b, lse",
            "the exponentials of the differences are forgotten, which are the shares",
        ),
        Wrong(
            "    return share_a * a + share_b * b, lse",
            "    return a, lse",
            "the first half's rows are given as they are",
        ),
        Wrong(
            "lse = torch.logaddexp(lse_a, lse_b)",
            "top = torch.maximum(lse_a, lse_b).clamp(min=0.0)\n"
            "    lse = top + ((lse_a - top).exp() + (lse_b - top).exp()).log()",
            "the largest is never taken below zero, so that log-sum-exps far below "
            "it vanish",
        ),
        Wrong(
            "lse = torch.logaddexp(lse_a, lse_b)\n"
            "    finite = lse.masked_fill(lse == -torch.inf, 0.0)\n"
            "    share_a = torch.exp(lse_a - finite)[:, None]\n"
            "    share_b = torch.exp(lse_b - finite)[:, None]\n"
            "    return share_a * a + share_b * b, lse",
            "share_a, share_b = lse_a.exp(), lse_b.exp()\n"
            "    whole = share_a + share_b\n"
            "    rows = share_a[:, None] * a + share_b[:, None] * b\n"
            "    return rows / whole.masked_fill(whole == 0, 1.0)[:, None], "
            "whole.log()",
            "the whole sums of exponentials are used for the rows and for their "
            "log-sum-exp, and overflow",
        ),
    ],
    stars=1,
    minutes=8,
)
