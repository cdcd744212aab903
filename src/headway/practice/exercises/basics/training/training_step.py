"""One step of training

Write `training_step(attend, optimizer, x, answer)`: one step, and the loss before it.

`attend` gives rows (B, T, C) for texts x of shape (B, T, d_in). The C numbers of the
last token of each text are its logits for C classes; `answer` has B whole numbers, the
right ones. Compute the cross-entropy, clear the old gradients, compute the new ones,
and let the optimizer move the weights once. The function is called again and again,
and there may be old gradients before the first call, too.
"""

from headway.practice import Exercise

# --- your file ---
import torch
from torch import Tensor, nn


def training_step(
    attend: nn.Module, optimizer: torch.optim.Optimizer, x: Tensor, answer: Tensor
) -> float:
    """Train on texts (B, T, d_in) and answers (B) once; give the loss."""
    # --- write ---
    logits = attend(x)[:, -1]
    loss = nn.functional.cross_entropy(logits, answer)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
    # --- written ---


if __name__ == "__main__":
    from headway import SelfAttentionV2, recall_task

    torch.manual_seed(123)
    attend = SelfAttentionV2(24, 8)
    optimizer = torch.optim.Adam(attend.parameters(), lr=0.05)
    losses = []
    for _ in range(25):
        x, answer, place = recall_task(64)
        losses.append(training_step(attend, optimizer, x, answer))
    print("before, above 2.0:", losses[0] > 2.0)
    print("after,  below 2.0:", losses[-1] < 2.0)
    # before, above 2.0: True
    # after,  below 2.0: True
# --- end of your file ---


class Small(nn.Module):
    """A head of attention, in one line."""

    def __init__(self, *weights: Tensor) -> None:
        super().__init__()
        self.parts = nn.ParameterList([*weights])

    def forward(self, x: Tensor) -> Tensor:
        query, key, value = (x @ weight for weight in self.parts)
        return torch.softmax(query @ key.mT, dim=-1) @ value


def run(training_step, x, answer, *weights):  # type: ignore[no-untyped-def]
    attend = Small(*weights)
    for weight in attend.parameters():  # as a caller leaves them behind
        weight.grad = torch.ones_like(weight)
    optimizer = torch.optim.SGD(attend.parameters(), lr=0.1)
    losses = [training_step(attend, optimizer, x, answer) for _ in range(3)]
    return losses, [p.detach().clone() for p in attend.parameters()]


EXERCISE = Exercise(
    answer="training_step",
    read=("basics/training/#the-head-learns", "The head learns"),
    hints=(
        "Which row of each text holds the logits, and when must old gradients go?",
        "Slice the last token out of what attend gives; cross_entropy takes logits and "
        "does the softmax itself; then three lines train nearly every model.",
        "The three lines: optimizer's zero_grad, backward of the loss, optimizer's "
        "step, in this order. item() makes a number of a tensor with one.",
    ),
    draw=lambda d: (
        d.normal(d.B, d.T, d.D),
        d.integers(d.V, d.B),
        d.normal(d.D, d.W),
        d.normal(d.D, d.W),
        d.normal(d.D, d.V),
    ),
    trials=[{}, dict.fromkeys("BTDVW", 4), {"B": 1}],
    ask=run,
    law="backward adds to the gradients that are there, and step uses what is there.",
    right=[
        """
        # Without the library's loss: logarithms of shares, the right ones picked.
        for one in attend.parameters():
            one.grad = None
        logs = torch.log_softmax(attend(x)[:, -1], dim=-1)
        loss = -logs[torch.arange(len(answer)), answer].mean()
        loss.backward()
        optimizer.step()
        return loss.item()
        """,
        """
        # Cleared first: whatever comes between, nothing old is left for backward.
        optimizer.zero_grad()
        loss = nn.CrossEntropyLoss()(attend(x)[:, -1, :], answer)
        loss.backward()
        optimizer.step()
        return loss.item()
        """,
    ],
    survivors={"loss.item() -> loss": "a tensor with one number is one number"},
    stars=1,
    minutes=6,
)
