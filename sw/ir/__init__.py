"""Intermediate representations."""
