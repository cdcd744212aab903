"""One step of training

Write `training_step(attend, optimizer, x, answer)`: one step, and the loss before it.

`attend` gives rows (B, T, C) for texts x of shape (B, T, d_in). The C numbers of the
last token of each text are its logits for C classes; `answer` has B whole numbers, the
right ones. Compute the cross-entropy, clear the old gradients, compute the new ones,
and let the optimizer move the weights once. The function is called again and again,
and there may be old gradients before the first call, too.
"""

from headway.practice import Exercise, Wrong

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
    wrong=[
        Wrong(
            "    optimizer.zero_grad()\n",
            "",
            "old gradients are never cleared, so that each step repeats those before",
            hint="What does backward do with a gradient that is there already?",
        ),
        Wrong(
            "    optimizer.zero_grad()\n    loss.backward()\n",
            "    loss.backward()\n    optimizer.zero_grad()\n",
            "the new gradients are cleared before the step, so that nothing is learned",
        ),
        Wrong(
            "    optimizer.step()\n",
            "",
            "the optimizer never steps",
            same_as="the new gradients are cleared before the step, so that nothing "
            "is learned",
        ),
        Wrong(
            "    loss.backward()\n    optimizer.step()\n",
            "    optimizer.step()\n    loss.backward()\n",
            "the step comes before the new gradients, and uses what was cleared",
            same_as="the new gradients are cleared before the step, so that nothing "
            "is learned",
        ),
        Wrong(
            "attend(x)[:, -1]",
            "attend(x)[:, 0]",
            "the first token answers, and not the last",
        ),
        Wrong(
            "attend(x)[:, -1]",
            "attend(x).mean(dim=1)",
            "the mean of all tokens answers, and not the last",
        ),
        Wrong(
            "attend(x)[:, -1]",
            "attend(x)",
            "the rows of all tokens are handed to cross_entropy; it should be the last "
            "one's",
        ),
        Wrong(
            "attend(x)[:, -1]",
            "attend(x)[-1]",
            "the last text is taken, and not the last token",
        ),
        Wrong(
            "cross_entropy(logits, answer)",
            "cross_entropy(logits.softmax(dim=-1), answer)",
            "a softmax is taken before cross_entropy, which does one itself",
        ),
        Wrong(
            "cross_entropy(logits, answer)",
            "cross_entropy(logits, answer, reduction='sum')",
            "the loss is the sum over the texts, and not their mean",
        ),
        Wrong(
            "nn.functional.cross_entropy(logits, answer)",
            "(logits - torch.eye(logits.shape[-1])[answer]).square().mean()",
            "the loss is the mean of squares, and not the cross-entropy",
        ),
        Wrong(
            "    return loss.item()\n",
            "    return nn.functional.cross_entropy(attend(x)[:, -1], answer).item()\n",
            "the loss is computed anew after the step; the one before it is asked for",
        ),
        Wrong(
            "attend(x)[:, -1]",
            "attend(x)[:, :, -1]",
            "the last number of each token is taken; it should be the last "
            "token of each text",
        ),
        Wrong(
            "attend(x)[:, -1]",
            "attend(x)[0]",
            "the first text is taken, and not the last token",
        ),
        Wrong(
            "attend(x)[:, -1]",
            "attend(x)[:, 1]",
            "the second token answers, and not the last",
        ),
        Wrong(
            "attend(x)[:, -1]",
            "attend(x)[:, -2]",
            "the token before the last answers",
        ),
        Wrong(
            "attend(x)[:, -1]",
            "attend(x).sum(dim=1)",
            "the sum of all tokens answers, and not the last",
        ),
        Wrong(
            "attend(x)[:, -1]",
            "attend(x).amax(dim=1)",
            "the largest numbers of all tokens answer, and not the last token",
        ),
        Wrong(
            "attend(x)[:, -1]",
            "attend(x[:, -1])",
            "the last token alone is handed to attend, so that it sees no other",
        ),
        Wrong(
            "attend(x)[:, -1]",
            "attend(x[:, -1:])[:, -1]",
            "each text is cut to its last token, which then sees no other",
        ),
        Wrong(
            "attend(x)[:, -1]",
            "attend(x)[:, -1].detach()",
            "the logits are detached, so that nothing leads back to the weights",
        ),
        Wrong(
            "attend(x)[:, -1]",
            "attend(x)[:, -1].argmax(dim=-1)",
            "the guesses are handed over, where cross_entropy takes logits",
        ),
        Wrong(
            "attend(x)[:, -1]",
            "attend(x)[:, -1].log_softmax(dim=-1).exp()",
            "shares are handed over, where cross_entropy takes logits",
            same_as="a softmax is taken before cross_entropy, which does one itself",
        ),
        Wrong(
            "cross_entropy(logits, answer)",
            "nll_loss(logits, answer)",
            "nll_loss is given logits; it takes logarithms of shares",
        ),
        Wrong(
            "cross_entropy(logits, answer)",
            "nll_loss(logits.softmax(dim=-1), answer)",
            "nll_loss is given shares; it takes their logarithms",
        ),
        Wrong(
            "cross_entropy(logits, answer)",
            "cross_entropy(answer, logits)",
            "the arguments of cross_entropy are swapped: it takes the logits first",
        ),
        Wrong(
            "cross_entropy(logits, answer)",
            "cross_entropy(logits, answer, reduction='none')",
            "each text has a loss of its own; backward needs one number",
        ),
        Wrong(
            "cross_entropy(logits, answer)",
            "cross_entropy(logits.mT, answer)",
            "the logits are transposed: classes stand where texts are meant",
        ),
        Wrong(
            "cross_entropy(logits, answer)",
            "mse_loss(logits, answer)",
            "the loss is the mean of squares, and answers are taken for numbers",
        ),
        Wrong(
            "nn.functional.cross_entropy(logits, answer)",
            "-logits.log_softmax(dim=-1)[:, answer].mean()",
            "each text is measured by the answers of all texts",
        ),
        Wrong(
            "nn.functional.cross_entropy(logits, answer)",
            "-logits.log_softmax(dim=-1).mean()",
            "the loss is the mean over all classes, right and wrong",
        ),
        Wrong(
            "nn.functional.cross_entropy(logits, answer)",
            "-logits.softmax(dim=-1)[torch.arange(len(x)), answer].mean()",
            "the loss is minus the share, without the logarithm",
            same_as="nll_loss is given shares; it takes their logarithms",
        ),
        Wrong(
            "    logits = attend(x)[:, -1]\n"
            "    loss = nn.functional.cross_entropy(logits, answer)\n",
            "    logits = attend(x)\n"
            "    answers = answer[:, None].expand(logits.shape[:2])\n"
            "    loss = nn.functional.cross_entropy(logits.flatten(0, 1), "
            "answers.flatten())\n",
            "all tokens must answer, and not the last alone",
        ),
        Wrong(
            "    logits = attend(x)[:, -1]\n",
            "    with torch.no_grad():\n        logits = attend(x)[:, -1]\n",
            "attend runs under no_grad, so that nothing leads back to the weights",
            same_as="the logits are detached, so that nothing leads back to the "
            "weights",
        ),
        Wrong(
            "    optimizer.step()\n",
            "    optimizer.step()\n    optimizer.step()\n",
            "the optimizer steps twice",
        ),
        Wrong(
            "    loss.backward()\n",
            "    loss.backward(retain_graph=True)\n    loss.backward()\n",
            "gradients are computed twice and add up",
            same_as="the optimizer steps twice",
        ),
        Wrong(
            "    loss.backward()\n",
            "    loss.backward()\n    loss.backward()\n",
            "backward is called twice, and the graph is gone the second time",
        ),
        Wrong(
            "    loss.backward()\n",
            "    (-loss).backward()\n",
            "the sign of the loss is turned, so that it grows",
        ),
        Wrong(
            "    loss.backward()\n",
            "",
            "no gradients are computed",
            same_as="the new gradients are cleared before the step, so that "
            "nothing is learned",
        ),
        Wrong(
            "    loss.backward()\n",
            "    loss.item().backward()\n",
            "backward is called on a number; the tensor knows its history",
        ),
        Wrong(
            "return loss.item()",
            "return loss.item() * len(x)",
            "the loss is multiplied by the number of texts",
        ),
        Wrong(
            "return loss.item()",
            "return loss.item() / len(x)",
            "the loss is divided by the number of texts, although it is a mean already",
        ),
        Wrong(
            "    return loss.item()\n",
            "",
            "nothing is given back; the loss is asked for",
        ),
        Wrong(
            "return loss.item()",
            "return round(loss.item(), 4)",
            "the loss is rounded",
        ),
        Wrong(
            "    loss.backward()\n",
            "    loss.backward()\n"
            "    nn.utils.clip_grad_norm_(attend.parameters(), 1.0)\n",
            "gradients are cut to a length of one first",
        ),
        Wrong(
            "    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\n",
            "    loss.backward()\n    optimizer.step()\n    optimizer.zero_grad()\n",
            "gradients are cleared after the step alone, so that what was there "
            "before the first call goes into the first step",
        ),
        Wrong(
            "nn.functional.cross_entropy(logits, answer)",
            "-logits.log_softmax(dim=0)[torch.arange(len(x)), answer].mean()",
            "the softmax runs over the texts; it should run over the classes",
        ),
        Wrong(
            "nn.functional.cross_entropy(logits, answer)",
            "-nn.functional.cross_entropy(logits, answer)",
            "the sign of the loss is lost: the mean logarithm of shares is given, "
            "and falls",
        ),
        Wrong(
            "nn.functional.cross_entropy(logits, answer)",
            "nn.functional.cross_entropy(logits, answer) / logits.shape[-1]",
            "the mean is taken over the classes as well, as by .mean() of a table "
            "with one class a row",
        ),
        Wrong(
            "nn.functional.cross_entropy(logits, answer)",
            "nn.functional.binary_cross_entropy_with_logits(logits, "
            "nn.functional.one_hot(answer, logits.shape[-1]).to(logits))",
            "each class is asked for by itself, as if a text could have several: "
            "it should be the cross-entropy of one of C",
        ),
        Wrong(
            "return loss.item()",
            "return loss.exp().item()",
            "the exponential of the loss is given, the perplexity",
        ),
        Wrong(
            "return loss.item()",
            "return (logits.argmax(dim=-1) == answer).double().mean().item()",
            "the share of right guesses is given; the loss should be",
        ),
        Wrong(
            "attend(x)[:, -1]",
            "attend(x).flatten(0, 1)",
            "the rows of all tokens are handed over, and there is one answer for "
            "each text",
        ),
        Wrong(
            "attend(x)[:, -1]",
            "attend(x)[:, -1:]",
            "the last token keeps an axis of its own: -1: is a slice of one",
            same_as="the rows of all tokens are handed to cross_entropy; it should be "
            "the last one's",
        ),
        Wrong(
            "    logits = attend(x)[:, -1]\n",
            "    losses = []\n"
            "    for one, right in zip(x.split(1), answer.split(1)):\n"
            "        loss = nn.functional.cross_entropy(attend(one)[:, -1], right)\n"
            "        optimizer.zero_grad()\n"
            "        loss.backward()\n"
            "        optimizer.step()\n"
            "        losses.append(loss.item())\n"
            "    return sum(losses) / len(losses)\n"
            "    logits = attend(x)[:, -1]\n",
            "each text gets a step of its own; there should be one step for all",
        ),
        Wrong(
            "    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\n",
            "    optimizer.step()\n"
            "    optimizer.zero_grad()\n"
            "    loss = nn.functional.cross_entropy(attend(x)[:, -1], answer)\n"
            "    loss.backward()\n",
            "the step is taken first, with the gradients that were left from the "
            "call before",
        ),
        Wrong(
            "nn.functional.cross_entropy(logits, answer)",
            "nn.functional.cross_entropy(logits, answer) / len(x)",
            "the loss is divided by the number of texts, and learned from so; it "
            "is a mean already",
        ),
        Wrong(
            "attend(x)[:, -1]",
            "attend(x)[:, -1].squeeze()",
            "squeeze takes the axis of the texts away where there is one text alone",
        ),
    ],
    survivors={"loss.item() -> loss": "a tensor with one number is one number"},
    stars=1,
    minutes=6,
)
