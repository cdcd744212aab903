"""The small models that the wheel carries, and what was recorded as they learned."""
