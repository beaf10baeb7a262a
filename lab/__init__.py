"""The laboratory: ideas measured on the road that `sw` and `sim` are.  Nothing there imports it."""
