"""What the book says of its exercises."""
