"""What a reader has at a terminal: a folder of files, keys to press, and texts."""
