"""Read a Markdown page, and find what is wrong with it."""
