"""Memory for the tensors of a graph, bytes of which serve one tensor after the other."""
