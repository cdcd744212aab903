"""What judges an answer: a comparison with the solution, and a verdict on it."""
