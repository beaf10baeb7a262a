"""Random ONNX models of small operators, compared with another runtime."""
