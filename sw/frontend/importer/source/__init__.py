"""What an ONNX file holds: its tensors, sizes, nodes and names."""
