"""The load path: from memory to the local memories."""
