"""Energy of a run: events that were counted, times a table of what each takes."""
