"""A corpus of public styles and of mutants, to hold the checks against."""
