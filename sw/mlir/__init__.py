"""MLIR's generic syntax: the text of graphs, and of what later dialects add."""
