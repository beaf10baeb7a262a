"""Finds transformers' operators in float graphs, proves each by numbers, and puts it in place."""
