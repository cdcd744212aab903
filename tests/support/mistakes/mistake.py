"""What a mistake is, and the properties of a check that it may break."""

from typing import Any, NamedTuple

from attention_in_steps import Attention, Step


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
    """

    fails: str
    steps: dict[str, Step]
    change: dict[str, Any] | None = None
    options: dict[str, Any] = {}  # noqa: RUF012  # nobody writes to it
    kind: type[Attention] = Attention
    function: bool = True
    says: str = ""


EQUATION = "equals the equation"
NUMBERS = "rows are numbers"
LEAK = "no leak from the future"
PAST = "every allowed token counts"
SUM = "equal tokens, equal rows"
ORDER = "the order seen does not matter"
TEXTS = "texts do not move each other"
ALONE = "the same alone as in a batch"
LONGER = "earlier rows stay"
SIZE = "any sizes"
CONTEXT = "longer than the context"
AGAIN = "a call leaves nothing behind"
EVAL = "eval is not random"
TRAINING = "training computes the same"
DROPOUT = "dropout keeps the mean"
OBEYED = "masks are obeyed"
PADDING = "padding is not seen"
FULLY_MASKED = "fully masked rows harm nobody"
GRADIENTS = "gradients arrive"
LARGE = "large scores"
HALF = "types and half precision"
OTHERS = "queries see other keys"
CACHED = "cached equals uncached"
LAYOUT = "memory layout does not matter"
DIFFERENCES = "gradients fit differences"
