"""Properties of how a row mixes what it sees."""

import torch

from headway.checks.evidence import Evidence
from headway.checks.outcome import Outcome, failed, not_applicable, passed
from headway.checks.tolerance import max_difference


def order(evidence: Evidence) -> Outcome:
    """Ask that the order of what a row sees does not matter."""
    subject, x, output = evidence.subject, evidence.x, evidence.output
    T = subject.T
    shuffle = torch.randperm(T, generator=torch.Generator().manual_seed(3))
    with torch.no_grad():
        if evidence.causal:
            mixed = x.clone()
            mixed[:, : T - 1] = x[:, : T - 1].flip(1)
            worst = max_difference(subject(mixed)[:, -1], output[:, -1])
        else:
            worst = max_difference(subject(x[:, shuffle]), output[:, shuffle])
    if worst <= evidence.tolerance:
        return passed("The order of the tokens that a row sees does not matter.", worst)
    if evidence.positions or evidence.window:
        return not_applicable("Positions are inside, so the order matters.")
    if layer := evidence.weights.layer:
        return not_applicable(f"It has several layers, and this holds of one: {layer}.")
    return failed(
        "The order of the tokens that a row sees matters, and no positions are inside: "
        "look at how heads are split and merged. If positions are meant, let a name "
        "say so.",
        worst,
    )


def equal_tokens(evidence: Evidence) -> Outcome:
    """Ask that equal tokens get equal rows, however many there are."""
    subject = evidence.subject
    if evidence.one_length:
        return not_applicable("It takes texts of one length only.")
    x = evidence.x[:, :1].expand(-1, subject.T, -1).contiguous()
    with torch.no_grad():
        rows = subject(x)
        worst = max_difference(rows, subject(x[:, :1]).expand_as(rows))
    if worst <= evidence.tolerance:
        return passed("Equal tokens get equal rows, however many there are.", worst)
    if evidence.positions:
        return not_applicable("Positions are inside, so equal tokens are told apart.")
    return failed(
        "Of equal tokens, a row depends on how many there are: the weights of a row do "
        "not sum to one. A mask after the softmax, a softmax over another axis, a sum "
        "that is not divided, or heads that are merged wrongly.",
        worst,
    )
