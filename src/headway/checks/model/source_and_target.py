"""Calls of a model that reads one text, the source, and writes another, the target."""

import itertools
import re
from collections.abc import Iterator

from headway.checks.core.signature import Target, arguments

_TARGET = re.compile(
    r"^(trg|tgt|dec(oder)?)(_?(seqs?|sequence|ids?|in|inputs?|input_ids|tokens))?$"
    r"|^target_(seqs?|sequence|ids?|tokens)$"
)
_OF_TARGET = re.compile(r"trg|tgt|dec|target|look|causal|future")
# A source of four tokens: where texts come first, and where tokens do. The first ids
# often have a meaning of their own.
SOURCES = "ids.new_full((len(ids), 4), 3)", "ids.new_full((4, ids.shape[1]), 3)"
_LENGTHS = "ids.shape[1]", "len(ids)"
_AHEAD = (
    "torch.ones(1, {n}, {n}).tril().bool()",
    "torch.ones({n}, {n}).triu(1).bool()",
    "torch.ones({n}, {n}).tril().bool()",
    "torch.ones(1, 1, {n}, {n}).tril().bool()",
)


# Masks of the source that hide nothing, of which True may look.
_OF_SOURCE = (
    "None",
    *(f"torch.ones(len(ids), {axes}4).bool()" for axes in ("1, ", "1, 1, ", "")),
)


def takes_a_source(target: Target) -> bool:
    """Ask whether a model must be given two texts, by the name of the second."""
    texts = [name for name in needed_arguments(target) if "mask" not in name]
    return len(texts) > 1 and bool(_TARGET.search(texts[1]))


def is_of_target(name: str) -> bool:
    """Ask whether an argument is for the text that is written, by its name."""
    return bool(_OF_TARGET.search(name))


def hides_the_future(target: Target) -> bool:
    """Ask whether an argument may be a mask that is to hide the future of the target.

    That of transformers' decoders is of padding.
    """
    names = {name for name in arguments(target) if "mask" in name and "pad" not in name}
    return any(map(_OF_TARGET.search, names - {"decoder_attention_mask"}))


def calls_with_a_source(target: Target) -> Iterator[str]:
    """Give calls of such a model, with masks that may hide the future of the target.

    What is made of `ids` is right if it hides the future in some meaning of True; the
    source is not padded, and a mask of it is `None`.
    """
    if not takes_a_source(target):
        return
    known = arguments(target)
    masks = [name for name in known if "mask" in name]
    hiding = [one for one in masks if is_of_target(one) and "pad" not in one]
    first, *needed = needed_arguments(target)
    second = next(name for name in needed if name not in masks)
    needed.remove(second)
    if first in masks or any(name not in masks for name in needed):
        return
    of_source = [name for name in needed if name not in hiding]
    in_order = [*known][:2] == [first, second]
    for source, n in zip(SOURCES, _LENGTHS, strict=True):
        forms = [form.format(n=n) for form in _AHEAD if hiding]
        if not any(name in needed for name in hiding):
            forms.insert(0, "None")
        whole = _OF_SOURCE if of_source else ("None",)
        for shown, form in itertools.product(whole, forms):
            given = {name: form for name in hiding if form != "None" or name in needed}
            given |= dict.fromkeys(of_source, shown)
            words = "".join(f", {one}={given[one]}" for one in known if one in given)
            ids = "ids" if in_order else f"{second}=ids"
            yield f"m({source}, {ids}{words})"


def needed_arguments(target: Target) -> list[str]:
    """List the arguments that must be given, ids among them."""
    return [
        name
        for name, one in arguments(target).items()
        if one.default is one.empty
        and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    ]
