"""The loss and its gradient, by hand

Write `loss_by_hand(logits, right)`: the loss of one text, and its gradient, without
`backward` and without `cross_entropy`.

`logits` has shape (S,), and `right` is the place of the right answer. The softmax of
the logits gives each place a share. The loss is minus the natural logarithm of the
right one's. The gradient has shape (S,): how fast the loss grows with each logit.
Logits may be large, so that their exponentials overflow, but no two are far apart.
"""

from headway.practice import Exercise, Forbidden

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
    stars=2,
    minutes=8,
)
