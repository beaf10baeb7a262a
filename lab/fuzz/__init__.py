"""Differential fuzzing: random programs and memories, the functional model against the RTL."""
