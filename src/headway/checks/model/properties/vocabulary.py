"""The ids that a model takes, and those that it can predict."""

import torch

from headway.checks.core.errors import describe, theirs
from headway.checks.core.outcome import Outcome, failed, note, passed
from headway.checks.model.model_evidence import ModelEvidence


def size(evidence: ModelEvidence) -> Outcome:
    """Ask that every id can be read, and every one predicted."""
    subject = evidence.subject
    V, width = subject.vocab_size, evidence.logits.shape[-1]
    ends = torch.tensor([[0, V - 1]], device=subject.device)
    try:
        subject(ends)
    except theirs() as raised:
        return failed(f"The ids 0 and {V - 1} raised {describe(raised)}.")
    if width < V:
        return failed(
            f"Ids go up to {V - 1}, and logits are {width} wide: {V - width} tokens "
            "can never be predicted.",
            V - width,
        )
    if width > V:
        return note(
            f"Logits are {width} wide for a vocabulary of {V}: the last {width - V} "
            "are no tokens, and writing must leave them out.",
            width - V,
        )
    return passed("Every id can be read and predicted.", V)
