"""A mask that a module carries

Some modules make their mask once and keep it. Write the class `FutureMask`, whose
`__init__(context_length)` stores a mask for the longest text, and whose
`forward(scores)` hides the future with it.

Scores have shape (..., T, S), for the newest T of S tokens; S is at most
`context_length`. What comes back has the same shape, with minus infinity where a query
must not look. The mask must move with the module to another device, must not be
trained, and must not be saved.
"""

from headway.practice import Exercise, Wrong
from headway.practice.task.definition import DIFFERENT, EQUAL, LOUD

# --- your file ---
import torch
from torch import Tensor, nn


class FutureMask(nn.Module):
    """Hide the future in scores, with a mask that is made once."""

    future: Tensor  # or another name

    def __init__(self, context_length: int) -> None:
        super().__init__()
        # --- write ---
        every = torch.ones(context_length, context_length, dtype=torch.bool)
        self.register_buffer("future", every.triu(1), persistent=False)

    def forward(self, scores: Tensor) -> Tensor:
        """Fill scores (..., T, S) with minus infinity where the future is."""
        T, S = scores.shape[-2:]
        future = self.future[S - T : S, :S]
        return scores.masked_fill(future, -torch.inf)
        # --- written ---


if __name__ == "__main__":
    hide = FutureMask(context_length=1024)
    print(hide(torch.zeros(2, 2)))
    print("saved:", *hide.state_dict())
    # tensor([[0., -inf],
    #         [0., 0.]])
    # saved:
# --- end of your file ---


def is_used(hide, scores):  # type: ignore[no-untyped-def]
    """Ask whether the scores hang on what the module keeps."""
    zeros = scores.new_zeros(*scores.shape[:-2], 3, 3)
    before = hide(zeros.clone())
    for one in hide.buffers():
        one.zero_()
    return "no" if torch.equal(before, hide(zeros)) else "yes"


def run(cls, scores):  # type: ignore[no-untyped-def]
    hide, S = cls(scores.shape[-1] + 3), scores.shape[-1]
    kept = [[one] if isinstance(one, Tensor) else one for one in vars(hide).values()]
    lists = [one for one in kept if isinstance(one, (list, tuple))]
    stays = [one for several in lists for one in several if isinstance(one, Tensor)]
    return {
        "scores of the newest tokens": hide(scores),
        "scores of a whole text": hide(scores.mT @ scores),
        "what is saved": "something" if hide.state_dict() else "nothing",
        "parameters": len([*hide.parameters()]),
        "tensors that stay when the module moves": len(stays),
        "is there a buffer": "yes" if [*hide.buffers()] else "no",
        "scores of a text of context_length tokens": cls(S)(scores),
        "is the buffer used": is_used(hide, scores) if [*hide.buffers()] else "no",
    }


