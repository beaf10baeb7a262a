"""Narrower models: hidden channels and heads that are left out, and what that costs and gains."""
