"""The text that a small language model learns, and what is held out of it."""
