"""False alarms that are known, each with its reason."""

KNOWN_FALSE_ALARMS: dict[str, dict[str, str]] = {
    "gan_map": {"past": "Scores without a scale make weights vanish."},
    # As PyTorch's own module: true, and meant where every row keeps a key.
    "cross, minus infinity": {
        "fully-masked": "A row without a key is nan by minus infinity."
    },
}
