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

from headway.practice import Exercise, Wrong

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
    wrong=[
        Wrong(
            "    shares = torch.log_softmax(logits[:, :-1], dim=-1)\n"
            "    targets, counts = ids[:, 1:], asked[:, 1:]\n",
            "    shares = torch.log_softmax(logits, dim=-1)\n"
            "    targets, counts = ids, asked\n",
            "nothing is shifted: each row is asked for the token that it has read",
        ),
        Wrong(
            "    shares = torch.log_softmax(logits[:, :-1], dim=-1)\n"
            "    targets, counts = ids[:, 1:], asked[:, 1:]\n",
            "    shares = torch.log_softmax(logits[:, :-2], dim=-1)\n"
            "    targets, counts = ids[:, 2:], asked[:, 2:]\n",
            "it is shifted twice: each row is asked for the token after the next",
            exhibit="models/#the-token-after-next",
        ),
        Wrong(
            "    shares = torch.log_softmax(logits[:, :-1], dim=-1)\n"
            "    targets, counts = ids[:, 1:], asked[:, 1:]\n",
            "    shares = torch.log_softmax(logits[:, 1:], dim=-1)\n"
            "    targets, counts = ids[:, :-1], asked[:, :-1]\n",
            "it is shifted the other way: each row is asked for the token before",
        ),
        Wrong(
            "asked[:, 1:]",
            "asked[:, :-1]",
            "the row says whether its guess counts, and not the token that it guesses",
        ),
        Wrong(
            "losses[counts].mean()",
            "losses.mean()",
            "`asked` is not used: questions and padding count, too",
        ),
        Wrong(
            "losses[counts].mean()",
            "(losses * counts).mean()",
            "the sum is divided by the number of all tokens, and not of those asked",
        ),
        Wrong(
            "losses[counts].mean()",
            "((losses * counts).sum(dim=1) / counts.sum(dim=1)).mean()",
            "the mean of each text is taken first, so that a token of a short answer "
            "counts more than one of a long answer",
        ),
        Wrong(
            "losses[counts].mean()",
            "losses[counts].sum()",
            "the losses are added up, and no mean is taken",
        ),
        Wrong(
            "losses[counts].mean()",
            "losses[counts].sum() / asked.sum()",
            "first tokens, which no row guesses, are counted where it is divided",
        ),
        Wrong(
            "losses[counts]",
            "losses[~counts]",
            "the tokens that are not asked count, and the others do not",
        ),
        Wrong(
            "losses = -shares",
            "losses = shares",
            "the sign is lost, so that training would make the model worse",
        ),
        Wrong(
            "torch.log_softmax(logits[:, :-1], dim=-1)",
            "torch.softmax(logits[:, :-1], dim=-1)",
            "no logarithm is taken of the shares",
        ),
        Wrong(
            "torch.log_softmax(logits[:, :-1], dim=-1)",
            "torch.log_softmax(logits[:, :-1], dim=1)",
            "the softmax runs over the places of the text, and not over the vocabulary",
        ),
        Wrong(
            "torch.log_softmax(logits[:, :-1], dim=-1)",
            "logits[:, :-1]",
            "there is no softmax: logits are taken for logarithms of shares",
        ),
        Wrong(
            "torch.log_softmax(logits[:, :-1], dim=-1)",
            "torch.log_softmax(torch.softmax(logits[:, :-1], dim=-1), dim=-1)",
            "there are two softmaxes: cross_entropy has one of its own, and is given "
            "logits",
        ),
        Wrong(
            "    shares = torch.log_softmax(logits[:, :-1], dim=-1)\n"
            "    targets, counts = ids[:, 1:], asked[:, 1:]\n",
            "    shares = torch.log_softmax(logits.flatten(0, 1)[:-1], dim=-1)\n"
            "    targets, counts = ids.flatten()[1:], asked.flatten()[1:]\n",
            "texts are joined before the shift, so that the last row of one guesses "
            "the first token of the next",
        ),
        Wrong(
            "    losses = -shares.gather(-1, targets[..., None])[..., 0]\n",
            "    B, T, V = logits[:, :-1].shape\n"
            "    losses = torch.nn.functional.cross_entropy(\n"
            "        logits[:, :-1].reshape(B, V, T), targets, reduction='none'\n"
            "    )\n",
            "the vocabulary is brought to the second axis by a reshape, which mixes "
            "the rows",
            exhibit="models/#another-view-of-the-logits",
        ),
        Wrong(
            "logits[:, :-1], dim=-1)",
            "(logits * asked[..., None])[:, :-1], dim=-1)",
            "logits of rows that are not asked become zero, which is an even guess",
        ),
        Wrong(
            "targets, counts = ids[:, 1:], asked[:, 1:]",
            "targets, counts = (ids * asked)[:, 1:], asked[:, 1:] | True",
            "tokens that are not asked become token 0, and count",
        ),
        Wrong(
            "    return losses[counts].mean()\n",
            "    return losses * counts\n",
            "the loss of each token is given, and not their mean",
        ),
        Wrong(
            "    shares = torch.log_softmax(logits[:, :-1], dim=-1)\n"
            "    targets, counts = ids[:, 1:], asked[:, 1:]\n",
            "    shares = torch.log_softmax(logits, dim=-1)\n"
            "    targets, counts = ids.roll(-1, dims=1), asked.roll(-1, dims=1)\n",
            "the shift is made by roll, so that the last row guesses the first token "
            "of its text",
        ),
        Wrong(
            "    shares = torch.log_softmax(logits[:, :-1], dim=-1)\n"
            "    targets, counts = ids[:, 1:], asked[:, 1:]\n",
            "    shares = torch.log_softmax(logits, dim=-1)\n"
            "    targets, counts = ids.roll(-1), asked.roll(-1)\n",
            "the shift is made by roll without dims, so that the last row of a text "
            "guesses the first token of the next",
        ),
        Wrong(
            "    shares = torch.log_softmax(logits[:, :-1], dim=-1)\n"
            "    targets, counts = ids[:, 1:], asked[:, 1:]\n",
            "    shares = torch.log_softmax(logits, dim=-1)\n"
            "    targets, counts = ids.roll(-1, dims=1), asked\n",
            "tokens are shifted by roll, and what is asked of them is not",
        ),
        Wrong(
            "    shares = torch.log_softmax(logits[:, :-1], dim=-1)\n"
            "    targets, counts = ids[:, 1:], asked[:, 1:]\n",
            "    shares = torch.log_softmax(logits, dim=-1)\n"
            "    targets, counts = ids.roll(1, dims=1), asked.roll(1, dims=1)\n",
            "roll shifts the other way: each row is asked for the token before",
        ),
        Wrong(
            "asked[:, 1:]",
            "asked[:, 1:] & asked[:, :-1]",
            "a token counts only if the one before it is asked, too",
        ),
        Wrong(
            "losses[counts].mean()",
            "losses[counts & (targets != 0)].mean()",
            "token 0 is left out, as if it were padding; it is a token like others",
        ),
        Wrong(
            "losses[counts].mean()",
            "losses[counts & (losses > 0)].mean()",
            "a loss of zero is not counted, as if the token were not asked",
        ),
        Wrong(
            "losses[counts].mean()",
            "(losses * counts).sum() / asked.numel()",
            "the sum is divided by the number of all tokens, first ones as well; it "
            "should be by those asked",
        ),
        Wrong(
            "losses[counts].mean()",
            "(losses * counts).sum() / len(ids)",
            "the sum is divided by the number of texts; it should be by the number of "
            "tokens asked",
        ),
        Wrong(
            "ids[:, 1:], asked[:, 1:]",
            "ids[:, :-1], asked[:, 1:]",
            "each row is asked for the token that it has read, and not for the next",
        ),
        Wrong(
            "logits[:, :-1], dim=-1)",
            "logits[:, 1:], dim=-1)",
            "logits lose their first row; they should lose their last, which guesses "
            "nothing",
        ),
        Wrong(
            "    shares = torch.log_softmax(logits[:, :-1], dim=-1)\n"
            "    targets, counts = ids[:, 1:], asked[:, 1:]\n",
            "    shares = torch.log_softmax(logits[:, :-1], dim=-1)\n"
            "    targets, counts = ids[:, :-1], asked[:, :-1]\n",
            "all three lose their last place, so that each row is asked for the token "
            "that it has read",
        ),
        Wrong(
            "losses[counts].mean()",
            "-torch.log(torch.exp(-losses[counts]).mean())",
            "the mean of the shares is taken first, and then one logarithm; it should "
            "be the mean of logarithms",
        ),
        Wrong(
            "losses[counts].mean()",
            "-torch.log(1 - torch.exp(-losses[counts])).mean()",
            "the logarithm is that of what is missing to one, and not of the share",
        ),
        Wrong(
            "losses[counts].mean()",
            "(1 - torch.exp(-losses[counts])).mean()",
            "what is missing to one is averaged, and no logarithm is taken",
        ),
        Wrong(
            "losses[counts].mean()",
            "losses[:, -1].mean()",
            "only the last token of each text counts; all that are asked should",
        ),
        Wrong(
            "losses[counts].mean()",
            "losses[0][counts[0]].mean()",
            "only the first text counts; all texts should",
        ),
        Wrong(
            "losses[counts].mean()",
            "losses[counts].mean().item()",
            "a number of Python is given; it should be a tensor, which can go backward",
        ),
        Wrong(
            "losses[counts].mean()",
            "losses[counts.cummax(dim=1).values].mean()",
            "all tokens from the first asked one on count, padding too",
        ),
        Wrong(
            "losses[counts].mean()",
            "losses[counts.cummin(dim=1).values].mean()",
            "a loop is left at the first token that is not asked, which may be the "
            "question",
        ),
        Wrong(
            "losses[counts].mean()",
            "(losses * counts).sum() / asked[:, :-1].sum()",
            "it is divided by what is asked of the rows, and not of the tokens that "
            "they guess",
        ),
        Wrong(
            "losses[counts].mean()",
            "losses[:, :-1][counts[:, :-1]].mean()",
            "the last token of each text is left out",
        ),
        Wrong(
            "losses[counts].mean()",
            "losses[:, 1:][counts[:, 1:]].mean()",
            "the second token of each text is left out, which the first row guesses",
        ),
        Wrong(
            "losses[counts].mean()",
            "losses[counts].mean() / torch.tensor(2.0).double().log()",
            "the logarithm is to base two; it should be the natural one",
        ),
        Wrong(
            "losses[counts].mean()",
            "losses[counts].mean().exp()",
            "the perplexity is given, which is the exponential of the loss",
        ),
        Wrong(
            "losses[counts].mean()",
            "losses[counts].median()",
            "the median of the losses is taken; it should be their mean",
        ),
        Wrong(
            "losses[counts].mean()",
            "losses[asked].mean()",
            "`asked` is not cut, and is longer than the losses by a token",
        ),
        Wrong(
            "losses = -shares.gather(-1, targets[..., None])[..., 0]",
            "losses = -shares.gather(-1, targets)",
            "the tokens are given no axis of their own, as gather needs one",
        ),
        Wrong(
            "losses = -shares.gather(-1, targets[..., None])[..., 0]",
            "losses = torch.nn.functional.cross_entropy(\n"
            "        logits[:, :-1], targets, reduction='none'\n"
            "    )",
            "cross_entropy is given (B, T, V); it wants the vocabulary on axis 1, or "
            "texts joined",
        ),
        Wrong(
            "losses = -shares.gather(-1, targets[..., None])[..., 0]",
            "losses = -shares.max(dim=-1).values",
            "the largest share is taken, whatever the token is",
        ),
        Wrong(
            "losses = -shares.gather(-1, targets[..., None])[..., 0]",
            "losses = -shares.sum(dim=-1)",
            "the logarithms of all shares are added; it should be that of the token "
            "alone",
        ),
        Wrong(
            "losses = -shares.gather(-1, targets[..., None])[..., 0]",
            "losses = logits[:, :-1].logsumexp(dim=-1)",
            "the logarithm of the sum is taken alone: the token's logit is not "
            "subtracted",
        ),
        Wrong(
            "losses = -shares.gather(-1, targets[..., None])[..., 0]",
            "losses = -logits[:, :-1].gather(-1, targets[..., None])[..., 0]\n"
            "    losses = logits[:, :-1].logsumexp(dim=-1) - losses",
            "the token's logit is added to the logarithm of the sum; it should be "
            "subtracted",
        ),
        Wrong(
            "return losses[counts].mean()",
            "return ((losses * counts).sum(1) / counts.sum(1).clamp(min=1)).mean()",
            "the mean of each text is taken first, and then that of the texts, so "
            "that a token of a short answer counts more",
        ),
    ],
    stars=2,
    minutes=15,
)
