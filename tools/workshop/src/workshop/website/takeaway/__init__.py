"""Pages as notebooks and as programs."""
