"""The loss and its gradient, by hand

Write `loss_by_hand(logits, right)`: the loss of one text, and its gradient, without
`backward` and without `cross_entropy`.

`logits` has shape (S,), and `right` is the place of the right answer. The softmax of
the logits gives each place a share. The loss is minus the natural logarithm of the
right one's. The gradient has shape (S,): how fast the loss grows with each logit.
Logits may be large, so that their exponentials overflow, but no two are far apart.
"""

from headway.practice import Exercise, Forbidden, Wrong

# --- your file ---
import torch
from torch import Tensor


def loss_by_hand(logits: Tensor, right: int) -> tuple[Tensor, Tensor]:
    """Give the loss, one number, and the gradient (S,) for logits (S,)."""
    # --- write ---
    share = torch.softmax(logits, dim=-1)
    gradient = share.clone()
    gradient[right] -= 1.0
    return -torch.log(share[right]), gradient
    # --- written ---


if __name__ == "__main__":
    loss, gradient = loss_by_hand(torch.zeros(6), right=2)
    print(f"loss {loss:.2f}  gradient", gradient)
    # loss 1.79  gradient tensor([ 0.1667,  0.1667, -0.8333,  0.1667,  0.1667,  0.1667])
# --- end of your file ---


def run(loss_by_hand, logits, right):  # type: ignore[no-untyped-def]
    loss, gradient = loss_by_hand(logits, right)
    one_number = isinstance(loss, Tensor) and loss.numel() == 1
    return loss.item() if one_number else loss, gradient


