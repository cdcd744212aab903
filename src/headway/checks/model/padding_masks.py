"""How a model wants to be told which tokens are padding."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from headway.checks.core.errors import describe, theirs
from headway.checks.core.tolerance import max_difference
from headway.checks.model.logits_tolerance import logits_tolerance
from headway.checks.model.model_subject import ModelSubject


@dataclass(frozen=True)
class PaddingMask:
    """A form of mask that a model obeys.

    Attributes:
        meaning: What it says, for a report.
        make: Makes it of which tokens are real, (B, T), and which of these each token
            may see, (B, T, T).
        kind: What a True does, as it is declared.
    """

    meaning: str
    make: Callable[[Tensor, Tensor], Tensor]
    kind: str = "True may look"

    def __call__(self, real: Tensor, apart: Tensor | None = None) -> Tensor:
        """Make the mask.

        Args:
            real: Whether a token is one, and no padding, (B, T).
            apart: Which pairs of tokens are of one document, (B, T, T).
        """
        T = real.shape[-1]
        pairs = (
            real[:, None, :]
            & torch.ones(T, T, dtype=torch.bool, device=real.device).tril()
        )
        if apart is not None:
            pairs = pairs & apart
        # Padding sees itself, so that no row is without keys.
        return self.make(real, pairs | torch.eye(T, device=real.device).bool())

    @property
    def of_pairs(self) -> bool:
        """Whether it can say of each pair of tokens who sees whom."""
        return "pairs" in self.meaning


_INFINITE = -torch.inf
_FORMS = (
    PaddingMask("1 for tokens, 0 for padding", lambda real, pairs: real.long()),
    PaddingMask("True for tokens", lambda real, pairs: real),
    PaddingMask("True for padding", lambda real, pairs: ~real, "True is hidden"),
    PaddingMask(
        "True for keys that may be seen", lambda real, pairs: real[:, None, None]
    ),
    PaddingMask("True for pairs that may be seen", lambda real, pairs: pairs),
    PaddingMask("True for pairs, over heads", lambda _, pairs: pairs[:, None]),
    PaddingMask(
        "minus infinity for pairs that may not be seen",
        lambda real, pairs: torch.zeros(
            pairs.shape, dtype=torch.get_default_dtype(), device=pairs.device
        ).masked_fill(~pairs, _INFINITE)[:, None],
        "added to the scores",
    ),
)


class Masking(NamedTuple):
    """How a model is told what is padding.

    Attributes:
        form: The form of mask that it obeys, if one was found.
        subject: The model, in a type in which it obeys.
        reason: Why no form was found; nothing if no mask is taken.
    """

    form: PaddingMask | None
    subject: ModelSubject
    reason: str = ""


def find_mask(subject: ModelSubject, *, of_pairs: bool = False) -> Masking:
    """Find the form of mask that a model obeys.

    Where code fills in the least number of 64 bits and takes a softmax in 32, it is
    infinite there, and rows without keys are nan; so all is asked in 32 bits, too.

    Args:
        subject: The model.
        of_pairs: Whether the mask must say of each pair of tokens who sees whom.
    """
    declared = subject.options.masks
    if "mask" not in subject.call.names or isinstance(declared, str):
        return Masking(None, subject)
    meanings = [*(declared or {}).values()]
    subjects = [subject]
    if subject.dtype == torch.float64:
        subjects.append(subject.copy(torch.float32))
    reasons = []
    for form in sorted(
        _FORMS, key=lambda one: bool(meanings) and one.kind not in meanings
    ):
        for one in subjects if form.of_pairs or not of_pairs else ():
            try:
                reason = _disobeyed(one, form)
            except theirs() as raised:
                reason = f"it raised {describe(raised)}"
            if not reason:
                return Masking(form, one)
            reasons.append(reason)
    meanings = [one for one in reasons if not one.startswith("it raised")]
    return Masking(None, subject, (meanings or reasons)[0])


def _disobeyed(subject: ModelSubject, form: PaddingMask) -> str:
    """Say what a model does that no mask of this form means, or nothing."""
    ids = subject.ids(seed=4)
    plain = subject(ids)
    tolerance = logits_tolerance(plain)
    real = torch.ones_like(ids, dtype=torch.bool)
    if max_difference(subject(ids, mask=form(real)), plain) > tolerance:
        return "a mask that hides nothing changes the logits"
    real[:, :2] = False
    hidden = subject(ids, mask=form(real))[:, 2:]
    if max_difference(hidden, plain[:, 2:]) <= tolerance:
        return "it changes nothing"
    changed = ids.clone()
    changed[:, :2] = subject.other(ids[:, :2])
    again = subject(changed, mask=form(real))[:, 2:]
    if max_difference(hidden, again) > tolerance:
        return "logits move with the tokens that it hides"
    return ""
