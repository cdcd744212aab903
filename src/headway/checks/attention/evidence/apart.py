"""Tokens that attend in groups apart from each other, such as windows of an image."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from headway.checks.attention.subject import Subject
from headway.checks.attention.subject.calls import first_tensor
from headway.checks.core.errors import at_the_border, theirs

_FEW = 6  # tokens that a report names


def groups(visible: Tensor) -> list[list[int]]:
    """List the groups that tokens attend in, if none sees any of another; else nothing.

    Args:
        visible: Which row sees which token, of shape (T, T).
    """
    rows = {tuple(row) for row in visible.int().tolist() if any(row)}
    found = sorted([t for t, one in enumerate(row) if one] for row in rows)
    apart = sorted(t for one in found for t in one) == [*range(len(visible))]
    return found if apart and len(found) > 1 else []


@dataclass(frozen=True)
class InGroup:
    """Call code with the tokens of one group, among some of other groups.

    Attributes:
        invoke: Calls the code with all tokens.
        members: Where the tokens of the group stand.
        T: How many tokens there are in all.
    """

    invoke: Any
    members: Sequence[int]
    T: int

    @at_the_border
    def __call__(self, target: Any, x: Tensor, **extra: Any) -> Any:
        """Put the tokens among others, and give their rows.

        Raises:
            ValueError: If they are not as many as a group has.
        """
        if x.shape[1] != len(self.members):
            raise ValueError(f"a group has {len(self.members)} tokens")
        every = x[:, torch.arange(self.T) % x.shape[1]].clone()
        every[:, self.members] = x
        result = self.invoke(target, every, **extra)
        return first_tensor(result)[:, self.members]


def in_one_group(subject: Subject, visible: Tensor) -> Subject | None:
    """Give the same code as it treats the tokens of its largest group.

    Tokens that stand side by side may be a group by a mistake, as where heads are split
    by a view; so they count only if a name tells of a window.

    Args:
        subject: The code.
        visible: Which row sees which token, of shape (T, T).

    Returns:
        The subject, or `None` if its tokens do not attend in groups.
    """
    found = groups(visible)
    members = max(found, key=len, default=[])
    in_a_row = all(one[-1] - one[0] < len(one) for one in found)
    told = subject.options.causal is not None or subject.call.packing is not None
    if len(members) < 2 or told or subject.call.time_first or subject.extra:
        return None
    if in_a_row and not subject.has_window:
        return None
    invoke = InGroup(subject.call.invoke, members, subject.T)
    shown = ", ".join(str(t + 1) for t in members[:_FEW])
    more = ", ..." if len(members) > _FEW else ""
    said = f"{subject.call.text}; tokens attend in {len(found)} groups, and these are "
    said += f"one: {shown}{more}"
    call = replace(subject.call, text=said, invoke=invoke)
    inside = replace(subject, call=call, T=len(members))
    try:
        with torch.no_grad():
            inside.copy()(inside.tokens())
    except theirs():
        return None
    return inside
