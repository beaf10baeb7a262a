"""What may be asked of a run: on what, by which plan, and what is written of it."""
