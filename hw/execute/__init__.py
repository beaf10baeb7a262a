"""The execute path: operands through the systolic array."""
