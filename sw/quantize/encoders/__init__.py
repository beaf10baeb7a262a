"""Encoders as users of the quantization of graphs: their float graph, and their integer arrays."""