EXERCISE = Exercise(
    answer="loss_by_hand",
    forbids=[
        Forbidden(
            "The task says: without backward and without cross_entropy. Here autograd "
            "gives the gradient, or cross_entropy the loss.",
            """
            logits = logits.clone().requires_grad_()
            loss = torch.nn.functional.cross_entropy(logits, torch.tensor(right))
            loss.backward()
            return loss, logits.grad
            """,
            names=("cross_entropy", "nll_loss", "backward", "grad", "requires_grad"),
        )
    ],
    read=("basics/training/#a-loss-and-a-step-by-hand", "A loss and a step, by hand"),
    hints=(
        "If a wrong logit grows a little, does the loss grow or shrink? And the right "
        "one?",
        "Both come from the shares: the loss from the right one's alone, the gradient "
        "from all of them.",
        "The slope of a wrong logit is its share. That of the right logit is its share "
        "less one; clone the shares before you change one.",
    ),
    draw=lambda d: (d.normal(d.S) + 1000.0 * (d.axes == 0), d.S // 3),
    trials=({}, {"S": 4}, {"S": 2}, {"loud": 30.0}, {"axes": 0}),
    ask=run,
    law="The slopes sum to zero: what the right logit gains, the others lose.",
    right=[
        """
        # By a product: a one-hot row stands for the right answer, as in training.
        share = torch.softmax(logits, dim=-1)
        one_hot = (torch.arange(len(logits)) == right).to(logits.dtype)
        return -(one_hot * share.log()).sum(), share - one_hot
        """,
        """
        # Place by place: each slope stands for itself, and logsumexp overflows nowhere.
        gradient = [
            logits.softmax(-1)[place] - (1 if place == right else 0)
            for place in range(len(logits))
        ]
        return torch.logsumexp(logits, 0) - logits[right], torch.stack(gradient)
        """,
    ],
    wrong=[
        Wrong(
            "gradient[right] -= 1.0",
            "gradient[right] += 1.0",
            "one is added to the right one's share; it should be taken away",
        ),
        Wrong(
            "gradient[right] -= 1.0",
            "gradient -= 1.0",
            "one is taken away from every share; it should be from the right one's "
            "alone",
        ),
        Wrong(
            "    gradient[right] -= 1.0\n",
            "",
            "the right logit is treated like a wrong one",
        ),
        Wrong(
            "share[right]), gradient",
            "share[right]), -gradient",
            "the gradient points the other way: it is the step; it should be the slope",
        ),
        Wrong(
            "-torch.log(share[right])",
            "torch.log(share[right])",
            "the loss has lost its minus, and shrinks as the answer gets worse",
        ),
        Wrong(
            "-torch.log(share[right])",
            "-torch.log2(share[right])",
            "the logarithm is to base two",
        ),
        Wrong(
            "-torch.log(share[right])",
            "-torch.log10(share[right])",
            "the logarithm is to base ten",
        ),
        Wrong(
            "-torch.log(share[right])",
            "-torch.log(share).mean()",
            "the loss is the mean over all places, right and wrong",
        ),
        Wrong(
            "-torch.log(share[right])",
            "1 - share[right]",
            "the loss is what is missing to one, and no logarithm is taken",
        ),
        Wrong(
            "gradient = share.clone()",
            "gradient = share",
            "the shares are changed by the gradient before the loss reads them",
            hint="Two names can mean one tensor. What happens to the shares when the "
            "gradient changes?",
        ),
        Wrong(
            "gradient = share.clone()",
            "gradient = logits.clone()",
            "the gradient is made of logits, and not of shares",
        ),
        Wrong(
            "gradient[right] -= 1.0",
            "gradient[right] -= 1.0\n    gradient *= share[right]",
            "the gradient is that of minus the share; the loss is minus its logarithm",
        ),
        Wrong(
            "gradient[right] -= 1.0",
            "gradient[right] -= 1.0\n    gradient /= len(logits)",
            "the gradient is divided by the number of places",
        ),
        Wrong(
            "gradient[right] -= 1.0",
            "gradient = torch.zeros_like(share)\n"
            "    gradient[right] = share[right] - 1.0",
            "the right logit alone has a slope; the others have their shares",
        ),
        Wrong(
            "gradient[right] -= 1.0",
            "gradient[right] = 0.0",
            "the right logit has no slope; it should have its share less one",
        ),
        Wrong(
            "gradient[right] -= 1.0",
            "gradient[right] = 1.0 - share[right]",
            "the slope of the right logit has the wrong sign: it is one "
            "less its share; it should be its share less one",
        ),
        Wrong(
            "gradient[right] -= 1.0",
            "gradient[right] = -1.0",
            "the slope of the right logit is minus one; it should be its "
            "share less one",
        ),
        Wrong(
            "gradient[right] -= 1.0",
            "gradient[right] *= -1.0",
            "the slope of the right logit is minus its share; it should be "
            "its share less one",
        ),
        Wrong(
            "gradient[right] -= 1.0",
            "gradient = 1.0 - gradient",
            "every slope is one less the share",
        ),
        Wrong(
            "gradient[right] -= 1.0",
            "gradient[right - 1] -= 1.0",
            "one is taken away from the place before the right one",
        ),
        Wrong(
            "gradient[right] -= 1.0",
            "gradient -= right",
            "the number of the right place is taken away from every share",
        ),
        Wrong(
            "gradient[right] -= 1.0",
            "gradient = torch.zeros_like(share)\n"
            "    gradient[right] = -1.0 / share[right]",
            "the slope is taken with respect to the share; it should be "
            "with respect to each logit",
        ),
        Wrong(
            "gradient[right] -= 1.0",
            "gradient = share * (1.0 - share)",
            "the gradient is that of a share by its own logit",
        ),
        Wrong(
            "gradient[right] -= 1.0",
            "gradient = -torch.log(share)",
            "the loss of each place is taken for its slope",
        ),
        Wrong(
            "return -torch.log(share[right]), gradient",
            "return gradient, -torch.log(share[right])",
            "the gradient is given first; it should be the loss",
        ),
        Wrong(
            "return -torch.log(share[right]), gradient",
            "return -torch.log(share[right])",
            "the loss alone is given; the gradient is asked for, too",
        ),
        Wrong(
            "-torch.log(share[right])",
            "-torch.log(share)",
            "the loss of every place is given; it should be that of the right one",
        ),
        Wrong(
            "-torch.log(share[right])",
            "-torch.log(share).sum()",
            "the loss is the sum over all places; it should be that of the right one",
        ),
        Wrong(
            "-torch.log(share[right])",
            "-(share * torch.log(share)).sum()",
            "the loss is the entropy of the shares, whatever is right",
        ),
        Wrong(
            "-torch.log(share[right])",
            "-logits[right]",
            "the loss is minus the logit, without softmax and logarithm",
        ),
        Wrong(
            "-torch.log(share[right])",
            "-share[right]",
            "the loss is minus the share, without the logarithm",
        ),
        Wrong(
            "-torch.log(share[right])",
            "(1 - share[right]) ** 2",
            "the loss is a square, and no logarithm is taken",
        ),
        Wrong(
            "-torch.log(share[right])",
            "gradient.square().sum()",
            "the loss is a sum of squares, and no logarithm is taken",
        ),
        Wrong(
            "-torch.log(share[right])",
            "-torch.log(share[right]) / len(logits)",
            "the loss is divided by the number of places",
        ),
        Wrong(
            "-torch.log(share[right])",
            "-torch.log(logits[right])",
            "the logarithm is taken of the logit; it should be of its share",
        ),
        Wrong(
            "-torch.log(share[right])",
            "-torch.log(share[right] + 1e-6)",
            "a small number is added to the share",
        ),
        Wrong(
            "-torch.log(share[right])",
            "-torch.log(share.max())",
            "the loss is that of the largest share; it should be that of the right one",
        ),
        Wrong(
            "-torch.log(share[right])",
            "-torch.log(share[right - 1])",
            "the loss is that of the place before the right one",
        ),
        Wrong(
            "torch.softmax(logits, dim=-1)",
            "torch.exp(logits)",
            "exponentials are not divided by their sum, so that they are no shares",
        ),
        Wrong(
            "torch.softmax(logits, dim=-1)",
            "torch.sigmoid(logits)",
            "a sigmoid of each logit is taken, so that the shares do not sum to one",
        ),
        Wrong(
            "torch.softmax(logits, dim=-1)",
            "torch.softmax(torch.softmax(logits, dim=-1), dim=-1)",
            "the softmax is taken twice",
        ),
        Wrong(
            "torch.softmax(logits, dim=-1)",
            "logits / logits.sum()",
            "logits are divided by their sum, without the exponential",
        ),
        Wrong(
            "torch.softmax(logits, dim=-1)",
            "torch.exp(logits) / torch.exp(logits).sum()",
            "exponentials are taken of the logits as they are, which overflow; the "
            "largest should be subtracted first, as softmax does",
        ),
        Wrong(
            "-torch.log(share[right])",
            "torch.log(torch.exp(logits).sum()) - logits[right]",
            "the loss takes exponentials of the logits as they are, which overflow; "
            "logsumexp subtracts the largest first",
        ),
        Wrong(
            "-torch.log(share[right])",
            "torch.log(torch.exp(logits - logits.max()).sum()) - logits[right]",
            "the largest logit is subtracted for the sum, and not from the right "
            "logit, so that the loss is off by it",
        ),
        Wrong(
            "-torch.log(share[right])",
            "torch.logsumexp(logits, 0) - (logits[right] - logits.max())",
            "the largest logit is subtracted from the right logit, and not for "
            "the sum, so that the loss is off by it",
        ),
        Wrong(
            "gradient = share.clone()",
            "gradient = share.log()",
            "the gradient is made of logarithms of shares; it should be made of shares",
        ),
        Wrong(
            "gradient[right] -= 1.0",
            "gradient = share * (1.0 - share)\n    gradient[right] -= 1.0",
            "the slopes are shares times what is missing to one; they should be the "
            "shares, and one less for the right one",
        ),
        Wrong(
            "gradient[right] -= 1.0",
            "gradient = share - torch.nn.functional.one_hot(torch.tensor(right))",
            "one_hot is not told how many places there are, and makes a row up to the "
            "right one",
        ),
        Wrong(
            "-torch.log(share[right]), gradient",
            "-torch.log(share[right]), gradient.tolist()",
            "the gradient is a list; it should be a tensor",
        ),
        Wrong(
            "-torch.log(share[right])",
            "logits.max() - logits[right]",
            "the loss is how far the right logit is below the largest",
        ),
        Wrong(
            "-torch.log(share[right]), gradient",
            "-torch.log(share[right]), gradient[None]",
            "the gradient has an axis too many; it should be (S)",
        ),
        Wrong(
            "-torch.log(share[right]), gradient",
            "-torch.log(share[right]), gradient[right]",
            "only the slope of the right logit is given; it should be that of each",
        ),
        Wrong(
            "gradient[right] -= 1.0",
            "gradient[right + 1] -= 1.0",
            "one is taken away from the place behind the right one",
        ),
        Wrong(
            "    share = torch.softmax(logits, dim=-1)\n",
            "    share = torch.softmax(logits, dim=-1)\n"
            "    right = int(share.argmax())\n",
            "the largest logit is taken for the right answer",
        ),
        Wrong(
            "gradient[right] -= 1.0",
            "gradient[share.argmax()] -= 1.0",
            "one is taken away from the largest share; it should be from the right "
            "one's",
        ),
        Wrong(
            "-torch.log(share[right])",
            "-torch.log(1 - share[right])",
            "the loss is the logarithm of what is missing to one; it should be that "
            "of the share",
        ),
        Wrong(
            "-torch.log(share[right])",
            "-share[right] * torch.log(share[right])",
            "the loss is weighed by the share; it should be the logarithm alone",
        ),
        Wrong(
            "gradient[right] -= 1.0",
            "gradient = -1.0 / share",
            "each slope is minus one divided by the share, which is the slope of a "
            "logarithm",
        ),
        Wrong(
            "gradient[right] -= 1.0",
            "gradient[right] -= 1.0\n"
            "    gradient = -gradient * torch.log(share[right])",
            "the gradient is multiplied by the loss",
        ),
        Wrong(
            "torch.softmax(logits, dim=-1)",
            "torch.softmax(logits, dim=-1).clamp(min=1e-7)",
            "shares are kept above a small number, so that the loss cannot grow "
            "beyond it",
        ),
        Wrong(
            "gradient[right] -= 1.0",
            "gradient -= 1 / len(logits)",
            "an equal part of one is taken away from every share",
        ),
        Wrong(
            "torch.softmax(logits, dim=-1)",
            "torch.softmax(logits / len(logits) ** 0.5, dim=-1)",
            "logits are divided by the root of their number",
        ),
        Wrong(
            "-torch.log(share[right]), gradient",
            "torch.log(share[right]), -gradient",
            "both signs are turned: the loss has lost its minus, and the gradient "
            "points the other way",
        ),
        Wrong(
            "    gradient = share.clone()\n"
            "    gradient[right] -= 1.0\n"
            "    return -torch.log(share[right]), gradient",
            "    gradient = share.clone()\n"
            "    gradient[right + 1] -= 1.0\n"
            "    return -torch.log(share[right + 1]), gradient",
            "places are counted from one, so that the one behind the right answer is "
            "taken",
        ),
        Wrong(
            "-torch.log(share[right])",
            "torch.logsumexp(logits, 0)",
            "the loss is the logarithm of the sum alone: the right logit is not "
            "subtracted",
        ),
        Wrong(
            "-torch.log(share[right])",
            "torch.logsumexp(logits, 0) + logits[right]",
            "the right logit is added to the logarithm of the sum; it should be "
            "subtracted",
        ),
        Wrong(
            "-torch.log(share[right])",
            "-torch.log(share).sum() + torch.log(share[right])",
            "the losses of all wrong places are added; it should be that of the right "
            "one",
        ),
        Wrong(
            "gradient[right] -= 1.0",
            "gradient = torch.zeros_like(share)\n    gradient[right] = -1.0",
            "the slopes of the wrong logits are zero, and that of the right one is "
            "minus one",
        ),
    ],
    stars=2,
    minutes=8,
)
