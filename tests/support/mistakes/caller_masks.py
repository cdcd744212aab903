"""Mistakes with the mask of a caller."""

from typing import Any

import torch
from torch import Tensor

from tests.support.attention_in_steps import allowed, hide
from tests.support.mistakes.mistake import FULLY_MASKED, OBEYED, PADDING, Mistake


def naively(m: Any, scores: Tensor) -> Tensor:
    return scores.softmax(-1)


def hidden_rows(m: Any, scores: Tensor, mask: Tensor | None) -> Tensor:
    keep = None if mask is None else mask.mT
    return hide(m, scores, keep)


def either(m: Any, scores: Tensor, mask: Tensor | None) -> Tensor:
    keep = allowed(m, scores, None)
    if mask is not None:
        keep = keep | (mask[:, None] if mask.ndim == 3 else mask)
    return scores.masked_fill(~keep, -torch.inf)


def multiplied(m: Any, scores: Tensor, mask: Tensor | None) -> Tensor:
    factor = 1 if mask is None else (mask[:, None] if mask.ndim == 3 else mask)
    return hide(m, scores * factor, None)


def masked_values(m: Any, scores: Tensor, mask: Tensor | None) -> Tensor:
    """Hide after the softmax what the caller hides."""
    m.factor = allowed(m, scores, mask)
    return hide(m, scores, None)


def of_the_first_mask(m: Any, scores: Tensor, mask: Tensor | None) -> Tensor:
    if mask is not None:
        m.kept = getattr(m, "kept", mask)
        return hide(m, scores, m.kept)
    return hide(m, scores, None)


CALLER_MASKS: dict[str, Mistake] = {
    "the mask is ignored": Mistake(
        OBEYED, {"hide": lambda m, s, mask: hide(m, s, None)}
    ),
    "the mask hides rows": Mistake(OBEYED, {"hide": hidden_rows}),
    "the mask or the past": Mistake(OBEYED, {"hide": either}),
    "the mask is multiplied": Mistake(OBEYED, {"hide": multiplied}),
    "the mask is applied after the softmax": Mistake(
        OBEYED,
        {
            "hide": masked_values,
            "softmax": lambda m, s: s.softmax(-1) * m.factor,
        },
    ),
    "the first mask is kept": Mistake(PADDING, {"hide": of_the_first_mask}),
    "nan where nothing is seen": Mistake(FULLY_MASKED, {"softmax": naively}),
    "nan where nothing is seen, hidden later": Mistake(
        FULLY_MASKED,
        {"softmax": naively, "out": lambda m, c: m.out_proj(c.nan_to_num(0.0))},
    ),
    "only the first text's mask": Mistake(
        PADDING,
        {
            "hide": lambda m, s, mask: hide(
                m, s, mask if mask is None or mask.ndim < 3 else mask[:1]
            )
        },
    ),
}
