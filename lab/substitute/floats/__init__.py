"""Substitutions on the float graph: the same function by other operators, up to rounding."""
