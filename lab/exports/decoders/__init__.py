"""Causal decoders with the head that makes logits, with a cache or without."""
