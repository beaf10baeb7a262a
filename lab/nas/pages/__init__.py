"""What a search has found, as a page, and the model of a point on the RTL."""
