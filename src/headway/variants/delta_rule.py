"""A memory that overwrites."""
