"""The numbers of the live figures, as tables."""
