"""The masks that code may take, in every shape and with every meaning."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

Meaning = Literal["True may look", "True is hidden", "added to the scores"]

PAIRS: dict[str, Callable[[Tensor], Tensor]] = {
    "(T, S)": lambda keep: keep[0],
    "(B, T, S)": lambda keep: keep,
    "(B, 1, T, S)": lambda keep: keep[:, None],
}
KEYS: dict[str, Callable[[Tensor], Tensor]] = {
    "(B, S)": lambda keep: keep[:, 0],
    "(B, 1, S)": lambda keep: keep[:, :1],
    "(B, 1, 1, S)": lambda keep: keep[:, None, :1],
}
KINDS: dict[str, Callable[[Tensor, torch.dtype], Tensor]] = {
    "bool": lambda keep, dtype: keep,
    # The lowest number, as most libraries add it: a row of -inf would be nan.
    "float": lambda keep, dtype: torch.zeros_like(keep, dtype=dtype).masked_fill(
        ~keep, torch.finfo(dtype).min
    ),
    "int": lambda keep, dtype: keep.long(),
}


@dataclass(frozen=True)
class Mask:
    """One mask that a piece of code takes.

    Attributes:
        argument: The name of the argument.
        shape: Its axes.
        kind: `bool`, `float` or `int`.
        meaning: What a `True` does; of `float`, that it is added.
    """

    argument: str
    shape: str
    kind: str
    meaning: Meaning = "True may look"

    @property
    def of_keys(self) -> bool:
        """Whether it says the same to all queries of a text."""
        return self.shape in KEYS

    @property
    def of_texts(self) -> bool:
        """Whether it can say something else to each text."""
        return "B" in self.shape

    def __call__(self, keep: Tensor, dtype: torch.dtype) -> dict[str, Any]:
        """Make the argument from what each query may see, a (B, T, S) table."""
        if self.meaning == "True is hidden":
            keep = ~keep
        return {
            self.argument: KINDS[self.kind](
                ({**PAIRS, **KEYS})[self.shape](keep), dtype
            )
        }
