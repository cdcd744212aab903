"""Compare a recorded output with a printed one."""
