"""What a mistake is, and the properties of a check that it may break."""

from typing import Any, NamedTuple

from tests.support.attention_in_steps import Attention, Step


class Mistake(NamedTuple):
    """One or more wrong steps, and what a check is to say.

    Attributes:
        fails: A property that does not hold.
        steps: The wrong steps.
        change: The change of the recipe that is exactly this mistake, if there is one.
        options: What else the module must have for the mistake to show.
        kind: The module.
        function: Whether a function can have it too.
        says: How what is said of the equation ends, if it is no change of the recipe.
        declared: What must be declared, so that it fails.
    """

    fails: str
    steps: dict[str, Step]
    change: dict[str, Any] | None = None
    options: dict[str, Any] = {}  # noqa: RUF012  # nobody writes to it
    kind: type[Attention] = Attention
    function: bool = True
    says: str = ""
    declared: dict[str, Any] = {}  # noqa: RUF012  # likewise


EQUATION = "equation"
NUMBERS = "finite"
LEAK = "leak"
PAST = "past"
SUM = "equal-tokens"
ORDER = "order"
TEXTS = "batch"
ALONE = "alone"
LONGER = "earlier-rows"
SIZE = "sizes"
CONTEXT = "context-length"
AGAIN = "state"
EVAL = "eval"
TRAINING = "training"
DROPOUT = "dropout"
OBEYED = "masks"
PADDING = "padding"
FULLY_MASKED = "fully-masked"
GRADIENTS = "gradients"
LARGE = "large-scores"
HALF = "half-precision"
OTHERS = "other-keys"
CACHED = "cache"
LAYOUT = "strides"
DIFFERENCES = "gradcheck"
