"""What code gives when queries ask other tokens than their own."""

from typing import NamedTuple

import torch
from torch import Tensor

from headway.checks.attention.subject import Subject
from headway.checks.attention.subject.cross_calls import as_cross_attention
from headway.checks.core.errors import describe, theirs


class CrossQueries(NamedTuple):
    """Queries of one text, and keys and values of another.

    Attributes:
        y: The tokens for keys and values, (B, S, d_in).
        output: What the queries of the usual tokens get, (B, T, width); empty if the
            call raised.
        error: What the call raised.
        as_many: Whether it works if keys are as many as queries.
        refuses: Whether the code itself refuses, by an error of its own.
    """

    y: Tensor
    output: Tensor
    error: str = ""
    as_many: bool = True
    refuses: bool = False


def find_cross_queries(subject: Subject, x: Tensor) -> CrossQueries | None:
    """Call with other tokens, more than there are queries; `None` if none are taken."""
    T, limit = subject.T, subject.context_length
    S = T + 4 if limit is None or limit >= T + 4 else max(T - 2, 1)
    y = subject.tokens(T=S, seed=11)
    try:
        asking = as_cross_attention(subject, y)
        if asking is None:
            return None
        return CrossQueries(y, asking(x))
    except theirs() as raised:
        refuses = isinstance(raised, (ValueError, AssertionError, NotImplementedError))
        nothing = torch.empty(0)
        return CrossQueries(y, nothing, describe(raised), _as_many(subject, x), refuses)


def _as_many(subject: Subject, x: Tensor) -> bool:
    try:
        asking = as_cross_attention(subject, subject.tokens(seed=11))
        return asking is not None and asking(x).shape[1] == subject.T
    except theirs():
        return False
