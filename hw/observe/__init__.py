"""Counters, and the owner of each cycle."""
