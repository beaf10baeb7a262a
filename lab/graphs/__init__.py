"""Graphs that benches compare ideas on."""
