"""From ONNX files to float graphs."""
