"""What parts of a quantized model lose."""
