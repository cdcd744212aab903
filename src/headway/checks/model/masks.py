"""How a model wants to be told which tokens are padding."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from headway.checks.errors import describe
from headway.checks.model.subject import Subject
from headway.checks.tolerance import max_difference


@dataclass(frozen=True)
class Mask:
    """A form of mask that a model obeys.

    Attributes:
        meaning: What it says, for a report.
        make: Makes it of which tokens are real, (B, T), and which of these each token
            may see, (B, T, T).
    """

    meaning: str
    make: Callable[[Tensor, Tensor], Tensor]

    def __call__(self, real: Tensor, apart: Tensor | None = None) -> Tensor:
        """Make the mask.

        Args:
            real: Whether a token is one, and no padding, (B, T).
            apart: Which pairs of tokens are of one document, (B, T, T).
        """
        T = real.shape[-1]
        pairs = real[:, None, :] & torch.ones(
            T, T, dtype=torch.bool, device=real.device
        ).tril()
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
    Mask("1 for tokens, 0 for padding", lambda real, pairs: real.long()),
    Mask("True for tokens", lambda real, pairs: real),
    Mask("True for padding", lambda real, pairs: ~real),
    Mask("True for keys that may be seen", lambda real, pairs: real[:, None, None]),
    Mask("True for pairs that may be seen", lambda real, pairs: pairs),
    Mask("True for pairs that may be seen, over heads", lambda r, pairs: pairs[:, None]),
    Mask(
        "minus infinity for pairs that may not be seen",
        lambda real, pairs: torch.zeros(
            pairs.shape, dtype=torch.get_default_dtype(), device=pairs.device
        ).masked_fill(~pairs, _INFINITE)[:, None],
    ),
)


def find_mask(subject: Subject, tolerance: float) -> tuple[Mask | None, str]:
    """Find the form of mask that a model obeys.

    Returns:
        The form, and why there is none: nothing if no mask is taken.
    """
    if "mask" not in subject.call.names:
        return None, ""
    reasons = []
    for form in _FORMS:
        try:
            reason = _disobeyed(subject, form, tolerance)
        except Exception as raised:  # whatever a reader's code may raise
            reason = f"it raised {describe(raised)}"
        if not reason:
            return form, ""
        reasons.append(reason)
    told = [one for one in reasons if not one.startswith("it raised")]
    return None, (told or reasons)[0]


def find_pair_mask(subject: Subject, tolerance: float) -> Mask | None:
    """Find a form of mask that says of each pair of tokens who sees whom."""
    for form in _FORMS if "mask" in subject.call.names else ():
        try:
            if form.of_pairs and not _disobeyed(subject, form, tolerance):
                return form
        except Exception:  # noqa: S112  # whatever a reader's code may raise
            continue
    return None


def _disobeyed(subject: Subject, form: Mask, tolerance: float) -> str:
    """Say what a model does that no mask of this form means, or nothing."""
    ids = subject.ids(seed=4)
    plain = subject(ids)
    real = torch.ones_like(ids, dtype=torch.bool)
    if max_difference(subject(ids, mask=form(real)), plain) > tolerance:
        return "a mask that hides nothing changes the logits"
    real[:, :2] = False
    hidden = subject(ids, mask=form(real))[:, 2:]
    changed = ids.clone()
    changed[:, :2] = subject.other(ids[:, :2])
    again = subject(changed, mask=form(real))[:, 2:]
    if max_difference(hidden, again) > tolerance:
        return "logits move with the tokens that it hides"
    if max_difference(hidden, plain[:, 2:]) <= tolerance:
        return "it changes nothing"
    return ""
