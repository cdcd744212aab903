"""How attention is made fast: one softmax in pieces, and what follows from it."""
