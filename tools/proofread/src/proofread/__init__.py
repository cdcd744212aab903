"""How a book is checked and published. Knows nothing of attention.

- page: read a page of Markdown, and say what is wrong with it
- output: compare what a program prints with what is recorded
- run: run a program as in a fresh interpreter
- pytest_plugin: all of it as tests
- markdown_ext: what pages of a site are made of besides
- website: the site, and what a reader can take from it
- verify: whether what is published is what was tested
- mutation: whether the tests would notice a fault
- build.py: the command that builds a site, above all of these
"""
