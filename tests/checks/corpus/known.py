"""False alarms that are known, each with its reason."""

KNOWN: dict[str, dict[str, str]] = {}
