"""Part two: where a token stands."""
