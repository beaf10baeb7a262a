"""Random graphs, compiled and compared from their operators down to memory."""
