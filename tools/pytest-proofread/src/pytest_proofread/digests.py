"""Short names for contents, and for all that is installed."""

import hashlib
import importlib.metadata
import platform
import sys
from functools import cache


def digest(*parts: str | bytes) -> str:
    """Return a short name for some contents, which knows where each of them ends."""
    whole = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        whole.update(len(data).to_bytes(8, "big") + data)
    return whole.hexdigest()


@cache
def installed() -> list[str]:
    """Return what is installed, and where."""
    found = {
        f"{distribution.name}=={distribution.version}"
        for distribution in importlib.metadata.distributions()
    }
    return [sys.version, platform.platform(), *sorted(found)]
