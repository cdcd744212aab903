"""A place for unused attention."""
