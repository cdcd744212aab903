"""Only the answer counts

A model that answers is trained on texts that begin with a question, and are filled up
with padding at their end; neither is to be learnt. Write `asked_loss(logits, ids,
asked)`: the loss of a batch of such texts.

`logits` (B, T, V) are what the model gave for the tokens `ids` (B, T): row t guesses
token t + 1. `asked` (B, T) is True for the tokens that are to be learnt. The loss is
the mean, over all these tokens of the batch, of minus the logarithm of the share that
the softmax gave to the token. The first token of a text is guessed by no row, and so
never counts, even if `asked` is True there. Some other token of the batch is asked.
"""

from headway.practice import Exercise

# --- your file ---
import torch
from torch import Tensor


def asked_loss(logits: Tensor, ids: Tensor, asked: Tensor) -> Tensor:
    """Give one number for logits (B, T, V), tokens (B, T) and booleans (B, T)."""
    # --- write ---
    shares = torch.log_softmax(logits[:, :-1], dim=-1)
    targets, counts = ids[:, 1:], asked[:, 1:]
    losses = -shares.gather(-1, targets[..., None])[..., 0]
    return losses[counts].mean()
    # --- written ---


if __name__ == "__main__":
    # Row 0 gives token 1 a share of 1/4, and row 1 gives token 0 a share of 1/2.
    logits = torch.tensor([[[3.0, 1.0], [1.0, 1.0], [1.0, 9.0]]]).log()
    ids = torch.tensor([[0, 1, 0]])
    for asked in ([False, True, False], [True, True, True]):
        print(asked_loss(logits, ids, torch.tensor([asked])).neg().exp())
    # tensor(0.2500)
    # tensor(0.3536)
# --- end of your file ---


def draw(d):  # type: ignore[no-untyped-def]
    asked = d.booleans(d.B, d.T)
    asked[0, 0], asked[:, -1] = True, True
    loud = d.loud > 1
    logits = d.normal(d.B, d.T, d.V)
    ids = d.integers(d.V - loud, d.B, d.T)  # so that the last word may not stand there
    ids[0, -1] = 0  # token 0 is a token like others
    if loud:  # one guess is so sure that its loss is zero, and one text is not asked
        asked[1:2] = False
        logits[0, -2] = 50.0 * (torch.arange(d.V) == 0)
    return logits, ids, asked


EXERCISE = Exercise(
    answer="asked_loss",
    read=("models/small_gpt/#it-learns", "It learns"),
    hints=(
        "Which row has guessed a token: the one of the token itself, or another? Which "
        "row's guess has no token to be compared with?",
        "Leave out the last row of the logits, and the first token of the text. What "
        "says whether a token counts belongs to the token, and not to the row.",
        "Gather each target's logarithm from the log-softmax over the vocabulary, keep "
        "those that are asked by a boolean index, and take one mean of them all.",
    ),
    draw=draw,
    trials=({}, {"B": 4, "T": 4, "V": 4}, {"B": 2, "T": 9, "loud": 30.0}, {"B": 1}),
    law="A token is guessed by the row before it, so logits lose their last row, and "
    "tokens and what is asked of them lose their first.",
    right=[
        """
        # PyTorch's own: what is not asked gets the number that cross_entropy ignores.
        targets = ids[:, 1:].masked_fill(~asked[:, 1:], -100)
        return torch.nn.functional.cross_entropy(
            logits[:, :-1].flatten(0, 1), targets.flatten()
        )
        """,
        """
        # With weights of zero and one: all shapes stay, as compilers and GPUs like it.
        guesses = logits[:, :-1]
        one_hot = torch.nn.functional.one_hot(ids[:, 1:], logits.shape[-1])
        losses = guesses.logsumexp(dim=-1) - (guesses * one_hot).sum(dim=-1)
        counts = asked[:, 1:].to(losses.dtype)
        return (losses * counts).sum() / counts.sum()
        """,
        """
        # A token at a time: slow, and the easiest to check.
        losses = []
        for guesses, text, wanted in zip(logits, ids, asked):
            for t in range(1, len(text)):
                if wanted[t]:
                    losses.append(-guesses[t - 1].log_softmax(dim=0)[text[t]])
        return torch.stack(losses).mean()
        """,
    ],
    stars=2,
    minutes=15,
)
