"""What is drawn: a folder for each part of the book, and the home page."""
