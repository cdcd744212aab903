"""Each program of a page is a test."""
