"""I-GELU, LayerNorm and softmax of rows that leave, in passes over the accumulator."""
