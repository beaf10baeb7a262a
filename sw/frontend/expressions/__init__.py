"""Tensor expressions: an operator of one's own as index expressions, and what computes it."""
