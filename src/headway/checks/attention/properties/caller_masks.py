"""Properties of masks that a caller passes."""

import re
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from headway.checks.attention.evidence import Evidence
from headway.checks.attention.evidence.masks import Mask, example_table
from headway.checks.attention.evidence.tables import called_functions
from headway.checks.attention.properties.caller_mask_causes import (
    each_its_own,
    in_training,
    whose_mask,
)
from headway.checks.core.intent import convolves
from headway.checks.core.outcome import (
    Cause,
    Outcome,
    failed,
    not_applicable,
    note,
    passed,
)
from headway.checks.core.tolerance import max_difference

_LARGE = 1e3
_REASONS = {
    "nothing": Cause("It takes {}, and {} changes nothing.", "mask-ignored"),
    "numbers": Cause(
        "{} changes numbers but hides no token: it hides rows and not columns, "
        "or it is added where it should exclude.",
        "mask-hides-nothing",
    ),
    "training": Cause(
        "{} acts only in training: in eval {} is ignored.", "mask-in-training-only"
    ),
    "rows": Cause(
        "{} hides queries and not keys: rows of padding are hidden, and padding "
        "is still seen by the others.",
        "mask-hides-queries",
    ),
    "transposed": Cause(
        "{} is transposed: it hides queries from keys, but should hide keys "
        "from queries.",
        "mask-transposed",
    ),
    "either": Cause(
        "With {}, a row sees what the mask shows and all that it saw without it: "
        "a token must be allowed by both masks, not by one or the other.",
        "mask-or-causal",
    ),
    "the future": Cause(
        "With {}, rows see the future: the mask takes the place of the one "
        "that hides it.",
        "mask-replaces-causal",
    ),
    "after the softmax": Cause(
        "{} hides weights after the softmax: those that are left do not sum to one.",
        "mask-after-softmax",
    ),
    "the switch": Cause(
        "Whatever {} holds, a row sees itself and the past: what it hides besides is "
        "not hidden.",
    ),
    "some heads": Cause("{} acts in some heads only.", "mask-in-some-heads"),
    "near zero": Cause(
        "What {} hides still counts: hidden scores are near 0, as with a "
        "fill of 1e-9 or a product with 0, and a score of 0 has a weight. Fill with "
        "minus infinity.",
        "mask-fills-near-zero",
    ),
    "counts": Cause(
        "What {} hides still counts: hidden scores are not low enough. Fill with "
        "minus infinity.",
        "mask-fills-too-high",
    ),
    "too near": Cause(
        "What {} hides still counts a little: hidden scores are not low "
        "enough, as with a fill of -10. Fill with minus infinity.",
        "mask-fills-too-high",
    ),
}


_COUNTS = ("near zero", "counts", "too near")
_SHOWS = re.compile(r"(^|_)(keep|visible|valid)(_mask)?$", re.IGNORECASE)
_WEIGHS = re.compile(r"softmax|attention|sigmoid|^exp$")
_NOTHING_TO_HIDE = "With one token, nothing is left to hide."


def obeyed(evidence: Evidence) -> Outcome:
    """Ask that each mask that is taken hides what it says."""
    if evidence.subject.T == 1:
        return not_applicable(_NOTHING_TO_HIDE)
    masks = evidence.masks
    switches = [name for name in masks.disobeyed if _is_switch(evidence, name)]
    for name, effect in masks.disobeyed.items():
        if name in switches:
            continue
        layer = evidence.weights.layer
        # In several layers, a mask of pairs that stands in for the mask of the future
        # shows itself by what it hides of keys alone.
        if layer and (effect not in _REASONS or effect == "the future"):
            return not_applicable(
                f"It has several layers, and this holds of one: {layer}."
            )
        if effect not in _REASONS:
            return failed(f"With {name}, a row {effect}.")
        if effect in _COUNTS and convolves(evidence.subject.target):
            return failed(
                f"What {name} hides still counts: something beside attention, such as "
                "a convolution or a pool over tokens, does not get it."
            )
        if effect in _COUNTS and not _weighs(evidence):
            return not_applicable(
                f"It takes no softmax, so what {name} hides by is not known."
            )
        if effect == "rows" and _is_of_two(evidence):
            return not_applicable(
                f"It gives rows for two texts, and {name} hides queries of this one: "
                "it may be for keys of the other."
            )
        if effect == "rows" and evidence.subject.is_pooled:
            return failed(
                f"What {name} hides still counts in the one row of a text, as where a "
                "mean is taken over all rows, those of padding among them.",
                mistakes=["mask-hides-nothing"],
            )
        found = _REASONS[effect]
        sentence = found.sentence.format(name, name)
        return failed(sentence, mistakes=found.mistakes)
    if not masks.arguments:
        told = " Declared: masks='none'." if evidence.subject.options.masks else ""
        return not_applicable(f"It takes no mask.{told}")
    if masks.kept:
        return failed(
            "A call without a mask gives a different result after calls with one: the "
            "mask of an earlier call is kept.",
            mistakes=["mask-kept"],
        )
    if not masks.obeyed and switches:
        return _only_switches(switches[0])
    if not masks.obeyed:
        return _none_is_taken(evidence)
    for mask in masks.obeyed:
        if wrong := _wrong_with(_in_its_type(evidence, mask), mask):
            return wrong
    for mask in masks.varying:
        if wrong := each_its_own(_in_its_type(evidence, mask), mask):
            return wrong
    if wrong := _both(evidence):
        return wrong
    for mask in masks.obeyed:
        if wrong := in_training(_in_its_type(evidence, mask), mask):
            return wrong
    declared = evidence.subject.options.masks
    for mask in masks.obeyed if declared is None else ():
        if unlike := _uncommon(mask):
            return unlike
    if switches:
        return _only_switches(switches[0])
    said = [f"{mask}: {mask.meaning}" for mask in masks.obeyed]
    for mask in masks.obeyed:
        if mask.instead:
            return note(
                f"{mask} takes the place of the mask of the future: if you pass one, "
                "hide the future in it as well."
            )
    return passed(f"It obeys {'; '.join(said)}.", len(said))


