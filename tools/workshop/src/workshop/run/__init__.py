"""Other code paths, labs, and the tensors that a program makes."""
