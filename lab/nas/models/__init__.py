"""Models of a space: what they cost, how good they are, and the searches for them."""
