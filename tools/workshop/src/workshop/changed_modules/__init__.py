"""Leave out the modules of tests that nothing has changed: pytest --changed."""