def _weighs(evidence: Evidence) -> bool:
    """Ask whether a score of 0 has a weight: by a softmax, a sigmoid, or a kernel."""
    called = called_functions(evidence.subject)
    return any(map(_WEIGHS.search, called))


def _is_of_two(evidence: Evidence) -> bool:
    """Ask whether a call gives the rows of a second text, too."""
    B, T, _ = evidence.x.shape
    _, *others = evidence.subject.all_results(evidence.x)
    # Weights are as wide as there are keys.
    return any(
        one.ndim == 3 and one.shape[:2] == (B, T) and one.shape[2] != T
        for one in others
    )


def _is_switch(evidence: Evidence, name: str) -> bool:
    """Ask whether a mask only says that the future is hidden, as it may be meant.

    A mask that is declared, or that by its name hides keys, is meant for more.
    """
    if evidence.subject.options.masks is not None or re.search("key|pad", name):
        return False
    return evidence.masks.disobeyed[name] == "the switch"


def _only_switches(name: str) -> Outcome:
    return note(
        f"{name} only says that the future is hidden: whatever it holds, a row sees "
        "itself and the past. Hand it no mask of anything else."
    )


def _uncommon(mask: Mask) -> Outcome | None:
    """Say what a mask means, if by its name and shape others expect something else."""
    name = mask.argument
    if mask.shape == "(B, S)" and mask.type == "float":
        return note(
            f"{name} is added to the scores as it is: ones and zeros, or booleans, "
            "hide nothing. Pass minus infinity where it hides."
        )
    # The name is that of PyTorch's argument, and promises its meaning.
    if name == "key_padding_mask" and mask.meaning == "True may look":
        return failed(
            "In its key_padding_mask, True may look. In PyTorch's, True is padding: "
            "a mask made for PyTorch is inverted here, and padding is seen.",
            mistakes=["mask-inverted"],
        )
    if _SHOWS.search(name) and mask.meaning == "True is hidden":
        return failed(
            f"By its name, {name} says what may be seen, and True is hidden: the mask "
            "is inverted.",
            mistakes=["mask-inverted"],
        )
    if (
        name == "attention_mask"
        and mask.hides_keys
        and mask.meaning == "True is hidden"
    ):
        return note(
            "In its attention_mask, ones are hidden. In most libraries ones are tokens "
            "and zeros are padding: such a mask is inverted here, and padding is seen."
        )
    return None


def _none_is_taken(evidence: Evidence) -> Outcome:
    """Tell the errors, if every form of each mask was refused."""
    for name, annotation in evidence.masks.words.items():
        return not_applicable(f"By its annotation, {name} is {annotation}: no tensor.")
    for name, error in evidence.masks.refused.items():
        if error.startswith(("NameError", "UnboundLocalError")):
            return failed(f"With {name} it raised {error}.")
        return not_applicable(
            f"No form of {name} was found that it takes: the first raised {error}."
        )
    return not_applicable("No form of mask was found that it takes.")


def _in_its_type(evidence: Evidence, mask: Mask) -> Evidence:
    """Give the evidence in the type that a mask is taken with."""
    if mask.dtype == evidence.subject.dtype:
        return evidence
    subject = evidence.subject.copy(mask.dtype)
    x = evidence.x.to(mask.dtype)
    with torch.no_grad():
        output = subject(x)
    return replace(evidence, subject=subject, x=x, output=output)


