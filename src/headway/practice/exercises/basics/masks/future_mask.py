"""A mask that a module carries

Some modules make their mask once and keep it. Write the class `FutureMask`, whose
`__init__(context_length)` stores a mask for the longest text, and whose
`forward(scores)` hides the future with it.

Scores have shape (..., T, S), for the newest T of S tokens; S is at most
`context_length`. What comes back has the same shape, with minus infinity where a query
must not look. The mask must move with the module to another device, must not be
trained, and must not be saved.
"""

from headway.practice import Exercise
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
    minutes=15,
)
