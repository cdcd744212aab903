"""Print the option by which pip finds PyTorch's small build, for CPUs.

    python .ci/torch_index.py https://download.pytorch.org/whl/cpu

That is for Linux, where PyPI has the build with libraries for GPUs alone. An index that
does not answer would be tried by pip again and again, for each package; so it is asked
once before, and left out then.
"""

import contextlib
import sys
import threading
import urllib.request

LIMIT = 1.5  # seconds, which are two with the start of Python


def answers(index: str, limit: float) -> bool:
    """Ask an index for PyTorch, once."""
    found = []

    def ask() -> None:
        with (
            contextlib.suppress(Exception),
            urllib.request.urlopen(f"{index}/torch/"),  # noqa: S310
        ):
            found.append(index)

    # Nothing else ends the look-up of a name that hangs.
    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(limit)
    return bool(found)


def main(arguments: list[str], platform: str, limit: float = LIMIT) -> None:
    """Print the option, or say why there is none."""
    for index in arguments if platform == "linux" else ():
        if answers(index, limit):
            print(f"--extra-index-url {index}")
        else:
            print(
                f"{index} cannot be reached: pip takes PyTorch from its usual index, "
                "for Linux with libraries for GPUs.",
                file=sys.stderr,
            )


if __name__ == "__main__":
    main(sys.argv[1:], sys.platform)