EXERCISE = Exercise(
    answer="FutureMask",
    read=("basics/masks/#the-module-by-hand", "The module, by hand"),
    hints=(
        "What does a module move, save and train: plain tensors, parameters, buffers?",
        "register_buffer(name, tensor, persistent=False) makes a tensor that moves and "
        "is not saved. What is cut out of it must be as large as the scores.",
        "If T queries are the newest of S tokens, which rows of the large triangle are "
        "theirs? The last of them is row S - 1.",
    ),
    draw=lambda d: (d.normal(*d.lead, min(d.T, d.S), d.S),),
    ask=run,
    trials=(DIFFERENT, EQUAL, LOUD, {"T": 1}),
    law="A buffer goes where the module goes; one that is not persistent stays out of "
    "every checkpoint.",
    right=[
        """
        # What may be seen is kept, and cut from the lower right corner.
        every = torch.ones(context_length, context_length, dtype=torch.bool)
        self.register_buffer("seen", every.tril(), persistent=False)

    def forward(self, scores: Tensor) -> Tensor:
        T, S = scores.shape[-2:]
        return scores.masked_fill(~self.seen[-T:, -S:], -torch.inf)
        """,
        """
        # A table to be added: four times the memory, and one sum in place of a choice.
        table = torch.full((context_length, context_length), -torch.inf).triu(1)
        self.register_buffer("table", table, persistent=False)

    def forward(self, scores: Tensor) -> Tensor:
        T, S = scores.shape[-2:]
        return scores + self.table[:S, :S][S - T :].to(scores.dtype)
        """,
        """
        # Positions alone: a row of numbers in place of a square.
        places = torch.arange(context_length)
        self.register_buffer("places", places, persistent=False)

    def forward(self, scores: Tensor) -> Tensor:
        T, S = scores.shape[-2:]
        queries, keys = self.places[S - T : S], self.places[:S]
        return torch.where(keys > queries[:, None], -torch.inf, scores)
        """,
    ],
    wrong=[
        Wrong(
            "self.future[S - T : S, :S]",
            "self.future[:T, :T]",
            "the mask is cut as if there were as many keys as queries",
        ),
        Wrong(
            "self.future[S - T : S, :S]",
            "self.future[-T:, :S]",
            "rows are counted from the end of the longest text, and columns from its "
            "beginning",
        ),
        Wrong(
            "return scores.masked_fill(future, -torch.inf)",
            "return torch.softmax(scores.masked_fill(future, -torch.inf), dim=-1)",
            "weights are given; scores are asked for",
            hint="The softmax is no part of this module.",
        ),
        Wrong(
            'self.register_buffer("future", every.triu(1), persistent=False)',
            "self.future = every.triu(1)",
            "the mask is a plain tensor, which stays where it is when the module moves",
        ),
        Wrong(
            ", persistent=False",
            "",
            "the mask is saved with the module, in every checkpoint",
            hint="register_buffer has one more argument, for what is not to be saved.",
        ),
        Wrong(
            'self.register_buffer("future", every.triu(1), persistent=False)',
            "self.future = nn.Parameter(every.triu(1), requires_grad=False)",
            "the mask is a parameter: it is saved, and an optimizer is handed it",
        ),
        Wrong(
            "self.future[S - T : S, :S]",
            "self.future[:T, :S]",
            "the mask is cut from the upper left corner, so that the newest token is "
            "taken for the oldest",
            exhibit="triangles/#mask-cut-from-the-wrong-corner",
        ),
        Wrong(
            "self.future[S - T : S, :S]",
            "self.future[:S, :S]",
            "the mask is cut as if there were as many queries as keys",
        ),
        Wrong(
            "self.future[S - T : S, :S]",
            "self.future",
            "the mask is not cut to the text",
            exhibit="triangles/#mask-not-cut-to-the-text",
        ),
        Wrong(
            "        return scores.masked_fill(future, -torch.inf)",
            "        scores.masked_fill(future, -torch.inf)\n        return scores",
            "the result of masked_fill is lost, so nothing is hidden",
            exhibit="masks/#masked-fill-without-assignment",
        ),
        Wrong(
            "every.triu(1), persistent",
            "every.triu(), persistent",
            "a token does not see itself",
            exhibit="triangles/#mask-hides-itself",
        ),
        Wrong(
            "every.triu(1), persistent",
            "every.tril(), persistent",
            "the mask holds what may be seen, and that is filled with minus infinity; "
            "it should be the future",
            exhibit="masks/#boolean-mask-inverted",
        ),
        Wrong("-torch.inf", "0.0", "hidden scores are set to zero"),
        Wrong(
            "-torch.inf",
            "-1e9",
            "hidden scores are set to a large negative number; it should be minus "
            "infinity",
            exhibit="state/#minus-1e9-in-float16",
        ),
        Wrong(
            "        return scores.masked_fill(future, -torch.inf)",
            "        return scores + future * -torch.inf",
            "a mask of zeros and ones is multiplied by minus infinity, and zero times "
            "infinity is nan",
        ),
        Wrong(
            "        future = self.future[S - T : S, :S]",
            "        del self.future\n"
            "        self.register_buffer('future', None)\n"
            "        future = torch.ones(T, S).triu(S - T + 1).bool()",
            "the mask is made anew at each call, and none is kept",
        ),
        Wrong(
            "T, S = scores.shape[-2:]",
            "B, T, S = scores.shape\n        T, S = scores.shape[-2:]",
            "scores are taken to have three axes; they may have more",
            hint="scores.shape[-1] is the last size, however many axes there are.",
        ),
        Wrong(
            "self.future[S - T : S, :S]",
            "self.future[S - T :, :S]",
            "the rows of the mask are cut at their beginning, and not at their end",
        ),
        Wrong(
            "self.future[S - T : S, :S]",
            "self.future[T:S, :S]",
            "the rows begin at T; they should begin at S - T",
        ),
        Wrong(
            "self.future[S - T : S, :S]",
            "self.future[:T, -S:]",
            "rows are counted from the beginning of the longest text, and "
            "columns from its end",
        ),
        Wrong(
            "self.future[S - T : S, :S]",
            "self.future[S - T - 1 : S - 1, :S]",
            "the rows are those of one place earlier",
        ),
        Wrong(
            "every.triu(1), persistent",
            "every.triu(2), persistent",
            "each token sees the next one too",
        ),
        Wrong(
            "every.triu(1), persistent",
            "every.tril(-1), persistent",
            "the triangle is flipped: the past is hidden, and the future is seen",
        ),
        Wrong(
            "every.triu(1), persistent",
            "every, persistent",
            "everything is hidden",
        ),
        Wrong(
            "every.triu(1), persistent",
            "every.triu(1).float(), persistent",
            "the mask is of numbers, and masked_fill takes one of True and False",
        ),
        Wrong(
            "-torch.inf",
            "torch.inf",
            "hidden scores are set to plus infinity; minus is missing",
        ),
        Wrong(
            "-torch.inf",
            "-1e4",
            "hidden scores are set to -10000; it should be minus infinity",
        ),
        Wrong(
            "-torch.inf",
            "torch.finfo(scores.dtype).min",
            "hidden scores are set to the lowest finite number; it should "
            "be minus infinity",
        ),
        Wrong(
            "-torch.inf",
            "float('nan')",
            "hidden scores are set to nan; it should be minus infinity",
        ),
        Wrong(
            "        return scores.masked_fill(future, -torch.inf)",
            "        return scores * ~future",
            "scores are multiplied by the mask, so that hidden ones are zero",
            same_as="hidden scores are set to zero",
        ),
        Wrong(
            "        return scores.masked_fill(future, -torch.inf)",
            "        return scores + future",
            "a mask with ones for the future is added",
        ),
        Wrong(
            "        return scores.masked_fill(future, -torch.inf)",
            "        return future",
            "the mask itself is given; scores are asked for",
        ),
        Wrong(
            "T, S = scores.shape[-2:]",
            "T, S = scores.shape",
            "scores are taken to have two axes; they may have more",
        ),
        Wrong(
            "T, S = scores.shape[-2:]",
            "T, S = scores.shape[0], scores.shape[1]",
            "axes are counted from the front: the first two may be texts",
        ),
        Wrong(
            "T, S = scores.shape[-2:]",
            "T, S = scores.shape[1], scores.shape[2]",
            "axes are counted from the front: axes 1 and 2 are the last of three only",
        ),
        Wrong(
            'self.register_buffer("future", every.triu(1), persistent=False)',
            "self.future = nn.Parameter(every.triu(1).float())",
            "the mask is a parameter of numbers, which is trained and saved",
            same_as="the mask is of numbers, and masked_fill takes one of True and "
            "False",
        ),
        Wrong(
            'self.register_buffer("future", every.triu(1), persistent=False)',
            'self.register_parameter("future", nn.Parameter(every.triu(1), False))',
            "the mask is registered as a parameter",
            same_as="the mask is a parameter: it is saved, and an optimizer is "
            "handed it",
        ),
        Wrong(
            "scores.masked_fill(future",
            "scores.masked_fill_(future",
            "the scores that were given are filled in place; masked_fill, without "
            "the last _, leaves them",
        ),
        Wrong(
            "        future = self.future[S - T : S, :S]",
            "        future = torch.ones(T, S).triu(S - T + 1).bool()",
            "the mask that is kept is never used: each call makes one anew",
            alone=True,
        ),
        Wrong(
            "future = self.future[S - T : S, :S]",
            "future = self.future[S - T : S, :S][None, None]",
            "the mask has two axes more, so that scores with fewer get them, too",
        ),
        Wrong(
            "every = torch.ones(context_length, context_length, dtype=torch.bool)",
            "every = torch.ones(\n"
            "            context_length - 1, context_length - 1, dtype=torch.bool\n"
            "        )",
            "the mask is too small by one for a text of context_length tokens",
        ),
        Wrong(
            "        return scores.masked_fill(future, -torch.inf)",
            "        return scores.masked_fill(future, torch.finfo(torch.float32).min)",
            "hidden scores are set to the lowest finite number of 32 bits; it should "
            "be minus infinity",
        ),
        Wrong(
            "future = self.future[S - T : S, :S]",
            "future = self.future[S - T : S, -S:]",
            "columns are counted from the end of the longest text, and rows from its "
            "beginning",
        ),
        Wrong(
            "future = self.future[S - T : S, :S]",
            "future = self.future[S - T : S, :S].int()",
            "the mask is of whole numbers, and masked_fill takes one of True and False",
        ),
        Wrong(
            "future = self.future[S - T : S, :S]",
            "future = self.future[S - T : S - 1, :S]",
            "there is one row too few: the end of a slice is not in it",
        ),
        Wrong(
            "future = self.future[S - T : S, :S]",
            "future = torch.ones(T, S).triu(1).bool()",
            "the mask is made anew at each call, and cut from the upper left corner; "
            "it should be kept, and cut at the newest tokens",
            alone=True,
        ),
        Wrong(
            "future = self.future[S - T : S, :S]",
            "future = self.future[:S, S - T : S]",
            "rows and columns are exchanged in the cut",
        ),
    ],
    minutes=15,
)
