"""Reading attention."""
