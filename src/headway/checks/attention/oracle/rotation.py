"""A rotation by positions, and every known way to get it wrong."""

import torch
from torch import Tensor

from headway.checks.attention.evidence.design import Rotation
from headway.checks.attention.oracle.recipe import Recipe


def rotate(part: Tensor, rotation: Rotation, recipe: Recipe, letter: str) -> Tensor:
    """Rotate queries, keys or values by the positions of their tokens.

    Args:
        part: Vectors of shape (B, heads, T, width).
        rotation: The rotation that is meant.
        recipe: How to do it.
        letter: `q` for queries, `k` for keys, `v` for values.

    Raises:
        RuntimeError: If there are more angles than pairs, or too few positions.
    """
    speeds = _speeds(rotation, recipe, part.shape[-1])
    angles = _angles(rotation, recipe, letter, part, speeds)
    of_each = recipe.angles == "of each number"
    width = angles.shape[-1] if of_each else 2 * angles.shape[-1]
    if width > part.shape[-1]:
        raise RuntimeError("there are more angles than pairs")
    turned, rest = part[..., :width], part[..., width:]
    pairing = (
        _other(rotation.pairing) if recipe.pairing == "other" else rotation.pairing
    )
    layout = _other(pairing) if recipe.layout == "other" else pairing
    cos, sin = rotation.length * angles.cos(), rotation.length * angles.sin()
    if letter in recipe.swapped:
        cos, sin = sin, cos
    if not of_each:
        cos, sin = _lay_out(cos, layout), _lay_out(sin, layout)
    if letter in recipe.against:
        sin = -sin
    turned = turned * cos + _partner(turned, pairing, recipe.minus) * sin
    part_lost, letters = recipe.lost
    if letter in letters:
        turned = _without(turned, part[..., :width], (cos, sin), pairing, part_lost)
    return torch.cat([turned, rest], dim=-1)


def base_of(rotation: Rotation) -> float | None:
    """Give the base of the angles, if their speeds are powers of one."""
    steps = steps_of(rotation)
    if len(steps) < 2 or bool((steps <= 0).any()):
        return None
    i = torch.arange(len(steps)).to(steps)
    slope = (steps[-1] / steps[0]).log() / (len(steps) - 1)
    if not torch.allclose(steps.log(), slope * i, atol=1e-4):
        return None
    return float((-slope * len(steps)).exp())


def steps_of(rotation: Rotation) -> Tensor:
    """Give the angle by which each pair turns from a token to the next."""
    angles = rotation.angles.double()
    return angles[1] - angles[0]


def _speeds(rotation: Rotation, recipe: Recipe, width: int) -> Tensor | None:
    """Give the speeds of the pairs, if they are not those that are meant."""
    steps = steps_of(rotation)
    pairs = width // 2 if recipe.turned == "all heads" else len(steps)
    if pairs == len(steps) and recipe.angles == "right" and recipe.base is None:
        return None
    if recipe.angles == "half the exponent":
        return steps.sqrt()
    if recipe.angles == "twice the exponent":
        return steps**2
    if recipe.angles == "turned twice":
        return 2 * steps
    if recipe.angles == "of the first":
        return steps[:1].expand_as(steps)
    if recipe.angles == "inverse":
        return 1 / steps
    base = recipe.base or base_of(rotation)
    if base is None:
        raise RuntimeError("the speeds are powers of no base")
    if recipe.angles == "of each number":
        i = torch.arange(2 * pairs).to(steps) / 2
    else:
        i = torch.arange(pairs).to(steps)
    return base ** (-i / pairs)


def _angles(
    rotation: Rotation, recipe: Recipe, letter: str, part: Tensor, speeds: Tensor | None
) -> Tensor:
    """Give the angles, in a shape that broadcasts to the vectors."""
    heads, T = part.shape[1:3]
    shift = int(recipe.positions == "queries +1" and letter == "q")
    shift += int(recipe.positions == "keys +1" and letter == "k")
    count = heads if recipe.positions == "heads" else T + shift
    table = rotation.angles.double()
    if speeds is None and count <= len(table):
        found = table[shift:count]
    else:
        steps = steps_of(rotation) if speeds is None else speeds
        start = 0.0 if speeds is not None else table[0]
        places = torch.arange(shift, count).to(table)
        found = start + places[:, None] * steps
    if recipe.positions == "keys rolled" and letter == "k":
        found = found.roll(1, 0)
    return found[:, None] if recipe.positions == "heads" else found


def _other(pairing: str) -> str:
    return "halves" if pairing == "pairs" else "pairs"


def _lay_out(one: Tensor, pairing: str) -> Tensor:
    """Give each of the two numbers of a pair its angle."""
    if pairing == "pairs":
        return one.repeat_interleave(2, dim=-1)
    return torch.cat([one, one], dim=-1)


def _partner(x: Tensor, pairing: str, minus: bool) -> Tensor:
    """Put the other number of its pair in the place of each."""
    if pairing == "pairs":
        first, second = x[..., 0::2], x[..., 1::2]
        parts = torch.stack([-second if minus else second, first], dim=-1)
        return parts.flatten(-2)
    first, second = x.chunk(2, dim=-1)
    return torch.cat([-second if minus else second, first], dim=-1)


def _without(
    turned: Tensor,
    before: Tensor,
    table: tuple[Tensor, Tensor],
    pairing: str,
    lost: str,
) -> Tensor:
    """Leave out what belongs to the second number of each pair."""
    cos, sin = table
    second = torch.zeros(turned.shape[-1], dtype=torch.bool, device=turned.device)
    if pairing == "pairs":
        second[1::2] = True
    else:
        second[len(second) // 2 :] = True
    if lost == "imaginary part":
        return torch.where(second, 0.0, turned)
    if lost == "sine of the second":
        return torch.where(second, before * cos, turned)
    partner = _partner(before, pairing, minus=False)
    return torch.where(second, partner * cos + before * sin, turned)
