"""Operators that only ONNX Runtime defines."""
