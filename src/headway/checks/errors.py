"""Errors of other people's code, in one line."""


def describe(error: BaseException) -> str:
    """Put an error into one line, cut if it is long."""
    text = " ".join(str(error).split()).rstrip(".")
    return f"{type(error).__name__}: {text[:157]}{'...' * (len(text) > 157)}"
