"""Substitutions of operators, and the search over them."""
