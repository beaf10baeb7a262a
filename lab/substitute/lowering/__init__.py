"""A model through all levels as text: a pipeline of passes, each level read back and executed."""
