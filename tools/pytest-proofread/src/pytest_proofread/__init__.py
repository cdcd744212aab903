"""The programs of Markdown pages are tests: pytest --proofread PAGES.

- page: read a page of Markdown, and say what is wrong with it
- output: compare what a program prints with what is recorded
- runner: run a program as in a fresh interpreter
- pytest_plugin: all of it as tests
"""
