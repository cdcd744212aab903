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


def run(cls, scores):  # type: ignore[no-untyped-def]
    hide = cls(scores.shape[-1] + 3)
    stays = [one for one in vars(hide).values() if isinstance(one, Tensor)]
    return {
        "scores of the newest tokens": hide(scores),
        "scores of a whole text": hide(scores.mT @ scores),
        "what is saved": ", ".join(hide.state_dict()) or "nothing",
        "parameters": len([*hide.parameters()]),
        "tensors that stay when the module moves": len(stays),
        "is there a buffer": "yes" if [*hide.buffers()] else "no",
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
    law="A buffer goes where the module goes; one that is not persistent stays out of "
    "every checkpoint.",
    right=[
        """
        every = torch.ones(context_length, context_length, dtype=torch.bool)
        self.register_buffer("seen", every.tril(), persistent=False)

    def forward(self, scores: Tensor) -> Tensor:
        T, S = scores.shape[-2:]
        return scores.masked_fill(~self.seen[-T:, -S:], -torch.inf)
        """,
        """
        table = torch.full((context_length, context_length), -torch.inf).triu(1)
        self.register_buffer("table", table, persistent=False)

    def forward(self, scores: Tensor) -> Tensor:
        T, S = scores.shape[-2:]
        return scores + self.table[:S, :S][S - T :].to(scores.dtype)
        """,
        """
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
            "weights are given, and scores are asked for",
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
            "the mask holds what may be seen, and that is filled with minus infinity",
            exhibit="masks/#boolean-mask-inverted",
        ),
        Wrong("-torch.inf", "0.0", "hidden scores are set to zero"),
        Wrong(
            "-torch.inf",
            "-1e9",
            "hidden scores are set to a large number, and not to minus infinity",
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
            "scores is taken to have three axes, and may have more",
            hint="scores.shape[-1] is the last size, however many axes there are.",
        ),
    ],
)
