"""What a command line or `pyproject.toml` names: found, imported and built."""
