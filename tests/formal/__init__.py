"""Proofs: `make formal`."""
