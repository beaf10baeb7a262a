"""Models of other tools as workloads: read, quantized, saved, and drawn inputs for them."""
