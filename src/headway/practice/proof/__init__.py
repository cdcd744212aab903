"""What proves an exercise: answers, right and wrong, and mutants of its solution."""
