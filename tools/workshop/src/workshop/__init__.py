"""How this book is built, checked and published. Knows nothing of attention.

- run: other code paths, labs, and the tensors that a program makes
- markdown_ext: what pages of a site are made of besides
- website: the site, and what a reader can take from it
- verify: whether what is published is what was tested
- mutation: whether the tests would notice a fault
- build.py: the command that builds a site, above all of these
"""
