"""Run the programs of Markdown pages, compare what they print, publish what passed."""
