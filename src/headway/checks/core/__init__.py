"""What checks of attention and of whole models share, and that knows no book.

Calls, copies and names of somebody's code; what is declared of it; errors, limits and
settings while it runs; and the report of what came out.
"""
