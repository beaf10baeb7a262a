"""Searches for plans, raced against each other."""
