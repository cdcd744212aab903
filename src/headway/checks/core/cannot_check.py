"""What `headway.checks` raises if code or an option is refused."""


class CannotCheckError(ValueError):
    """Code cannot be checked, or an option is refused: one sentence says why.

    It is a class of its own so that no other `ValueError`, such as one that a mistake
    in the checks raises, is taken for a refusal.
    """
