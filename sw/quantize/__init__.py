"""Post-training quantization: from float32 weights to an integer model file."""
