"""From a graph to a program: what is done block by block, and where in the local memories."""
