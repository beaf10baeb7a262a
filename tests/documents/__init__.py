"""Pages: their links, their commands, and the numbers beside these."""