def _wrong_with(evidence: Evidence, mask: Mask) -> Outcome | None:
    """Try a mask that is obeyed in more ways."""
    if _changes(evidence, mask):
        return failed(
            f"It changes its {mask.argument} in place.",
            mistakes=["mask-changed-in-place"],
        )
    worst = _other_tables(evidence, mask)
    if worst > evidence.same_order_tolerance:
        return failed(
            f"With another {mask.argument} than the first, a row moves with what it "
            "hides: something of the first is kept, or part of it is ignored.",
            worst,
        )
    worst = _loud_queries(evidence, mask)
    if worst > evidence.same_order_tolerance * _LARGE:
        return failed(
            f"With {mask.argument}, large queries see what it hides: hidden scores are "
            "not low enough. Fill with minus infinity, or the lowest number of the "
            "type.",
            worst,
            mistakes=["mask-fills-too-high"],
        )
    return None


def _hidden_moves(
    evidence: Evidence, mask: Mask, table: Tensor, x: Tensor, t: int
) -> float:
    """Give how far row t moves when all changes that it may not see."""
    hidden = ~table[0, t]
    hidden[t] = False
    changed = x.clone()
    changed[:, hidden] = evidence.subject.tokens(seed=7)[:, hidden]
    keep = table.to(x.device)
    given = [mask(keep.clone(), x.dtype) for _ in range(2)]
    with torch.no_grad():
        rows = evidence.subject(x, **given[0])[:, t]
        moved = evidence.subject(changed, **given[1])[:, t]
    return float((moved - rows).abs().nan_to_num(0, 0, 0).max())


def _other_tables(evidence: Evidence, mask: Mask) -> float:
    """Hide other tokens than those of the first example."""
    B, T = evidence.subject.B, evidence.subject.T
    worst = 0.0
    for number in (0, 2):
        table = example_table(mask, B, T, number)
        moves = [
            _hidden_moves(evidence, mask, table, evidence.x, t) for t in _real(table)
        ]
        worst = max(worst, *moves)
    return worst


def _loud_queries(evidence: Evidence, mask: Mask) -> float:
    """Let a row have large scores, and change what it may not see."""
    B, T = evidence.subject.B, evidence.subject.T
    table = example_table(mask, B, T)
    worst = 0.0
    for t in _real(table):
        x = evidence.x.clone()
        x[:, t] *= _LARGE
        worst = max(worst, _hidden_moves(evidence, mask, table, x, t))
    return worst


