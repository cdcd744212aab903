"""What an exercise is: a definition, the parts of a file, and a place in a set."""
