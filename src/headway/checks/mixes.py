"""Properties of how a row mixes what it sees."""

import torch

from headway.checks import naming
from headway.checks.examined import Examined
from headway.checks.outcomes import Outcome, error, failed, passed, unasked


def order(it: Examined) -> Outcome:
    """Ask that the order of what a row sees does not matter."""
    T = it.subject.T
    shuffle = torch.randperm(T, generator=torch.Generator().manual_seed(3))
    with torch.no_grad():
        if it.causal:
            mixed = it.x.clone()
            mixed[:, : T - 1] = it.x[:, : T - 1].flip(1)
            worst = error(it.subject(mixed)[:, -1], it.rows[:, -1])
        else:
            worst = error(it.subject(it.x[:, shuffle]), it.rows[:, shuffle])
    if worst <= it.tolerance:
        return passed("The order of the tokens that a row sees does not matter.", worst)
    if it.subject.positions or it.window:
        return unasked("Positions are inside, so the order matters.")
    if layer := naming.one_of_many(it.subject):
        return unasked(f"It has several layers, and this holds of one: {layer}.")
    return failed(
        "The order of the tokens that a row sees matters, and no positions are inside: "
        "look at how heads are split and merged. If positions are meant, let a name "
        "say so.",
        worst,
    )


def shares(it: Examined) -> Outcome:
    """Ask that equal tokens get equal rows, however many there are."""
    x = it.x[:, :1].expand(-1, it.subject.T, -1).contiguous()
    with torch.no_grad():
        rows = it.subject(x)
        worst = error(rows, it.subject(x[:, :1]).expand_as(rows))
    if worst <= it.tolerance:
        return passed("Equal tokens get equal rows, however many there are.", worst)
    if it.subject.positions:
        return unasked("Positions are inside, so equal tokens are told apart.")
    return failed(
        "Of equal tokens, a row depends on how many there are: the weights of a row do "
        "not sum to one. A mask after the softmax, a softmax over another axis, a sum "
        "that is not divided, or heads that are merged wrongly.",
        worst,
    )
