"""The name of a target: its file or module, and what is meant in there."""

FILES = (".py", ".ipynb")


def split(target: str) -> tuple[str, str]:
    r"""Cut a target into its file or module and a name, which may be missing.

    The colon of a drive, as in `C:\mine.py`, parts nothing.
    """
    if target.endswith(FILES):
        return target, ""
    place, colon, name = target.rpartition(":")
    return (place, name) if colon else (target, "")
