"""Rewrites from one representation to the next."""
