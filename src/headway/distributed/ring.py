"""Ring attention: each process has some of the tokens."""
