"""What draws, trains and lists for the book: a generator for each kind of files.

`python -m generators.NAME` writes the files of one, and with `--check` compares them.
"""
