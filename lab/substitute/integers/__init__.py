"""Substitutions on graphs of integers: other operators that leave the same integers behind."""
