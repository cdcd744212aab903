"""Second way: minus infinity

Write `masked_weights(scores, mask)`: the softmax of each row over what is visible.

Scores have shape (..., T, S), the mask (T, S) is True where a query may look. Hidden
keys get a weight of exactly zero. A row that sees nothing gives zeros, and not nan.
Gradients of the scores are finite, for such a row too. Scores may be large, hidden ones
larger than all that are visible. They are left as they are.
"""

from headway.practice import Exercise, Wrong
from headway.practice.task.definition import DIFFERENT, EQUAL, LOUD

# --- your file ---
import torch
from torch import Tensor


def masked_weights(scores: Tensor, mask: Tensor) -> Tensor:
    """Give weights (..., T, S); rows of the mask (T, S) may hide everything."""
    # --- write ---
    empty = ~mask.any(dim=-1, keepdim=True)
    hidden = scores.masked_fill(~(mask | empty), -torch.inf)
    weights = torch.softmax(hidden, dim=-1)
    return weights.masked_fill(empty, 0.0)
    # --- written ---


if __name__ == "__main__":
    mask = torch.tensor([[True, False], [True, True], [False, False]])
    print(masked_weights(torch.zeros(3, 2), mask))
    # tensor([[1.0000, 0.0000],
    #         [0.5000, 0.5000],
    #         [0.0000, 0.0000]])
# --- end of your file ---


