"""Whether code tells tokens by where they stand: by what it does, and by its names."""

from typing import NamedTuple

import torch
from torch import Tensor

from headway.checks.attention.evidence.design import Design
from headway.checks.attention.subject import Subject
from headway.checks.core import intent
from headway.checks.core.tolerance import max_difference, tolerance


class Positions(NamedTuple):
    """What is known of positions.

    Attributes:
        named: What tells that they are meant, a name or a table; `None`: nothing does.
        kept: What code keeps for them, so that they are meant in this very object.
        order: How far a row moves when the order of what it sees is changed.
        felt: Whether that is more than rounding.
        on_scores: Whether they act on scores alone, as rotations and biases do, so that
            equal tokens get equal rows.
    """

    named: str | None = None
    kept: str | None = None
    order: float = 0.0
    felt: bool = False
    on_scores: bool = False


NO_POSITIONS = Positions()


def find_positions(
    subject: Subject,
    x: Tensor,
    output: Tensor,
    causal: bool,
    designs: tuple[Design, ...],
) -> Positions:
    """Change the order of tokens, and look for names and tables, if none is declared.

    Args:
        subject: The code.
        x: Tokens, (B, T, d_in).
        output: What the code gives for them.
        causal: Whether it is meant to hide the future.
        designs: What may be inside; a rotation by a table counts as a name.
    """
    order = order_matters(subject, x, output, causal)
    felt = order > tolerance(output)
    told = subject.options.positions
    if told is not None:
        named = None if told == "none" else f"positions={told!r}"
        return Positions(named, None, order, felt, told in ("rotary", "bias"))
    kept = intent.kept_positions(subject.target)
    named = kept or intent.named_positions(subject.target)
    tables = [one.rotation for one in designs if one.rotation is not None]
    if named is None and tables:
        named = tables[0].source
    if named is None and intent.convolves(subject.target):
        named = "a convolution or a pool over tokens"
    named = named or _weights_of_places(subject)
    return Positions(
        named,
        kept,
        order,
        felt,
        named is not None and intent.positions_on_scores(subject.target),
    )


def _weights_of_places(subject: Subject) -> str | None:
    """Name a matrix that is as long as the longest text, or by one less than that."""
    longest, module = subject.context_length, subject.module
    if longest is None or module is None or longest <= subject.T:
        return None
    widths = {subject.d_in * times for times in (1, 2, 3, 4)}
    lengths = {longest, longest - 1} - widths
    for name, one in module.named_parameters():
        if one.ndim > 1 and lengths & {*one.shape}:
            return f"{name}, as long as the longest text"
    return None


@torch.no_grad()
def order_matters(subject: Subject, x: Tensor, output: Tensor, causal: bool) -> float:
    """Give how far a row moves when tokens before it change places.

    Of what hides the future, the last row is asked, and else all rows.
    """
    T = x.shape[1]
    if causal:
        mixed = x.clone()
        mixed[:, : T - 1] = x[:, : T - 1].flip(1)
        return max_difference(subject(mixed)[:, -1], output[:, -1])
    shuffle = torch.randperm(T, generator=torch.Generator().manual_seed(3))
    return max_difference(subject(x[:, shuffle]), output[:, shuffle])
