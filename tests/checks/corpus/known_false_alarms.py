"""False alarms that are known, each with its reason."""

KNOWN_FALSE_ALARMS: dict[str, dict[str, str]] = {
    # As PyTorch's own module: true, and meant where every row keeps a key.
    "cross, minus infinity": {
        "fully-masked": "A row without a key is nan by minus infinity."
    },
}
