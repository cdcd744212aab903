"""What is attention? From words as vectors to heads split from one projection."""
