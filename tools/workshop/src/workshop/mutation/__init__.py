"""Break pages and packages on purpose: the tests must notice."""
