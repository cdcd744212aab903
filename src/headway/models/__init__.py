"""What attention is for: a block, a model that writes, and what it has learned."""
