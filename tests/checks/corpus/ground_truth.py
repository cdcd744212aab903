"""What is true of a style: what a check is held against."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

# Small, and different from each other, so that no size is taken for another.
H, D = 3, 5  # heads, and their width
EVEN = 10  # the width of a head that is rotated
WIDTH = H * D
CONTEXT = 13


@dataclass(frozen=True)
class Defect:
    """A real defect of a style.

    Args:
        what: What is wrong, in one sentence.
        named: A regular expression that a sentence which names it must match.
        shows: The properties in which it may show as a symptom; none means any.
    """

    what: str
    named: str
    shows: tuple[str, ...] = ()


@dataclass(frozen=True)
class Style:
    """A style, and what is true of it.

    Args:
        name: Its name.
        credit: In whose style it is written.
        family: The file it stands in.
        make: Builds it.
        causal: Whether the future is hidden, in truth.
        defects: What is really wrong with it.
        options: What a user must tell beyond a plain call.
        harmless: What may fail because it is true, though nobody is harmed, and why.
    """

    name: str
    credit: str
    family: str
    make: Callable[[], Any]
    causal: bool
    defects: tuple[Defect, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    harmless: Mapping[str, str] = field(default_factory=dict)

    @property
    def right(self) -> bool:
        """Whether nothing is wrong with it."""
        return not self.defects


STYLES: dict[str, Style] = {}

Maker = Callable[[], Any]


def style(
    *,
    causal: bool = False,
    defects: tuple[Defect, ...] = (),
    harmless: Mapping[str, str] | None = None,
    **options: Any,
) -> Callable[[Maker], Maker]:
    """Record a style; its name and its credit are those of the function."""

    def record(make: Maker) -> Maker:
        name = make.__name__
        if name in STYLES:
            raise ValueError(f"name must be new; got name={name!r}.")
        credit = (make.__doc__ or "").strip()
        family = make.__module__.rpartition(".")[2]
        STYLES[name] = Style(
            name, credit, family, make, causal, defects, options, harmless or {}
        )
        return make

    return record


def wrong(what: str, named: str, *shows: str) -> Defect:
    """Describe a defect."""
    return Defect(what, named, shows)


# Defects that several styles have.
NAN = wrong(
    "A row that sees nothing becomes nan.",
    r"\bnan\b|sees? nothing|fully masked row",
    "fully-masked",
)
MERGED = wrong(
    "The heads are merged without moving their axis back.",
    r"heads.*(merged|put together)|merged.*heads",
)
ALWAYS_DROPS = wrong(
    "What drops is not told of eval, and drops there too.",
    r"dropout is still on|dropout.*(eval|always)|eval.*dropout",
)
BY_MODEL = wrong(
    "Scores are divided by the root of the model's width, not by that of a head.",
    r"root of (the )?(all heads|model|tokens?|input|d_in|whole)|all heads' width"
    r"|width of (the |a )?(tokens?|input|model)",
    "equation",
)
FUTURE_SEEN = wrong(
    "A flag says that the future is hidden, and nothing hides it.",
    r"no mask acts|sees every token|nothing (is )?hid|mask.*(missing|never|not)",
    "leak",
    "earlier-rows",
)

# What is true of some styles, and harms nobody.
KEPT = {"state": "Weights are kept for pictures."}
OTHER = {"equation": "It is another equation, by design."}
HALF = wrong(
    "The number that hides, such as -1e9, does not fit into float16.",
    r"float16|overflow|16 bits",
    "half-precision",
)
