"""What happened in a run, as values."""
