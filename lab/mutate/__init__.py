"""Planted faults: patches, and the tests that must notice them."""
