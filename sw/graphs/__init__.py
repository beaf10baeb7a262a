"""Integer graphs of operators and of encoders."""
