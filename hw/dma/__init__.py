"""Rows from and to memory as legal bursts."""
