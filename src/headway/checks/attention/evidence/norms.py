"""Norms by what they do: an eps that is missing or misplaced, a mean taken off."""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from headway.checks.core.errors import at_the_border, theirs

_EPS = ("eps", "epsilon", "variance_epsilon")
_SMALL = 1e-3  # so that an eps is felt


@torch.no_grad()
def fault_of_norms(module: nn.Module) -> tuple[str, str] | None:
    """Say what is wrong with the first norm that is wrong, and its short name."""
    for place, norm in module.named_modules():
        if "norm" not in type(norm).__name__.lower() or [*norm.children()]:
            continue
        weights = [one for one in norm.parameters() if one.ndim == 1]
        if not weights:
            continue
        try:
            said = _fault(norm, weights[0].detach())
        except theirs():
            continue
        if said:
            sentence, mistake = said
            return f"{place or type(norm).__name__} {sentence}", mistake
    return None


@at_the_border
def _fault(norm: nn.Module, weight: Tensor) -> tuple[str, str] | None:
    zeros = weight.new_zeros(1, 1, len(weight))
    if bool(norm(zeros).isnan().any()):
        return "gives nan for a token of zeros: no eps is added.", "norm-without-eps"
    eps = next((e for n in _EPS if isinstance(e := getattr(norm, n, None), float)), 0.0)
    if "rms" not in type(norm).__name__.lower() or not eps or len(weight) < 2:
        return None
    generator = torch.Generator().manual_seed(5)
    x = torch.randn(1, 1, len(weight), generator=generator).to(weight) * _SMALL
    rows = norm(x)
    for scale in (weight, 1 + weight):
        if _near(rows, _root(x, eps) * scale):
            return None
    for said, mistake, wrong in _wrong(x, eps):
        if any(_near(rows, wrong * scale) for scale in (weight, 1 + weight)):
            return said, mistake
    return None


def _root(x: Tensor, eps: float) -> Tensor:
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps)


def _wrong(x: Tensor, eps: float) -> Iterator[tuple[str, str, Tensor]]:
    root = x.square().mean(-1, keepdim=True).sqrt()
    yield (
        "adds its eps outside the root, so that small tokens come out too large.",
        "norm-eps-outside-root",
        x / (root + eps),
    )
    yield (
        "takes the mean off first, as a layer norm does and no RMS norm.",
        "rms-norm-takes-mean-off",
        _root(x - x.mean(-1, keepdim=True), eps),
    )


def _near(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and torch.allclose(one, other, rtol=1e-4, atol=1e-5)
