"""What a plan decides for a graph where nobody has edited it."""
