"""The commands that look for faults, and for tests that miss them."""
