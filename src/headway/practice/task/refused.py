"""What `headway.practice` raises if it refuses what it is told."""


class RefusedError(ValueError):
    """A name, a folder or the file of an exercise is refused: one sentence says why.

    It is a class of its own so that no other `ValueError`, such as one that a mistake
    in the package raises, is taken for a refusal.
    """
