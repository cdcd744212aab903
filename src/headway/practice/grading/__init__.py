"""Practice for a class: verdicts that an answer cannot forge, and papers for it."""
