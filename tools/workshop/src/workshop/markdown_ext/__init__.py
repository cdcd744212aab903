"""What pages need besides Markdown when the site is built."""
