"""The survey's case study again: its numbers, ours beside them, and how ours were obtained."""
