"""The store path: from the local memories to memory."""
