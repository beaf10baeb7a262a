"""The systolic array and the arithmetic around it."""
