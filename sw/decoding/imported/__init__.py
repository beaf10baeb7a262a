"""Decoders of other tools: from an ONNX file to the weights of a decoder, or why it is none."""
