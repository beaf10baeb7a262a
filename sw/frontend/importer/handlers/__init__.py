"""What each operator of ONNX is in the float graph, family by family."""
