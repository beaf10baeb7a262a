"""Small transformers as the text that exporters write, with seeded weights: ONNX models to try."""
