"""The property of declared facts: none of them is measurably false."""

from dataclasses import replace

from headway.checks.core.outcome import Outcome, failed, not_applicable, passed
from headway.checks.model.model_evidence import ModelEvidence
from headway.checks.model.padding_masks import find_mask

# What fails of itself where texts are not where they are looked for.
_OF_LAYOUTS = (
    "leak",
    "past",
    "batch",
    "alone",
    "earlier-rows",
)


def hold(evidence: ModelEvidence) -> Outcome:
    """Ask of layout and masks; of the future and of caches, other properties ask."""
    options = evidence.subject.options
    held: list[str] = []
    if options.layout is not None:
        if evidence.subject.swapped:
            return failed(
                f"layout={options.layout!r} is declared, but tokens see each other "
                "along the other axis.",
                explains=_OF_LAYOUTS,
            )
        held.append("layout")
    if options.masks is not None:
        if seen := _otherwise(evidence):
            return failed(f"masks={options.masks!r} is declared, but {seen}.")
        held.append("masks")
    if not held:
        return not_applicable("Nothing is declared that this could check.")
    return passed(f"It behaves as declared for its {', '.join(held)}.", len(held))


def _otherwise(evidence: ModelEvidence) -> str:
    """Say what its mask means, if it is not what was declared."""
    subject, declared = evidence.subject, evidence.subject.options.masks
    if isinstance(declared, str):
        guessing = replace(subject, options=replace(subject.options, masks=None))
        form = find_mask(guessing).form
        return "" if form is None else f"it takes one: {form.meaning}"
    form, _, reason = evidence.masking
    if form is None:
        return f"no form of mask is obeyed: {reason}"
    return "" if form.kind in (declared or {}).values() else f"it is {form.meaning}"
