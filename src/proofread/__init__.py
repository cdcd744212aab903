"""How the book is checked and published. Knows nothing of attention."""
