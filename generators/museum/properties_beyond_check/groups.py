"""Of latent attention, which has a long form and a short one."""

from collections.abc import Mapping
from typing import Any

from headway.checks.core.book_sections import Section

from .ask import Property, Seen, T, draw, far

LATENT = Section(
    "Keys and values from one small vector",
    "What breaks it",
    "decoding/latent_attention/#what-breaks-it",
)


# ---- Two forms of one thing: expanded(x), absorbed(x) ----


def _forms_agree(made: Mapping[str, Any]) -> Seen:
    x = draw(2, T, made["width"])
    return Seen(
        far(made["expanded"](x), made["absorbed"](x)),
        "The short form gives another result than the long one.",
    )


KINDS: dict[str, list[Property]] = {
    "absorbed": [Property("both-forms", "both forms are equal", LATENT, _forms_agree)],
}
