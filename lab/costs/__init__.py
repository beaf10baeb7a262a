"""How far predictions are off: of operators, and of random pieces of work."""
