"""The compiler: from a graph to commands."""