def with_an_empty_row(d):  # type: ignore[no-untyped-def]
    """Draw a mask where one row sees nothing, none all, and each key is seen."""
    mask = d.booleans(d.T, d.S)
    mask[:, 0] = True
    mask[d.T // 2] = False
    if d.T > 1 and d.S > 1:
        mask[0] |= ~mask.any(dim=0)
        mask[mask.all(dim=-1), 0] = False
    return mask


def scores_far_from_zero(d):  # type: ignore[no-untyped-def]
    """Draw scores; loud ones lie below -10000, or so high that they overflow."""
    scores = d.normal(*d.lead, d.T, d.S)
    scores[0] -= 1000.0 * (d.loud - 1.0)
    scores[1:] += 1000.0 * (d.loud - 1.0)
    return scores


def run(masked_weights, scores, mask):  # type: ignore[no-untyped-def]
    weights = masked_weights(scores, mask)
    scores = scores.detach().clone().requires_grad_()
    again = masked_weights(scores.clone(), mask)
    gradients = "none"
    if isinstance(again, Tensor) and again.requires_grad:
        again.square().sum().backward()
        gradients = "finite" if scores.grad.isfinite().all() else "nan"
    return {"the weights": weights, "gradients of the scores": gradients}


def drawn(d):  # type: ignore[no-untyped-def]
    """Draw both; if twice as loud, the hidden lie far above the visible."""
    scores, mask = scores_far_from_zero(d), with_an_empty_row(d)
    return scores + (2000.0 if d.loud == 2.0 else 0.0) * ~mask, mask


# All lines of the solution, for mistakes that take no care of rows that see nothing.
PLAIN = """    empty = ~mask.any(dim=-1, keepdim=True)
    hidden = scores.masked_fill(~(mask | empty), -torch.inf)
    weights = torch.softmax(hidden, dim=-1)
    return weights.masked_fill(empty, 0.0)"""

EXERCISE = Exercise(
    answer="masked_weights",
    read=("basics/masks/#second-way-minus-infinity", "Second way: minus infinity"),
    hints=(
        "Which score has an exponential of zero? And what is zero divided by zero?",
        "masked_fill gives a new table, with another number where the mask you hand it "
        "is True. Do not lose what it gives.",
        "Let a row that sees nothing see everything while the softmax runs, and fill "
        "its weights with zeros afterwards; then no nan is ever made.",
    ),
    draw=drawn,
    trials=(DIFFERENT, EQUAL, LOUD, {"loud": 2.0}),
    ask=run,
    law="No weight goes to what is hidden; a row that sees nothing shares nothing.",
    right=[
        """
        # By hand: the largest visible score is subtracted, and the mask multiplies.
        large = scores.masked_fill(~mask, -1e30).amax(dim=-1, keepdim=True)
        grown = (scores.clamp(max=large) - large).exp() * mask
        total = grown.sum(dim=-1, keepdim=True)
        return grown / total.masked_fill(total == 0, 1.0)
        """,
        """
        # A large finite number hides, too; then a row without keys has no nan to hide.
        lowest = torch.finfo(scores.dtype).min
        return torch.softmax(scores.masked_fill(~mask, lowest), dim=-1) * mask
        """,
        """
        # The book's own function, which other chapters use.
        from headway import hide_by_minus_infinity

        return torch.where(mask, hide_by_minus_infinity(scores, mask), 0.0)
        """,
    ],
    wrong=[
        Wrong(
            "hidden = scores.masked_fill(~(mask | empty), -torch.inf)",
            "scores.masked_fill(~(mask | empty), -torch.inf)\n    hidden = scores",
            "the result of masked_fill is lost, so nothing is hidden",
            exhibit="masks/#masked-fill-without-assignment",
        ),
        Wrong(
            "~(mask | empty), -torch.inf",
            "mask | empty, -torch.inf",
            "the mask is inverted: what may be seen is hidden",
            exhibit="masks/#boolean-mask-inverted",
        ),
        Wrong(
            "-torch.inf",
            "0.0",
            "hidden scores are set to zero, whose exponential is one",
        ),
        Wrong(
            "-torch.inf",
            "-10.0",
            "hidden scores are set to -10, which lets a little through",
            exhibit="masks/#mask-fills-too-high",
        ),
        Wrong(
            "scores.masked_fill(~(mask | empty), -torch.inf)",
            "scores * (mask | empty)",
            "scores are multiplied by the mask, so that hidden ones are zero",
            exhibit="masks/#scores-multiplied-by-the-mask",
            same_as="hidden scores are set to zero, whose exponential is one",
        ),
        Wrong(
            "scores.masked_fill(~(mask | empty), -torch.inf)",
            "scores + (mask | empty)",
            "a mask of zeros and ones is added to the scores",
            exhibit="masks/#mask-of-ones-added",
        ),
        Wrong(
            "weights = torch.softmax(hidden, dim=-1)",
            "weights = torch.softmax(scores, dim=-1) * mask",
            "weights are hidden after the softmax, and their sum is not one",
            exhibit="masks/#mask-after-softmax",
        ),
        Wrong(
            "torch.softmax(hidden, dim=-1)",
            "torch.softmax(hidden, dim=-2)",
            "the softmax runs over the queries",
            exhibit="softmax/#softmax-over-queries",
        ),
        Wrong(
            "    return weights.masked_fill(empty, 0.0)",
            "    return weights",
            "a row that sees nothing gets weights for all keys; it should get zeros",
        ),
        Wrong(
            "hidden = scores.masked_fill",
            "B, T, S = scores.shape\n    hidden = scores.masked_fill",
            "scores are taken to have three axes; they may have more",
            hint="scores.shape[-1] is the last size, however many axes there are.",
        ),
        Wrong(
            "torch.softmax(hidden, dim=-1)",
            "torch.softmax(hidden, dim=2)",
            "axes are counted from the front: axis 2 is the last of three only",
            hint="The last axis is -1, however many there are.",
        ),
        Wrong(
            "torch.softmax(hidden, dim=-1)",
            "torch.softmax(hidden, dim=0)",
            "the softmax runs over the texts, which are the first axis",
        ),
        Wrong(
            PLAIN,
            "    return torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=-1)",
            "a row that sees nothing is left to the softmax, which divides zero by "
            "zero there: it gives nan, and should give zeros",
            exhibit="padding/#fully-masked-row",
            hint="Which row has no exponential but zeros?",
        ),
        Wrong(
            PLAIN,
            "    return torch.softmax(scores.masked_fill(mask, -torch.inf), dim=-1)",
            "the mask is inverted, so that what may be seen is hidden, and a row that "
            "sees nothing gets weights for all keys",
            exhibit="masks/#boolean-mask-inverted",
        ),
        Wrong(
            PLAIN,
            "    return torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1)",
            "a number far below zero hides; where all scores are this number, all keys "
            "get the same weight, and it should be zero",
            hint="What does a softmax give for a row of equal numbers?",
        ),
        Wrong(
            PLAIN,
            "    return torch.softmax(scores * mask, dim=-1)",
            "scores are multiplied by the mask: hidden ones are zero, whose "
            "exponential is one, in a row that sees nothing too",
            exhibit="masks/#scores-multiplied-by-the-mask",
        ),
        Wrong(
            PLAIN,
            "    return torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=-2)",
            "the softmax runs over the queries: columns sum to one, and not rows",
            exhibit="softmax/#softmax-over-queries",
        ),
        Wrong(
            PLAIN,
            "    return torch.softmax(scores.masked_fill(~mask, -100.0), -1) * mask",
            "hidden scores are set to a number such as -100 or -10000, which lies "
            "above scores that are smaller still",
            exhibit="masks/#mask-fills-too-high",
        ),
        Wrong(
            PLAIN,
            "    grown = scores.exp() * mask\n"
            "    return (grown / grown.sum(dim=-1, keepdim=True)).nan_to_num()",
            "the largest score is not subtracted: exponentials of large ones overflow, "
            "and those of small ones are zero",
            hint="torch.softmax subtracts the largest score before the exponential.",
        ),
        Wrong(
            PLAIN,
            "    return torch.softmax(scores + ~mask * -torch.inf, dim=-1)",
            "zero, where a key is visible, is multiplied by minus infinity: nan",
            hint="masked_fill and where choose, and multiply nothing.",
        ),
        Wrong(
            PLAIN,
            "    bias = torch.zeros(mask.shape, dtype=scores.dtype)\n"
            "    bias = bias.masked_fill(~mask, -torch.inf)\n"
            "    return torch.softmax(scores + bias, dim=-1).nan_to_num()",
            "nan is replaced by zero after the softmax: the weights are "
            "right, and the gradient of a row that sees nothing stays nan",
            hint="Zero times nan is nan, on the way back, too. Let no row see "
            "nothing while the softmax runs.",
        ),
        Wrong(
            PLAIN,
            "    hidden = scores.masked_fill(~mask, -torch.inf)\n"
            "    return torch.softmax(hidden.detach(), dim=-1).nan_to_num()",
            "the scores are detached, so that no gradient comes back to them",
        ),
        Wrong(
            PLAIN,
            "    grown = (scores - scores.amax(dim=-1, "
            "keepdim=True)).exp() * mask\n"
            "    return grown / grown.sum(dim=-1, "
            "keepdim=True).clamp(min=1e-12)",
            "the largest score is taken over hidden keys too, so that "
            "visible ones far below it vanish",
        ),
        Wrong(
            PLAIN,
            "    grown = (scores - scores.amax(dim=-1, "
            "keepdim=True)).exp() * mask\n"
            "    return (grown / grown.sum(dim=-1, "
            "keepdim=True)).nan_to_num()",
            "weights are hidden after the softmax and divided by their "
            "sum, which is zero where hidden keys took it all",
        ),
        Wrong(
            PLAIN,
            "    grown = (scores - scores.amax(dim=-1, "
            "keepdim=True)).exp() * mask\n"
            "    return grown / grown.sum(dim=-1, keepdim=True)",
            "weights are hidden after the softmax and divided by their "
            "sum, which is zero in a row that sees nothing: nan",
        ),
        Wrong(
            PLAIN,
            "    grown = torch.softmax(scores, dim=-1) * mask\n"
            "    return grown / (grown.sum(dim=-1, keepdim=True) + 1e-9)",
            "weights are hidden after the softmax and divided by their sum "
            "and a small number",
        ),
        Wrong(
            PLAIN,
            "    grown = torch.softmax(scores, dim=-1) * mask\n"
            "    return grown / (grown.sum(dim=-1, keepdim=True) + 1e-6)",
            "weights are hidden after the softmax and divided by their sum and 1e-6",
        ),
        Wrong(
            PLAIN,
            "    return torch.softmax(scores, dim=-1) * mask",
            "the softmax takes all keys, and weights are hidden afterwards",
            same_as="weights are hidden after the softmax, and their sum is not one",
        ),
        Wrong(
            PLAIN,
            "    return torch.softmax(scores.masked_fill(~mask, -1e4), dim=-1)",
            "hidden scores are set to a number such as -10000, which lies "
            "above scores that are smaller still, and where all are hidden "
            "all get the same weight",
        ),
        Wrong(
            PLAIN,
            "    return torch.softmax(scores.masked_fill(~mask, 0.0), dim=-1) * mask",
            "hidden scores are set to zero, and weights are hidden again "
            "after the softmax, so that they do not sum to one",
        ),
        Wrong(
            "~mask.any(dim=-1, keepdim=True)",
            "~mask.any(dim=-2, keepdim=True)",
            "it is asked of keys whether nobody sees them (dim=-2); it "
            "should be asked of queries whether they see nothing",
            same_as="a row that sees nothing is left to the softmax, which divides "
            "zero by zero there: it gives nan, and should give zeros",
        ),
        Wrong(
            "~mask.any(dim=-1, keepdim=True)",
            "~mask.all(dim=-1, keepdim=True)",
            "`all` stands where `any` is needed: a row with one hidden key "
            "is taken for a row that sees nothing",
        ),
        Wrong(
            "~mask.any(dim=-1, keepdim=True)",
            "~mask.any(dim=-1)",
            "keepdim is missing, so that what is said of rows is laid along the keys",
        ),
        Wrong(
            "~mask.any(dim=-1, keepdim=True)",
            "mask.any(dim=-1, keepdim=True)",
            "it is turned around which rows see nothing: those that see "
            "something get zeros",
        ),
        Wrong(
            "torch.softmax(hidden, dim=-1)",
            "torch.softmax(hidden, dim=1)",
            "the softmax runs over axis 1, which is not the last",
        ),
        Wrong(
            "torch.softmax(hidden, dim=-1)",
            "torch.softmax(torch.softmax(hidden, dim=-1), dim=-1)",
            "the softmax is taken twice, in which a weight of zero counts",
        ),
        Wrong(
            "torch.softmax(hidden, dim=-1)",
            "hidden",
            "there is no softmax",
        ),
        Wrong(
            "torch.softmax(hidden, dim=-1)",
            "torch.softmax(hidden / hidden.shape[-1] ** 0.5, dim=-1)",
            "scores are scaled here; they come scaled already",
        ),
        Wrong(
            "torch.softmax(hidden, dim=-1)",
            "torch.sigmoid(hidden)",
            "a sigmoid of each score is taken, so that the weights of a "
            "row do not share one",
        ),
        Wrong(
            "torch.softmax(hidden, dim=-1)",
            "torch.log_softmax(hidden, dim=-1)",
            "the logarithms of the weights are given",
        ),
        Wrong(
            "    return weights.masked_fill(empty, 0.0)",
            "    return weights.masked_fill(empty, -torch.inf)",
            "a row that sees nothing gets minus infinity; it should get zeros",
        ),
        Wrong(
            "    return weights.masked_fill(empty, 0.0)",
            "    weights.masked_fill(empty, 0.0)\n    return weights",
            "the result of the last masked_fill is lost",
            same_as="a row that sees nothing gets weights for all keys; it should "
            "get zeros",
        ),
        Wrong(
            "~(mask | empty), -torch.inf",
            "~(mask | empty), torch.inf",
            "hidden scores are set to plus infinity; minus is missing",
        ),
        Wrong(
            "~(mask | empty), -torch.inf",
            "~(mask.T | empty), -torch.inf",
            "the mask is transposed",
        ),
        Wrong(
            PLAIN,
            "    hidden = scores.masked_fill(~mask[0], -torch.inf)\n"
            "    return torch.softmax(hidden, dim=-1)",
            "the first row of the mask is taken for all queries",
        ),
        Wrong(
            PLAIN,
            "    weights = torch.softmax(scores.masked_fill(~mask, -torch.inf), "
            "dim=-1)\n"
            "    weights[weights.isnan()] = 0.0\n"
            "    return weights",
            "zeros are written into the weights, which the softmax still needs "
            "for its gradients: masked_fill makes a new table",
        ),
        Wrong(
            PLAIN,
            "    top = scores.masked_fill(~mask, -torch.inf).amax(dim=-1, "
            "keepdim=True)\n"
            "    grown = (scores - top.nan_to_num(neginf=0.0)).exp()\n"
            "    grown = torch.where(mask, grown, 0.0)\n"
            "    return grown / grown.sum(dim=-1, keepdim=True).clamp(min=1e-9)",
            "exponentials of hidden scores overflow before they are hidden: the "
            "weights are right, and on the way back zero times infinity is nan",
        ),
        Wrong(
            PLAIN,
            "    return torch.softmax(scores + mask.to(scores.dtype).log(), dim=-1)",
            "zeros and minus infinity are added to the scores, and a row that "
            "sees nothing is left to the softmax: it gives nan, and so do its "
            "gradients",
        ),
        Wrong(
            PLAIN,
            "    return torch.softmax(scores - ~mask * 1e9, dim=-1)",
            "a large number is taken off hidden scores; where all are hidden, the "
            "softmax is as if none were, and it should be zero",
        ),
        Wrong(
            PLAIN,
            "    grown = torch.softmax(scores, dim=-1) * mask\n"
            "    return grown / grown.sum(dim=-1, keepdim=True).clamp(min=1e-9)",
            "weights are hidden after the softmax and divided by their sum, or by "
            "a small number where hidden keys took nearly all",
        ),
        Wrong(
            PLAIN,
            "    grown = torch.softmax(scores, dim=-1) * mask\n"
            "    return grown / grown.sum(dim=-1)",
            "keepdim is missing in the sum, so that sums of rows are laid along "
            "the keys",
        ),
        Wrong(
            PLAIN,
            "    seen = mask.clone()\n"
            "    seen[~mask.any(dim=-1), 0] = True\n"
            "    return torch.softmax(scores.masked_fill(~seen, -torch.inf), dim=-1)",
            "a row that sees nothing is let look at the first key, whose weight "
            "is not taken away again",
        ),
        Wrong(
            PLAIN,
            "    if not mask.any():\n"
            "        return torch.zeros_like(scores)\n"
            "    return torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=-1)",
            "it is asked of the whole mask whether anything is seen; each row "
            "should be asked",
            same_as="a row that sees nothing is left to the softmax, which "
            "divides zero by zero there: it gives nan, and should give zeros",
        ),
        Wrong(
            PLAIN,
            "    return torch.softmax(scores, dim=-1)",
            "nothing is hidden, as when the result of masked_fill is lost, in a "
            "row that sees nothing, too",
            exhibit="masks/#masked-fill-without-assignment",
        ),
        Wrong(
            PLAIN,
            "    return torch.softmax(scores + mask, dim=-1)",
            "a mask of zeros and ones is added to the scores, and a row that sees "
            "nothing gets weights for all keys",
            exhibit="masks/#mask-of-ones-added",
        ),
        Wrong(
            PLAIN,
            "    grown = scores.exp() * mask\n"
            "    return grown / grown.sum(dim=-1, keepdim=True)",
            "the largest score is not subtracted, and a row that sees nothing "
            "divides zero by zero",
        ),
        Wrong(
            PLAIN,
            "    grown = scores.exp() * mask\n"
            "    return grown / grown.sum(dim=-1, keepdim=True).clamp(min=1e-9)",
            "the largest score is not subtracted: exponentials of large ones "
            "overflow, and sums of small ones are taken for zero",
        ),
        Wrong(
            PLAIN,
            "    return torch.softmax(scores.masked_fill(~mask.T, -torch.inf), dim=-1)",
            "the mask is transposed, and has a row for each key",
        ),
        Wrong(
            PLAIN,
            "    hidden = scores.clone()\n"
            "    hidden[:, ~mask] = -torch.inf\n"
            "    return torch.softmax(hidden, dim=-1)",
            "one axis is taken to stand before the mask's two; there may be more",
            hint="masked_fill lays the mask along the last axes, however many "
            "there are.",
        ),
        Wrong(
            PLAIN,
            "    top = scores.masked_fill(~mask, -1e30).amax(dim=-1, keepdim=True)\n"
            "    grown = (scores.clamp(max=top) - top).exp() * mask\n"
            "    return grown / (grown.sum(dim=-1, keepdim=True) + 1e-9)",
            "1e-9 is added to each sum, so that weights come out a little too "
            "small; only a sum of zero needs care",
        ),
        Wrong(
            PLAIN,
            "    grown = (scores - scores.amax(dim=-1, keepdim=True)).exp() * mask\n"
            "    total = grown.sum(dim=-1, keepdim=True)\n"
            "    return grown / total.clamp(min=torch.finfo(scores.dtype).tiny)",
            "the largest of all scores is taken off, hidden ones too, so that "
            "visible keys vanish beside a large hidden one",
        ),
    ],
    survivors={"-1 -> 1": "the mask has two axes, so that the last is axis 1"},
    stars=2,
    minutes=12,
)