def _real(table: Tensor) -> set[int]:
    """Choose two rows of tokens that are not hidden: what others get is no matter."""
    rows = table[0].diagonal().nonzero().flatten().tolist()
    return {rows[-1], rows[len(rows) // 2]}


def _changes(evidence: Evidence, mask: Mask) -> bool:
    """Ask whether a call changes the mask that it is given."""
    subject, x = evidence.subject, evidence.x
    keep = example_table(mask, subject.B, subject.T).clone().to(x.device)
    given = mask(keep, x.dtype)
    before = {name: one.clone() for name, one in given.items()}
    with torch.no_grad():
        subject(x, **given)
    return any(not torch.equal(one, before[name]) for name, one in given.items())


def padding(evidence: Evidence) -> Outcome:
    """Ask that a padded batch gets what each text gets alone."""
    masks = evidence.masks
    mask = masks.of_keys or masks.of_texts or masks.of_pairs
    if mask is None:
        return not_applicable("It takes no mask that could hide padding.")
    if evidence.one_length:
        return not_applicable("It takes texts of one length only.")
    evidence = _in_its_type(evidence, mask)
    subject = evidence.subject
    heads = min(subject.num_heads or subject.B, 16)
    for texts in sorted({subject.B, heads if mask.varies else subject.B}):
        worst = _padded(evidence, mask, texts)
        if worst > evidence.tolerance:
            among = ""
            if texts != subject.B:
                among = f" With {texts} texts, as many as heads, the two are confused."
            found = whose_mask(evidence, mask) if mask.varies else None
            why = found.sentence if found else "padding is seen, or hidden only in part"
            return failed(
                "In a padded batch the real tokens get different rows than alone: "
                f"{why}.{among}",
                worst,
                mistakes=found.mistakes if found else (),
            )
    return passed("A padded batch gets what each text gets alone.", worst)


@torch.no_grad()
def _padded(evidence: Evidence, mask: Mask, texts: int) -> float:
    """Compare texts of many lengths in a batch with what each gets alone."""
    T = evidence.subject.T
    tokens = evidence.x if texts == len(evidence.x) else evidence.subject.tokens(texts)
    lengths = [max(T - 2 * b, 1) if b < T // 2 else 1 + b % T for b in range(texts)]
    real = torch.stack([torch.arange(T) < length for length in lengths])
    if evidence.causal and not evidence.positions and not mask.of_lengths:
        real = real.flip(1)  # what hides the future never sees what comes after a text
    # Padding may be large; a hidden score that is only quite low lets it through.
    x = torch.where(real[..., None].to(tokens.device), tokens, _LARGE * tokens)
    output = _call_with_mask(evidence, mask, real[:, None].expand(-1, T, -1), x)
    return evidence.difference_alone(output, tokens, real)


def _both(evidence: Evidence) -> Outcome | None:
    """Hand over a mask of pairs and one of keys at once: both must act."""
    pairs, keys = evidence.masks.of_pairs, evidence.masks.of_keys
    if pairs is None or keys is None or pairs.argument == keys.argument:
        return None
    subject, T = evidence.subject, evidence.subject.T
    tables = [example_table(mask, subject.B, T) for mask in (pairs, keys)]
    hidden = ~(tables[0] & tables[1])[0, T - 1]
    hidden[T - 1] = False
    changed = evidence.x.clone()
    changed[:, hidden] = subject.tokens(seed=7)[:, hidden]
    found = []
    for x in (evidence.x, changed):
        given: dict[str, Any] = {}
        for mask, table in zip((pairs, keys), tables, strict=True):
            given |= mask(table.clone().to(x.device), x.dtype)
        with torch.no_grad():
            found.append(subject(x, **given)[:, T - 1])
    moved = float((found[0] - found[1]).abs().nan_to_num(0, 0, 0).max())
    if moved <= evidence.same_order_tolerance:
        return None
    return failed(
        f"With {pairs.argument} and {keys.argument} at once, one is not obeyed.",
        moved,
        mistakes=["one-of-two-masks-ignored"],
    )


def fully_masked(evidence: Evidence) -> Outcome:
    """Hide all keys from one row, or one text: the rest must not notice.

    Code that shares in 32 bits inside, and hides with the lowest number of 64, must not
    be blamed for this mixture: it is asked in 32 bits throughout.
    """
    if evidence.subject.T == 1:
        return not_applicable(_NOTHING_TO_HIDE)
    mask = evidence.masks.of_pairs or evidence.masks.of_keys
    if mask is None or mask.of_lengths:  # a text of no tokens is no text
        return not_applicable("It takes no mask that could hide everything.")
    evidence = _in_its_type(evidence, mask)
    outcome = _fully_masked(evidence, mask)
    if outcome.verdict == "passed" or evidence.subject.dtype == torch.float32:
        return outcome
    mask = replace(mask, dtype=torch.float32)
    return _fully_masked(_in_its_type(evidence, mask), mask)


def _fully_masked(evidence: Evidence, mask: Mask) -> Outcome:
    B, T = evidence.subject.B, evidence.subject.T
    keep = torch.ones(B, T, T, dtype=torch.bool)
    hidden = torch.zeros(B, T, dtype=torch.bool)
    if mask.hides_keys:
        hidden[0] = True
    else:
        hidden[:, 3 % T] = True
    keep[hidden] = False
    x = evidence.x.clone().requires_grad_()
    with torch.no_grad():
        used = _call_with_mask(evidence, mask, keep, evidence.x)
    trained = _call_with_mask(evidence, mask, keep, x)
    worst = max_difference(used[~hidden], evidence.output[~hidden])
    if worst > evidence.tolerance:
        return failed("A fully masked row changes other rows.", worst)
    for output, mode in ((trained, ""), (used, " without gradients")):
        if not bool(output.isfinite().all()):
            return failed(
                f"A fully masked row is nan{mode}, and poisons all that is "
                "computed from it, the gradients of other rows as well."
            )
    if trained.requires_grad:
        trained.sum().backward()
        if x.grad is None or not bool(x.grad.isfinite().all()):
            return failed("A fully masked row makes gradients nan.")
    return passed("A fully masked row is finite, and so are all gradients.", 0)


def _call_with_mask(evidence: Evidence, mask: Mask, keep: Tensor, x: Tensor) -> Tensor:
    """Call with a mask for each text; one text at a time if it can hold only one."""
    keep = keep.to(x.device)
    if mask.varies:
        return evidence.subject(x, **mask(keep, x.dtype))
    single = [
        evidence.subject(x[b : b + 1], **mask(keep[b : b + 1], x.dtype))
        for b in range(len(x))
    ]
    return torch.cat(single)
