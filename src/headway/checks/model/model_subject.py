"""A copy of somebody's language model, ready to be called with token ids."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from torch import Tensor, nn

from headway.checks.core.dropout import rate_attributes
from headway.checks.core.names import read_names
from headway.checks.core.signature import CallOption, Target
from headway.checks.model.model_calls import ModelCall, logits_of
from headway.checks.model.visible_weights import copy_as

_CONFIGS = ("config", "cfg", "args", "params", "hparams")
_SPECIAL = ("pad_token_id", "bos_token_id", "eos_token_id")


@dataclass(frozen=True)
class ModelOptions:
    """What is declared; what is `None` is to be found out."""

    vocab_size: int | None = None
    context_length: int | None = None
    causal: bool | None = None
    call: CallOption | None = None
    cached: CallOption | None = None
    mask: str | None = None
    positions: str | None = None
    compile: bool | str = False
    caches: bool | None = None
    layout: str | None = None
    masks: Mapping[str, str] | Literal["none"] | None = None
    memory: float | None = None


@dataclass(frozen=True)
class ModelSubject:
    """A language model with weights of its own, and sizes to call it with.

    Attributes:
        name: What it is called.
        target: A copy of the model, or the function.
        call: The way in which it wants to be called.
        vocab_size: Number of different tokens.
        causal: Whether the future is to be hidden.
        dtype: The most precise type that it takes.
        device: Where its weights are.
        options: What is declared.
        context_length: The largest number of tokens in a text, if it is known.
        B: Number of texts in a batch.
        T: Number of tokens in a text.
        fresh: Whether each call is of a new copy, so that none depends on one before.
        padding: The ids that the code takes for padding, by names in it.
        swapped: Whether tokens see each other along the axis that is not declared.
    """

    name: str
    target: Target
    call: ModelCall
    vocab_size: int
    causal: bool
    dtype: torch.dtype
    device: torch.device
    options: ModelOptions
    context_length: int | None = None
    B: int = 3
    T: int = 11
    fresh: bool = False
    padding: tuple[int, ...] = ()
    swapped: bool = False

    def __call__(self, ids: Tensor, *, seed: int = 1, **extra: Any) -> Tensor:
        """Call the model with ids, and with the same random numbers each time.

        Args:
            ids: Token ids of shape (B, T).
            seed: What random numbers are drawn from.
            extra: Further arguments by what they are for, such as `mask`.

        Returns:
            Logits of shape (B, T, width).
        """
        torch.default_generator.manual_seed(seed)
        if self.device.type == "cuda":
            torch.cuda.manual_seed_all(seed)
        given = ids.mT.contiguous() if self.call.time_first else ids.clone()
        target = self.copy().target if self.fresh else self.target
        with torch.no_grad():
            result = self.call(target, given, extra)
        logits = logits_of(result, given, self.vocab_size)
        return logits.transpose(0, 1) if self.call.time_first else logits

    @property
    def module(self) -> nn.Module | None:
        """The module, or `None` if it is a function."""
        return self.target if isinstance(self.target, nn.Module) else None

    def ids(self, B: int | None = None, T: int | None = None, seed: int = 0) -> Tensor:
        """Draw ids, the same for the same seed; none that has a meaning of its own."""
        generator = torch.Generator().manual_seed(seed)
        usual = self._usual()
        drawn = torch.randint(
            len(usual), (B or self.B, T or self.T), generator=generator
        )
        return usual[drawn].to(self.device)

    def other(self, ids: Tensor) -> Tensor:
        """Give each token another id."""
        usual = self._usual().to(ids.device)
        step = 1 + ids.cumsum(-1) % min(2, len(usual) - 1)
        place = torch.searchsorted(usual, ids.contiguous())
        return usual[(place + step) % len(usual)]

    def _usual(self) -> Tensor:
        """List the ids that mean nothing special, in order."""
        every = torch.arange(self.vocab_size)
        values = [config_value(self.target, name) for name in _SPECIAL]
        values += self.padding
        special = torch.tensor([one for one in values if isinstance(one, int)])
        usual = every[~torch.isin(every, special)]
        return usual if len(usual) > 1 else every

    @property
    def first_position(self) -> int:
        """The number that the model gives to the first position of a text."""
        table = table_with_padding(self.target)
        return 0 if table is None else int(table.padding_idx or 0) + 1

    @property
    def pad(self) -> int:
        """The id that stands where a text has no token."""
        value = config_value(self.target, "pad_token_id")
        usable = isinstance(value, int) and 0 <= value < self.vocab_size
        return value if usable else 0

    def copy(self, dtype: torch.dtype | None = None) -> "ModelSubject":
        """Copy it, into another type if one is given, with the weights rounded."""
        dtype = dtype or self.dtype
        return replace(self, target=copy_as(self.target, dtype), dtype=dtype)

    def changed(self, change: Callable[[nn.Module], object]) -> "ModelSubject":
        """Copy it, and change the copy."""
        copied = self.copy()
        if copied.module is not None:
            change(copied.module)
        return copied

    def with_dropout(self, rate: float) -> "ModelSubject":
        """Copy it, with this rate of dropout everywhere."""

        def drop(module: nn.Module) -> None:
            for part, name in rate_attributes(module):
                setattr(part, name, rate)

        return self.changed(drop)

    def in_training(self, dropout: float) -> "ModelSubject":
        """Copy it in training mode, with this rate of dropout everywhere."""
        return self.with_dropout(dropout).changed(nn.Module.train)


def table_with_padding(target: Target) -> nn.Embedding | None:
    """Find a table of positions of which one is that of padding.

    RoBERTa and its kin count from there on, and name the whole table in their sizes;
    their code reads the place of padding in each call.
    """
    if "padding_idx" not in read_names(target):
        return None
    parts = target.named_modules() if isinstance(target, nn.Module) else ()
    for path, part in parts:
        told = "position" in path.rpartition(".")[2]
        if told and isinstance(part, nn.Embedding) and part.padding_idx is not None:
            return part
    return None


def positions_behind_padding(table: nn.Embedding) -> int:
    """Give how many positions texts have in a table of which one is that of padding."""
    return table.num_embeddings - int(table.padding_idx or 0) - 1


def config_value(target: object, name: str) -> Any:
    """Find a value of this name in a model or in its configuration, if there is one."""
    for place in (target, *(getattr(target, one, None) for one in _CONFIGS)):
        if isinstance(place, Mapping):
            value = place.get(name)
        else:
            value = getattr(place, name, None)
        if value is not None:
            return value
    return None
