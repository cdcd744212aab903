"""The loss and its gradient, by hand

Write `loss_by_hand(logits, right)`: the loss of one text, and its gradient, without
`backward` and without `cross_entropy`.

`logits` has shape (S,), and `right` is the place of the right answer. The softmax of
the logits gives each place a share. The loss is minus the natural logarithm of the
right one's. The gradient has shape (S,): how fast the loss grows with each logit.
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
    return loss.item() if isinstance(loss, Tensor) else loss, gradient


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
    draw=lambda d: (d.normal(d.S), d.S // 3),
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
            "one is added to the right one's share, and not taken away",
        ),
        Wrong(
            "gradient[right] -= 1.0",
            "gradient -= 1.0",
            "one is taken away from every share, and not from the right one's alone",
        ),
        Wrong(
            "    gradient[right] -= 1.0\n",
            "",
            "the right logit is treated like a wrong one",
        ),
        Wrong(
            "share[right]), gradient",
            "share[right]), -gradient",
            "the gradient points the other way: it is the step, and not the slope",
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
    ],
    stars=2,
)
