"""From integer graphs to commands, level by level, each with a text that reads back."""
