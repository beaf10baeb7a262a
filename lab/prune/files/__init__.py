"""ONNX files as what can be pruned."""
