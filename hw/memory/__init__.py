"""Scratchpad, accumulator and parameter memory."""
