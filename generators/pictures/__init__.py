"""The pictures of the book, and what they are drawn with."""
